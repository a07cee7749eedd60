#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""confined_test.py LIBRARY PROGRAM MODE: a program that takes system calls away from itself (seccomp)
lives on under capture; what cannot be recorded any more is counted."""

import os
import sys

import more_test

WRITES, FIRST = 5000, 10
CHUNK = 1023
NO_RING = 5


def main(library, program, mode):
    rings = more_test.traced(os.path.abspath(library), [os.path.abspath(program), mode])
    assert len(rings) == 1, rings
    writes = [event for event in rings[0].events() if event["op"] == "write"]
    for event in writes:
        assert event["path"].endswith(("/plain", "/append")), event
    dropped = rings[0].dropped
    if mode == "failed":
        assert len(writes) == WRITES + FIRST and dropped == 0, (len(writes), dropped)
        return
    if mode == "child":
        assert rings[0].unseen[NO_RING] == 1 and len(writes) == FIRST, (rings[0].unseen, len(writes))
        return
    if mode in ("thread", "strict", "clock"):  # no chunk; no clock
        assert len(writes) == FIRST and dropped >= WRITES, (len(writes), dropped)
        return
    assert len(writes) > CHUNK - 100, len(writes)
    assert dropped >= WRITES - len(writes), (len(writes), dropped)
    offsets = [event["offset"] for event in writes if event["path"].endswith("/plain")]
    assert offsets == list(range(len(offsets))), offsets[:10]


if __name__ == "__main__":
    main(*sys.argv[1:])
