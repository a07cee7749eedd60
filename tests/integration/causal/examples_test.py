#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example programs under mpirun: their waits are known, and the edges are those.

usage: examples_test.py LAUNCHER DIRECTORY SUFFIX     programs are DIRECTORY/turnsSUFFIX ..
"""
import collections
import os
import shutil
import subprocess
import sys
import tempfile

import graph
import mpi_environment  # noqa: F401

RANKS, ROUNDS = 4, 3


def record(launcher, program, name):
    trace = name + ".whyio"
    subprocess.run([os.environ["WHYIO"], "record", "-q", "-o", trace, "--", launcher, "-n", str(RANKS),
                    program, "-d", ".", "-b", "4K", "-n", str(ROUNDS)], check=True, timeout=100,
                   stdout=subprocess.DEVNULL)
    subprocess.run([os.environ["WHYIO"], "check", "-q", trace], check=True, stdout=subprocess.DEVNULL)
    return graph.Graph(trace)


def pairs(edges, evidence):
    """Which rank waits for which, how often."""
    return collections.Counter((edge["from"]["rank"], edge["to"]["rank"]) for edge in edges.edges
                               if "from" in edge and edge["evidence"] == evidence)


def unmatched(edges):
    return sum(edges.summary["unmatched"].values())


def check_turns(edges):
    """The token goes round: to the right by each rank, the last turn ends at the last rank."""
    expected = collections.Counter({(rank, (rank + 1) % RANKS): ROUNDS for rank in range(RANKS)})
    expected[(RANKS - 1, 0)] -= 1
    if pairs(edges, "mpi") != expected:
        yield f"waits of ranks: {dict(pairs(edges, 'mpi'))}, expected {dict(expected)}"


def check_in_step(edges):
    """Nothing but barriers and what MPI does at its begin and end."""
    if pairs(edges, "mpi"):
        yield f"messages: {dict(pairs(edges, 'mpi'))}"
    if edges.summary["collectives"] < ROUNDS + 2:
        yield f"{edges.summary['collectives']} collectives, expected {ROUNDS} and more"


def check_mesh(edges):
    """Each rank sends its part to rank 0."""
    expected = collections.Counter({(rank, 0): 1 for rank in range(1, RANKS)})
    if pairs(edges, "mpi") != expected:
        yield f"waits of ranks: {dict(pairs(edges, 'mpi'))}, expected {dict(expected)}"


def check_workers(edges):
    """Sections of one lock, one behind the other: each but the first follows the one before it."""
    if pairs(edges, "mpi"):
        yield f"messages: {dict(pairs(edges, 'mpi'))}"
    locks = [edge for edge in edges.edges if edge["evidence"] == "lock"]
    if any(edge["class"] != "mutex" for edge in locks):
        yield "edges of a lock that are of another class"
    if len({edge["object"] for edge in locks}) > 1:
        yield "one lock has several objects"


CHECKS = {"turns": check_turns, "checkpoint-sync": check_in_step, "mesh": check_mesh,
          "workers": check_workers}


def main(launcher, directory, suffix):
    if shutil.which(launcher) is None:
        print(f"skipped: {launcher} is not installed", file=sys.stderr)
        return 77
    failures = 0
    for name, check in CHECKS.items():
        with tempfile.TemporaryDirectory(prefix="whyio-edges.") as scratch:
            os.chdir(scratch)
            edges = record(launcher, os.path.join(directory, name + suffix), name)
            for fault in (*check(edges), *([f"unmatched: {edges.summary['unmatched']}"]
                                           if unmatched(edges) else [])):
                failures += 1
                print(f"{name}: {fault}")
            os.chdir("/")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
