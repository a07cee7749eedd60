#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far the edges of //TRACE's throttling lie from the true ones, for several sampling periods.

usage: distance.py [--only=P] PROGRAMS

//TRACE (FAST 2007), of a sampling period p: "the causality engine will discover dependencies within
[p] operations of the true dependency", and the period "determines how many data dependencies are
discovered". Counted, not timed: a generated program (truth-local) says which operation each actor
waited for; of each such edge the distance is how many operations earlier the last signal lies that
orders the same waiting operation. Where there is none, it is the way from the actor's begin.
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile

import truth

PERIODS = {1: 20, 10: 60, 100: 60}  # the period, and how many rounds the program goes
PATTERN = ("processes", "shared", "ring", "3")
Result = collections.namedtuple("Result", "found distances wrong")


def held_operations(trace):
    """Of each thread the numbers of the operations that can be held, in order."""
    held = collections.defaultdict(list)
    for line in truth.graph.lines("dump", trace)[:-1]:
        if "hold" in line["flags"]:
            held[truth.graph.thread(line)].append(line["seq"])
    return held


def distance(found, held, edge):
    """In operations of the actor that is waited for."""
    _, (source, mark), (target, later) = edge
    thread, other = found.threads[source], found.threads[target]
    true = held[thread].index(found.seqs[source][mark])
    waiting = found.seqs[target][later]
    for back in range(true + 1):
        reached = found.graph.after((thread, held[thread][true - back]))
        if reached.get(other, truth.NEVER) <= waiting:
            return back
    return true + 1


def measure(program, period):
    command = [os.environ["WHYIO"], "record", "--format=json", "-o", "trace", "--causal=throttle",
               "--method=trace", f"--period={period}", "--", program, *PATTERN, str(PERIODS[period]), "1"]
    with tempfile.TemporaryDirectory(prefix="whyio-distance.") as scratch:
        done = subprocess.run(command, cwd=scratch, check=False, text=True, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE)
        throttle = json.loads(done.stderr.splitlines()[-1])["throttle"]
        if done.returncode != 0 or throttle["end"] != "merged" or throttle["period"] != period:
            sys.exit(f"period {period}: exit status {done.returncode}: {done.stderr[-800:]}")
        trace = os.path.join(scratch, "trace")
        said, found, held = truth.Truth(scratch), truth.Found(trace, ("hard",)), held_operations(trace)
        score = truth.compare(said, found)
        # A process that is not made yet cannot be seen to wait for its maker.
        edges = [edge for edge in said.edges if edge[0] != "begin"]
        return Result(throttle["found"], [distance(found, held, edge) for edge in edges],
                      score.said - score.right)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", type=int, choices=PERIODS)
    parser.add_argument("programs", type=os.path.abspath)
    options = parser.parse_args()
    program = os.path.join(options.programs, "truth-local")
    print("| period | waits | edges found by holding | a wait | farthest | mean | false orders |")
    print("|---|---|---|---|---|---|---|")
    failed = False
    for period in [options.only] if options.only else PERIODS:
        result = measure(program, period)
        waits, far = len(result.distances), max(result.distances)
        print(f"| {period} | {waits} | {result.found} | {result.found / waits:.2f} | {far} | "
              f"{sum(result.distances) / waits:.2f} | {result.wrong} |", flush=True)
        failed = failed or far >= period or result.wrong > 0 or waits <= period
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
