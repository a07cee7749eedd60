#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reader of traces, written from docs/FORMAT.md alone: it proves that the document says
enough. Needs only the standard library, and libzstd (or the program zstd).

usage: trace_reader.py DIR      print processes, streams, files, events and edges, one line each
"""
import ctypes
import os
import struct
import subprocess
import sys

NO_FD, NO_64 = -2**31, -2**63
M64 = 2**64 - 1
(META, STRINGS, CALLS, SOURCES, PROCESSES, STREAMS, FILES, EVENTS, INDEX) = range(1, 10)
(TXN_ROWS, TXN_SERVERS, TXN_ORIGINS, TXN_FILES) = range(16, 20)
(EDGES_META, OBJECTS, EDGES_IN, EDGES_OUT, MEMBERS, COLLECTIVES, WAITS, CLOCKS,
 EDGES_INDEX) = range(32, 41)
(CALL, SHAPE, GAP, DURATION, FD, PATH, OFFSET, SIZE, RESULT, ERROR, SOURCE, FLAGS, PATH2, FD2, OFFSET2,
 ARG0) = range(1, 17)
GAP_CPU, DUR_CPU = 20, 21


class Damaged(Exception):
    """FORMAT.md R-DAMAGE-2: file, offset, what was expected."""

    def __init__(self, file, offset, expected):
        super().__init__(f"'{file}' at byte {offset}: expected {expected}")


def crc32c_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ 0x82F63B78 if n & 1 else n >> 1
        table.append(n)
    return table


TABLE = crc32c_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


def load_zstd():
    try:
        library = ctypes.CDLL("libzstd.so.1")
    except OSError:
        return None
    library.ZSTD_decompress.restype = ctypes.c_size_t
    library.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p,
                                        ctypes.c_size_t]
    return library


ZSTD = load_zstd()


def unpack(data, size):
    if ZSTD is None:
        return subprocess.run(["zstd", "-dc"], input=data, stdout=subprocess.PIPE, check=True).stdout
    buffer = ctypes.create_string_buffer(max(size, 1))
    got = ZSTD.ZSTD_decompress(buffer, size, data, len(data))
    if got != size:
        raise ValueError("not a zstd frame of that size")
    return buffer.raw[:size]


class Cursor:
    """Numbers and texts out of bytes."""

    def __init__(self, data):
        self.data, self.pos = data, 0

    def __bool__(self):
        return self.pos < len(self.data)

    def bytes(self, count):
        if self.pos + count > len(self.data):
            raise ValueError("cut short")
        self.pos += count
        return self.data[self.pos - count:self.pos]

    def u8(self):
        return self.bytes(1)[0]

    def varint(self):
        value = 0
        for shift in range(0, 70, 7):
            byte = self.u8()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise ValueError("a varint is at most 10 bytes")

    def svarint(self):
        return unzigzag(self.varint())

    def text(self):
        return self.bytes(self.varint())


def unzigzag(value):
    return value >> 1 ^ -(value & 1)


def signed(value, bits=64):
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def column_values(encoding, data, count_max):
    """All values of a column; a constant without end. FORMAT.md#encodings"""
    cursor = Cursor(data)
    if encoding == 0:
        return [cursor.svarint()] * count_max
    if encoding == 1:
        values = []
        while cursor:
            values.append(cursor.svarint())
        return values
    if encoding == 2:
        planes = cursor.u8()
        stride = (len(data) - 1) // planes
        return [unzigzag(sum(data[1 + k * stride + i] << 8 * k for k in range(planes)))
                for i in range(stride)]
    values = []
    while cursor:
        run = cursor.varint()
        values += [cursor.svarint()] * run
    return values


class Slots(dict):
    """R-COL-1: predictions begin at 0."""

    def __missing__(self, slot):
        return 0


