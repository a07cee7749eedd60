#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""complete_test.py LIBRARY PROGRAM...: of all names of MPI that are wrapped and that the library has
too, each is called by one of the programs.

LIBRARY is a text that the path of the MPI library (of a Fortran interface of it) contains."""

import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["WHYIO_SOURCE"], "scripts"))
import gen_calls  # noqa: E402

# Called by a program that is made only where a library lets it: see tests/mpi/meson.build.
FORTRAN = re.compile(r"^(mpi|mpix)_")
# Other compilers' spellings of Fortran's names: spellings_test tries each kind.
OTHER_SPELLINGS = re.compile(r"^mpix?_.*(__|[^_])$|^MPIX?_[A-Z_]+$")


def symbols(path, which):
    output = subprocess.run(["nm", "-D", which, path], check=True, capture_output=True, text=True,
                            timeout=60).stdout
    return {line.split()[-1].split("@")[0] for line in output.splitlines()}


def libraries(program, text):
    """The MPI libraries that a program is linked with."""
    output = subprocess.run(["ldd", program], check=True, capture_output=True, text=True,
                            timeout=60).stdout
    return [path for path in re.findall(r"=> (\S+)", output)
            if re.search(text, os.path.basename(path))]


def main(text, *programs):
    table = os.path.join(os.environ["WHYIO_SOURCE"], "src/ops/calls.def")
    rows = [row for row in gen_calls.read_table(table) if row.how == "mpi"]
    wrapped = {name for row in rows for name in row.exports()}
    wrapped = {name for name in wrapped if not OTHER_SPELLINGS.search(name)}
    there, called = set(), set()
    for program in programs:
        for library in libraries(program, text):
            there |= symbols(library, "--defined-only")
        called |= symbols(program, "--undefined-only")
    needed = wrapped & there
    missing = sorted(needed - called)
    print(f"{len(needed)} names, {len(missing)} without a case: {' '.join(missing)}")
    return 1 if missing or not needed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
