#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Instructions of admission by callgrind, per decision, queue, request and refusal.

usage: admit_micro.py PROGRAM [POLICY ...]      skips (77) without valgrind
"""
import re
import shutil
import subprocess
import sys

ROUNDS = 20000
COLUMNS = (("decide", 4096), ("queue", 4096), ("queue", 1 << 20), ("through", 4096), ("refuse", 4096))


def instructions(program, policy, what, queued, rounds):
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, policy, what, str(queued), str(rounds)]
    result = subprocess.run(command, check=True, text=True, stderr=subprocess.PIPE)
    return int(re.search(r"refs:\s+([\d,]+)", result.stderr)[1].replace(",", ""))


def per_round(program, policy, what, queued):
    """What a second half of rounds adds: without making the shard and filling its queue."""
    few = instructions(program, policy, what, queued, ROUNDS)
    return (instructions(program, policy, what, queued, 2 * ROUNDS) - few) / ROUNDS


def main():
    if not shutil.which("valgrind"):
        print("no valgrind here", file=sys.stderr)
        return 77
    policies = sys.argv[2:] or ["fifo", "hint", "hint-heap", "credit", "drr", "tbf", "mclock"]
    print("| policy | " + " | ".join(f"{what}, {queued}" for what, queued in COLUMNS) + " |")
    print("|---" * (len(COLUMNS) + 1) + "|")
    for policy in policies:
        counts = [per_round(sys.argv[1], policy, what, queued) for what, queued in COLUMNS]
        print(f"| {policy} | " + " | ".join(f"{count:.0f}" for count in counts) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
