#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whyio compare on real runs: a program run twice, and a run and its replay.

The program writes a shared file and reads it back. Both runs, and the replay at full speed, must
have these two phases, the same operations on every rank, and the same bytes.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import mpi_environment  # noqa: F401

RANKS = 2
WHYIO = os.environ["WHYIO"]
PROGRAM = os.path.join(os.environ["WHYIO_BUILD"], "examples", "checkpoint")


def run(*arguments, good=(0,)):
    result = subprocess.run(arguments, capture_output=True, text=True,
                            stdin=subprocess.DEVNULL, timeout=60, check=False)
    if result.returncode not in good:
        sys.exit(f"{' '.join(arguments)}: exit status {result.returncode}\n{result.stderr}")
    return result.stdout


def record(name):
    os.mkdir(name)
    run(WHYIO, "record", "-q", "-o", name + ".whyio", "--", "mpirun.openmpi", "--oversubscribe", "-n",
        str(RANKS), PROGRAM, "-d", name)


def both(row):
    return row["a"] and row["b"] and (row["a"]["count"], row["a"]["bytes"]) == (
        row["b"]["count"], row["b"]["bytes"])


def check(title, comparison):
    faults = []
    kinds = [phase["kind"] for phase in comparison["phases"]]
    if kinds != ["write", "read"]:
        faults.append(f"the phases are {kinds}")
    if [row["rank"] for row in comparison["ranks"]] != list(range(RANKS)):
        faults.append(f"the ranks are {comparison['ranks']}")
    files = [row for row in comparison["files"] if row["path"].endswith("/checkpoint.data")]
    if len(files) != 1:
        faults.append(f"the files are {comparison['files']}")
    for row in comparison["phases"] + comparison["ranks"] + files + [comparison["total"]]:
        if not both(row):
            faults.append(f"the sides differ: {row}")
    for phase in comparison["phases"]:
        if phase["a"]["ranks"] != RANKS or not phase["a"]["elapsed_s"] > 0:
            faults.append(f"not all ranks take part: {phase}")
    for fault in faults:
        print(f"{title}: {fault}", file=sys.stderr)
    return not faults


def main():
    if shutil.which("mpirun.openmpi") is None or not os.access(PROGRAM, os.X_OK):
        print("no Open MPI, no program to run", file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory(prefix="whyio-compare.") as directory:
        os.chdir(directory)
        record("one")
        record("two")
        runs = json.loads(run(WHYIO, "compare", "--format=json",
                              "--root-a=" + os.path.realpath("one"),
                              "--root-b=" + os.path.realpath("two"), "one.whyio", "two.whyio"))
        os.mkdir("target")
        lines = run(WHYIO, "replay", "--format=json", "--mode=afap", "--compare", "--root=target",
                    "one.whyio").splitlines()
        replayed = [json.loads(line) for line in lines if '"whyio.compare/1"' in line]
        good = check("two runs", runs) and len(replayed) == 1 and check("replay", replayed[0])
        os.chdir("/")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
