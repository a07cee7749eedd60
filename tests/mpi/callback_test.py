#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""callback_test.py PROGRAM LAUNCHER [OPTION...]: what a library does where MPI_Finalize calls it back is recorded;
what an MPI library hands to the kernel's asynchronous I/O is counted as unseen, request by request, also where
the file was registered, and where no function is called for it (then by the ring, as long as that is there)."""

import json
import os
import re
import subprocess
import sys
import tempfile

import mpi_environment  # noqa: F401

# (operation, file, result) in this order, other operations between them.
EXPECTED = [("pwrite", "data", 7), ("close", "data", 0), ("write", "data.log", 10), ("close", "data.log", 0),
            ("open", "data.new", None), ("write", "data.new", 5), ("close", "data.new", 0),
            ("rename", "data.new", 0)]


def whyio(*args, **more):
    return subprocess.run([os.environ["WHYIO"], *args], stdout=subprocess.PIPE, check=True, timeout=100,
                          text=True, **more).stdout


def callbacks(lines):
    """What the trace has from the begin of MPI_Finalize on."""
    events = [event for event in map(json.loads, lines.splitlines()) if "t_ns" in event]
    begin = next(event["t_ns"] for event in events if event["op"] == "MPI_Finalize")
    for event in events:
        if event["t_ns"] >= begin and event["path"]:
            yield event["op"], os.path.basename(event["path"]), event["result"]


def main(program, *launcher):
    with tempfile.TemporaryDirectory() as place:
        said = whyio("record", "-q", "-o", "t", "--", *launcher, "-n", "1", os.path.realpath(program), "data",
                     cwd=place)
        trace = os.path.join(place, "t")
        info = json.loads(whyio("info", "--format=json", trace))
        seen = list(callbacks(whyio("dump", trace)))
        whyio("check", trace)
    requests, hidden = map(int, re.search(r"requests (\d+) hidden (\d+)", said).groups())
    missing = list(EXPECTED)
    for op, name, result in seen:
        if missing and (op, name) == missing[0][:2] and missing[0][2] in (None, result):
            missing.pop(0)
    unseen = info["unseen"]
    print(f"unseen {unseen}, {requests} requests and {hidden} without a call, missing from {missing[:1]} on: {seen}")
    is_counted = unseen.get("mpi_async", 0) == requests > 0 and unseen.get("hidden_uring", 0) == hidden
    return 0 if not missing and is_counted and not info["complete"] else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