class Frame:
    """Header, blocks and trailer. FORMAT.md#segment"""
    MAGIC = b"\x89WIOSEG\n"

    def __init__(self, path):
        self.path = path
        with open(path, "rb") as file:
            self.data = file.read()
        self.read_header()
        self.read_trailer()

    def expect(self, condition, offset, what):
        if not condition:
            raise Damaged(self.path, offset, what)

    def read_header(self):
        self.expect(len(self.data) >= 104, len(self.data), "a header and a trailer")
        magic, version, _, self.unix, self.mono, boot, _, crc = struct.unpack_from(
            "<8sIIQQ40sII", self.data)
        self.expect(magic == self.MAGIC, 0, "another magic")
        self.expect(version == 1, 8, "version 1")  # R-SEG-2
        self.expect(crc == crc32c(self.data[:76]), 76, "the checksum of the header")
        self.boot = boot.rstrip(b"\0")

    def read_trailer(self):
        at = len(self.data) - 24
        self.index, length, crc, magic = struct.unpack_from("<QQI4s", self.data, at)
        self.expect(magic == b"WEND", at + 20, "WEND")  # R-SEG-4
        self.expect(crc == crc32c(self.data[at:at + 16]), at + 16, "the checksum of the trailer")
        self.expect(length == len(self.data), at + 8, "the length of the file")

    def blocks_of(self):
        """(offset, kind, payload) of all blocks."""
        at, end = 80, len(self.data) - 24
        while at < end:
            self.expect(end - at >= 24, at, "a block")
            magic, kind, flags, stored, raw, crc, head_crc = struct.unpack_from("<4sHHIIII",
                                                                                self.data, at)
            self.expect(magic == b"WBLK", at, "WBLK")
            self.expect(head_crc == crc32c(self.data[at:at + 20]), at + 20, "the head's checksum")
            payload = self.data[at + 24:at + 24 + stored]
            self.expect(crc == crc32c(payload), at + 24, "the payload's checksum")  # R-SEG-3
            yield at, kind, unpack(payload, raw) if flags & 1 else payload
            at += 24 + stored


class Transactions:
    """Rows of transactions and their tables. FORMAT.md#transactions"""

    def __init__(self):
        self.rows, self.origins, self.servers, self.files = [], [(0, 0, 0, 0)], {}, {}

    def read_origins(self, cursor):  # R-TXN-7
        self.origins += [tuple(cursor.varint() for _ in range(4)) for _ in range(cursor.varint())]

    def read_servers(self, cursor):
        for _ in range(cursor.varint()):
            server = cursor.varint()
            self.servers[server] = (cursor.varint(), cursor.varint())

    def read_files(self, cursor):
        for _ in range(cursor.varint()):
            file = cursor.varint()
            self.files[file] = (cursor.varint(), cursor.varint(), cursor.varint())

    def read_rows(self, cursor):  # R-TXN-2
        count, _, _ = cursor.varint(), cursor.varint(), cursor.varint()
        self.clients, self.name, self.file, self.begin, self.origin, t = [], (0, 0, 0, 0), 0, 0, 0, 0
        for _ in range(count):
            shape, t = cursor.varint(), t + cursor.varint()
            self.rows.append((t, *self.row(shape, cursor)))

    def row(self, shape, cursor):  # R-TXN-3
        kind, op = cursor.u8(), cursor.varint()
        if shape & 1:
            self.name = self.read_name(cursor)
        server = cursor.varint() if shape & 2 else None
        self.file = cursor.varint() if shape & 8 else self.file
        mode, place = 0, (0, 0, 0, 0)
        if shape & 4:
            mode, place = cursor.u8(), (self.file, *self.read_range(cursor, self.begin))
            self.begin = place[2]
        result = [cursor.varint() if shape & 16 else 0 for _ in range(3)]
        times = [cursor.varint() if shape & 32 else 0 for _ in range(4)]
        moved, depth = (cursor.varint() if shape & bit else 0 for bit in (64, 128))
        self.origin = cursor.varint() if shape & 512 else self.origin
        flags, transfer = (cursor.varint() if shape & bit else 0 for bit in (1024, 2048))
        name, origin = self.name, self.origin
        blocker_count, blockers = 0, []
        if shape & 256:  # R-TXN-6
            blocker_count = cursor.varint()
            blockers = [self.read_blocker(cursor, place) for _ in range(cursor.varint())]
        return (kind, op, *name, *place, server, mode, *result, *times, moved, depth, flags, transfer,
                blocker_count), origin, blockers

    def read_name(self, cursor):  # R-TXN-4
        index = cursor.varint()
        if index == len(self.clients):
            self.clients.append([struct.unpack("<Q", cursor.bytes(8))[0], 0, 0])
        client = self.clients[index]
        client[1] = client[1] + cursor.svarint() & M64
        client[2] = client[2] + cursor.svarint() & M64
        return (*client, cursor.varint())

    def read_range(self, cursor, near):  # R-TXN-5
        segment, begin = cursor.varint(), near + cursor.svarint() & M64
        return segment, begin, begin + cursor.varint()

    def read_blocker(self, cursor, place):
        name = self.read_name(cursor)
        file = place[0] + cursor.svarint() & M64
        where = (file, *self.read_range(cursor, place[2]))
        origin = cursor.varint()
        return (*name, *where, cursor.u8(), cursor.u8()), origin

    def lines(self, strings, shift):
        def origin(number):
            return " ".join(f"'{show(strings[text])}'" for text in self.origins[number])
        for t, row, place, blockers in self.rows:
            text = f"txn {t + shift} " + " ".join(map(show, row)) + " " + origin(place)
            for fields, number in blockers:
                text += " | " + " ".join(map(show, fields)) + " " + origin(number)
            yield text
        for file, (path, segments, unit) in self.files.items():
            yield f"parafile {file} {show(strings[path])} {segments} {unit}"
        for server, (name, kind) in self.servers.items():
            yield f"server {server} {show(strings[name])} {kind}"


