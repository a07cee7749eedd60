#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sync_process_test.py LIBRARY PROGRAM MODE: processes that wait for each other, and the two ends of
channels: both sides name the same thing."""

import collections
import os
import re
import sys

import lacks
import more_test
from sync_test import by_object, end, of_class


def pids(events):
    return {event["pid"] for event in events}


def shared(rings):
    """R-SYNC-1: the same ids in both processes, though at other addresses."""
    counts = {"MUTEX": 3, "UNLOCK": 3, "COND_WAIT": 1, "COND_SIGNAL": 1, "BARRIER": 1}
    for name, objects in counts.items():
        found = by_object(of_class(rings, name))
        assert len(found) <= objects, (name, list(found))
        for ident, events in found.items():
            assert ident < 0, (name, ident)
            assert len(pids(events)) == 2 or name == "COND_WAIT", (name, events)
    posts, waits = of_class(rings, "SEM_POST"), of_class(rings, "SEM_WAIT")
    assert {e["args"][0] for e in posts} == {e["args"][0] for e in waits}, (posts, waits)
    assert len(posts) == len(waits) == 3
    rounds = collections.Counter((e["args"][0], e["args"][1]) for e in of_class(rings, "BARRIER"))
    assert sorted(rounds.values()) == [2, 2, 2], rounds  # R-SYNC-5
    for wait in of_class(rings, "COND_WAIT"):  # R-SYNC-4
        assert any(signal["args"][0] == wait["args"][0] and signal["pid"] != wait["pid"]
                   and wait["begin"] < end(signal) and signal["begin"] < end(wait)
                   for signal in of_class(rings, "COND_SIGNAL")), wait


def named(rings):
    events = of_class(rings, "SEM_POST", "SEM_WAIT")
    assert len(events) == 2 and len(pids(events)) == 2, events
    assert events[0]["args"][0] == events[1]["args"][0] < 0, events


def connections(rings):
    """R-CHAN-2: the k-th connect with a text meets the k-th accept with it."""
    made = [e for e in of_class(rings, "CHANNEL") if e["op"] in ("connect", "accept")]
    ends = collections.defaultdict(lambda: {"connect": [], "accept": []})
    for event in sorted(made, key=end):
        assert event["errno"] == 0 and event["path2"], event
        ends[event["path2"]][event["op"]].append(event)
    kinds = {text.split()[0] for text in ends}
    assert {"inet", "unix"} <= kinds <= {"inet", "inet6", "unix"}, kinds
    plain = [text for text in ends if re.fullmatch(r"unix a%20socket%20\d+ \d+", text)]
    hidden = [text for text in ends if re.fullmatch(r"unix @a%20socket%20\d+ \d+", text)]
    assert len(plain) == 1 and len(hidden) == 1, list(ends)
    is_told = any(event["args"][1] for text, sides in ends.items() if text.startswith("unix")
                  for event in sides["accept"])  # not every kernel has sock_diag
    for text, sides in ends.items():
        assert len(sides["connect"]) == len(sides["accept"]), (text, sides)
        for one, other in zip(sides["connect"], sides["accept"]):
            assert one["path"] != other["path"] and one["pid"] != other["pid"], (one, other)
            if text.startswith("unix") and is_told:
                assert one["path"] == f"socket:[{other['args'][1]}]", other
            transfers = [[(e["op"], e["result"]) for e in of_class(rings, "READ", "WRITE")
                          if e["path"] == event["path"]] for event in (one, other)]
            assert transfers == [[("write", 3), ("read", 2)], [("read", 3), ("write", 2)]], transfers


def channels(rings):
    """R-CHAN-1, R-CHAN-3, R-CHAN-4, R-CHAN-5"""
    made = of_class(rings, "CHANNEL")
    fds = [e for e in made if e["op"] == "eventfd"]
    assert len({e["path"] for e in fds}) == 2 and fds[0]["path"].startswith("eventfd:["), fds
    assert [e["args"][0] for e in fds] == [0, 2]
    transfers = of_class(rings, "READ", "WRITE")
    assert [e["op"] for e in transfers if e["path"] == fds[0]["path"]] in (
        ["write", "read"], ["read", "write"])
    pair = next(e for e in made if e["op"] == "socketpair")
    ops = {e["op"]: e["path"] for e in transfers if e["path"] in (pair["path"], pair["path2"])}
    assert ops == {"sendmsg": pair["path"], "recvmsg": pair["path2"]}, ops
    pipe = next(e for e in made if e["op"] == "pipe")
    assert pipe["path"] == pipe["path2"] and re.fullmatch(r"pipe:\[\d+\]", pipe["path"]), pipe
    ends = [e for e in transfers if e["path"] == pipe["path"]]
    assert {e["op"] for e in ends} == {"read", "write"} and len(pids(ends)) == 2, ends
    bound = next(e for e in made if e["op"] == "bind")
    tied = next(e for e in made if e["op"] == "connect")
    sent = next(e for e in transfers if e["op"] == "sendto")
    assert re.fullmatch(r"dgram inet 127\.0\.0\.1:\d+", bound["path2"]), bound
    assert sent["path2"] == bound["path2"], sent
    assert tied["path2"].endswith(bound["path2"].removeprefix("dgram inet")), tied
    assert [e["args"][0] for e in made if e["op"] == "shutdown"] == [1]


def signals(rings):
    """R-SYNC-9"""
    sent, came = of_class(rings, "KILL"), of_class(rings, "SIGWAIT")
    assert len(sent) == len(came) == 1, (sent, came)
    assert sent[0]["args"][:2] == [came[0]["pid"], 10], sent
    assert came[0]["args"][:2] == [sent[0]["pid"], 10], came


CHECKS = {check.__name__: check for check in (shared, named, connections, channels, signals)}


def main(library, program, mode):
    lacks.skip_script(lacks.shared_memory() if mode == "named" else "")
    command = [os.path.abspath(program), mode]
    CHECKS[mode](more_test.traced(os.path.abspath(library), command, WHYIO_CAUSAL="1"))


if __name__ == "__main__":
    main(*sys.argv[1:])
