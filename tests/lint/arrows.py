#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail on an #include that the table of the architecture does not allow (arrows.table).

usage: arrows.py ROOT            check src/, plugins/ and tools/ below ROOT
       arrows.py --self-test     check the checker
"""
import os
import re
import sys
import tempfile

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "arrows.table")
PUBLIC = {"status.h": "base", "event.h": "ops", "edges.h": "ops", "ops.h": "ops", "ops.def": "ops",
          "classes.def": "ops", "version.h": "base", "trace.h": "trace", "segment.h": "trace",
          "derive.h": "edges", "source.h": "explain", "store.h": "store",
          "simgrid.h": "simgrid"}
INCLUDE = re.compile(r'^\s*#\s*include\s+(["<])([^">]+)[">]')


class Table:
    """rooms: {room: {other: None or set of headers}}; folders: {room/folder: set of folders};
    libraries: [(prefix, rooms)]."""

    def __init__(self, lines):
        self.rooms = {}
        self.folders = {}
        self.libraries = []
        for line in lines:
            line = line.split("#")[0].strip()
            if line.startswith("<"):
                prefix, rooms = line[1:].split(":", 1)
                self.libraries.append((prefix.rstrip(">"), set(rooms.split())))
            elif line.startswith("in "):
                folder, rest = line[len("in "):].split(":", 1)
                self.folders[folder] = set(rest.split())
            elif line:
                room, rest = line.split(":", 1)
                self.rooms[room] = dict(self.uses(rest))
        self.libraries.sort(key=lambda item: -len(item[0]))

    @staticmethod
    def uses(text):
        for name, headers in re.findall(r"([\w/]+)(?:\[([^\]]*)\])?", text):
            yield name, set(headers.split()) if headers else None

    def fault_of_room(self, room, other, header):
        """Why `room` may not include `header` of `other`; None where it may."""
        if other == room:
            return None
        if other not in self.rooms:
            return f"there is no room '{other}'"
        allowed = self.rooms[room]
        if other not in allowed:
            return f"{room} may not use {other}"
        if allowed[other] is not None and header not in allowed[other]:
            return f"{room} may not use {header} of {other}"
        return None

    def row_of(self, room, folder):
        """A folder without a row of its own belongs to the one around it."""
        while "/" in folder and f"{room}/{folder}" not in self.folders:
            folder = os.path.dirname(folder)
        return folder

    def fault_of_folder(self, room, folder, other):
        """Why `folder` of `room` may not include headers of the folder `other`; None where it may."""
        folder, other = self.row_of(room, folder), self.row_of(room, other)
        if folder == other or not any(row.startswith(room + "/") for row in self.folders):
            return None
        row = f"{room}/{folder}"
        if row not in self.folders:
            return f"there is no folder '{row}' in the table"
        return None if other in self.folders[row] else f"{row} may not use {room}/{other}"

    def fault_of_library(self, room, header):
        for prefix, rooms in self.libraries:
            if header.startswith(prefix):
                return None if room in rooms else f"{room} may not use <{header}>"
        return None


def room_of_file(path, rooms):
    """The room of a file: a folder of a room with a row of its own is one ("store/wire")."""
    parts = path.split("/")
    if parts[0] == "tools":
        return "tools"
    folder = "/".join(parts[1:3])
    return folder if len(parts) > 3 and folder in rooms else parts[1]


def room_of_header(name, rooms):
    """(room, header) of "room/header" or "room/folder/header"."""
    parts = name.split("/")
    folder = "/".join(parts[:2])
    if len(parts) > 2 and folder in rooms:
        return folder, "/".join(parts[2:])
    return parts[0], "/".join(parts[1:])


def fault(table, path, kind, name, is_file):
    room = room_of_file(path, table.rooms)
    if room not in table.rooms:
        return f"there is no room '{room}' in the table"
    if ".." in name.split("/"):
        return "includes are written from src/, without '..'"
    if name.startswith("whyio/"):
        header = name[len("whyio/"):]
        if header not in PUBLIC:
            return f"<whyio/{header}> has no room in arrows.py"
        return table.fault_of_room(room, PUBLIC[header], header)
    if kind == "<":
        return table.fault_of_library(room, name)
    if "/" not in name:
        # Beside the file, or made by the build.
        return None if is_file else f"'{name}': write it as \"{room}/{name}\""
    other, header = room_of_header(name, table.rooms)
    if other == room:
        folder = os.path.dirname(path.split("/", 2)[2])
        return table.fault_of_folder(room, folder or ".", os.path.dirname(header) or ".")
    return table.fault_of_room(room, other, header)


def sources(root):
    for top in ("src", "plugins", "tools"):
        for directory, _, names in os.walk(os.path.join(root, top)):
            for name in sorted(names):
                if name.endswith((".c", ".h", ".def")):
                    yield os.path.join(directory, name)


def check(root, table):
    """All faults as texts "file:line: what"."""
    faults = []
    for path in sources(root):
        relative = os.path.relpath(path, root)
        with open(path, encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                beside = os.path.join(os.path.dirname(path), match.group(2))
                why = fault(table, relative, match.group(1), match.group(2), os.path.exists(beside))
                if why:
                    faults.append(f"{relative}:{number}: {why}")
    return faults


CASES = [  # (file, include line, part of the fault or None)
    ("src/base/a.c", '#include "base/buf.h"', None),
    ("src/base/a.c", '#include <stdio.h>', None),
    ("src/base/a.c", '#include "ring/ring.h"', "base may not use ring"),
    ("src/base/a.c", '#include <whyio/trace.h>', "base may not use trace"),
    ("src/base/a.c", '#include <whyio/status.h>', None),
    ("src/trace/read/a.c", '#  include "record/record.h"', "trace may not use record"),
    ("src/trace/read/a.c", '#include "seal/seal.h"', "trace may not use seal"),
    ("src/throttle/rules/a.c", '#include "record/record.h"', None),
    ("src/record/a.c", '#include "throttle/rules/throttle.h"', "record may not use throttle"),
    ("src/capture/a.c", '#include "base/crc.h"', None),
    ("src/capture/a.c", '#include "base/buf.h"', "capture may not use buf.h of base"),
    ("src/capture/a.c", '#include <whyio/segment.h>', "capture may not use trace"),
    ("src/replay/a.c", '#include "explain/compare/phases.h"', "replay may not use explain"),
    ("src/replay/a.c", '#include "../explain/phases.h"', "without '..'"),
    ("src/report/a.c", '#include "nowhere/x.h"', "no room 'nowhere'"),
    ("src/attic/a.c", '#include "base/buf.h"', "no room 'attic'"),
    ("src/trace/a.c", '#include <elfutils/libdw.h>', "trace may not use <elfutils/libdw.h>"),
    ("src/explain/a.c", '#include <elfutils/libdw.h>', None),
    ("src/record/a.c", '#include <mpi.h>', "record may not use <mpi.h>"),
    ("tools/whyio/a.c", '#include "record/record.h"', None),
    ("tools/whyio/a.c", '#include "cmd.h"', "write it as"),
    ("src/record/a.c", '#include "capture/core/ring.h"', "record may not use capture"),
    ("plugins/simgrid/a.c", '#include "machine/host.h"', None),
    ("plugins/simgrid/a.c", '#include "machine/meta.h"', "simgrid may not use meta.h of machine"),
    ("src/trace/write/a.c", '#include "trace/format/format.h"', None),
    ("src/trace/write/a.c", '#include <whyio/segment.h>', None),
    ("src/trace/format/a.c", '#include "trace/read/cursor.h"', "trace/format may not use trace/read"),
    ("src/capture/core/ring/a.c", '#include "capture/core/program/b.h"', None),
    ("src/capture/files/a.c", '#include "capture/core/ring/b.h"', None),
    ("src/capture/core/ring/a.c", '#include "capture/files/fds.h"', "capture/core may not use capture/files"),
    ("src/trace/attic/a.c", '#include "trace/read/cursor.h"', "no folder 'trace/attic'"),
    ("src/replay/a.c", '#include "replay/initial/plan.h"', None),
    ("src/replay/initial/a.c", '#include "replay/replay.h"', None),
    ("src/replay/initial/a.c", '#include "replay/run/worker.h"', "replay/initial may not use replay/run"),
    ("src/explain/findings/a.c", '#include "explain/compare/phases.h"', None),
    ("src/predict/a.c", '#include <simgrid/disk.h>', "predict may not use <simgrid/disk.h>"),
    ("src/store/wire/a.c", '#include "store/messages.h"', None),
    ("src/store/wire/a.c", '#include "store/wire/header.h"', None),
    ("src/store/wire/a.c", '#include "store/net/net.h"', "store/wire may not use store/net"),
    ("src/store/wire/a.c", '#include <uv.h>', "store/wire may not use <uv.h>"),
    ("src/store/net/a.c", '#include <uv.h>', None),
]


def self_test(table):
    for path, line, expected in CASES:
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, os.path.dirname(path)))
            with open(os.path.join(root, path), "w", encoding="utf-8") as out:
                out.write("/* a file */\n" + line + "\n")
            found = check(root, table)
        wrong = found if expected is None else not (
            len(found) == 1 and found[0].startswith(path + ":2: ") and expected in found[0])
        if wrong:
            print(f"self-test: {path}: {line}: expected {expected}, found {found}", file=sys.stderr)
            return 1
    print(f"{len(CASES)} cases")
    return 0


def main():
    with open(TABLE, encoding="utf-8") as lines:
        table = Table(lines)
    if sys.argv[1:] == ["--self-test"]:
        return self_test(table)
    faults = check(sys.argv[1], table)
    for text in faults:
        print(text, file=sys.stderr)
    if faults:
        print("arrows point down only: ARCHITECTURE.md, tests/lint/arrows.table", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
