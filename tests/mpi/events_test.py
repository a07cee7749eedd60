#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""events_test.py LIBRARY PROGRAM CASE MPIRUN...: a program that calls MPI does the same with capture
as without, its events are the expected ones, and fit together among its ranks."""

import collections
import os
import subprocess
import sys
import tempfile

import mpi_environment  # noqa: F401
import ring_reader

RANKS = 4
COLLECTIVES = {"MPI_ALL", "MPI_LOOSE", "MPI_FROM_ROOT", "MPI_TO_ROOT", "MPI_SCAN"}
MESSAGES = {"MPI_SEND", "MPI_RECV", "MPI_DONE"}


# Of MPICH's launcher where something else has connected to its port: no rank has begun then.
STRANGE_PROXY = "cannot find proxy with ID"


def run(command, top, name, **extra):
    """Exit status and output, in no order; the directory it ran in."""
    for attempt in range(3):
        work = os.path.join(top, f"{name}{attempt}")
        os.mkdir(work)
        result = subprocess.run([*command[:-1], work, command[-1]], cwd=work, capture_output=True,
                                text=True, timeout=100, env={**os.environ, **extra})
        if STRANGE_PROXY not in result.stderr or os.listdir(extra.get("WHYIO_RINGS", work)):
            break
    return (result.returncode, sorted(result.stdout.splitlines()), result.stderr), work


def expected_of(work, rank):
    """[(operation, {field: text})]"""
    with open(os.path.join(work, f"expected.{rank}"), encoding="ascii") as lines:
        for line in lines:
            op, *fields = line.split()
            yield op, dict(field.split("=", 1) for field in fields)


class Names:
    """Names of ids, the same in all ranks, and of request keys, of one rank each."""

    def __init__(self):
        self.ids, self.names = {}, {}

    def fit(self, kind, name, value):
        """True where name and value stand for each other."""
        return (self.ids.setdefault((kind, name), value) == value
                and self.names.setdefault((kind, value), name) == name)


def fits(event, fields, names, rank):
    """None, or the field that is not as expected."""
    for key, wanted in fields.items():
        if key == "comm":
            good = event["args"][0] != 0 and names.fit("id", wanted, event["args"][0])
        elif key == "key":
            # an MPI library may have ended a send at once: then there is no request
            is_over = event["class"] == "MPI_SEND" and event["args"][3] == 0
            good = is_over or (event["args"][3] != 0
                               and names.fit(rank, wanted, event["args"][3]))
        elif key == "path":
            good = os.path.basename(event["path"] or "") == wanted
        else:
            found = event["args"][int(key)] if key.isdigit() else event[key]
            good = str(found).lower() == wanted
        if not good:
            return key
    return None


def check_sequence(ring, events, expected, names):
    if any(op == "in-any-order" for op, _ in expected):
        return
    for event, (op, fields) in zip(events, expected):
        wrong = "operation" if event["op"] != op else fits(event, fields, names, ring.rank)
        assert wrong is None, f"rank {ring.rank}: {wrong}: expected {op} {fields}, found {event}"
    count = min(len(events), len(expected))
    rest = [event["op"] for event in events[count:count + 3]], expected[count:count + 3]
    assert len(events) == len(expected), f"rank {ring.rank}: at the end: {rest}"


def check_source(ring, event):
    """The program's own code has called, or it was said who did."""
    source = ring.caller(event)
    lines = [path for low, high, _, path in ring.modules() if low <= source < high]
    assert lines and not os.path.basename(lines[0]).startswith("libmpi"), (event["op"], lines)


def check_communicators(told):
    """R-MPI-1: all members have said the same."""
    for ident, events in told.items():
        sizes = {(event["args"][2], event["args"][3]) for event in events}
        assert len(sizes) == 1, (ident, sizes)
        members = sorted(event["args"][1] for event in events)
        assert members == list(range(sizes.pop()[0])), (ident, members)


