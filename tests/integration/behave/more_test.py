#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""more_test.py LIBRARY sanitized PROGRAM | plugins HOST PLUGIN... | stacks PROGRAM | early PROGRAM |
children PROGRAM | numbers PROGRAM | preinit PROGRAM:
more programs that must behave as without capture."""

import os
import subprocess
import sys
import tempfile

import ring_reader


def run(command, top, env):
    done = subprocess.run(command, cwd=top, env=dict(os.environ, **env), capture_output=True,
                          check=False, timeout=60)
    return done.returncode, done.stdout, done.stderr


def traced_in(library, command, **extra):
    """The rings of a run, which must be as one without capture, and the directory it was in."""
    with tempfile.TemporaryDirectory(prefix="whyio-more-") as top:
        top = os.path.realpath(top)
        rings, plainly, here = (os.path.join(top, name) for name in ("rings", "plain", "here"))
        for name in (rings, plainly, here):
            os.mkdir(name)
        plain = run(command, plainly, {})
        outcome = run(command, here, dict(extra, LD_PRELOAD=library, WHYIO_RINGS=rings))
        assert outcome == plain, f"expected {plain}, got {outcome}"
        assert outcome[0] == 0, outcome
        return ring_reader.read_rings(rings, os.environ["WHYIO_SOURCE"]), here


def traced(library, command, **extra):
    """The rings alone."""
    return traced_in(library, command, **extra)[0]


def sanitized(library, program):
    events = [event for ring in traced(library, [program, "good"]) for event in ring.events()]
    ops = [event["op"] for event in events if (event["path"] or "").endswith("sanitized.dat")]
    assert ops == ["open", "write", "pread"], ops
    with tempfile.TemporaryDirectory(prefix="whyio-more-") as top:
        bad = run([program, "bad"], top, {"LD_PRELOAD": library, "WHYIO_RINGS": top})
    assert bad[0] != 0 and b"heap-buffer-overflow" in bad[2], bad


def module_at(ring, address):
    """The last MODULE record that holds for an address names it."""
    names = [path for low, high, _, path in ring.modules() if low <= address < high]
    return {os.path.basename(name) for name in names}


def plugins(library, host, *paths):
    ring = traced(library, [host, *paths])[0]
    events = [event for event in ring.events() if event["op"] == "pwrite"]
    assert len(events) == 20 * len(paths), len(events)
    for event in events:
        name = os.path.basename(paths[0 if event["path"].endswith("one.dat") else 1])
        assert name in module_at(ring, event["source"]), (name, module_at(ring, event["source"]))


def stacks(library, program):
    ring = traced(library, [program, "fork_storm"], WHYIO_STACKS="1")[0]
    known = ring.stacks()
    events = [event for event in ring.events() if event["op"] == "fork"]
    assert len(events) == 60, len(events)
    for event in events:
        assert event["flags"] & ring_reader.FLAG_STACK
        frames = known[event["source"]]
        assert len(frames) >= 3, frames
        assert os.path.basename(program) in module_at(ring, frames[0])
    assert len({event["source"] for event in events}) == 1


def children(library, program):
    """A child of fork says in its own ring where its calls come from."""
    rings = traced(library, [program, "fork_storm"])
    assert len(rings) == 61, len(rings)
    for ring in rings:
        for event in ring.events():
            source = ring.caller(event)
            if source != 0:
                assert module_at(ring, source), (ring.name, event)


def numbers(library, program):
    """Results of syscall() are as wide as the kernel's, bad pointers are the kernel's affair."""
    rings = traced(library, [program])
    ops = {event["op"] for ring in rings for event in ring.events()}
    assert {"waitid", "execve", "close_range", "open"} <= ops, ops


def early(library, program):
    """What libc did for the streams of a library's constructor is there too."""
    events = [event for ring in traced(library, [program]) for event in ring.events()
              if event["path"] == "/proc/self/comm"]
    ops = [event["op"] for event in events if event["flags"] & ring_reader.FLAG_CAUSED]
    assert ops == ["open", "fstat", "read", "read", "close"], ops
    assert all(event["offset"] is None or event["offset"] >= 0 for event in events), events


def preinit(library, program):
    """I/O before any constructor is recorded, and so is all that comes behind it."""
    rings = traced(library, [program])
    assert len(rings) == 1, rings
    events = [(event["op"], os.path.basename(event["path"] or "")) for event in rings[0].events()]
    files = [event for event in events if event[1].endswith(".dat")]
    assert files == [(op, name) for name in ("early.dat", "late.dat")
                     for op in ("open", "write", "close")], events
    assert rings[0].end == 1 and events[-1][0] == "exit", (rings[0].end, events)


def main(library, mode, *paths):
    paths = [os.path.abspath(path) for path in paths]
    {"sanitized": sanitized, "plugins": plugins, "stacks": stacks, "early": early,
     "children": children, "numbers": numbers, "preinit": preinit}[mode](
        os.path.abspath(library), *paths)


if __name__ == "__main__":
    main(*sys.argv[1:])
