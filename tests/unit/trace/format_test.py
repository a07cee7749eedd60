#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The reader in C and the one written from docs/FORMAT.md print the same trace.

usage: format_test.py TRACE_TEXT TRACE_READER
"""
import difflib
import itertools
import subprocess
import sys
import tempfile


def lines_of(*command):
    run = subprocess.run(command, stdout=subprocess.PIPE, check=True)
    return run.stdout.decode("latin-1").splitlines()


def normal(lines):
    """Tables first and sorted, events by stream and number, as both have them."""
    events = [line for line in lines if line.startswith("event ")]
    events.sort(key=lambda line: tuple(map(int, line.split(" ", 3)[1:3])))
    return sorted(line for line in lines if not line.startswith("event ")) + events


def main(trace_text, trace_reader):
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([trace_text, "make", directory], check=True)
        ours = normal(lines_of(trace_text, directory))
        theirs = normal(lines_of(sys.executable, trace_reader, directory))
    if len(ours) < 45000:
        sys.exit(f"only {len(ours)} lines: the trace is not what it should be")
    if ours != theirs:
        difference = difflib.unified_diff(ours, theirs, "reader in C", "tests/trace_reader.py",
                                          lineterm="", n=0)
        sys.exit("\n".join(itertools.islice(difference, 20)))
    print(f"{len(ours)} lines are the same")


if __name__ == "__main__":
    main(*sys.argv[1:])
