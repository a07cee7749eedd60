#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generate the parts of whyio that follow from the table of wrapped calls, src/trace/calls.def."""

import sys


def read_table(path):
    """Rows of (symbol, operation, how, prototype)."""
    rows = []
    with open(path, encoding="ascii") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                rows.append(tuple(part.strip() for part in line.split("|", 3)))
    return rows


def write_header(rows, out):
    """enum wio_call and the X-macro list behind src/trace/calls.c."""
    out.write("/* Generated from calls.def by gen_calls.py. */\n")
    out.write("enum wio_call {\n    WIO_CALL_none = 0,\n")
    for symbol, *_ in rows:
        out.write(f"    WIO_CALL_{symbol},\n")
    out.write("    WIO_CALL_COUNT\n};\n\n#define WIO_CALL_LIST(X) \\\n")
    out.write(" \\\n".join(f"    X({symbol}, {op})" for symbol, op, *_ in rows))
    out.write("\n")


WRITERS = {"header": write_header}


def main(what, table, output):
    with open(output, "w", encoding="ascii") as out:
        WRITERS[what](read_table(table), out)


if __name__ == "__main__":
    main(*sys.argv[1:])
