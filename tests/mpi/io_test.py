#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""io_test.py [--causal=off] PROGRAM LAUNCHER [OPTION...] [-- CASE...]: all that MPI-IO does on the program's files is
in the trace, as `strace -f` sees it in the same run.

For each file below the program's directory and each operation: how many calls, how many of them
failed, how many bytes. Requests of POSIX aio are what glibc's threads make of them. R-MPI-10
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

import strace_parse

RANKS = 4
OTHERS = {"ucx.conf"}  # looked for in the working directory, by what is not MPI-IO
READS = {"read", "pread", "pread64", "readv", "preadv", "preadv2", "aio_read"}
WRITES = {"write", "pwrite", "pwrite64", "writev", "pwritev", "pwritev2", "aio_write"}
# What is said of a file in both: by descriptor, or by the n-th argument, a path. (The recorder itself
# asks with fstat what a descriptor is.)
BY_FD = READS | WRITES | {"close", "fsync", "fdatasync", "ftruncate", "fallocate", "lseek", "fcntl",
                          "flock", "fstatfs", "sync_file_range", "fadvise64"}
BY_PATH = {"open": 0, "openat": 1, "creat": 0, "unlink": 0, "unlinkat": 1, "truncate": 0,
           "newfstatat": 1, "stat": 0, "lstat": 0, "statfs": 0, "access": 0, "faccessat": 1,
           "faccessat2": 1, "readlink": 0, "readlinkat": 1, "rename": 0, "chmod": 0, "mkdir": 0}
KINDS = {**dict.fromkeys(READS, "read"), **dict.fromkeys(WRITES, "write"), "openat": "open",
         "creat": "open", "unlinkat": "unlink", "remove": "unlink", "newfstatat": "stat",
         "lstat": "stat", "fadvise64": "posix_fadvise", "posix_fallocate": "fallocate",
         "fstatfs": "statfs", "statvfs": "statfs", "fstatvfs": "statfs", "faccessat": "access", "faccessat2": "access", "readlinkat": "readlink"}
# Side files that MPI-IO keeps for itself.
SIDE = re.compile(r"^\.|\.locktest\.|\.lock$|\.(meta)?data\.\d+$|_cid-.*\.sm$")
# Such files are in a directory of the library's own.
SESSION = re.compile(r"_cid-.*\.sm$")


def run(command, **args):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          timeout=170, check=True, **args).stdout


def whyio(*args, check=True):
    return subprocess.run([os.environ["WHYIO"], *args], stdout=subprocess.PIPE, check=check,
                          timeout=100, text=True).stdout


class Table:
    """(file, kind) -> calls, errors, bytes."""

    def __init__(self, directory):
        self.directory = directory
        self.rows = collections.defaultdict(lambda: [0, 0, 0])

    def add(self, path, op, result, failed):
        path = os.path.normpath(path)
        kind = KINDS.get(op, op)
        if os.path.dirname(path) != self.directory or os.path.basename(path) in OTHERS:
            return
        row = self.rows[os.path.basename(path), kind]
        row[0] += 1
        row[1] += failed
        if kind in ("read", "write") and not failed:
            row[2] += result


def path_of(call, ranks):
    """The file of a call; by name those of the ranks alone: the recorder looks at files, too."""
    if call.name in BY_FD:
        return strace_parse.descriptor(call.args[0])[1].removesuffix(" (deleted)")
    if call.name not in BY_PATH or call.pid not in ranks:
        return None
    at = BY_PATH[call.name]
    base = strace_parse.descriptor(call.args[0])[1] if at == 1 else ranks[call.pid]
    name = strace_parse.quoted(call.args[at])
    return os.path.join(base, name) if name else None


def of_strace(text, directory, program):
    """The program's processes run in the directory."""
    table, ranks = Table(directory), {}
    with open(text, encoding="utf-8", errors="surrogateescape") as lines:
        for call in strace_parse.calls(lines):
            path = path_of(call, ranks)
            if call.name == "execve" and strace_parse.quoted(call.args[0]) == program:
                ranks[call.pid] = directory
            elif path:
                table.add(path, call.name, call.result, bool(call.error))
    return table


def is_counted(event):
    return event["op"] in BY_FD | set(KINDS) | set(BY_PATH) or event["op"] == "fcntl"


def of_trace(events, directory):
    table = Table(directory)
    for event in events:
        if event["path"] and is_counted(event):
            result = event["result"] if event["result"] is not None else 0
            table.add(event["path"], event["op"], result, event["errno"] != 0)
    return table


def differences(seen, found):
    """For each file that strace has seen the program use."""
    for key in sorted(seen.rows.keys() | found.rows.keys()):
        if seen.rows[key] != found.rows[key]:
            yield (f"{key[0]}: {key[1]}: strace {seen.rows[key]}, trace {found.rows[key]} "
                   "(calls, failed, bytes)")


def is_stdio(event):
    return event["op"] in ("fopen", "fclose", "fflush", "fprintf", "vfprintf", "fwrite", "fputs")


def enclosing(events):
    """Each operation that a call of MPI has caused with that call, None where there is none."""
    outer = {}
    for event in sorted(events, key=lambda e: (e["t_ns"], -(e["dur_ns"] or 0))):
        thread = event["pid"], event["tid"]
        call = outer.get(thread)
        if event["op"].startswith("MPI_") or is_stdio(event):
            outer[thread] = event
        elif event["caused"] and not event["op"].startswith("mpi_"):
            is_in = call and event["t_ns"] <= call["t_ns"] + (call["dur_ns"] or 0)
            if not is_in or not is_stdio(call):
                yield event, call if is_in else None


