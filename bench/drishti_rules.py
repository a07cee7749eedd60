#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the rules of Drishti say of a trace, beside what `whyio explain` says.

usage: drishti_rules.py TRACE..           the rules that fire, one trace a line
       drishti_rules.py --suite BUILD     a table (Markdown) over the diagnosis programs

The rules count what Darshan counts: operations of POSIX, stdio and MPI-IO apart, over the whole run.
Their thresholds are those of drishti_rules.json. The suite records the slow variant of each program
of tests/diagnosis, so it needs FUSE and Open MPI.
"""
import collections
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.realpath(__file__))
READS = {"read", "pread", "readv", "preadv", "preadv2"}
WRITES = {"write", "pwrite", "writev", "pwritev", "pwritev2"}
STDIO_READS = {"fread", "fgets", "fgetc", "getc", "fscanf", "getline", "getdelim"}
STDIO_WRITES = {"fwrite", "fputs", "fputc", "putc", "fprintf", "vfprintf", "puts", "printf"}
STDIO_OTHERS = {"fopen", "fclose", "fflush", "fseek", "fseeko", "rewind", "setvbuf"}
NAMES = {"open", "creat", "close", "stat", "lstat", "fstat", "statx", "access", "unlink", "rename",
         "mkdir", "rmdir", "opendir", "readdir", "closedir", "fsync", "fdatasync", "lseek"}


def limits():
    with open(os.path.join(HERE, "drishti_rules.json"), encoding="utf-8") as file:
        return json.load(file)


class Counts:
    """Of one trace, as Darshan has them."""

    def __init__(self):
        self.posix = {"read": [], "write": []}  # (rank, path, offset, bytes, seconds)
        self.stdio_bytes = 0
        self.mpi = collections.Counter()  # independent, collective, nonblocking
        self.metadata_s = collections.Counter()  # by rank
        self.ranks = set()
        self.hosts = set()
        self.aggregators = set()
        self.callers = {}  # thread -> the last operation that no other one caused

    def add(self, event):
        thread = (event["host"], event["pid"], event["tid"])
        rank = event["rank"]
        op = event["op"]
        if rank is not None:
            self.ranks.add(rank)
        self.hosts.add(event["host"])
        if not event["caused"]:
            self.callers[thread] = op
        caller = self.callers.get(thread, op) if event["caused"] else op
        is_stdio = caller in STDIO_READS | STDIO_WRITES | STDIO_OTHERS
        path = event["path"] or ""
        if op in STDIO_READS | STDIO_WRITES:
            self.stdio_bytes += max(event["result"] or 0, 0)
        elif op.startswith("MPI_File_") and ("read" in op or "write" in op):
            self.add_mpi(op)
        if not path.startswith("/") or path.startswith(("/proc/", "/sys/", "/dev/")):
            return
        seconds = (event["dur_ns"] or 0) / 1e9
        if op in READS | WRITES and not is_stdio and (event["result"] or 0) > 0:
            kind = "read" if op in READS else "write"
            self.posix[kind].append((rank, path, event["offset"], event["result"], seconds))
            if event["caused"] and caller.startswith("MPI_File_") and "_all" in caller:
                self.aggregators.add(rank)
        elif op in NAMES:
            self.metadata_s[rank if rank is not None else thread] += seconds

    def add_mpi(self, op):
        if op.startswith(("MPI_File_iread", "MPI_File_iwrite")):
            self.mpi["nonblocking"] += 1
        elif "_all" in op or "_ordered" in op:
            self.mpi["collective"] += 1
        else:
            self.mpi["independent"] += 1


def transfers(counts):
    return counts.posix["read"] + counts.posix["write"]


def rule_stdio(counts, limit):
    everything = counts.stdio_bytes + sum(row[3] for row in transfers(counts))
    if everything and counts.stdio_bytes > limit["stdio_part_of_bytes"] * everything:
        yield "stdio"


def rule_small(counts, limit):
    for kind, rows in counts.posix.items():
        small = sum(row[3] < limit["small_bytes"] for row in rows)
        if rows and small > limit["small_part"] * len(rows) and small >= limit["small_count"]:
            yield f"small {kind}s"


def rule_misaligned(counts, limit):
    rows = transfers(counts)
    block = limit["alignment_bytes"]
    if rows and sum((row[2] or 0) % block != 0 for row in rows) > limit["misaligned_part"] * len(rows):
        yield "misaligned"


def rule_random(counts, limit):
    for kind, rows in counts.posix.items():
        ends = {}
        random = 0
        for rank, path, offset, size, _ in rows:
            if offset is None:
                continue
            random += offset < ends.get((rank, path), 0)
            ends[rank, path] = offset + size
        if rows and random > limit["random_part"] * len(rows) and random >= limit["random_count"]:
            yield f"random {kind}s"


def rule_redundant(counts, _):
    for kind, rows in counts.posix.items():
        moved, highest = collections.Counter(), collections.Counter()
        for _, path, offset, size, _ in rows:
            moved[path] += size
            highest[path] = max(highest[path], (offset or 0) + size)
        if any(moved[path] > highest[path] for path in moved):
            yield f"redundant {kind}s"


def rule_metadata(counts, limit):
    if any(seconds > limit["metadata_s"] for seconds in counts.metadata_s.values()):
        yield "metadata"


def rule_ranks(counts, limit):
    """Stragglers in time, and bytes that lie apart, over ranks."""
    if len(counts.ranks) < 2:
        return
    seconds = {rank: 0.0 for rank in counts.ranks}
    moved = {rank: 0 for rank in counts.ranks}
    for rank, _, _, size, took in transfers(counts):
        if rank is not None:
            seconds[rank] += took
            moved[rank] += size
    for sums, part, name in ((seconds, limit["straggler_part"], "stragglers"),
                             (moved, limit["imbalance_part"], "imbalance")):
        most, least = max(sums.values()), min(sums.values())
        if most > 0 and (most - least) / most > part:
            yield name


def rule_mpi(counts, limit):
    blocking = counts.mpi["independent"] + counts.mpi["collective"]
    if blocking >= limit["collective_count"] and \
            counts.mpi["collective"] < limit["collective_part"] * blocking:
        yield "independent"
    if blocking and not counts.mpi["nonblocking"]:
        yield "blocking MPI-IO"
    if counts.mpi["collective"] and len(counts.aggregators) != len(counts.hosts):
        yield "aggregators"
    if len(counts.ranks) > 1 and not blocking and transfers(counts):
        yield "no MPI-IO"


RULES = (rule_stdio, rule_small, rule_misaligned, rule_random, rule_redundant, rule_metadata,
         rule_ranks, rule_mpi)


def rules_of(whyio, trace):
    """Names of the rules that fire."""
    counts = Counts()
    with subprocess.Popen([whyio, "dump", trace], stdout=subprocess.PIPE, encoding="utf-8",
                          errors="replace") as dump:
        for line in dump.stdout:
            event = json.loads(line)
            if "op" in event:  # a summary comes last
                counts.add(event)
    if dump.returncode != 0:
        sys.exit(f"drishti_rules.py: whyio dump {trace} failed")
    limit = limits()
    return [name for rule in RULES for name in rule(counts, limit)]


def suite(build):
    os.environ["WHYIO"] = os.path.join(build, "tools", "whyio", "whyio")
    os.environ["WHYIO_BUILD"] = build
    os.environ["LD_LIBRARY_PATH"] = f"{build}/src/capture:{build}/tests/diagnosis"
    sys.path.insert(0, os.path.join(HERE, "..", "tests", "diagnosis"))
    import diagnosis_test as diagnosis  # pylint: disable=import-outside-toplevel
    print("| program | finding | rules that fire |\n|---|---|---|")
    for name, case in diagnosis.CASES.items():
        with tempfile.TemporaryDirectory(prefix="whyio-rules.") as scratch:
            trace = diagnosis.record(name, "slow" if case.kind else "mended", case, scratch)
            fired = rules_of(diagnosis.WHYIO, trace)
        kind = case.kind if isinstance(case.kind, tuple) else (case.kind or "none",)
        print(f"| {name} | {', '.join(kind)} | {', '.join(fired) or '-'} |", flush=True)


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--suite":
        suite(os.path.realpath(sys.argv[2]))
    elif len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        for trace in sys.argv[1:]:
            fired = rules_of(os.environ.get("WHYIO", "whyio"), trace)
            print(f"{trace}: {', '.join(fired) or 'none'}")
    else:
        print(__doc__, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
