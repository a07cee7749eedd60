#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""complete_test.py PROGRAM...: every wrapped name has a coverage case in one of the programs.

Names without an operation of their own (dlclose, MPI_Init ...) make no event: the behaviour tests
look at what they do.
"""

import os
import subprocess
import sys
import tempfile

import ring_reader


def names_of(program, top):
    """The symbols that a program calls; it runs without capture."""
    wanted = os.path.join(top, "wanted")
    subprocess.run([program, wanted], cwd=top, check=True, timeout=120,
                   stdout=subprocess.DEVNULL)
    with open(wanted, encoding="utf-8") as lines:
        return {line.split()[0].removeprefix("call=") for line in lines}


def main(*programs):
    source = os.environ["WHYIO_SOURCE"]
    needed = {row[0] for row in ring_reader.read_tables(source) if row[1] != "unknown"}
    needed &= ring_reader.wrapped_names(source)
    covered = set()
    for program in programs:
        with tempfile.TemporaryDirectory(prefix="whyio-names-") as top:
            covered |= names_of(os.path.abspath(program), top)
    missing = sorted(needed - covered)
    print(f"{len(needed)} names, {len(missing)} without a case: {' '.join(missing)}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
