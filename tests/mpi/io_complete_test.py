#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""io_complete_test.py LIBRARY PROGRAM...: the program of io_test.py calls each function of MPI-IO that
the library has, by one of its forms.

LIBRARY is a text that the path of the MPI library contains."""

import re
import sys

import complete_test

# No I/O of their own.
OTHERS = re.compile(r"_errhandler$|_c2f$|_f2c$|_fromint$|_toint$")


def main(text, *programs):
    there, called = set(), set()
    for program in programs:
        for library in complete_test.libraries(program, text):
            there |= complete_test.symbols(library, "--defined-only")
        called |= complete_test.symbols(program, "--undefined-only")
    needed = {name.removesuffix("_c") for name in there if name.startswith("MPI_File_")}
    needed = {name for name in needed if not OTHERS.search(name)}
    missing = sorted(needed - {name.removesuffix("_c") for name in called})
    print(f"{len(needed)} functions, {len(missing)} without a case: {' '.join(missing)}")
    return 1 if missing or len(needed) < 50 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
