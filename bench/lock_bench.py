#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a lock costs with 1, 64 and 1,024 active transactions: ns (median of 5 runs) and instructions
(valgrind, the difference of two lengths) for one to begin, lock and end, beside a list that is
searched from end to end.

usage: lock_bench.py BUILDDIR
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile


def run_ns(program, case, active):
    rounds = "20000" if case == "hot" else "200000"
    return statistics.median(float(subprocess.run([program, case, str(active), rounds], check=True, text=True,
                                                  stdout=subprocess.PIPE).stdout) for _ in range(5))


def count(program, case, active, rounds):
    with tempfile.TemporaryDirectory() as scratch:
        done = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={os.path.join(scratch, 'out')}",
                               program, case, str(active), str(rounds)], check=True, text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])


def instructions(program, case, active):
    return (count(program, case, active, 2000) - count(program, case, active, 1000)) / 1000


def main():
    program = os.path.join(sys.argv[1], "bench", "lock_bench")
    print("| case | active | ns | instructions | ns / list |\n|---|---|---|---|---|")
    for active in (1, 64, 1024):
        base = run_ns(program, "list", active)
        for case in ("disjoint", "hot", "list"):
            ns = run_ns(program, case, active)
            print(f"| {case} | {active} | {ns:.0f} | {instructions(program, case, active):.0f} | {ns / base:.2f} |",
                  flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
