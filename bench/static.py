#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `whyio record --static=trace` costs for each system call, beside nothing and beside strace.

usage: static.py [BUILD]      (default: build)

A static program reads one byte of /dev/zero many times by pread. The three ways take turns, and of each the
fastest run counts: other programs on the machine only make runs slower.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

FEW, MANY, ROUNDS = 10, 30000, 12


def timed(command):
    begin = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - begin


def main():
    build = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else "build")
    program = os.path.join(build, "tests", "integration", "record", "traced")
    with tempfile.TemporaryDirectory() as place:
        record = [os.path.join(build, "whyio"), "record", "-q", "--force", "--causal=off", "-o", place + "/t"]
        ways = {"alone": [], "whyio record --static=trace": [*record, "--static=trace", "--"]}
        if shutil.which("strace"):
            ways["strace -f"] = ["strace", "-f", "-o", "/dev/null"]
        best = {}
        for _ in range(ROUNDS):
            for name, words in ways.items():
                for calls in (FEW, MANY):
                    took = timed([*words, program, "calls", str(calls)])
                    best[name, calls] = min(took, best.get((name, calls), took))
    for name in ways:
        each = (best[name, MANY] - best[name, FEW]) / (MANY - FEW)
        print(f"{name:30} {each * 1e6:8.2f} us per call, {best[name, FEW] * 1e3:6.1f} ms for the rest")


if __name__ == "__main__":
    main()