def check_marks(events):
    """Caused by a call of MPI; side files are the library's own, others are not."""
    caused = list(enclosing(events))
    for event, call in caused:
        name = os.path.basename(event["path"] or "")
        if call is None:
            yield f"no call of MPI around {event['op']} of {name} at {event['t_ns']}"
        if event["path"] and bool(SIDE.search(name)) != ("mpi" in event["flags"]):
            yield f"{event['op']} of {name}: flags {event['flags']}"
    if not caused:
        yield "nothing is caused by MPI"


def check_source(events, directory):
    """What an MPI library has done on the program's files is not the program's, and nothing else of
    it is there."""
    for event in events:
        is_mpi = re.match(r"(libmpi|mca_|libmca_|libopen|libromio|libuc|libfabric)",
                          event["source"] or "")
        path = event["path"] or ""
        is_ours = os.path.dirname(path) == directory
        if is_mpi and not is_ours and not SESSION.search(path):
            yield f"the library's own business: {event['op']} of {path}"
        if is_mpi and is_ours and not event["caused"]:
            yield f"not caused: {event['op']} of {path}"


def check_bytes(seen):
    """R-INDEX-2: each byte once."""
    info = json.loads(whyio("info", "--format=json", "trace"))
    for kind, name in ("read", "bytes_read"), ("write", "bytes_written"):
        expected = sum(row[2] for key, row in seen.rows.items() if key[1] == kind)
        if info[name] < expected:
            yield f"info: {name} {info[name]}, strace {expected}"
    if info["dropped"] or not info["complete"]:
        yield f"info: {info['dropped']} dropped, complete: {info['complete']}"


def bytes_of(seen, kind):
    """Of the program's own files: side files are not performed."""
    return sum(row[2] for (name, op), row in seen.rows.items()
               if op == kind and not SIDE.search(name))


def is_own_race(mismatch):
    """Ranks ask for a file's end while another one still sets it: the program's race, and told as one."""
    race = mismatch["race"]
    return (mismatch["op"] == "lseek" and race is not None and race["op"] in ("ftruncate", "pwrite")
            and race["pid"] != mismatch["pid"])


def check_replay(seen):
    """All that is the program's is done again, and nothing else."""
    os.mkdir("target")
    done = json.loads(whyio("replay", "-q", "--format=json", "--root=target", "trace",
                            check=False).splitlines()[-1])
    wrong = [mismatch for mismatch in done["mismatches"] if not is_own_race(mismatch)]
    if wrong or done["mismatch_count"] != len(done["mismatches"]):
        yield f"replay: {done['mismatch_count']} mismatches: {wrong[:5]}"
    for kind in "read", "write":
        name = "bytes_read" if kind == "read" else "bytes_written"
        if done[name] != bytes_of(seen, kind):
            yield f"replay: {name} {done[name]}, strace {bytes_of(seen, kind)}"
    for path, _, names in os.walk("target"):
        for name in names:
            if SIDE.search(name) and not name.startswith(".whyio"):
                yield f"replay: made {os.path.join(path, name)}"


def check_predict():
    """Side files cost, too: all that the trace has."""
    host = os.path.join(os.environ["WHYIO_SOURCE"], "tests/data/predict/host.json")
    cost = json.loads(whyio("predict", "-q", "--format=json", f"--host={host}",
                            "trace").splitlines()[-1])
    info = json.loads(whyio("info", "--format=json", "trace"))
    for name in "bytes_read", "bytes_written":
        if cost[name] != info[name]:
            yield f"predict: {name} {cost[name]}, trace {info[name]}"


def events_of(trace):
    lines = [json.loads(line) for line in whyio("dump", "-q", trace).splitlines()]
    return [line for line in lines if "op" in line and "t_ns" in line]


def check_plain_marks(events):
    """No call of MPI is recorded that could have caused anything."""
    for event in events:
        name = os.path.basename(event["path"] or "")
        if event["caused"] or bool(SIDE.search(name)) != ("mpi" in event["flags"]):
            yield f"{event['op']} of {name}: caused {event['caused']}, flags {event['flags']}"


def faults_of(causal, launcher, program, directory, cases):
    """Recorded with strace beside it."""
    os.mkdir(directory)
    output = run(["strace", "-f", "-y", "-v", "-qq", "-s", "0", "-e", "signal=none", "-e",
                  "trace=%desc,%file,fsync", "-o", "../strace", os.environ["WHYIO"], "record",
                  "-q", "-o", "../trace", causal, "--", *launcher, "-n", str(RANKS),
                  program, directory, *cases], cwd=directory)
    print(output, end="")
    events = events_of("trace")
    seen, found = of_strace("strace", directory, program), of_trace(events, directory)
    print(f"{len(seen.rows)} pairs of file and operation, "
          f"{sum(row[2] for row in seen.rows.values())} bytes")
    yield from differences(seen, found)
    yield from check_bytes(seen)
    if causal == "--causal=off":
        yield from check_plain_marks(events)
    else:
        yield from check_marks(events)
        yield from check_source(events, directory)
        yield from check_replay(seen)
    yield from check_predict()
    whyio("check", "-q", "trace")


def main(*args):
    if args[0] == "--missing" or shutil.which("strace") is None:
        print("there is no", args[1] if args[0] == "--missing" else "strace")
        return 77
    causal = "--causal=observe"
    if args[0].startswith("--causal="):
        causal, *args = args
    cut = args.index("--") if "--" in args else len(args)
    (program, *launcher), cases = args[:cut], args[cut + 1:]
    program = os.path.abspath(program)
    failures = 0
    with tempfile.TemporaryDirectory(prefix="whyio-mpi-io.") as scratch:
        os.chdir(scratch)
        directory = os.path.join(os.path.realpath(scratch), "files")
        for fault in faults_of(causal, launcher, program, directory, cases):
            failures += 1
            print(fault)
        os.chdir("/")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
