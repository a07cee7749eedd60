#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whyio beside other tracers, in one run: `make bench`.

    run.py [--quick | --full] [--json=FILE] [--only=SECTION,...]

Times on a shared machine wander, so what is compared takes turns, and what counts are ratios, and the
number of instructions, which does not wander. Exit 1 if a target is missed.
"""
import argparse
import json
import os
import sys
import tempfile

import causality
import runs
import sections
import stacks
from table import Table

SECTIONS = {
    "calls": sections.calls,
    "instructions": sections.instructions,
    "runs": runs.runs,
    "size": sections.size,
    "trace": sections.trace,
    "replay": sections.replay,
    "start": sections.start,
    "mpi": sections.mpi,
    "stacks": stacks.stacks,
}
EXTRA = {"gate": sections.gate, "causality": causality.causality}


def directory_for_files():
    """tmpfs where there is one: the tracer is measured, not the disk."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    parser.add_argument("--full", action="store_true", help="traces of 100 M events, too")
    parser.add_argument("--json", metavar="FILE", help="write the figures there, too")
    parser.add_argument("--only", default=",".join(SECTIONS), metavar="SECTION,...")
    options = parser.parse_args()
    sections_by_name = {**SECTIONS, **EXTRA}
    unknown = sorted(set(options.only.split(",")) - set(sections_by_name))
    if unknown:
        parser.error(f"no section {', '.join(unknown)}: there are {', '.join(sections_by_name)}")
    results = []
    with tempfile.TemporaryDirectory(prefix="whyio-bench-", dir=directory_for_files()) as place:
        bench = sections.Bench(place, options.quick, options.full)
        for name in options.only.split(","):
            table = Table(name)
            sections_by_name[name](bench, table)
            table.show()
            results += table.rows
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    missed = [row for row in results if row["met"] is False]
    for row in missed:
        print(f"missed: {row['what']}: {row['value']} (target {row['target']})", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
