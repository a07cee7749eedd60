#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""odd_test.py LIBRARY PROGRAM MODE: legal things that are rarely done leave the program as it is,
and are recorded rightly."""

import os
import sys

import more_test
import ring_reader


def ends_of(ring, op):
    """The results of asynchronous requests, by offset."""
    requests = [event for event in ring.events() if event["op"] == op and event["key"] != 0]
    return dict(zip((event["offset"] for event in requests),
                    ring_reader.pair(requests, ring.completions())))


def memory_streams(_, events, __):
    assert [event["op"] for event in events] == ["exit"], events


def mapped_stream(_, events, __):
    (read,) = [event for event in events if event["op"] == "fread"]
    assert (read["size"], read["result"], read["errno"]) == (4096, 100, 0), read


def ring_number(_, events, top):
    maps = [event for event in events if event["op"] == "mmap"]
    assert maps[-1]["path"] == f"{top}/empty" and maps[-1]["result"] > 0, maps


def aio_lists(ring, events, _):
    ends = ends_of(ring, "aio_write")
    assert ends == {4096: -22, 8192: -9, 3 * 4096: 4096}, ends
    assert [event["op"] for event in events].count("aio_error") == 1


def failed_dlopen(_, __, ___):
    """The messages are in the outcome."""


def message_file(_, events, __):
    """Every byte is written behind those before it."""
    end = 0
    for event in events:
        if event["op"] == "write" and event["path"].endswith("/messages"):
            assert event["offset"] == end, (event, end)
            end += event["result"]
    assert end == len("one: No such file or directory\n") * 2 + len("three"), end


def left_fopen(_, events, top):
    paths = {event["path"] for event in events if event["op"] in ("lseek", "write", "close")}
    assert paths == {f"{top}/file"}, paths


def left_fopen_last(_, events, top):
    seeks = [event["path"] for event in events if event["op"] == "lseek"]
    assert seeks and set(seeks) == {f"{top}/file"}, seeks


def replaced_page(_, events, top):
    (sync,) = [event for event in events if event["op"] == "msync"]
    assert (sync["path"], sync["offset"], sync["size"]) == (f"{top}/file", 4096, 4096), sync


def directory_on_path(_, events, __):
    paths = [event["path"] for event in events if event["op"] in ("posix_spawnp", "execvp")]
    assert paths == ["/bin/true", "/bin/true"], paths


def directory_of_threads(_, events, top):
    paths = [event["path"] for event in events if event["op"] == "access"]
    top += 2 * ("/" + 200 * "n")
    found = {path: paths.count(path) for path in sorted(set(paths))}
    assert found.pop(f"{top}/d/below") == found.pop(f"{top}/above") == 2500, found
    assert set(found) <= {f"{top}/either", f"{top}/d/either"}, found


def main(library, program, mode):
    rings, top = more_test.traced_in(os.path.abspath(library), [os.path.abspath(program), mode])
    events = [event for ring in rings for event in ring.events()]
    {"memory_streams": memory_streams, "mapped_stream": mapped_stream, "ring_number": ring_number,
     "aio_lists": aio_lists, "failed_dlopen": failed_dlopen, "message_file": message_file, "left_fopen": left_fopen,
     "left_fopen_last": left_fopen_last,
     "directory_on_path": directory_on_path, "replaced_page": replaced_page,
     "directory_of_threads": directory_of_threads}[mode](rings[0], events, top)


if __name__ == "__main__":
    main(*sys.argv[1:])
