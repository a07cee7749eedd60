#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sync_test.py LIBRARY PROGRAM MODE: threads that wait for each other behave as without capture, and
which operation waited for which is recorded."""

import collections
import errno
import os
import sys

import more_test

TAKEN = (0, errno.EOWNERDEAD)


def of_class(rings, *classes):
    """Events of these classes of all rings, by their begin."""
    return sorted((event for ring in rings for event in ring.events() if event["class"] in classes),
                  key=lambda event: event["begin"])


def end(event):
    return event["begin"] + event["duration"]


def by_object(events):
    found = collections.defaultdict(list)
    for event in events:
        found[event["args"][0]].append(event)
    return found


def errors(rings):
    """R-SYNC-2, R-SYNC-3: each that was taken after a failure, or failed, with its error."""
    failed = collections.Counter(event["errno"] for event in of_class(rings, "MUTEX")
                                 if event["errno"])
    assert failed == {errno.EDEADLK: 4, errno.ETIMEDOUT: 3, errno.ENOTRECOVERABLE: 2}, failed
    for event in of_class(rings, "MUTEX"):
        assert event["result"] == event["errno"], event
    waits = of_class(rings, "COND_WAIT")
    assert [event["errno"] for event in waits] == [errno.ETIMEDOUT], waits
    semaphores = of_class(rings, "SEM_WAIT", "SEM_POST")
    assert [event["errno"] for event in semaphores] == [errno.ETIMEDOUT, errno.EOVERFLOW], semaphores


def cancelled(rings):
    """R-SYNC-4: the mutex that a cancelled thread has again, and leaves in its handler."""
    waits = of_class(rings, "COND_WAIT")
    assert [event["errno"] for event in waits] == [errno.ECANCELED], waits
    unlocks = [event for event in of_class(rings, "UNLOCK") if event["tid"] == waits[0]["tid"]]
    assert len(unlocks) == 1 and unlocks[0]["begin"] >= end(waits[0]), (waits, unlocks)
    assert unlocks[0]["args"][0] == waits[0]["args"][1]
    assert not of_class(rings, "SEM_WAIT", "POLL", "SIGWAIT")


def contended(rings):
    """R-SYNC-2: the waiter's event lasts until the holder's unlock, which is there as well."""
    locks = by_object(of_class(rings, "MUTEX", "UNLOCK"))
    assert len(locks) == 4, locks.keys()
    pairs = 0
    for events in locks.values():
        for waiter in (e for e in events if e["class"] == "MUTEX" and e["duration"] > 0):
            holder = [e for e in events if e["tid"] != waiter["tid"]
                      and waiter["begin"] < e["begin"] < end(waiter)]
            assert [e["class"] for e in holder] == ["UNLOCK"], (waiter, holder)
            taken = [e for e in events if e["tid"] == holder[0]["tid"] and e["class"] == "MUTEX"
                     and e["begin"] < holder[0]["begin"]]
            assert taken, holder
            pairs += 1
    assert pairs == 6, pairs
    readers = [event["args"][1] for event in of_class(rings, "MUTEX", "UNLOCK")]
    assert readers.count(1) == 4, readers


def quiet(rings):
    events = of_class(rings, "MUTEX", "UNLOCK", "COND_SIGNAL")
    assert not events, events[:3]


def futexes(rings):
    """R-SYNC-7"""
    waits, wakes = of_class(rings, "FUTEX_WAIT"), of_class(rings, "FUTEX_WAKE")
    assert [event["errno"] for event in waits if event["errno"]] == [errno.EFAULT], waits
    woken = [event for event in waits if not event["errno"]]
    assert [event["result"] for event in wakes] == [1] * len(woken), wakes
    for wait, wake in zip(woken, wakes):
        assert wait["args"][0] == wake["args"][0] and wake["begin"] < end(wait), (wait, wake)


def handler(rings):
    """R-SYNC-6: as many waits as posts, whatever the handler came upon."""
    posts, waits = of_class(rings, "SEM_POST"), of_class(rings, "SEM_WAIT")
    assert len(posts) == len(waits) == 200, (len(posts), len(waits))
    writes = [event for event in of_class(rings, "WRITE") if event["path"].endswith("handler.dat")]
    locks, unlocks = of_class(rings, "MUTEX"), of_class(rings, "UNLOCK")
    assert len(locks) == len(unlocks) >= len(writes), (len(locks), len(unlocks), len(writes))


CHECKS = {check.__name__: check
          for check in (errors, cancelled, contended, quiet, futexes, handler)}


def main(library, program, mode):
    command = [os.path.abspath(program), mode]
    library = os.path.abspath(library)
    CHECKS[mode](more_test.traced(library, command, WHYIO_CAUSAL="1"))
    for ring in more_test.traced(library, command):  # --causal=off
        extra = [event for event in ring.events() if event["class"] in (
            "MUTEX", "UNLOCK", "COND_WAIT", "COND_SIGNAL", "BARRIER", "SEM_WAIT", "SEM_POST", "POLL",
            "FUTEX_WAIT", "FUTEX_WAKE", "SLEEP", "KILL", "SIGWAIT")]
        assert not extra, extra[0]


if __name__ == "__main__":
    main(*sys.argv[1:])
