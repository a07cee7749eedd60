#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""inner_test.py LIBRARY PROGRAM MODE: what libc does inside itself to the working directory and to
descriptors does not make paths wrong that are recorded afterwards."""

import os
import shutil
import sys

import lacks
import more_test

BEFORE_AFTER = ["before", "tree/a/one", "tree/a/seen.one", "tree/b/seen.two", "tree/b/two", "after"]


def opened(events):
    return sorted(event["path"] for event in events if event["op"] == "open")


def walked(events, top):
    assert opened(events) == sorted(f"{top}/{name}" for name in BEFORE_AFTER), opened(events)


def daemon(events, top):
    assert opened(events) == [f"{top}/{name}" for name in ("after", "before", "done.tmp")]
    assert [event["path"] for event in events if event["op"] == "stat"] == ["/relative"]
    lost = [event["path"] for event in events if event["op"] == "write" and event["size"] == 4]
    assert lost == ["/dev/null"], lost


def terminal(events, _):
    paths = [event["path"].rstrip("0123456789") for event in events
             if event["op"] == "write" and event["size"] == 1]
    assert paths == ["/dev/pts/"] * 3, paths


def spawn(events, top):
    paths = [event["path"] for event in events if event["op"].startswith("posix_spawn")]
    assert paths == [shutil.which("sh"), f"{top}/tree/a/shell", None], paths
    made = [path for path in opened(events) if path.endswith("spawned")]
    assert made == [f"{top}/spawned"] * 2 + [f"{top}/tree/a/spawned"], made


def streams(events, top):
    for name in ("first", "piped", "by_system", "after"):
        writes = [event for event in events if event["op"] == "write"
                  and event["path"] == f"{top}/{name}" and event["result"] > 0]
        assert len(writes) == 1, (name, writes)


def lists(events, top):
    writes = [event["path"] for event in events if event["op"] == "write"
              and event["size"] == 1]
    assert writes == [f"{top}/tree/a/one", f"{top}/tree/b/two", "/dev/ptmx", f"{top}/after"], writes


def main(library, program, mode):
    lacks.skip_script(lacks.terminal() if mode in ("terminal", "lists") else "")
    rings, top = more_test.traced_in(os.path.abspath(library), [os.path.abspath(program), mode])
    events = [event for ring in rings for event in ring.events()]
    {"nftw": walked, "fts": walked, "daemon": daemon, "terminal": terminal, "spawn": spawn,
     "streams": streams, "lists": lists}[mode](events, top)


if __name__ == "__main__":
    main(*sys.argv[1:])
