#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generate the parts of whyio that follow from the table of wrapped calls, src/ops/calls.def.

    gen_calls.py header   calls.def calls_gen.h    enum wio_call, the list, its hash
    gen_calls.py wrappers calls.def wrap_gen.c     the plain wrappers
    gen_calls.py map      calls.def capture.map    the symbols that the library exports
    gen_calls.py names    calls.def names.txt      one wrapped name per line (for the coverage test)
    gen_calls.py page     calls.def CAPTURE.md     renew the catalogue in a hand-written page
    gen_calls.py check-page calls.def CAPTURE.md   fail where that was forgotten
"""

import os
import re
import sys

# Operations that come by the million: their wrappers are inlined whole.
HOT = {"read", "write", "pread", "pwrite"}
CLASSES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../include/whyio/classes.def")


def read_short_classes(path):
    """Classes whose events carry arg0 and arg1 without a second slot."""
    with open(path, encoding="ascii") as text:
        return set(re.findall(r"^WIO_CLASS\((\w+), \w+, .*\bWIO_DOES_INLINE_ARGS\b", text.read(), re.M))


SHORT_CLASSES = read_short_classes(CLASSES)


class Row:
    """One row of the table; an alias has taken over its model's prototype and notes."""

    def __init__(self, parts):
        parts = list(parts) + [""] * (5 - len(parts))
        self.symbol, self.op, self.how, self.prototype, notes = parts[:5]
        self.notes = notes.split()
        self.alias = ""

    def note(self, name):
        """The value of a note NAME=VALUE, "" without value, None where it is not there."""
        for note in self.notes:
            key, _, value = note.partition("=")
            if key == name:
                return value
        return None

    def mpi_names(self, suffix):
        """How C calls a function of MPI; suffix: "" or "_c"."""
        name = self.symbol.removeprefix("MPI_") + suffix
        kinds = ("MPI", "PMPI", "MPIX", "PMPIX") if self.note("x") is not None else ("MPI", "PMPI")
        return [f"{kind}_{name}" for kind in kinds]

    def fortran_names(self):
        """How Fortran compilers call it: by mpif.h and use mpi, by use mpi_f08."""
        kinds = ("mpi", "mpix") if self.note("x") is not None else ("mpi",)
        ends = ["_f08_", "_f08ts_"]
        if self.note("c") is not None:
            ends += ["_f08_large_", "_f08ts_large_"]
        names = []
        for name in (f"{kind}_{self.symbol.removeprefix('MPI_').lower()}" for kind in kinds):
            names += [name, name + "_", name + "__", name.upper()]
            names += [name + end for end in ends]
        return names

    def exports(self):
        """Every symbol that the library defines for this row."""
        if self.how == "mark":
            return []
        if self.how != "mpi":
            return [self.symbol]
        wide = self.mpi_names("_c") if self.note("c") is not None else []
        return self.mpi_names("") + wide + self.fortran_names()

    def follow(self, model):
        """Take over what an alias shares with its model."""
        self.alias = model.symbol
        self.how, self.prototype, self.notes = model.how, model.prototype, model.notes


def read_table(path):
    """All rows, aliases resolved."""
    rows, by_symbol = [], {}
    with open(path, encoding="ascii") as lines:
        for line in lines:
            if not line.strip() or line.startswith("#"):
                continue
            row = Row([part.strip() for part in line.split(" | ")])
            if row.how.startswith("="):
                row.follow(by_symbol[row.how[1:]])
            if row.symbol in by_symbol:
                sys.exit(f"calls.def: {row.symbol} is there twice")
            rows.append(row)
            by_symbol[row.symbol] = row
    return rows


def read_classes(path):
    """Operation -> class, from ops.def."""
    with open(path, encoding="ascii") as text:
        return dict(re.findall(r"^WIO_OP\((\w+), (\w+)\)", text.read(), re.M))


def table_hash(rows):
    """FNV-1a over "symbol=operation;" of each row, as wio_calls_hash()."""
    value = 2166136261
    for row in rows:
        for byte in f"{row.symbol}={row.op};".encode():
            value = (value ^ byte) * 16777619 & 0xFFFFFFFF
    return value


def write_header(rows, _classes, out):
    """enum wio_call, the X-macro list behind src/ops/calls.c, and the table's hash."""
    out.write("/* Generated from calls.def by gen_calls.py. */\n")
    out.write("enum wio_call {\n    WIO_CALL_none = 0,\n")
    for row in rows:
        out.write(f"    WIO_CALL_{row.symbol},\n")
    out.write("    WIO_CALL_COUNT\n};\n\n#define WIO_CALL_LIST(X) \\\n")
    out.write(" \\\n".join(f"    X({row.symbol}, {row.op})" for row in rows))
    out.write(f"\n\n#define WIO_CALLS_HASH {table_hash(rows):#x}u\n")


