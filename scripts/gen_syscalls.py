#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generate the rules of syscall(2) from the notes nr= of src/ops/calls.def.

    gen_syscalls.py calls.def ops.def syscall_rules_gen.h

A note nr=NUMBER[?][:KIND][(FIELD=N,..)] of a row says that SYS_NUMBER is recorded as the row's symbol
(? = a number that not every machine has). Which argument is what follows from the row's prototype and
notes, as does the kind (enum wio_raw_kind of src/ops/syscall_rules.h) where none is given; fields
in brackets differ from that. Two kinds are no rules: OWN, our wrapper cap_number_NUMBER (or the function
in brackets) performs the call; CLONE, a child may run in the caller's memory.
"""
import re
import sys

import gen_calls

NOTE = re.compile(r"(\w+)(\??)(?::(\w+))?(?:\(([^)]*)\))?")
# What a hook after the call does: the kind, and whether its argument is what the rule's extra names.
AFTER = {"open": ("OPEN", False), "memfd": ("MEMFD", False), "seek": ("SEEK", False), "chdir": ("CHDIR", False),
         "eventfd": ("NEW_FD", False), "socket": ("NEW_FD", False), "channel": ("PAIR", True),
         "stat": ("STAT", True), "statx": ("STATX", True), "timespecs": ("TIMES", True),
         "timevals": ("TIMEVALS", True), "utimbuf": ("UTIMBUF", True)}
FIELDS = ("fd", "dirfd", "path", "fd2", "dirfd2", "path2", "size", "offset")


class Rule:
    """Kind and fields of a row's system call; fields are numbers of arguments."""

    def __init__(self, row, cls):
        self.row = row
        declared, names = gen_calls.split_prototype(row.prototype)[1:] if row.prototype else ([], [])
        if row.note("vararg") is not None:
            names = [*names, row.note("vararg")]
        self.at = {name: number for number, name in enumerate(names, 1)}
        self.fields = {name: self.at[name] for name in FIELDS if name in self.at}
        self.kind = self.find_kind(cls, declared)
        for number in range(4):
            name = re.sub(r"^\(\w+\)", "", row.note(f"arg{number}") or "")
            if name in self.at:
                self.fields[f"arg[{number}]"] = self.at[name]

    def extra(self, field, name):
        if name in self.at:
            self.fields[field] = self.at[name]

    def find_kind(self, cls, declared):
        row = self.row
        if "iov" in self.at:
            self.extra("extra", "iov")
            self.extra("extra2", "count")
            return "VECTOR"
        if row.note("copy") is not None:
            self.fields.pop("offset", None)
            self.extra("extra", "offset")
            self.extra("extra2", "offset2")
            return "COPY"
        hook, _, rest = (row.note("after") or "").partition("(")
        if hook in AFTER:
            kind, has_extra = AFTER[hook]
            if has_extra:
                self.extra("extra", rest.rstrip(")"))
            return kind
        kind, _, rest = (row.note("path2") or "").partition("(")
        if kind:
            self.extra("extra", re.match(r"\w+", rest).group())
            return "TEXT_OUT" if kind == "text" else "TEXT"
        if row.note("pos") is not None:
            return "POSITION"
        is_short = cls in gen_calls.SHORT_CLASSES and declared and not gen_calls.Wrapper(row, cls).has_ext()
        return "SHORT" if is_short and row.note("arg0") is not None else "PLAIN"

    def line(self, number, kind, given):
        fields = self.fields | {re.sub("^arg(.)$", r"arg[\1]", name): int(value) for name, value in given.items()}
        parts = [f".kind = WIO_RAW_{kind or self.kind}"]
        parts += [f".{name} = {at}" for name, at in fields.items() if at != 0]
        return f"RULE({number}, {self.row.symbol}, {', '.join(parts)})"


def lines_of(row, cls):
    """(line, is it there on each machine?) for each note of the row."""
    for note in row.notes:
        if not note.startswith("nr="):
            continue
        match = NOTE.fullmatch(note[len("nr="):])
        if not match:
            sys.exit(f"calls.def: {row.symbol}: {note}: nr=NUMBER[?][:KIND][(FIELD=N,..)] expected")
        number, optional, kind, inside = match.groups()
        if kind == "OWN":
            yield f"OWN({number}, {inside or 'cap_number_' + number})", not optional
        elif kind == "CLONE":
            yield f"CLONE({number})", not optional
        else:
            given = dict(part.split("=") for part in inside.split(",")) if inside else {}
            yield Rule(row, cls).line(number, kind, given), not optional


def main(table, operations, output):
    classes = gen_calls.read_classes(operations)
    with open(output, "w", encoding="ascii") as out:
        out.write("/* Generated from calls.def by gen_syscalls.py: RULE(number, symbol, fields of struct\n"
                  " * wio_raw_rule), OWN(number, function), CLONE(number). */\n")
        out.writelines(f"#ifndef {name}\n#define {name}(...)\n#endif\n" for name in ("RULE", "OWN", "CLONE"))
        for row in gen_calls.read_table(table):
            for line, is_everywhere in lines_of(row, classes.get(row.op)) if not row.alias else ():
                number = re.search(r"\((\w+)", line).group(1)
                out.write(f"{line}\n" if is_everywhere else f"#ifdef SYS_{number}\n{line}\n#endif\n")
        out.writelines(f"#undef {name}\n" for name in ("RULE", "OWN", "CLONE"))


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
