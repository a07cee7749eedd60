#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real programs: recorded here, replayed on tmpfs and on the file system of the temporary directory.

The replay must do every operation with the recorded result, leave the files that the program left, and,
seen by strace, make the system calls that the trace has.
"""
import collections
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

import mpi_environment  # noqa: F401
from replay_case import TIMEOUT, WHYIO, ReplayCase, main

EXAMPLES = os.environ.get("WHYIO_EXAMPLES", "")
ENV = {**os.environ, "LC_ALL": "C", "PYTHONDONTWRITEBYTECODE": "1", "GIT_CONFIG_NOSYSTEM": "1"}
SHARED = {"read": "read", "write": "write", "readv": "readv", "writev": "writev", "pread64": "pread",
          "pwrite64": "pwrite", "preadv": "preadv", "pwritev": "pwritev", "fsync": "fsync",
          "fdatasync": "fdatasync", "ftruncate": "ftruncate", "copy_file_range": "copy_file_range",
          "sendfile": "sendfile", "lseek": "lseek"}


class Programs(ReplayCase):
    def setUp(self):
        super().setUp()
        self.work = os.path.join(self.dir, "work")
        os.makedirs(os.path.join(self.work, "in/sub"))
        for i in range(6):
            with open(os.path.join(self.work, f"in/sub/f{i}"), "wb") as file:
                file.write(os.urandom(1000 + 40000 * i))
        os.symlink("f1", os.path.join(self.work, "in/sub/link"))
        self.before = self.files(self.work)

    @staticmethod
    def files(top):
        found = {}
        for directory, _, names in os.walk(top):
            for name in names:
                path = os.path.join(directory, name)
                found[os.path.relpath(path, top)] = os.lstat(path).st_size
        return found

    def places(self):
        yield self.target
        if os.path.isdir("/dev/shm"):
            place = tempfile.mkdtemp(prefix="whyio-replay-", dir="/dev/shm")
            self.addCleanup(shutil.rmtree, place, ignore_errors=True)
            yield place

    def needs(self, program):
        if shutil.which(program) is None:
            self.skipTest("no " + program)

    def check(self, *command, modes=("causal", "think", "afap"), with_strace=False, may_differ=lambda mismatch: False):
        self.needs(command[0])
        self.record(*command, cwd=self.work, env=ENV)
        after = self.files(self.work)
        made = {path: size for path, size in after.items() if self.before.get(path) != size}
        for place in self.places():
            for mode in modes:
                with self.subTest(place=place, mode=mode):
                    answer = self.run_replay("--mode=" + mode, target=place)
                    self.assertIn(answer.returncode, (0, 1), answer.stderr)
                    wrong = [m for m in json.loads(answer.stdout)["mismatches"] if not may_differ(m)]
                    self.assertEqual(wrong, [], json.dumps(wrong[:10], indent=1))
                    left = self.files(self.path(self.work, place))
                    self.assertEqual({path: left.get(path) for path in made}, made)
                    self.assertLessEqual(set(left), set(after))
        if with_strace:
            self.check_by_strace()

    def recorded_calls(self):
        dump = subprocess.run([WHYIO, "dump", self.trace], capture_output=True, check=True, timeout=TIMEOUT)
        counts = collections.Counter()
        for line in dump.stdout.splitlines():
            event = json.loads(line)
            if event.get("op") in SHARED.values() and (event["path"] or "").startswith(self.work):
                counts[event["op"], event["path"], event["size"]] += 1
        return counts

    def replayed_calls(self):
        log = os.path.join(self.dir, "strace")
        subprocess.run(["strace", "-f", "-y", "-s", "0", "-qq", "-o", log, "-e", "signal=none", "-e",
                        "trace=" + ",".join(SHARED), WHYIO, "replay", "-q", self.trace, "--root=" + self.target,
                        "--mode=afap"], check=True, stdout=subprocess.DEVNULL, timeout=TIMEOUT)
        counts = collections.Counter()
        call = re.compile(r"^\d+ +(\w+)\(\d+<([^>]*)>(?:, (?:\"\"?\.*|\[.*\]|0x[0-9a-f]+|NULL), (\d+))?")
        copy = re.compile(r"^\d+ +copy_file_range\(\d+<[^>]*>, [^,]*, \d+<([^>]*)>, [^,]*, (\d+)")
        own = os.path.join(self.target, "")
        with open(log, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                found = copy.match(line)
                parts = ("copy_file_range", found[1], found[2]) if found else None
                found = call.match(line)
                parts = parts or (found and (found[1], found[2], found[3]))
                if parts and parts[1].startswith(own) and self.work in parts[1]:
                    size = int(parts[2]) if parts[2] else None
                    counts[SHARED[parts[0]], "/" + parts[1][len(own):].removesuffix("(deleted)"), size] += 1
        return counts

    def check_by_strace(self):
        """Preparing writes too, before: only what the trace has is compared."""
        self.needs("strace")
        recorded = {key: n for key, n in self.recorded_calls().items() if key[0] not in ("ftruncate", "lseek")}
        replayed = self.replayed_calls()
        self.assertTrue(recorded)
        self.assertEqual({key: replayed[key] for key in recorded}, recorded)

    def test_cp(self):
        self.check("cp", "-a", "in", "copy", with_strace=True)

    def test_dd(self):
        self.check("dd", "if=in/sub/f5", "of=out", "bs=4096", "conv=fsync", with_strace=True)

    def test_tar(self):
        self.check("tar", "cf", "out.tar", "in", with_strace=True)

    def test_untar(self):
        subprocess.run(["tar", "cf", "in.tar", "in"], cwd=self.work, check=True)
        self.before = self.files(self.work)
        self.check("tar", "xf", "in.tar", "--one-top-level=new")

    def test_rsync(self):
        """Its three processes wait for each other in sockets, which think and afap drop: one may look for
        a file that another has made too early."""
        self.check("rsync", "-a", "in/", "copy/",
                   may_differ=lambda mismatch: mismatch["op"] in ("stat", "lstat")
                   and mismatch["expected"]["errno"] == 2)

    def test_git(self):
        self.check("sh", "-c", "git init -q g && cd g && cp ../in/sub/f1 . && git add f1 && "
                               "git -c user.email=a@b -c user.name=x commit -qm x && git log > ../log")

    def test_sqlite(self):
        self.check("sqlite3", "s.db", "create table t(a, b); insert into t values(1, 2);"
                                      "insert into t select a + 1, b from t; begin; delete from t; rollback;"
                                      "select count(*) from t;", with_strace=True)

    def test_python(self):
        self.check(sys.executable, "-c",
                   "import os, threading\n"
                   "def work(n):\n"
                   "    with open(f'x{n}', 'w') as f: f.write('a' * 100000)\n"
                   "    assert len(open(f'x{n}').read()) == 100000\n"
                   "    os.rename(f'x{n}', f'y{n}')\n"
                   "threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]\n"
                   "[t.start() for t in threads]; [t.join() for t in threads]\n"
                   "os.remove('y0')")

    def test_links_that_lead_nowhere(self):
        """What acts on a link itself does not need its target, and does not make it."""
        self.check(sys.executable, "-c",
                   "import os\n"
                   "os.symlink('gone/away', 'dangling')\n"
                   "os.utime('dangling', (5, 6), follow_symlinks=False)\n"
                   "os.access('dangling', os.F_OK, follow_symlinks=False)\n"
                   "os.chown('dangling', os.getuid(), os.getgid(), follow_symlinks=False)\n"
                   "print(os.path.exists('dangling'), os.path.exists('gone'))\n"
                   "os.utime('in/sub/link', (7, 8))\n"
                   "os.utime('in/sub/link', (9, 10), follow_symlinks=False)")
        target = self.path(self.work)
        self.assertFalse(os.path.lexists(os.path.join(target, "gone")))
        times = [os.lstat(os.path.join(target, name)).st_mtime for name in ("dangling", "in/sub/link", "in/sub/f1")]
        self.assertEqual(times, [6, 10, 8])

    def test_message_queue(self):
        """The kernel names its descriptor as a file in the root directory."""
        self.check(sys.executable, "-c",
                   "import ctypes, os\n"
                   "libc = ctypes.CDLL(None)\n"
                   "name = b'/whyio-test-%d' % os.getpid()\n"
                   "fd = libc.mq_open(name, os.O_RDWR | os.O_CREAT, 0o600, None)\n"
                   "if fd >= 0:\n"
                   "    libc.mq_unlink(name)\n"
                   "    print(os.read(fd, 1000), os.fstat(fd).st_size)\n"
                   "    os.close(fd)")
        dump = subprocess.run([WHYIO, "dump", self.trace], capture_output=True, text=True, check=True, timeout=TIMEOUT)
        paths = {json.loads(line).get("path") or "" for line in dump.stdout.splitlines()}
        self.assertEqual([path for path in paths if path.startswith("/whyio-test")], [])

    def test_pipeline(self):
        self.check("sh", "-c", "ls -l in/sub | sort -r > l; cat l | wc -l > n; (cat l; cat l) > twice; rm l")

    def test_remove(self):
        self.check("sh", "-c", "cp -r in other; rm -rf other")

    def fio(self, *options):
        self.needs("fio")
        self.check("fio", "--name=x", "--filename=data", "--size=1m", "--bs=4k", "--rw=randrw", "--output=/dev/null",
                   *options)

    def test_fio_psync(self):
        self.fio("--ioengine=psync", "--fsync=16")

    def test_fio_threads(self):
        self.fio("--ioengine=pvsync2", "--numjobs=3", "--thread", "--filename_format=data.$jobnum")

    def test_fio_libaio(self):
        self.fio("--ioengine=libaio", "--iodepth=8", "--direct=1")

    def test_fio_io_uring(self):
        self.fio("--ioengine=io_uring", "--iodepth=8", "--direct=1")

    def test_fio_posixaio(self):
        self.fio("--ioengine=posixaio", "--iodepth=4")

    def test_fio_mmap(self):
        self.fio("--ioengine=mmap")

    def mpi(self, launcher, program):
        path = os.path.join(EXAMPLES, program)
        if not os.path.exists(path):
            self.skipTest("no example " + program)
        self.check(launcher, "-n", "4", *(["--oversubscribe"] if "openmpi" in launcher else []), path, "-n", "8")

    def test_open_mpi(self):
        self.mpi("mpirun.openmpi", "checkpoint")

    def test_mpich(self):
        self.mpi("mpiexec.mpich", "checkpoint-mpich")

    def test_turns(self):
        self.mpi("mpirun.openmpi", "turns")


if __name__ == "__main__":
    main()
