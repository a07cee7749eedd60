#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sync_stress_test.py LIBRARY MODE PROGRAM: events of many threads that wait for each other obey the
laws of what they are about: who holds a lock is alone, who has waited was let go."""

import collections
import os
import sys

import more_test
from sync_test import TAKEN, by_object, end, of_class

# A lock that is left at the moment at which somebody comes is noticed a little later (R-SYNC-2).
LATE_TICKS = 100_000_000


def holds(rings):
    """{lock: [(from, to, is_reader, thread)]}: between taking and leaving, waits for conditions cut
    out; and the locks that a thread had when it, or its process, came to an end: the last event may
    be missing (R-EVENT-4)."""
    found, open_since = collections.defaultdict(list), {}
    events = of_class(rings, "MUTEX", "UNLOCK", "COND_WAIT")
    steps = []
    for event in events:
        if event["class"] == "UNLOCK":
            steps.append((event["begin"], "leave", event["args"][0], event))
        elif event["class"] == "COND_WAIT":
            steps.append((event["begin"], "leave", event["args"][1], event))
            steps.append((end(event), "take", event["args"][1], event))
        elif event["errno"] in TAKEN:
            steps.append((end(event), "take", event["args"][0], event))
    for when, what, lock, event in sorted(steps, key=lambda step: step[:2]):
        key = (lock, event["tid"])
        if what == "take":
            assert key not in open_since, ("taken twice", event)
            open_since[key] = (when, event["class"] == "MUTEX" and event["args"][1] == 1)
        else:
            since, is_reader = open_since.pop(key)
            found[lock].append((since, when, is_reader, event["tid"]))
    return found, open_since


def check_alone(rings):
    """R-SYNC-2: no two hold a lock at once, but readers."""
    for lock, intervals in holds(rings)[0].items():
        last = [0, 0]  # the latest end of writers, of all
        late = 0
        for since, until, is_reader, tid in sorted(intervals):
            over = last[0 if is_reader else 1] - since
            assert over < LATE_TICKS, (hex(lock), since, until, tid, over)
            late += over > 0
            last = [last[0] if is_reader else max(last[0], until), max(last[1], until)]
        assert late <= 5 + len(intervals) // 20, (hex(lock), late, len(intervals))


def check_rounds(rings, names):
    """R-SYNC-5: as many members as it says, and none leaves before those it waits for have come."""
    rounds = collections.defaultdict(list)
    for event in of_class(rings, "BARRIER"):
        rounds[event["args"][0], event["args"][1]].append(event)
    for key, events in rounds.items():
        assert len(events) == events[0]["args"][2], (key, events)
        assert len({event["tid"] for event in events}) == len(events), (key, events)
        last = max(event["begin"] for event in events if event["args"][3] & 1)
        first = min(end(event) for event in events if event["args"][3] & 2)
        assert last <= first or "gomp_start" in {e["op"] for e in events}, (key, events)
        assert {event["op"] for event in events} <= names, events[0]
    return rounds


def stress(rings):
    check_alone(rings)
    assert not holds(rings)[1], holds(rings)[1]
    assert len(check_rounds(rings, {"pthread_barrier_wait"})) == 80
    posts = sorted(event["begin"] for event in of_class(rings, "SEM_POST"))
    waits = sorted(end(event) for event in of_class(rings, "SEM_WAIT"))
    assert len(posts) == len(waits) == 640
    for number, moment in enumerate(waits[3:]):  # R-SYNC-6: three could pass at once
        assert posts[number] < moment, (number, moment)
    signals = by_object(of_class(rings, "COND_SIGNAL"))
    for wait in of_class(rings, "COND_WAIT"):
        assert any(wait["begin"] < end(signal) and signal["begin"] < end(wait)
                   for signal in signals[wait["args"][0]]), wait


def openmp(rings):
    check_alone(rings)
    rounds = check_rounds(rings, {"gomp_start", "gomp_end", "GOMP_parallel", "GOMP_barrier"})
    starts = [events for events in rounds.values() if events[0]["op"] == "gomp_start"]
    assert len(starts) == 2 * 50 + 3, len(starts)
    writes = [event for event in of_class(rings, "WRITE") if event["path"].endswith("openmp.dat")]
    assert len(writes) == 50 * (4 + 1 + 2 + 4), len(writes)


def main(library, mode, program):
    rings = more_test.traced(os.path.abspath(library), [os.path.abspath(program)], WHYIO_CAUSAL="1")
    assert not any(ring.dropped for ring in rings)
    {"stress": stress, "openmp": openmp}[mode](rings)


if __name__ == "__main__":
    main(*sys.argv[1:])