class Segment(Frame):
    def __init__(self, path):
        super().__init__(path)
        self.strings, self.sources, self.calls = [b""], [[]], []
        self.meta, self.processes, self.streams, self.files, self.blocks = {}, [], [], [], []
        self.transactions = Transactions()
        self.read_blocks()

    def read_blocks(self):
        parsers = {META: self.read_meta, STRINGS: self.read_strings, CALLS: self.read_calls,
                   SOURCES: self.read_sources, PROCESSES: self.read_processes,
                   STREAMS: self.read_streams, FILES: self.read_files,
                   TXN_ROWS: self.transactions.read_rows, TXN_SERVERS: self.transactions.read_servers,
                   TXN_ORIGINS: self.transactions.read_origins,
                   TXN_FILES: self.transactions.read_files}
        entries = []
        for at, kind, payload in self.blocks_of():
            if kind == EVENTS:
                self.blocks.append((at, payload))
            elif kind == INDEX:
                self.expect(at >= self.index, at, "INDEX blocks at the end")  # R-INDEX-1
                entries += self.read_index(payload)
            elif kind in parsers:
                parsers[kind](Cursor(payload))
        self.expect(sorted(entries) == entries, self.index, "an index in file order")
        self.expect([at for at, _ in self.blocks] == [at for at, kind in entries if kind == EVENTS],
                    self.index, "an index of all blocks")

    def read_index(self, payload):
        cursor, entries = Cursor(payload), []
        for _ in range(cursor.varint()):
            offset, _, kind = cursor.varint(), cursor.varint(), cursor.varint()
            entries.append((offset, kind))
            if kind == EVENTS:
                for _ in range(6):
                    cursor.varint()
                for _ in range(cursor.varint() * 5):
                    cursor.varint()
                for _ in range(cursor.varint() - 1):  # R-INDEX-2
                    cursor.varint()
        return entries

    def read_meta(self, cursor):
        while cursor:
            key = cursor.varint()
            self.meta[key] = cursor.text()

    def read_strings(self, cursor):
        first, count = cursor.varint(), cursor.varint()
        self.expect(first == len(self.strings), 0, "ids that rise by 1")  # R-TABLE-1
        for _ in range(count):
            self.strings.append(cursor.text())
            self.expect(cursor.u8() == 0, 0, "a NUL behind each text")  # R-TABLE-2

    def read_calls(self, cursor):  # R-TABLE-3
        self.calls = [(cursor.text(), cursor.text(), cursor.text()) for _ in range(cursor.varint())]

    def read_sources(self, cursor):
        first, count = cursor.varint(), cursor.varint()
        self.expect(first == len(self.sources), 0, "ids that rise by 1")
        for _ in range(count):
            self.sources.append([(self.strings[cursor.varint()], self.strings[cursor.varint()],
                                  cursor.varint()) for _ in range(cursor.varint())])  # R-TABLE-4

    def read_processes(self, cursor):
        for _ in range(cursor.varint()):
            record, fields = Cursor(cursor.text()), {}
            while record:
                tag = record.varint()
                value = record.text()
                fields[tag] = value if 7 <= tag <= 11 or tag == 258 else Cursor(value).svarint()
            self.processes.append(fields)

    def read_streams(self, cursor):
        for _ in range(cursor.varint()):
            process, tid = cursor.varint(), cursor.svarint()
            self.streams.append((process, tid, *(cursor.varint() for _ in range(8))))

    def read_files(self, cursor):
        for _ in range(cursor.varint()):
            path, kind, mode, size, target, fs, uses = (cursor.varint() for _ in range(7))
            self.files.append((self.strings[path], kind, mode, size, self.strings[target],
                               self.strings[fs], uses))

    def events(self):
        """All events, as dictionaries, in the order of the blocks."""
        for _, payload in self.blocks:
            yield from self.block_events(Cursor(payload))

    def block_events(self, cursor):
        stream, count, seq, begin = (cursor.varint() for _ in range(4))
        cursor.varint(), cursor.varint()
        columns = {}
        while cursor:
            number, encoding, stored = cursor.u8(), cursor.u8(), cursor.varint()
            raw = cursor.varint() if encoding & 128 else stored
            data = cursor.bytes(stored)
            columns[number] = column_values(encoding & 127,
                                            unpack(data, raw) if encoding & 128 else data, count)
        columns = {number: iter(columns[number] if number in columns else [0] * count)
                   for number in range(1, 22)}  # R-COL-6
        by_call = {number: Slots() for number in range(1, 20)}
        after, paths = Slots(), Slots()
        for i in range(count):
            event = Event(columns, by_call, after, paths)
            event.begin = begin + event.gap
            begin = event.begin + event.duration
            event.stream, event.seq = stream, seq + i
            yield event


