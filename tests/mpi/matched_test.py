#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""matched_test.py PROGRAM MPIRUN CASE...: each message and each collective of the program meets its
other half, no members contradict each other, and the edges form no cycle."""

import json
import os
import subprocess
import sys
import tempfile

import mpi_environment  # noqa: F401

# Not every half is there: what these do to their ranks ends messages and collectives.
PARTIAL = {"faults"}


def whyio(*args):
    return subprocess.run([os.environ["WHYIO"], *args], stdout=subprocess.PIPE, check=True,
                          timeout=100, text=True).stdout


def faults_of(program, launcher, case):
    os.mkdir("work")
    # What the program itself says of its calls is the business of another test.
    subprocess.run([os.environ["WHYIO"], "record", "-q", "-o", "trace", "--", *launcher, program,
                    "work", case], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                   timeout=100)
    summary = json.loads(whyio("edges", "trace").splitlines()[-1])
    whyio("check", "-q", "trace")
    if summary["edges"] + summary["collectives"] == 0:
        yield "no edges"
    if case not in PARTIAL and any(summary["unmatched"].values()):
        yield f"unmatched: {summary['unmatched']}"


def main(program, mpirun, *cases):
    program = os.path.abspath(program)
    launcher = [mpirun, "-n", "4", *(["--oversubscribe"] if "openmpi" in mpirun else [])]
    failures = 0
    for case in cases:
        with tempfile.TemporaryDirectory(prefix="whyio-matched.") as scratch:
            os.chdir(scratch)
            for fault in faults_of(program, launcher, case):
                failures += 1
                print(f"{case}: {fault}")
            os.chdir("/")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
