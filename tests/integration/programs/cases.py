# SPDX-License-Identifier: Apache-2.0
"""The programs. Each is deterministic (or says what of it changes) and takes a second or so."""
import json
import os
import re
import sys

from harness import Case, Failure

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"
EPOCH = 1_700_000_000


def write_file(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    os.utime(path, (EPOCH, EPOCH))


def pattern(size, seed):
    line = b"".join(b"%08x %d\n" % (i * 2654435761 * (seed + 1) & 0xffffffff, i) for i in range(64))
    return (line * (size // len(line) + 1))[:size]


def make_tree(place):
    """A small tree: sizes around buffer and page limits, a link, an empty directory."""
    for number, size in enumerate((0, 1, 511, 4095, 4096, 4097, 70_000, 300_000)):
        write_file(place.path("tree", f"d{number % 3}", f"file-{number}"), pattern(size, number))
    os.makedirs(place.path("tree", "empty"))
    os.symlink("../d0/file-0", place.path("tree", "d1", "link"))
    os.utime(place.path("tree", "d1", "link"), (EPOCH, EPOCH), follow_symlinks=False)
    for directory, _, _ in os.walk(place.path("tree")):
        os.utime(directory, (EPOCH, EPOCH))


def small_file(place):
    write_file(place.path("data"), pattern(1_500, 3))


def one_file(place):
    write_file(place.path("data"), pattern(200_000, 3))


# fio: every engine that whyio knows, the same job, checked against fio's own counters.

FIO_DATA = {"read", "write", "readv", "writev", "pread", "pwrite", "preadv", "pwritev", "preadv2",
            "pwritev2", "uring_read", "uring_write", "aio_read", "aio_write"}


def fio_command(engine, *more):
    def command(place):
        return ["fio", "--name=job", f"--filename={place.path('data')}", "--size=256k", "--bs=4k",
                "--rw=randrw", "--rwmixread=60", "--allrandrepeat=1", "--buffer_pattern=0x5eed",
                f"--ioengine={engine}", "--eta=never", "--disk_util=0",
                "--output-format=json", f"--output={place.outside('fio.json')}", *more]
    return command


def fio_counts(place, events):
    """Numbers and bytes of reads and writes are those that fio counted itself."""
    with open(place.outside("fio.json"), encoding="utf-8") as file:
        job = json.load(file)["jobs"][0]
    for side in ("read", "write"):
        mine = [e for e in events if e["path"] == place.path("data") and e["op"] in FIO_DATA
                and side in e["op"].replace("preadv", "read").replace("pwritev", "write")]
        expected = (job[side]["total_ios"], job[side]["io_bytes"])
        found = (len(mine), sum(e["result"] or 0 for e in mine))
        if found != expected:
            raise Failure(f"{side}: fio counts {expected}, whyio {found} (operations, bytes)")


def fio_file(place):
    """There already, so that fio does not write it before it starts to count."""
    write_file(place.path("data"), pattern(256 << 10, 5))


def fio_case(engine, *more, **options):
    options.setdefault("check", fio_counts)
    options.setdefault("setup", fio_file)
    # fio looks for block devices by nftw, which opens, leaves and enters "." inside libc.
    options.setdefault("ignore", ("chdir",))
    options.setdefault("explained", (("open", "."), ("close", ".")))
    name = "fio-" + engine + ("-fork" if "--thread" not in more else "")
    return Case(name, fio_command(engine, *more), needs=("fio",), **options)


FIO = [
    fio_case("sync", "--thread", "--fsync=16"),
    fio_case("sync", "--fsync=16"),
    fio_case("psync", "--thread"),
    fio_case("vsync", "--thread"),
    fio_case("pvsync2", "--thread"),
    fio_case("libaio", "--thread", "--iodepth=8", "--direct=1"),
    fio_case("posixaio", "--thread", "--iodepth=4"),
    # fio enters its ring by an instruction of its own: no preloaded library sees the requests, and
    # strace does not see what is in the ring either. All around them is compared.
    fio_case("io_uring", "--thread", "--iodepth=8", check=None, unseen=("hidden_uring",)),
    fio_case("mmap", "--thread", check=None),
]


# Python, as interpreter of small programs in this directory.

def python(script, *args):
    return lambda place: [PYTHON, "-I", "-S", os.path.join(HERE, script), *args]


PYTHONS = [
    Case("python-files", python("py_files.py"), needs=(PYTHON,), ordered=True),
    Case("python-threads", python("py_threads.py"), needs=(PYTHON,)),
    Case("python-fork", python("py_processes.py", "fork"), needs=(PYTHON,)),
    Case("python-spawn", python("py_processes.py", "spawn"), needs=(PYTHON,)),
    Case("python-subprocess", python("py_subprocess.py"), setup=one_file, needs=(PYTHON,)),
    Case("python-loader", lambda place: [
        PYTHON, os.path.join(HERE, "../../../examples/loader.py"), "--dir=samples",
        "--samples=40", "--workers=2"], needs=(PYTHON,)),
]


# Databases and archives.

SQL = """
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 400)
  insert into t select i, hex(i * 7919) from n;
create index ti on t(b);
update t set b = b || 'x' where a % 3 = 0;
delete from t where a % 5 = 0;
select count(*), sum(length(b)) from t;
vacuum;
"""


def sqlite(mode):
    return lambda place: ["sqlite3", "-batch", "data.db", f"pragma journal_mode={mode};", SQL]


ARCHIVES = [
    Case("sqlite3-journal", sqlite("delete"), needs=("sqlite3",), ordered=True),
    Case("sqlite3-wal", sqlite("wal"), needs=("sqlite3",)),
    Case("tar", lambda place: ["sh", "-c", "tar --sort=name -cf a.tar tree && mkdir out && "
                               "tar -xf a.tar -C out && tar -tvf a.tar"],
         setup=make_tree, needs=("tar",)),
    Case("cp", lambda place: ["cp", "-a", "tree", "copy"], setup=make_tree),
    Case("dd", lambda place: ["sh", "-c", "dd if=data of=a bs=1000 skip=3 seek=7 count=50 && "
                              "dd if=data of=b bs=64k conv=fsync && dd if=b of=a bs=512 "
                              "count=4 conv=notrunc oflag=append,sync"],
         setup=one_file, mask=((r"copied, .*", "copied"),)),
    Case("rsync", lambda place: ["sh", "-c", "rsync -a tree/ copy && echo more >> tree/d0/file-0 "
                                 "&& rsync -a --checksum --no-whole-file tree/ copy"],
         setup=make_tree, needs=("rsync",), rename=(
             (re.compile(r"/\.([^/]*)\.[A-Za-z0-9]{6}$"), r"/.\1.TEMP"),)),
]


# git: the names of its temporary files hold random letters and process ids. It reads a file again
# that is as young as its index, in whole seconds ("racy git"): here all files are old, or how much
# it reads would hang on whether a second ends between two commands.

GIT = r"""
set -e
git init -q -b main origin
cd origin
cp -rp ../tree .
git add .
git commit -q -m one
echo more >> tree/d0/file-3
touch -d 2001-01-01 tree/d0/file-3
git commit -q -a -m two
cd ..
git clone -q origin clone
cd clone
git log --format=%s
git gc -q
git fsck
"""
GIT_ENV = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_COUNT": "4",
           "GIT_CONFIG_KEY_0": "gc.autoDetach", "GIT_CONFIG_VALUE_0": "false",
           "GIT_CONFIG_KEY_1": "pack.threads", "GIT_CONFIG_VALUE_1": "1",
           "GIT_CONFIG_KEY_2": "core.trustctime", "GIT_CONFIG_VALUE_2": "false",
           "GIT_CONFIG_KEY_3": "index.threads", "GIT_CONFIG_VALUE_3": "1",
           **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in
              (("NAME", "A"), ("EMAIL", "a@example.org"), ("DATE", f"{EPOCH} +0000"))}}
GIT_NAMES = ((re.compile(r"tmp_(\w+)_[A-Za-z0-9]{6}"), r"tmp_\1_TEMP"),
             (re.compile(r"\.tmp-\d+-"), ".tmp-PID-"),
             (re.compile(r"/\.git/t\w{6}$"), "/.git/tTEMP"),
             (re.compile(r"/info/(refs|packs)_\w{6}$"), r"/info/\1_TEMP"))
def c_source(place):
    write_file(place.path("hello.c"), b'#include "hello.h"\n#include <stdio.h>\n'
               b"int main(void) { return puts(HELLO) < 0; }\n")
    write_file(place.path("include", "hello.h"), b'#define HELLO "hello"\n')


PROGRAMS = [
    Case("gcc", lambda place: ["sh", "-c", "gcc -Iinclude -O1 -c hello.c && gcc hello.o -o hello "
                               "&& ./hello"], setup=c_source, needs=("gcc",)),
    Case("find-grep", lambda place: ["sh", "-c", "find tree -type f -size +1k -print | sort; "
                                     "grep -rl 99 tree | sort; ls -lR --time-style=+ tree"],
         setup=make_tree, mask=((r"total \d+", "total"),)),
    Case("git", lambda place: ["sh", "-c", GIT], setup=make_tree, needs=("git",), env=GIT_ENV,
         rename=GIT_NAMES, changing=(r"\.git/index$", r"\.git/logs/"), at_least=200),
    Case("pipeline", lambda place: ["sh", "-c", "cat data | tr a-f A-F | sort | uniq -c | "
                                    "sort -rn > counts; wc counts; grep -c 0 < data | tee n; "
                                    "(cat n; echo end) >> counts"], setup=one_file),
    Case("bash", lambda place: ["bash", "-c", "while read -r a b; do echo $b; done < data | "
                                "tail -n 3 > last; exec 7<>last; read -u 7 x; echo $x >&7; "
                                "mapfile -t all < data; echo ${#all[@]}"],
         setup=small_file, needs=("bash",)),
]


# MPI programs, under both launchers. Their sizes are small: strace slows them down a lot.

LAUNCHERS = {"openmpi": ("mpirun.openmpi", "", ("--oversubscribe",)),
             "mpich": ("mpiexec.mpich", "-mpich", ())}
MPI_SIZES = {"checkpoint": ("-n", "6"), "checkpoint-sync": ("-n", "4", "-b", "8K"),
             "checkpoint-sync-compute": ("-n", "3", "-b", "8K"), "turns": ("-n", "2", "-b", "8K"),
             "mesh": ("-n", "20", "-b", "16K"), "workers": ("-n", "12", "-b", "4K", "-c", "0")}
# Launchers stay out of the trace; they change into the working directory for each rank.
# What an MPI library does for MPI-IO beside reading and writing is its own affair.
MPI_IO_OPS = {"open", "close", "pread", "pwrite", "read", "write", "preadv", "pwritev", "readv",
              "writev", "fsync", "ftruncate"}


# UCX, below MPICH, looks for its settings in each rank's working directory.
OF_THE_LIBRARY = (("open", "ucx.conf"),) * 4


def mpi_case(name, family, directory, args, only=None):
    launcher, suffix, flags = LAUNCHERS[family]
    program = os.path.join(directory, name + suffix)
    return Case(f"{name}-{family}", lambda place: [launcher, *flags, "-n", "4", program, *args],
                needs=(launcher, program), only=only, check=four_ranks, ignore=("chdir",),
                explained=OF_THE_LIBRARY)


def four_ranks(place, events):
    ranks = {e["rank"] for e in events if (e["path"] or "").startswith(place.work)}
    if ranks - {None} != {0, 1, 2, 3}:
        raise Failure(f"expected events of ranks 0 to 3, found {ranks}")


def mpi_cases():
    """WHYIO_EXAMPLES: where the build put the examples; WHYIO_MPI_IO: and the MPI-IO program."""
    examples = os.environ.get("WHYIO_EXAMPLES", "examples")
    mpi_io = os.environ.get("WHYIO_MPI_IO", ".")
    for family in LAUNCHERS:
        for name, args in MPI_SIZES.items():
            yield mpi_case(name, family, examples, args)
        yield mpi_case("mpiio", family, mpi_io, ("file",), MPI_IO_OPS)


CASES = {case.name: case for case in
         (*FIO, *PYTHONS, *ARCHIVES, *PROGRAMS, *mpi_cases())}

if __name__ == "__main__":
    sys.stdout.write("\n".join(CASES) + "\n")
