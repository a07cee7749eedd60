#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""edge_test.py LIBRARY PROGRAM MODE: legal things at the edge of what calls allow leave the program
as it is, and are recorded rightly."""

import os
import stat
import subprocess
import sys
import tempfile

import more_test


def programs(rings):
    """What ran, by name; an exec begins a ring of its own."""
    return sorted(os.fsdecode(os.path.basename(ring.meta(1))) for ring in rings)


def run_is_seen(name):
    def check(rings, _):
        assert name in programs(rings), programs(rings)
    return check


def small_handler(rings, _):
    paths = [event["path"] for event in rings[0].events() if event["op"] in ("read", "write")]
    assert len(paths) == 3000 and all(paths), (len(paths), paths[:4])
    assert programs(rings) == ["edge", "true"], programs(rings)


def freed_name(rings, _):
    events = [event for ring in rings for event in ring.events()]
    made = [event["args"][0] for event in events
            if event["op"] == "pthread_create" and not event["errno"]]
    begun = [event["args"][0] for event in events if event["op"] == "thread_start"]
    assert len(made) == 200 and sorted(made) == sorted(begun), (made, begun)


def close_nothing(rings, _):
    events = [event for event in rings[0].events() if event["op"] == "closedir"]
    assert [(event["result"], event["errno"]) for event in events] == [(-1, 22)], events


def given_away(rings, _):
    reads = [(event["offset"], event["result"]) for ring in rings for event in ring.events()
             if event["op"] == "read"]
    assert sorted(reads) == [(0, 10), (10, 100), (110, 7)], reads


def shared_log(rings, _):
    writes = [(event["offset"], event["result"]) for ring in rings for event in ring.events()
              if event["op"] == "write" and event["path"].endswith("/log")]
    assert sorted(writes) == [(0, 5), (5, 7), (12, 6)], writes


def vforked_directory(rings, top):
    paths = [event["path"] for ring in rings for event in ring.events() if event["op"] == "open"]
    assert paths == [f"{top}/{name}" for name in ("before", "elsewhere/within", "after")], paths


def relative_steps(rings, top):
    paths = [event["path"] for ring in rings for event in ring.events()
             if event["op"] in ("chdir", "open")]
    assert paths == [top + name for name in ("/d", "/d/e", "/d", "/d/e", "", "/nowhere",
                                             "/d", "/d/e", "/after")], paths


def long_names(rings, top):
    shared_log(rings, top)
    paths = {event["path"] for event in rings[0].events() if event["op"] == "write"}
    assert paths == {top + 5 * ("/" + 100 * "n") + "/log"}, paths


def clean_environment(rings, _):
    shell = os.path.basename(os.path.realpath("/bin/sh"))
    assert programs(rings) == sorted([shell, shell, "edge", "head", "tail"]), programs(rings)


def own_environments(rings, _):
    assert programs(rings) == ["edge"] + 60 * ["true"], programs(rings)


def nothing(_, __):
    """The outcome is all: it is compared with that of a plain run."""


def no_permissions(library, program):
    """Rings can be read by their owner, whatever files the program makes."""
    with tempfile.TemporaryDirectory(prefix="whyio-edge-") as top:
        env = dict(os.environ, LD_PRELOAD=library, WHYIO_RINGS=top)
        subprocess.run([program, "no_permissions"], cwd=top, env=env, check=True, timeout=60)
        modes = [stat.S_IMODE(os.stat(os.path.join(top, name)).st_mode) for name in os.listdir(top)]
        assert modes == [0o600, 0o600], modes


def no_directory(library, program):
    """Without a directory nothing is recorded, nowhere."""
    for text in ("", "rings"):
        with tempfile.TemporaryDirectory(prefix="whyio-edge-") as top:
            os.mkdir(os.path.join(top, "rings"))
            before = set(os.listdir("/"))
            env = dict(os.environ, LD_PRELOAD=library, WHYIO_RINGS=text)
            subprocess.run([program, "close_nothing"], cwd=top, env=env, check=True, timeout=60,
                           stdout=subprocess.DEVNULL)
            found = set(os.listdir("/")) - before | set(os.listdir(os.path.join(top, "rings")))
            assert not any(name.endswith(".ring") for name in found), found


CHECKS = {"small_stack": run_is_seen("echo"), "freed_name": freed_name, "small_handler": small_handler,
          "faults": nothing, "many_arguments": nothing, "close_nothing": close_nothing, "bad_duplicates": nothing,
          "given_away": given_away, "given_in_many": given_away, "spawned_log": shared_log,
          "vforked_log": shared_log, "borrowed_log": shared_log, "long_names": long_names,
          "vforked_directory": vforked_directory, "relative_steps": relative_steps,
          "clean_environment": clean_environment, "own_environments": own_environments}


def main(library, program, mode):
    library, program = os.path.abspath(library), os.path.abspath(program)
    if mode in CHECKS:
        CHECKS[mode](*more_test.traced_in(library, [program, mode]))
    else:
        {"no_permissions": no_permissions, "no_directory": no_directory}[mode](library, program)


if __name__ == "__main__":
    main(*sys.argv[1:])