class Event:
    def __init__(self, columns, by_call, after, paths):
        shape = next(columns[SHAPE])  # R-COL-2
        self.call = next(columns[CALL])
        slot = self.call % 64

        def number(column):  # R-COL-3
            by_call[column][slot] = by_call[column][slot] + next(columns[column]) & M64
            return by_call[column][slot]

        self.gap, self.duration = next(columns[GAP]), next(columns[DURATION]) & M64
        self.fd = next(columns[FD]) if shape & 1 else NO_FD
        place = self.fd % 64 if shape & 1 else 64  # R-COL-1
        paths[place] = paths[place] + next(columns[PATH]) & 2**32 - 1
        self.path = paths[place]
        self.size = number(SIZE) if shape & 4 else None
        self.offset = None
        if shape & 2:  # R-COL-4
            self.offset = signed(after[place] + next(columns[OFFSET]))
            after[place] = self.offset + (self.size or 0) & M64
        self.result = self.read_result(shape >> 3 & 3, number)
        self.error = next(columns[ERROR]) if shape & 32 else 0
        self.source, self.flags = number(SOURCE), number(FLAGS)
        self.path2, self.fd2, self.offset2 = 0, NO_FD, NO_64
        if shape & 64:
            self.path2, self.fd2, self.offset2 = number(PATH2), signed(number(FD2)), signed(
                number(OFFSET2))
        self.args = [signed(number(ARG0 + k)) for k in range(4)] if shape & 128 else [0] * 4
        self.gap_cpu, self.dur_cpu = next(columns[GAP_CPU]) & M64, next(columns[DUR_CPU]) & M64

    def read_result(self, how, number):  # R-COL-5
        if how == 1:
            return signed(number(RESULT))
        return (signed(self.size or 0), None, NO_64, -1)[how]


