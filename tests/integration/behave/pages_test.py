#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""pages_test.py LIBRARY PROGRAM MODE: the pages of mapped files that a program stored into are in the
rings, each once, and nothing else is different. MODE `python` runs Python's own mmap."""

import os
import re
import sys

import more_test
import ring_reader

HIDDEN_STORES = 9
PAGE = 4096

# Per mode: (offset, size) in pages, in order; bytes of the last page as they are.
WRITTEN = {
    "sync": [(0, 2), (5, 1), (2, 1), (9, 1), (16, 100 / PAGE)],
    "end": [(3, 1)],
    "remap": [(4, 1), (6, 1), (10, 1)],
    "fork": [(1, 1), (11, 1), (12, 1)],
    "threads": [(page, 1) for page in range(0, 16, 2)],
    "close": [(3, 2)],
    "exec": [(8, 1)],
    "own": [(2, 1)],
    "python": [(1, 2), (7, 1)],
}
PYTHON = """
import mmap
with open("python.dat", "w+b") as file:
    file.truncate(10 * 4096)
    with mmap.mmap(file.fileno(), 0) as view:
        view[4096 + 10:2 * 4096 + 20] = b"x" * (4096 + 10)
        view.flush()
        view[7 * 4096] = 1
"""


def can_watch():
    major, minor = map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups())
    return (major, minor) >= (6, 7)


def main(library, program, mode):
    command = [sys.executable, "-c", PYTHON] if mode == "python" else [os.path.abspath(program), mode]
    plain = more_test.traced(os.path.abspath(library), command)
    assert not any(event["op"] == "mmap_write" for ring in plain for event in ring.events())
    rings = more_test.traced(os.path.abspath(library), command, WHYIO_MMAP_PAGES="1")
    hidden = sum(ring.unseen[HIDDEN_STORES] for ring in rings)
    events = [event for ring in rings for event in ring.events() if event["op"] == "mmap_write"]
    if not can_watch():
        assert hidden > 0 and not events, (hidden, events)
        return
    if hidden > 0 and not events:
        print("userfaultfd is not allowed here", file=sys.stderr)
        sys.exit(77)
    assert hidden == (1 if mode == "own" else 0), hidden
    found = [(event["offset"] / PAGE, event["size"] / PAGE) for event in events]
    want = WRITTEN[mode]
    if mode in ("threads", "fork"):  # threads: order is chance; fork: two rings
        found, want = sorted(found), sorted(want)
    assert found == want, (found, want)
    for event in events:
        assert event["path"].endswith(f"/{mode}.dat"), event
        assert event["result"] == event["size"] and event["fd"] is None, event
        assert event["flags"] & ring_reader.FLAG_BUFFERED, event
        assert event["args"][2] - event["args"][3] == event["offset"], event


if __name__ == "__main__":
    main(*sys.argv[1:])
