#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What lines of Python programs cost while they are recorded: processor time of `os.write` of one byte to /dev/null,
without a recorder, recorded without call stacks, and recorded with lines. Medians of interleaved runs.

usage: python_lines.py [--build=build] [--rounds=7]
"""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

CALLS = 300000
PROGRAM = f"""
import os, sys, time
fd = os.open("/dev/null", os.O_WRONLY)
def work():
    begin = time.thread_time_ns()
    for _ in range({CALLS}):
        os.write(fd, b"x")
    print((time.thread_time_ns() - begin) / {CALLS}, file=sys.stderr)
def deep(depth):
    work() if depth == 0 else deep(depth - 1)
deep(int(sys.argv[1]))
"""


def measure(whyio, stacks, depth, directory):
    program = os.path.join(directory, "program.py")
    with open(program, "w", encoding="ascii") as file:
        file.write(PROGRAM)
    recorder = [] if stacks is None else [whyio, "record", "-q", "--force", "-o", os.path.join(directory, "t"),
                                          f"--stacks={stacks}", "--"]
    done = subprocess.run([*recorder, sys.executable, program, str(depth)], stderr=subprocess.PIPE, text=True,
                          check=True)
    return float(done.stderr.split()[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=7)
    args = parser.parse_args()
    whyio = os.path.abspath(os.path.join(args.build, "tools", "whyio", "whyio"))
    ways = [(stacks, depth) for depth in (0, 20) for stacks in (None, "never", "sampled")]
    found = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as directory:
        for _ in range(args.rounds):
            for way in ways:
                found[way].append(measure(whyio, *way, directory))
    print("| `os.write`, functions above it | no recorder, ns | without stacks | with lines |\n|---|---|---|---|")
    for depth in (0, 20):
        row = [statistics.median(found[(stacks, depth)]) for stacks in (None, "never", "sampled")]
        print(f"| {depth} | " + " | ".join(f"{value:.0f}" for value in row) + " |")


if __name__ == "__main__":
    main()