class Edges(Frame):
    """The file of edges. FORMAT.md#edges"""
    MAGIC = b"\x89WIOEDG\n"
    # per kind: how each number of a row is told, P as it is, R rising, S signed difference, W within
    # the first number
    CODINGS = {EDGES_IN: "RWSSSP", EDGES_OUT: "RWSSSP", MEMBERS: "RWPSSPPP",
               COLLECTIVES: "RSSPSPPP", WAITS: "RWPP"}

    def __init__(self, path):
        super().__init__(path)
        self.meta, self.objects, self.clocks = {}, [b""], {}
        self.rows, heads, entries = {kind: [] for kind in self.CODINGS}, [], []
        for at, kind, payload in self.blocks_of():
            cursor = Cursor(payload)
            if kind in self.CODINGS:
                heads.append((at, kind, self.read_rows(kind, cursor)))
            elif kind == EDGES_META:
                while cursor:
                    key = cursor.varint()
                    self.meta[key] = cursor.text()
            elif kind == OBJECTS:
                self.read_objects(cursor)
            elif kind == CLOCKS:
                self.read_clocks(cursor)
            elif kind == EDGES_INDEX:
                entries = self.read_index(cursor)
        self.expect(heads == entries, self.index, "an index of all blocks of rows")
        for kind, rows in self.rows.items():  # R-EDGE-3
            order = [row[:2] for row in rows]
            self.expect(order == sorted(order), 0, f"rows of kind {kind} in order")

    def read_index(self, cursor):
        entries = []
        for _ in range(cursor.varint()):
            offset, _, kind = cursor.varint(), cursor.varint(), cursor.varint()
            if kind in self.CODINGS:
                entries.append((offset, kind, tuple(cursor.varint() for _ in range(4))))
        return entries

    def read_objects(self, cursor):  # R-EDGE-2
        first, count = cursor.varint(), cursor.varint()
        self.expect(first == len(self.objects), 0, "objects that rise by 1")
        for _ in range(count):
            self.objects.append(cursor.text())
            self.expect(cursor.u8() == 0, 0, "a NUL behind each text")

    def read_clocks(self, cursor):
        for _ in range(cursor.varint()):
            host = cursor.text()
            self.expect(cursor.u8() == 0, 0, "a NUL behind each text")
            self.clocks[host] = (cursor.svarint(), cursor.svarint(), cursor.varint())
            self.expect(self.clocks[host][1] > -1 << 40, 0, "a clock that goes on")

    def read_rows(self, kind, cursor):
        head = tuple(cursor.varint() for _ in range(4))
        row = [head[0]] + [0] * 7
        for i in range(head[3]):
            is_new = i == 0
            for k, coding in enumerate(self.CODINGS[kind]):
                value = cursor.svarint() if coding == "S" else cursor.varint()
                is_plain = coding == "P" or (coding == "W" and is_new)
                is_new = is_new or (k == 0 and value != 0)
                row[k] = value if is_plain else row[k] + value & M64
            self.rows[kind].append(tuple(row))
        self.expect(not cursor, 0, "nothing behind the rows")
        return head

    def is_of(self, segments):
        """R-EDGE-1"""
        lines = [b"%s %d %08x\n" % (name_in_line(segment), len(segment.data),
                                    crc32c(segment.data[:80] + segment.data[-24:]))
                 for segment in segments]
        return self.meta[1] == b"".join(lines) and self.meta.get(9) in (None, marks_of(segments))

    def correct(self, host, t):
        """R-EDGE-6"""
        if host not in self.clocks:
            return t
        offset, rate, _ = self.clocks[host]
        return max(t + offset + (t * rate >> 40), 0)

    def lines(self):
        for kind, name in ((EDGES_IN, "in"), (EDGES_OUT, "out")):
            for a, a_seq, b, b_seq, obj, tag, *_ in self.rows[kind]:  # R-EDGE-4, R-EDGE-5
                ends = (b, b_seq, a, a_seq) if kind == EDGES_IN else (a, a_seq, b, b_seq)
                yield f"{name} %d %d %d %d {obj} {tag & 3} {tag >> 3} {tag >> 2 & 1}" % ends
        for kind, name in ((MEMBERS, "member"), (COLLECTIVES, "collective")):
            for row in self.rows[kind]:
                stream, enter, length, number = row[:4]
                if kind == COLLECTIVES:
                    number, stream, enter, length = row[:4]
                obj, members, givers, role = row[4:]
                yield (f"{name} {number} {stream} {enter} {enter + length} {obj} {members} {givers}"
                       f" {role >> 2} {role & 1} {role >> 1 & 1}")
        for stream, first, length, looks, *_ in self.rows[WAITS]:
            yield f"wait {stream} {first} {first + length} {looks}"
        for host, row in self.clocks.items():
            yield f"clock {show(host)} %d %d %d" % row
        for i, text in enumerate(self.objects[1:], 1):
            yield f"object {i} {show(text)}"
        yield "unmatched " + " ".join(str(int(self.meta.get(key, b"0"))) for key in range(2, 6))


class Trace:
    """All segments of a directory. R-DIR-1, R-DIR-2"""

    def __init__(self, path):
        names = sorted(name for name in os.listdir(path) if name.endswith(".seg"))
        self.segments = [Segment(os.path.join(path, name)) for name in names]
        if not self.segments:
            raise Damaged(path, 0, "segments")  # R-DIR-4
        for i, segment in enumerate(self.segments):  # R-DIR-5
            for other in self.segments[:i]:
                if segment.boot and segment.boot == other.boot and segment.mono and other.mono:
                    segment.unix = other.unix + segment.mono - other.mono
                    break
        self.zero = min(segment.unix for segment in self.segments)
        self.edges = None
        if os.path.exists(os.path.join(path, "trace.edges")):
            edges = Edges(os.path.join(path, "trace.edges"))
            is_current = edges.is_of(self.segments) and edges.meta.get(8, b"") == held_mark(path)
            self.edges = edges if is_current else None

    def when(self, segment, host, t):
        """A time of a segment in the trace: R-DIR-5, R-EDGE-6."""
        t += segment.unix - self.zero
        return self.edges.correct(host, t) if self.edges else t