def check_collectives(events, ranks_of):
    """R-MPI-5: each has all its members once, agreeing on what it is, and they did wait."""
    met = collections.defaultdict(list)
    for event in events:
        if event["class"] in COLLECTIVES and event["errno"] == 0:
            met[event["args"][0], event["args"][1]].append(event)
    for (ident, number), members in met.items():
        if members[0]["op"] in ("MPI_Init", "MPI_Finalize"):
            continue
        assert len(members) == len(ranks_of[ident]), (members[0]["op"], number, len(members))
        assert len({event["op"] for event in members}) == 1, members
        if members[0]["class"] == "MPI_ALL" and not any(event["args"][3] for event in members):
            last = max(event["begin"] for event in members)
            first = min(event["begin"] + event["duration"] for event in members)
            assert first >= last, f"{members[0]['op']} {number} did not wait for all"


def ends_of(events):
    """Request key -> the event of its end; a rank's."""
    return {event["args"][3]: event for event in events if event["op"] == "mpi_done"}


def check_messages(by_rank, number_of):
    """R-MPI-2: the k-th send meets the k-th receive, and is not later."""
    sent, received = collections.defaultdict(list), collections.defaultdict(list)
    for rank, events in by_rank.items():
        ends = ends_of(events)
        for event in events:
            ident, peer, tag, key = event["args"]
            if event["class"] not in MESSAGES or event["errno"] and event["class"] == "MPI_SEND":
                continue
            own = number_of[ident, rank]
            if event["class"] == "MPI_SEND":
                sent[ident, own, peer, tag].append(event)
            elif event["class"] == "MPI_RECV" and key == 0 and peer >= 0:
                received[ident, peer, own, tag].append(event)
            elif event["class"] == "MPI_RECV" and key in ends:
                end = ends[key]
                source = end["args"][1] if end["args"][1] >= 0 else peer
                received[ident, source, own, end["args"][2]].append(end)
    assert sent.keys() == received.keys(), sent.keys() ^ received.keys()
    for address, sends in sent.items():
        assert len(sends) == len(received[address]), address
        for send, receive in zip(sends, received[address]):
            assert send["begin"] <= receive["begin"] + receive["duration"], (send, receive)
    return sum(map(len, sent.values()))


def main(library, program, case, *mpirun):
    command = [*mpirun, "-n", str(RANKS), os.path.abspath(program), case]
    with tempfile.TemporaryDirectory(prefix="whyio-mpi-") as top:
        plain, _ = run(command, top, "plain")
        if 77 in (plain[0], plain[0] >> 8):
            sys.exit(77)
        assert plain[0] == 0, plain
        rings_dir = os.path.join(top, "rings")
        os.mkdir(rings_dir)
        seen, work = run(command, top, "seen", LD_PRELOAD=os.path.abspath(library),
                         WHYIO_RINGS=rings_dir, WHYIO_CAUSAL="1")
        assert seen[:2] == plain[:2], f"without capture {plain}, with it {seen}"
        rings = ring_reader.read_rings(rings_dir, os.environ["WHYIO_SOURCE"])
        expected = [list(expected_of(work, rank)) for rank in range(RANKS)]
    rings = [ring for ring in rings if ring.ranks == RANKS] # not those that were spawned
    assert sorted(ring.rank for ring in rings) == list(range(RANKS))
    names, told, by_rank = Names(), collections.defaultdict(list), {}
    number_of, ranks_of = {}, collections.defaultdict(set)
    for ring in rings:
        assert ring.dropped == 0
        events = [event for event in ring.events() if event["class"].startswith("MPI_")]
        for event in events:
            check_source(ring, event)
            if event["op"] == "mpi_comm":
                assert event["duration"] == 0, event
                told[event["args"][0]].append(event)
                number_of[event["args"][0], ring.rank] = event["args"][1]
                ranks_of[event["args"][0]].add(ring.rank)
        by_rank[ring.rank] = [event for event in events if event["op"] != "mpi_comm"]
        check_sequence(ring, by_rank[ring.rank], expected[ring.rank], names)
    check_communicators(told)
    check_collectives([event for events in by_rank.values() for event in events], ranks_of)
    messages = check_messages(by_rank, number_of)
    print(f"{sum(map(len, by_rank.values()))} events, {messages} messages, {len(told)} objects")


if __name__ == "__main__":
    main(*sys.argv[1:])
