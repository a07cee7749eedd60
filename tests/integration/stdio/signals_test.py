#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""signals_test.py LIBRARY PROGRAM: calls that are counted in runs, interrupted by a handler that
records too, are all there once and in order; so are the handler's, and a child's."""

import os
import subprocess
import sys
import tempfile

import ring_reader

CALLS = 300000


def faults(events, name, writes):
    """What is wrong with the events of one process."""
    path_end = "/" + name
    puts = [event for event in events if event["op"] == "fputc"]
    in_file = [event for event in puts if event["path"].endswith(path_end)]
    inner = [event for event in events if event["op"] == "write"
             and event["path"].endswith("/handler")]
    if len(puts) != CALLS or len(in_file) != CALLS:
        yield f"{name}: {len(in_file)} of {CALLS} calls recorded"
    if sorted(event["offset"] for event in puts) != list(range(CALLS)):
        yield f"{name}: offsets are not 0 .. {CALLS - 1}"
    if len(inner) != writes:
        yield f"{name}: {len(inner)} of {writes} writes of the handler recorded"
    begins = [event["begin"] for event in puts]
    if begins != sorted(begins):
        yield f"{name}: calls are not in order of time"


def main(library, program):
    with tempfile.TemporaryDirectory(prefix="whyio-signals-") as top:
        env = dict(os.environ, LD_PRELOAD=library, WHYIO_RINGS=top)
        done = subprocess.run([program, top, str(CALLS)], env=env, check=True, text=True,
                              stdout=subprocess.PIPE, timeout=120)
        rings = ring_reader.read_rings(top, os.environ["WHYIO_SOURCE"])
        found = []
        for ring, line in zip(rings, done.stdout.splitlines()):
            name, writes = line.split()
            print(f"{name}: interrupted {writes} times")
            found += faults(list(ring.events()), name, int(writes))
    print("\n".join(found))
    return 1 if found or len(rings) != 2 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