def name_in_line(segment):
    """R-EDGE-1"""
    return os.fsencode(os.path.basename(segment.path)).replace(b"\n", b"\\x0a")


def marks_of(segments):
    """R-EDGE-7"""
    return b"".join(b"%s %d %08x %d\n" % (name_in_line(segment), len(segment.data),
                                          crc32c(segment.data[:76] + segment.data[-24:-8]), len(segment.streams))
                    for segment in segments)


def held_mark(path):
    """R-HELD-3"""
    name = os.path.join(path, "trace.held")
    if not os.path.exists(name):
        return b""
    with open(name, "rb") as file:
        data = file.read()
    return b"%d %08x" % (len(data), crc32c(data))


def show(value):
    return "-" if value is None else value.decode("latin-1") if isinstance(value, bytes) else str(value)


def join_files(segments):
    """FORMAT.md R-DIR-6: a row for each path."""
    files = {}
    for path, kind, *state, uses in (row for segment in segments for row in segment.files):
        other = files.setdefault(path, (path, kind, *state, uses))
        both = other[-1] | uses
        nothing = other[1] <= 1 and kind != 0
        larger = other[1] == kind and state[1] > other[3]
        files[path] = (path, kind, *state, both) if nothing or larger else (*other[:-1], both)
    return files.values()


def host_of(segment, process):
    return segment.processes[process].get(7, b"")


def print_segment(trace, segment, process_base, out):
    for fields in segment.processes:
        parent, host = fields.get(12, 0), fields.get(7, b"")
        row = [fields.get(1, 0), fields.get(2, 0), fields.get(3, 0) - 1, fields.get(4, 0),
               trace.when(segment, host, fields.get(5, 0)), trace.when(segment, host, fields.get(6, 0)),
               parent - 1 + process_base if parent else "-", fields.get(13, 0), fields.get(14, 0),
               fields.get(15, 0), fields.get(256, 0), *(fields.get(tag, b"") for tag in range(7, 12))]
        out.append("process " + " ".join(map(show, row)))
    for process, tid, thread, events, seq, first, last, read, written, _ in segment.streams:
        host = host_of(segment, process)
        row = (process + process_base, tid, thread, events, seq, trace.when(segment, host, first),
               trace.when(segment, host, last), read, written)
        out.append("stream " + " ".join(map(str, row)))


def print_events(trace, segment, stream_base, out):
    for event in segment.events():
        symbol, op, _ = segment.calls[event.call]
        host = host_of(segment, segment.streams[event.stream][0])
        begin = trace.when(segment, host, event.begin)
        duration = trace.when(segment, host, event.begin + event.duration) - begin
        frames = ",".join(f"{show(module)}+{address:x}" for module, _, address
                          in segment.sources[event.source])
        none = [None if value == marker else value for value, marker in
                ((event.fd, NO_FD), (event.fd2, NO_FD), (event.offset2, NO_64),
                 (event.result, NO_64))]
        row = [event.stream + stream_base, event.seq, begin, duration, op, symbol,
               event.flags, event.error, none[0], none[1], segment.strings[event.path],
               segment.strings[event.path2], event.offset, none[2], event.size, none[3], *event.args,
               event.gap_cpu >> 1, event.gap_cpu & 1, event.dur_cpu >> 1, event.dur_cpu & 1, frames]
        out.append("event " + " ".join(map(show, row)))


def main(path):
    trace = Trace(path)
    tables, events = [], []
    process_base = stream_base = 0
    for segment in trace.segments:
        print_segment(trace, segment, process_base, tables)
        print_events(trace, segment, stream_base, events)
        tables += segment.transactions.lines(segment.strings, segment.unix - trace.zero)
        process_base += len(segment.processes)
        stream_base += len(segment.streams)
    tables += ["file " + " ".join(map(show, row)) for row in join_files(trace.segments)]
    tables += trace.edges.lines() if trace.edges else []
    events.sort(key=lambda line: tuple(map(int, line.split(" ", 3)[1:3])))
    sys.stdout.write("\n".join(sorted(tables) + events) + "\n")


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="latin-1")
    try:
        main(sys.argv[1])
    except (Damaged, OSError) as fault:
        sys.exit(f"trace_reader.py: {fault}")
