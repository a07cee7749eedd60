#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""raw_ring_test.py LIBRARY PROGRAM [own|index|late|unmap]: every request of a ring that the program drives itself is
recorded in order, and has found its end, or is told as lost: where two threads share a ring, one of
them may be stopped while it reads completions, and the kernel writes over those.

One thread by itself loses none."""

import os
import subprocess
import sys
import tempfile

import ring_reader

REQUESTS = "5000"
LOST_COMPLETION = 6  # src/ring/ring.h


def main(library, program, *mode):
    with tempfile.TemporaryDirectory(prefix="whyio-uring-") as top:
        path = os.path.join(os.path.realpath(top), "data")
        env = dict(os.environ, LD_PRELOAD=library, WHYIO_RINGS=top)
        done = subprocess.run([program, path, REQUESTS, *mode], env=env, check=False, text=True,
                              stdout=subprocess.PIPE, timeout=60)
        if done.returncode != 0:
            print("no io_uring here" if done.returncode == 77 else "failed", file=sys.stderr)
            return done.returncode
        (ring,) = ring_reader.read_rings(top, os.environ["WHYIO_SOURCE"])
    *wants, total = [line.split() for line in done.stdout.splitlines()]
    requests = [event for event in ring.events() if event["op"] in ("uring_read", "uring_write")]
    haves = [[event["op"].removeprefix("uring_"), str(event["offset"]), str(event["size"])]
             for event in requests]
    results = list(ring_reader.pair(requests, ring.completions()))
    handled = [event["size"] for event in ring.events() if event["op"] == "pwrite"]
    assert handled == ([1] if "index" in mode else []), handled
    pending = results.count(None)
    is_late = mode in (("late",), ("unmap",))
    wrong_path = sum(event["path"] != path for event in requests[:len(requests) - is_late])
    lost = ring.unseen[LOST_COMPLETION]
    summed = ["sum", str(len(results) - pending), str(sum(result or 0 for result in results))]
    print(f"{len(haves)} requests of {len(wants)}, {pending} pending, {lost} lost, {summed}, wanted {total}")
    may_lose = program.endswith("lib_ring") and not mode
    is_told = summed == total if lost == 0 else may_lose and pending == lost
    return 0 if haves == wants and is_told and wrong_path == 0 else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
