#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""behave_test.py LIBRARY PROGRAM STATIC MODE: a program that treats capture badly behaves as without
it (status, stdout, stderr), and what it did is in the rings, exactly."""

import collections
import os
import shutil
import subprocess
import sys
import tempfile

import ring_reader

STATIC_EXEC, NO_RING, SHARED_CLONE = 0, 5, 3


class Run:
    """One run under capture; the counts of its operations."""

    def __init__(self, top, rings):
        self.top, self.rings = top, rings
        self.events = [event for ring in rings for event in ring.events()]
        self.ops = collections.Counter(event["op"] for event in self.events)
        self.dropped = sum(ring.dropped for ring in rings)
        self.unseen = [sum(ring.unseen[i] for ring in rings) for i in range(16)]

    def count(self, op, **fields):
        """Events of an operation whose fields have these values; path by its end."""
        return sum(1 for event in self.events if event["op"] == op and all(
            (event[key] or "").endswith(value) if key == "path" else event[key] == value
            for key, value in fields.items()))


def expect(what, have, want):
    if have != want:
        sys.exit(f"{what}: expected {want}, recorded {have}")


def writes(name, number):
    """A check: that many good writes of that file, none lost."""
    def check(run):
        expect(f"pwrite of {name}", run.count("pwrite", path=name, errno=0), number)
        expect("dropped", run.dropped, 0)
    return check


def descriptors_closed(run):
    writes("close_all.dat", 3000)(run)
    good = run.count("fstat", errno=0)
    expect("open descriptors above 2", good - run.count("fstat", errno=0, fd=1), 0)


def dropped_at_limit(run):
    ring = run.rings[0]
    expect("events and drops", run.ops["pwrite"] + run.ops["open"] + ring.dropped >= 5002, True)
    expect("drops", ring.dropped > 0, True)
    expect("size of the ring", os.path.getsize(ring.path) <= 100 * 1024, True)


def in_new_root(run):
    if "chroot" in run.ops and run.count("chroot", errno=0):
        writes("root.dat", 3000)(run)
        expect("processes without a ring", run.unseen[NO_RING], 1)


def storm(run):
    expect("rings", len(run.rings), 61)
    expect("pwrite", run.ops["pwrite"], 300)
    expect("parents", sum(ring.parent is not None for ring in run.rings), 60)
    ends = sorted(ring.end_status for ring in run.rings[1:])
    expect("ends", ends, list(range(60)))


def forked_threads(run):
    expect("rings", len(run.rings), 21)
    writes("thread.dat", 1500)(run)
    expect("inner", run.count("pwrite", path="inner.dat"), 30000)
    expect("starts", run.ops["thread_start"], 21)
    expect("exits", run.ops["thread_exit"], 21)


def vforked(run):
    main = run.rings[0]
    guests = [event for event in main.events() if event["flags"] & ring_reader.FLAG_VFORK]
    expect("guests' processes", len({event["pid"] for event in guests}), 3)
    expect("parent among them", main.pid in {event["pid"] for event in guests}, False)
    expect("guests' writes", sum(event["op"] == "write" for event in guests), 3)
    expect("failed exec", sum(event["op"] == "execv" and event["errno"] == 2
                              for event in guests), 1)
    rest = [event for event in main.events() if not event["flags"] & ring_reader.FLAG_VFORK]
    expect("others' pid", {event["pid"] for event in rest}, {main.pid})
    made = {event["result"] for event in rest if event["op"] == "vfork"}
    expect("pids of vfork", made, {event["pid"] for event in guests})
    expect("end", (main.end, main.end_status), (1, 0))
    writes("between.dat", 15)(run)
    writes("kept.dat", 15)(run)


def cloned(run):
    expect("unseen", run.unseen[SHARED_CLONE], 1)
    writes("parent.dat", 3000)(run)
    expect("the child's", run.count("pwrite", path="clone.dat"), 0)


def executed_static(run):
    expect("unseen", run.unseen[STATIC_EXEC], 1)
    expect("exec", run.count("execl", errno=0), 1)


def scripts(run):
    expect("rings", len(run.rings) >= 3, True)
    expect("spawn", run.count("posix_spawn", path="script", errno=0), 1)
    expect("system", run.ops["system"], 1)


def leaves(run):
    expect("leaf", run.count("pwrite", path="leaf.dat"), 9)
    expect("ends by exec", sum(ring.end == 2 for ring in run.rings), 3)


def thousand(run):
    expect("pwrite", run.ops["pwrite"], 20000)
    expect("starts", run.ops["thread_start"], 1000)
    tids = {event["tid"] for event in run.events if event["op"] == "pwrite"}
    expect("threads", len(tids), 1000)
    tokens = collections.Counter(event["args"][0] for event in run.events
                                 if event["class"] == "THREAD")
    expect("each token in create, start, exit, join", set(tokens.values()), {4})


def short_threads(run):
    expect("access", run.ops["access"], 3000)
    expect("exits", run.ops["thread_exit"], 3000)
    expect("chunks", run.rings[0].chunks < 40, True)


def cancelled(run):
    writes("cancel.dat", 1500)(run)
    expect("exits", run.ops["thread_exit"], run.ops["thread_start"])


def handler(run):
    with open(os.path.join(run.top, "alarm.count"), encoding="ascii") as text:
        alarms = int(text.read())
    expect("handler's", run.count("pwrite", path="alarm.dat", errno=0), alarms)
    writes("main.dat", 150000)(run)
    print(f"{alarms} signals")


def killed(run):
    with open(os.path.join(run.top, "death.count"), encoding="ascii") as text:
        done, pid = map(int, text.read().split())
    ring = next(ring for ring in run.rings if ring.pid == pid)
    seen = sum(event["op"] == "pwrite" for event in ring.events())
    print(f"{done} calls, {seen} events, {ring.dropped} dropped")
    expect("0.1 % lost at most", seen >= done - done // 1000 - 4, True)
    expect("calls", done > 100, True)
    expect("end", ring.end, 0)


CHECKS = {
    "close_all": descriptors_closed,
    "close_ranges": writes("close_ranges.dat", 3000),
    "dup_over": writes("dup_over.dat", 3000),
    "raw_close_all": writes("raw.dat", 5000),
    "few_descriptors": lambda run: None,
    "no_standard": writes("std.dat", 2000),
    "file_size_limit": dropped_at_limit,
    "directories": writes("/place/top.dat", 2000),
    "new_root": in_new_root,
    "fork_storm": storm,
    "fork_in_thread": forked_threads,
    "vforks": vforked,
    "shared_clone": cloned,
    "exec_static": executed_static,
    "exec_script": scripts,
    "own_environment": leaves,
    "thousand_threads": thousand,
    "many_short_threads": short_threads,
    "cancelled": cancelled,
    "handler_does_io": handler,
    "death": killed,
}


def run_once(command, top, extra):
    work = os.path.join(top, "place")
    shutil.rmtree(work, ignore_errors=True)
    os.mkdir(work)
    env = {key: value for key, value in os.environ.items()
           if key not in ("LD_PRELOAD", "WHYIO_RINGS")}
    done = subprocess.run(command, cwd=work, env=dict(env, **extra), capture_output=True,
                          check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


def main(library, program, static, mode, *arguments):
    library, program = os.path.abspath(library), os.path.abspath(program)
    command = [program, mode, *arguments]
    if mode == "exec_static":
        command.append(os.path.abspath(static))
    with tempfile.TemporaryDirectory(prefix="whyio-behave-") as top:
        rings = os.path.join(top, "rings")
        os.mkdir(rings)
        plain = run_once(command, top, {})
        traced = run_once(command, top, {"LD_PRELOAD": library, "WHYIO_RINGS": rings})
        expect("status, stdout, stderr", traced, plain)
        expect("status", plain[0], 0)
        source = os.environ["WHYIO_SOURCE"]
        CHECKS[mode](Run(os.path.join(top, "place"), ring_reader.read_rings(rings, source)))


if __name__ == "__main__":
    main(*sys.argv[1:])
