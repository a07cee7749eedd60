#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generated programs that say which operation waited for which, recorded; the edges found beside that truth.

usage: suite.py [--full] [--part=local|held|mpi] [--only=WORDS] PROGRAMS

PROGRAMS is the directory of truth-local and truth-mpi-*. Precision must be 1, recall 0.99, for each
kind of wait, also by holding where nothing can be observed (a flag in shared memory), which must say
that it has proven all; one run alone must only not be wrong there. What was ready before anybody asked for it, so that nobody waited, need not be found
either, and is counted. --full takes more actors, rounds and seeds.
"""
import argparse
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

import truth

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration"))
import mpi_environment  # noqa: E402,F401

TRANSFERS = ("chain", "ring", "halo", "gather", "scatter", "random")
CHANNELS = ("pipe", "socketpair", "tcp", "eventfd", "semaphore", "condition", "file")
LOCKS = ("mutex", "flock", "fcntl")
MPI_KINDS = ("send", "ssend", "isend", "any", "persistent")
IN_TURN = ("chain", "ring", "gather", "scatter")  # each message is received before the next is sent
MPI_ALL = ("barrier", "bcast", "gather", "scatter", "reduce", "allreduce", "alltoall", "scan",
           "ibarrier", "half", "sendrecv", "waitany")
LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.mpich"}
LEAST = {"precision": 1.0, "recall": 0.99}

# Which classes of edges speak of it; whether it can be observed at all.
Case = collections.namedtuple("Case", "family kind command classes is_seen record")
HARD = ("hard", "collective")


def local_cases(programs, full):
    program = os.path.join(programs, "truth-local")
    sizes = (2, 5, 16, 32) if full else (5,)
    seeds = (1, 2, 3) if full else (1,)

    def case(how, medium, pattern, actors, seed=1, classes=HARD, is_seen=True, record=()):
        rounds = 4 if full and actors < 16 else 2
        return Case(how, medium, [program, how, medium, pattern, str(actors), str(rounds), str(seed)],
                    classes, is_seen, record)

    for how in ("processes", "threads"):
        for actors in sizes:
            for medium in CHANNELS:
                for pattern in TRANSFERS if full else ("halo", "random"):
                    for seed in seeds if pattern == "random" else (1,):
                        yield case(how, medium, pattern, actors, seed)
            yield case(how, "barrier", "all", actors)
            yield case(how, "pipe", "queue", max(3, actors), classes=(*HARD, "queue"))
            # Open file descriptions and processes own file locks: fcntl's exclude no threads.
            for lock in LOCKS if how == "processes" else LOCKS[:2]:
                yield case(how, lock, "lock", actors, classes=(*HARD, "mutex"))
    yield case("processes", "shared", "random", 4, is_seen=False)


def held_cases(programs, full):
    """A flag in shared memory: nothing to observe, all to be found by holding."""
    program = os.path.join(programs, "truth-local")
    for how in ("processes", "threads"):
        for actors in (2, 3, 5, 8) if full else (3,):
            for pattern in TRANSFERS if full else ("halo", "random"):
                command = [program, how, "shared", pattern, str(actors), "2", "1"]
                yield Case(how, "shared", command, HARD, True, ("--causal=throttle",))


def mpi_cases(programs, full):
    for family, launcher in LAUNCHERS.items():
        program = os.path.join(programs, "truth-mpi-" + family)
        if not os.path.exists(program) or shutil.which(launcher) is None:
            print(f"skipped: {family} is not installed", file=sys.stderr)
            continue
        for actors in (2, 4, 8, 16) if full else (4,):
            for kind in MPI_KINDS:
                patterns = IN_TURN if kind == "ssend" else TRANSFERS
                for pattern in patterns if full else patterns[-1:]:
                    for seed in (1, 2, 3) if full and pattern == "random" else (1,):
                        yield Case(family, kind, [launcher, "-n", str(actors), program, kind, pattern,
                                                  "3", str(seed)], HARD, True, ())
            for kind in (*MPI_ALL, "mixed") if full else ("mixed",):
                rounds = str(2 * len(MPI_ALL) if kind == "mixed" else 3)
                yield Case(family, kind, [launcher, "-n", str(actors), program, kind, "all", rounds,
                                          "1"], HARD, True, ())


def no_score(reason):
    return truth.Score(1, 0, 1, 0, 1, 0, 0, [reason])


def is_proven(answer):
    """Is that what holding says at its end?"""
    return json.loads(answer.splitlines()[-1])["throttle"]["end"] == "proven"


def run(case, seconds):
    """The score of one run; none at all where the program itself could not run, or not in time."""
    with tempfile.TemporaryDirectory(prefix="whyio-truth.") as scratch:
        command = [os.environ["WHYIO"], "record", "--format=json", "-o", "trace", *case.record,
                   "--", *case.command]
        try:
            done = subprocess.run(command, cwd=scratch, timeout=seconds, check=False, text=True,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        except subprocess.TimeoutExpired:
            return no_score(f"not done after {seconds} s")
        if done.returncode != 0:
            return no_score(f"exit status {done.returncode}: {done.stderr[-500:]}")
        if case.record and not is_proven(done.stderr):
            return no_score(f"not proven: {done.stderr[-500:]}")
        said, trace = truth.Truth(scratch), os.path.join(scratch, "trace")
        if "queue" in case.classes:
            return truth.compare_queue(said, trace)
        return truth.compare(said, truth.Found(trace, case.classes))


class Row:
    """All runs of one kind of wait."""

    def __init__(self):
        self.runs = self.pairs = self.met = self.said = self.right = self.direct = self.named = 0
        self.early = 0

    def add(self, score):
        self.runs += 1
        for name in ("pairs", "met", "said", "right", "direct", "named", "early"):
            setattr(self, name, getattr(self, name) + getattr(score, name))

    def precision(self):
        return self.right / self.said if self.said else 1.0

    def recall(self):
        return min(self.met / self.pairs if self.pairs else 1.0,
                   self.named / self.direct if self.direct else 1.0)


def print_table(rows):
    print("| program | wait | runs | edges | of them found | without a wait | ordered pairs | precision "
          "| recall |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (family, kind), row in rows.items():
        print(f"| {family} | {kind} | {row.runs} | {row.direct:,} | {row.named:,} | {row.early:,} | {row.pairs:,} | "
              f"{row.precision():.4f} | {row.recall():.4f} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--full", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--part", choices=("local", "held", "mpi"), action="append")
    parser.add_argument("programs", type=os.path.abspath)
    options = parser.parse_args()
    rows = collections.defaultdict(Row)
    wanted = {}
    parts = {"local": local_cases, "held": held_cases, "mpi": mpi_cases}
    for part in options.part or parts:
        for case in parts[part](options.programs, options.full):
            if options.only not in " ".join(case.command):
                continue
            score = run(case, 300 if options.full else 40)
            kind = case.kind + (" (held)" if case.record else "" if case.is_seen else
                                " (not observable)")
            rows[case.family, kind].add(score)
            wanted[case.family, kind] = case.is_seen
            if score.faults and case.is_seen:
                print(f"{' '.join(case.command[-6:])}: {'; '.join(score.faults)}", file=sys.stderr)
    if not rows:
        return 77
    print_table(rows)
    failed = [key for key, row in rows.items() if row.precision() < LEAST["precision"] or
              (wanted[key] and row.recall() < LEAST["recall"])]
    for family, kind in failed:
        print(f"missed: {family}, {kind}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
