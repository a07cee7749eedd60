#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Read raw rings as docs/FORMAT.md, section 2, describes them: what the capture tests look at.

Independent of the sealing in src/trace, so that a fault there does not hide one in capture.
"""

import collections
import os
import re
import struct

HEADER = struct.Struct("<8sIIIIQQQQQiiQiiIIiIIIQ16Q128s64s256s40s")
HEADER_FIELDS = ("magic version header_bytes chunk_bytes clock start_unix_ns start_mono_ns "
                 "start_ticks end_mono_ns end_ticks pid ppid pid_start rank ranks chunks end "
                 "end_status first_string next_string calls_hash dropped").split()
NO_FD, NO_OFFSET, NO_SIZE = -2**31, -2**63, 2**64 - 1
SHORT_CLASSES = {"OPEN", "FCNTL", "ACCESS", "MKDIR", "MKNOD", "DUP", "EXIT", "THREAD", "LOCK",
                 "ATTR", "PROCESS", "MUTEX", "UNLOCK", "COND_SIGNAL", "SEM_WAIT", "SEM_POST", "SEM_INIT", "KILL",
                 "SIGWAIT"}
SLOTS, SLOT = 1023, 64
EVENT, EVENT_EXT, STRING, CLOCK, MODULE, STACK, META, COMPLETION, EVENT_RUN = range(1, 10)
TEXT_KINDS = (STRING, MODULE, STACK, META)
FLAG_CAUSED, FLAG_ASYNC, FLAG_STACK, FLAG_RAW, FLAG_VFORK, FLAG_BUFFERED, FLAG_MPI = (
    1 << i for i in range(7))


def read_tables(source):
    """[(symbol, operation, class)] with index 0 unused, from calls.def and ops.def."""
    with open(os.path.join(source, "include/whyio/ops.def"), encoding="ascii") as text:
        classes = dict(re.findall(r"^WIO_OP\((\w+), (\w+)\)", text.read(), re.M))
    rows = [("", "unknown", "UNKNOWN")]
    with open(os.path.join(source, "src/ops/calls.def"), encoding="ascii") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                symbol, op = [part.strip() for part in line.split(" | ")[:2]]
                rows.append((symbol, op, classes.get(op, "UNKNOWN")))
    return rows


def wrapped_names(source):
    """Every symbol that the library exports, but for those of MPI (tests/mpi)."""
    names = set()
    with open(os.path.join(source, "src/ops/calls.def"), encoding="ascii") as lines:
        for line in lines:
            parts = [part.strip() for part in line.split(" | ")]
            if line.strip() and not line.startswith("#") and parts[2] not in ("mark", "mpi"):
                names.add(parts[0])
    return names


class Ring:
    """One ring: header fields as attributes, `records`, `events`."""

    def __init__(self, path, tables):
        self.path, self.name, self.tables = path, os.path.basename(path), tables
        with open(path, "rb") as file:
            self.data = file.read()
        values = HEADER.unpack_from(self.data)
        assert values[0] == b"WIORING\n", f"{path}: magic {values[0]!r}"
        for field, value in zip(HEADER_FIELDS, values):
            setattr(self, field, value)
        self.unseen = values[22:38]
        texts = [value.split(b"\0")[0].decode() for value in values[38:]]
        self.parent_ring, self.host, self.job, self.boot_id = texts
        self.parent = None
        self.records = sorted(self.read_records(), key=lambda r: r[:3])
        self.strings = self.read_strings()

    def read_records(self):
        """(writer, chunk_no, slot, kind, bytes) of every valid record; R-CHUNK-1, R-CHUNK-2."""
        seen = set()
        for place in range(self.chunks):
            base = self.header_bytes + place * self.chunk_bytes
            if base + SLOT > len(self.data):
                break
            magic, writer, number = struct.unpack_from("<III", self.data, base)
            if magic != 0x4B4E4843:
                continue
            slot = 0
            while slot < SLOTS:
                at = base + (slot + 1) * SLOT
                if at + SLOT > len(self.data):
                    break
                seq, kind, flags = struct.unpack_from("<IBB", self.data, at)
                if seq != (number * SLOTS + slot + 1) & 0xFFFFFFFF:
                    slot += 1
                    continue
                count = 2 if kind == EVENT_EXT else flags if kind in TEXT_KINDS else 1
                if (writer, number, slot) not in seen:
                    seen.add((writer, number, slot))
                    yield (writer, number, slot, kind, self.data[at:at + count * SLOT])
                slot += count

    def read_strings(self):
        strings = {}
        for _, _, _, kind, data in self.records:
            if kind == STRING:
                size, ident, base = struct.unpack_from("<HII", data, 6)
                strings[ident] = (base, data[32:32 + size])
        return strings

    def raw_text(self, ident):
        ring = self
        while ring is not None and ident not in ring.strings:
            ring = ring.parent if ident < ring.first_string else None
        assert ring is not None, f"{self.name}: string {ident} is not defined"
        return ring.strings[ident]

    def text(self, ident):
        """A string as it is (link texts, names)."""
        return os.fsdecode(self.raw_text(ident)[1]) if ident else None

    def resolve(self, ident):
        """A path: R-STRING-1."""
        if ident == 0:
            return None
        base, payload = self.raw_text(ident)
        text = os.fsdecode(payload)
        if not text.startswith("/") and base != 0:
            text = f"{self.resolve(base)}/{text}"
        if not text.startswith("/"):
            return text
        parts = []
        for part in text.split("/"):
            if part == "..":
                parts = parts[:-1]
            elif part not in ("", "."):
                parts.append(part)
        return "/" + "/".join(parts)

    def modules(self):
        found = []
        for _, _, _, kind, data in self.records:
            if kind == MODULE:
                size, _, base, low, high = struct.unpack_from("<HIIQQ", data, 6)
                found.append((low, high, base, os.fsdecode(data[40:32 + size])))
        return found

    def stacks(self):
        """{id: return addresses, innermost first} of the STACK records."""
        known = {}
        for _, _, _, kind, data in self.records:
            if kind == STACK:
                size, ident = int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:12], "little")
                known[ident] = [int.from_bytes(data[i:i + 8], "little")
                                for i in range(32, 32 + size, 8)]
        return known

    def caller(self, event):
        """The return address of the event's call, also where it has a stack."""
        return self.stacks()[event["source"]][0] if event["flags"] & FLAG_STACK else event["source"]

    def meta(self, key):
        for _, _, _, kind, data in self.records:
            if kind == META and struct.unpack_from("<I", data, 8)[0] == key:
                return data[32:32 + struct.unpack_from("<H", data, 6)[0]]
        return None

    def completions(self):
        return [struct.unpack_from("<QQq", data, 8) for _, _, _, kind, data in self.records
                if kind == COMPLETION]

    def events(self):
        """Dictionaries, in order per writer; pid, tid and token from the CLOCK records before."""
        who = (self.pid, 0, 0)
        for writer, _, _, kind, data in self.records:
            if kind == CLOCK:
                who = struct.unpack_from("<iiQ", data, 24)
            if kind in (EVENT, EVENT_EXT):
                yield self.event(writer, who, kind, data)
            if kind == EVENT_RUN:
                yield from self.run(self.event(writer, who, kind, data))

    @staticmethod
    def run(first):
        """The events that a run stands for: R-EVENT-5."""
        count, ticks, size = first["result"], first["duration"], first["size"]
        for i in range(count if 1 <= count <= 1024 else 0):
            offset = None if first["offset"] is None else first["offset"] + i * size
            yield dict(first, begin=first["begin"] + ticks * i // max(1, count - 1), duration=0,
                       result=size, offset=offset)

    def event(self, writer, who, kind, data):
        flags, call, begin, packed, source, result, offset, size, file, path = (
            struct.unpack_from("<BHQQQqqQiI", data, 5))
        symbol, op, cls = self.tables[call]
        event = {"writer": writer, "pid": who[0], "tid": who[1], "token": who[2], "call": symbol,
                 "op": op, "class": cls, "flags": flags, "begin": begin,
                 "duration": packed & (1 << 48) - 1, "errno": packed >> 48, "source": source,
                 "result": result, "fd": None if file == NO_FD else file,
                 "path": self.resolve(path), "path2": None, "fd2": None, "offset2": None,
                 "key": 0, "args": [0, 0, 0, 0]}
        if kind == EVENT and cls in SHORT_CLASSES:
            event["args"] = [offset, size if size < 2**63 else size - 2**64, 0, 0]
            offset, size = NO_OFFSET, NO_SIZE
        if kind == EVENT_EXT:
            path2, file2, offset2, *args, key = struct.unpack_from("<IiqqqqqQ", data, SLOT)
            event.update(fd2=None if file2 == NO_FD else file2, args=args, key=key,
                         offset2=None if offset2 == NO_OFFSET else offset2,
                         path2=self.resolve(path2) if op in ("rename", "link") or file2 != NO_FD
                         else self.text(path2))
        event["offset"] = None if offset == NO_OFFSET else offset
        event["size"] = None if size == NO_SIZE else size
        return event


def pair(requests, completions):
    """R-EVENT-3: the results of requests, None where one never ended."""
    by_key = collections.defaultdict(collections.deque)
    for ticks, key, result in sorted(completions):
        by_key[key].append((ticks, result))
    for event in requests:
        ends = by_key[event["key"]]
        while ends and ends[0][0] < event["begin"]:
            ends.popleft()
        yield ends.popleft()[1] if ends else None


def read_rings(directory, source):
    """All rings of a directory, by start; parents are linked (R-STRING-2)."""
    tables = read_tables(source)
    rings = [Ring(os.path.join(directory, name), tables) for name in sorted(os.listdir(directory))
             if name.endswith(".ring")]
    by_name = {ring.name: ring for ring in rings}
    for ring in rings:
        ring.parent = by_name.get(ring.parent_ring)
    return sorted(rings, key=lambda ring: ring.start_mono_ns)