def split_prototype(text):
    """"int (int fd, ...)" -> return type, parameters as declared, names in order."""
    returns, _, params = text.partition("(")
    declared = [part.strip() for part in params.rstrip(")").split(",")]
    if declared == ["void"]:
        return returns.strip(), declared, []
    names = [re.search(r"(\w+)(\[\d\])?$", part).group(1) for part in declared if part != "..."]
    return returns.strip(), declared, names


class Wrapper:
    """The C text of one generated wrapper."""

    def __init__(self, row, cls):
        self.row, self.cls = row, cls
        self.returns, self.declared, self.names = split_prototype(row.prototype)
        self.args = {n: row.note(f"arg{n}") for n in range(4) if row.note(f"arg{n}") is not None}
        self.is_void = self.returns == "void"

    def call(self):
        names = list(self.names)
        if self.row.note("vararg") is not None:
            names.append("mode")
        return f"CAP_REAL({self.row.symbol})({', '.join(names)})"

    def has_ext(self):
        row = self.row
        many = any(n in self.args for n in (2, 3))
        long_form = self.args and self.cls not in SHORT_CLASSES
        two = row.note("path2") is not None or "path2" in self.names or "fd2" in self.names
        return row.note("ext") is not None or many or long_form or two

    def enter(self):
        source, call = "source", f"WIO_CALL_{self.row.symbol}"
        if self.row.note("sync") is not None:
            return f"cap_enter_sync({source}, {call})"
        if "fd" in self.names:
            return f"cap_enter_fd({source}, {call}, fd)"
        if "path" in self.names:
            return f"cap_enter_path({source}, {call}, path)"
        return f"cap_enter({source}, {call})"

    def error(self):
        if self.row.note("ret") == "error":
            return "result"
        if self.row.note("err") is not None:
            return self.row.note("err")
        if self.is_void or self.returns in ("mode_t", "unsigned int"):
            return "0"
        return "result == NULL ? errno : 0" if "*" in self.returns else "result < 0 ? errno : 0"

    def result(self):
        if self.row.note("result") is not None:
            return self.row.note("result")
        if self.is_void:
            return "0"
        return "(int64_t)(intptr_t)result" if "*" in self.returns else "(int64_t)result"

    def size(self):
        if self.row.note("size") is not None:
            return self.row.note("size")
        if "iov" in self.names:
            return "cap_iov_bytes(iov, (size_t)count, ev.error)"
        return "(uint64_t)size" if "size" in self.names else None

    def offset(self):
        has_pos = self.row.note("pos") is not None
        if self.row.note("copy") is not None:
            return "cap_copy_offset(fd, offset, result, CAP_COPY_OUT)" if "offset" in self.names \
                else "cap_copy_offset(fd, NULL, result, CAP_COPY_OUT)"
        if "offset" in self.names:
            return "cap_offset_or_position(fd, offset, result)" if has_pos else "offset"
        return "cap_fd_advance(fd, result)" if has_pos else None

    def path(self, number):
        suffix = "2" if number == 2 else ""
        if f"path{suffix}" in self.names:
            dirfd = f"dirfd{suffix}" if f"dirfd{suffix}" in self.names else "AT_FDCWD"
            return f"cap_path{suffix}_of(self, {dirfd}, path{suffix}, ev.error)"
        if f"fd{suffix}" in self.names:
            return f"cap_fd_path(self, fd{suffix})"
        if number == 2 and self.row.note("path2") is not None:
            kind, _, rest = self.row.note("path2").partition("(")
            return f"cap_{kind}_of(self, ev.error, {rest}"
        return None

    def is_by_fd(self):
        """The file is named by a descriptor alone."""
        return "fd" in self.names and "path" not in self.names

    def fields(self):
        """Assignments to the event, in the order they must happen."""
        yield f"ev.error = {self.error()};"
        yield f"ev.result = {self.result()};"
        if "fd" in self.names:
            yield "ev.fd = fd;"
        if self.path(1) is not None and not self.is_by_fd():
            yield f"ev.path = {self.path(1)};"
        if self.offset() is not None:
            yield f"ev.offset = {self.offset()};"
        if self.size() is not None:
            yield f"ev.size = {self.size()};"
        if not self.has_ext() and self.cls in SHORT_CLASSES:
            yield f"ev.offset = (int64_t)({self.args.get(0, '0')});"
            yield f"ev.size = (uint64_t)({self.args.get(1, '0')});"

    def ext_fields(self):
        if "fd2" in self.names:
            yield "ext.fd2 = fd2;"
        if self.path(2) is not None:
            yield f"ext.path2 = {self.path(2)};"
        if self.row.note("copy") is not None:
            yield "ext.offset2 = cap_copy_offset(fd2, offset2, result, CAP_COPY_IN);"
        for number, expression in self.args.items():
            yield f"ext.arg[{number}] = (int64_t)({expression});"

    def hook(self):
        name, _, rest = self.row.note("after").partition("(")
        arguments = rest.rstrip(")")
        ext = "&ext" if self.has_ext() else "NULL"
        return f"cap_after_{name}(self, &ev, {ext}{', ' + arguments if arguments else ''});"

    def emit(self):
        return "cap_emit_ext(self, &ev, &ext);" if self.has_ext() else "cap_emit(self, &ev);"

    def lines(self):
        row, call = self.row, self.call()
        keep = "" if self.is_void else f"{self.returns} result = ".replace("* ", "*")
        done = "return;" if self.is_void else "return result;"
        signature = f"{self.returns} {row.symbol}({', '.join(self.declared)})".replace("* ", "*")
        yield f"CAP_EXPORT {signature};"
        yield f"CAP_EXPORT {'CAP_HOT ' if row.op in HOT else ''}{signature}"
        yield "{"
        yield "    const uintptr_t source = CAP_CALLER();"
        if row.note("vararg") is not None:
            yield "    mode_t mode;"
            yield "    CAP_OPEN_MODE(mode, flags);"
        if row.note("ours") is not None:
            yield "    if (CAP_UNLIKELY(cap_fd_is_ours_maybe(fd))) {"
            yield "        errno = EBADF;"
            yield "        return -1;"
            yield "    }"
        yield f"    struct cap_thread *self = {self.enter()};"
        yield "    if (CAP_UNLIKELY(self == NULL)) {"
        if self.is_void:
            yield f"        {call};"
            yield "        return;"
        else:
            yield f"        return {call};"
        yield "    }"
        yield f"    struct cap_event ev = CAP_EVENT({row.symbol}, source);"
        if self.is_by_fd():  # while it is open: another thread may close it during the call
            yield "    ev.path = cap_fd_path(self, fd);"
        if row.note("before") is not None:
            yield f"    cap_before_{row.note('before')}(self);"
        if row.note("wait") is not None:
            yield f"    cap_state_enter(self, {row.note('wait')});"
        yield "    ev.begin = cap_begin(self);"
        yield f"    {keep}{call};"
        yield "    ev.end = cap_now();"
        if row.note("wait") is not None:
            yield "    cap_state_leave(self);"
        for line in self.fields():
            yield f"    {line}"
        if self.has_ext():
            yield "    struct cap_ext ext = CAP_EXT;"
            for line in self.ext_fields():
                yield f"    {line}"
        if row.note("after") is not None:
            yield f"    {self.hook()}"
        yield f"    {self.emit()}"
        yield f"    {done}"
        yield "}"


