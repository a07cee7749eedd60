#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generate the wrappers of MPI from the rows of src/ops/calls.def whose column how is "mpi".

    gen_mpi.py wrappers calls.def wrap_mpi_gen.c     one body per row, its C names
    gen_mpi.py doors    calls.def mpi_doors_gen.c    what Fortran calls: notes who calls, jumps on
    gen_mpi.py bodies   calls.def mpi_bodies_gen.h   prototypes of the bodies written by hand
"""

import re
import sys

import gen_calls

LETTERS = {"*": "void *{}", ".": "int {}", ":": "int64_t {}", "": "cap_mpi_word {}"}


class Form:
    """A row with counts of one width: "" or "_c"."""

    def __init__(self, row, suffix):
        self.row, self.suffix = row, suffix
        parts = [re.fullmatch(r"(\w+)(\W?)", part).groups()
                 for part in row.prototype.split() if part != "void"]
        self.names = [name for name, _ in parts]
        letters = dict(LETTERS, **{"#": "int64_t {}" if suffix else "int {}"})
        self.declared = [letters[letter].format(name) for name, letter in parts]
        self.body = f"cap_mpi_{row.symbol}{suffix}"

    def expand(self, text):
        """WIDE(P): the array and the bytes of one of its elements."""
        return re.sub(r"WIDE\((\w+)\)", rf"\1, {8 if self.suffix else 4}", text)

    def parameters(self):
        return ", ".join(["uintptr_t caller", "unsigned symbol", *self.declared])

    def hook(self, when):
        text = self.row.note(when)
        if text is None:
            return None
        name, _, rest = text.partition("(")
        arguments = "".join(f", {part}" for part in self.expand(rest[:-1]).split(",") if part)
        return f"cap_mpi_{when}_{name}(&m{arguments});"

    def size(self):
        given = self.expand(self.row.note("size"))
        return f"m.ev.size = m.result == 0 ? (uint64_t)({given}) : WIO_NO_SIZE;"

    def lines(self):
        row, types = self.row, ", ".join(self.declared) or "void"
        wants_status = re.search(r"\bstatus\b", row.note("after")) and "status" in self.names
        is_file = "true" if row.note("files") is not None else "false"
        state = "POLLING" if row.note("poll") is not None else "IN_MPI"
        yield f"static int {self.body}({self.parameters()})"
        yield "{"
        yield f"    int (*call)({types}) = (int (*)({types}))cap_mpi_real(symbol);"
        yield "    struct cap_mpi m;"
        if row.note("names") is not None:
            yield f"    cap_mpi_io_name({row.note('names')});"
        yield f"    if (!cap_mpi_enter(&m, WIO_CALL_{row.symbol}, caller, {is_file})) {{"
        yield f"        return call({', '.join(self.names)});"
        yield "    }"
        if self.hook("before"):
            yield f"    {self.hook('before')}"
        if wants_status:
            yield "    status = cap_mpi_status(&m, status);"
        yield f"    cap_mpi_begin(&m, CAP_STATE_{state});"
        yield f"    cap_mpi_end(&m, call({', '.join(self.names)}));"
        if row.note("offset") is not None:
            yield "    m.ev.offset = offset;"
        if row.note("size"):
            yield f"    {self.size()}"
        yield f"    {self.hook('after')}"
        yield "    return cap_mpi_leave(&m);"
        yield "}"

    def entry(self, name, number):
        signature = f"int {name}({', '.join(self.declared) or 'void'})"
        arguments = ", ".join(["CAP_CALLER()", f"{number}u", *self.names])
        return [f"CAP_EXPORT {signature};", f"CAP_EXPORT {signature}", "{",
                f"    return {self.body}({arguments});", "}"]


def forms(row):
    """The forms of a row, each with its C names."""
    yield Form(row, ""), row.mpi_names("")
    if row.note("c") is not None:
        yield Form(row, "_c"), row.mpi_names("_c")


def write_names(names, out):
    """One object and places in it: a table of pointers would have to be relocated."""
    fields = "".join(f"    char n{i}[{len(name) + 1}];\n" for i, name in enumerate(names))
    texts = "".join(f'    "{name}",\n' for name in names)
    places, at = [], 0
    for name in names:
        places.append(str(at))
        at += len(name) + 1
    out.write(f"static cap_function *reals[{len(names)}];\n\n"
              f"static const struct {{\n{fields}}} names = {{\n{texts}}};\n\n"
              f"static const uint16_t places[] = {{{', '.join(places)}}};\n\n"
              "static const char *name_of(unsigned number)\n{\n"
              "    return (const char *)&names + places[number];\n}\n\n")


def write_wrappers(rows, out):
    names, text = [], []
    for row in rows:
        for form, symbols in forms(row):
            if row.note("own") is None:
                text += ["", *form.lines()]
            for symbol in symbols:
                text += ["", *form.entry(symbol, len(names))]
                names.append(symbol)
    out.write('#include "capture/mpi_bodies_gen.h"\n#include "capture/mpi/mpi_hooks.h"\n'
              '#include "capture/mpi/mpi_io.h"\n\n')
    write_names(names, out)
    out.write("cap_function *cap_mpi_real(unsigned symbol)\n{\n"
              "    cap_function *found = __atomic_load_n(&reals[symbol], __ATOMIC_RELAXED);\n"
              "    return CAP_LIKELY(found != NULL)\n"
              "               ? found\n"
              "               : cap_mpi_find_real(&reals[symbol], name_of(symbol));\n}\n")
    out.write("\n".join(text) + "\n")


def write_doors(rows, out):
    names = [name for row in rows for name in row.fortran_names()]
    out.write('#include "capture/mpi/mpi_doors.h"\n\n')
    write_names(names, out)
    out.write("cap_function *cap_mpi_pass(unsigned door, uintptr_t caller)\n{\n"
              "    cap_mpi_door = caller;\n"
              "    cap_function *found = __atomic_load_n(&reals[door], __ATOMIC_RELAXED);\n"
              "    return found != NULL ? found : cap_mpi_find_real(&reals[door], name_of(door));\n"
              "}\n\nCAP_MPI_PASSAGE\n")
    for number, name in enumerate(names):
        out.write(f"CAP_MPI_DOOR({name}, {number})\n")


def write_bodies(rows, out):
    out.write('#include "capture/mpi/mpi.h"\n')
    for row in rows:
        if row.note("own") is not None:
            form = Form(row, "")
            out.write(f"int {form.body}({form.parameters()}) CAP_HIDDEN;\n")


WRITERS = {"wrappers": write_wrappers, "doors": write_doors, "bodies": write_bodies}


def main(what, table, output):
    rows = [row for row in gen_calls.read_table(table) if row.how == "mpi"]
    with open(output, "w", encoding="ascii") as out:
        out.write("/* Generated from calls.def by gen_mpi.py. */\n")
        WRITERS[what](rows, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