def write_wrappers(rows, classes, out):
    """One C function per row with how = gen."""
    out.write("/* Generated from calls.def by gen_calls.py. */\n")
    out.write('#include "capture/files/hooks.h"\n#include "capture/sync/sync.h"\n')
    for row in rows:
        if row.how == "gen":
            out.write("\n" + "\n".join(Wrapper(row, classes[row.op]).lines()) + "\n")


def write_map(rows, _classes, out):
    """An anonymous version node: our symbols satisfy references to any version of glibc's."""
    out.write("/* Generated from calls.def by gen_calls.py. */\n{\nglobal:\n")
    for row in rows:
        for symbol in row.exports():
            out.write(f"    {symbol};\n")
    out.write("    __asan_default_options;\nlocal:\n    *;\n};\n")


def write_names(rows, _classes, out):
    """What the coverage test must have a case for."""
    out.write("".join(f"{row.symbol}\n" for row in rows if row.how != "mark"))


def page_text(rows, classes):
    """The catalogue: one row per class of operation."""
    groups = {}
    for row in rows:
        if row.how != "mark":
            name = classes.get(row.op, "watched, no events").lower()
            groups.setdefault(name, {}).setdefault(row.op, []).append(f"`{row.symbol}`")
    lines = ["| class | **operation** and wrapped names |", "|---|---|"]
    for name, ops in groups.items():
        cells = "<br>".join(f"**{op}** {' '.join(symbols)}" if op in classes
                            else " ".join(symbols) for op, symbols in ops.items())
        lines.append(f"| {name.replace('_', ' ')} | {cells} |")
    return "\n".join(lines) + "\n"


def update_page(rows, classes, path, only_check):
    """Replace what follows the mark by the catalogue, or say that it is out of date."""
    mark = "<!-- made by scripts/gen_calls.py page -->\n"
    with open(path, encoding="utf-8") as page:
        old = page.read()
    head = old.partition(mark)[0]
    new = head + mark + page_text(rows, classes)
    if only_check:
        return 0 if new == old else f"{path} is out of date: scripts/gen_calls.py page makes it new"
    with open(path, "w", encoding="utf-8") as page:
        page.write(new)
    return 0


WRITERS = {"header": write_header, "wrappers": write_wrappers, "map": write_map,
           "names": write_names}


def main(what, table, output):
    rows = read_table(table)
    classes = read_classes(os.path.join(os.path.dirname(table), "../../include/whyio/ops.def"))
    for row in rows:
        if row.op not in classes and row.op != "unknown":
            sys.exit(f"calls.def: {row.symbol}: no operation {row.op} in ops.def")
    if what in ("page", "check-page"):
        sys.exit(update_page(rows, classes, output, what == "check-page"))
    with open(output, "w", encoding="ascii") as out:
        WRITERS[what](rows, classes, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
