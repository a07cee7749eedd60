#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coverage_test.py LIBRARY PROGRAM: run one program of coverage cases under the capture library
and compare its events with what the program says it did, one by one."""

import os
import subprocess
import sys
import tempfile

import lacks
import ring_reader

# Fields that must be absent where a case does not name them.
STRICT = ("fd", "path", "path2", "fd2", "offset", "offset2", "size")


def parse(line):
    """"call=read result=3 errno=0 fd=4 ..." """
    return dict(item.split("=", 1) for item in line.split())


def differences(want, event):
    """What of an event is not as its case says."""
    have = {key: event[key] for key in STRICT + ("call", "result", "errno")}
    for number, value in enumerate(event["args"]):
        have[f"a{number}"] = value
    for key in sorted(set(want) | set(STRICT)):
        expected = want.get(key)
        if expected != "*" and (None if have[key] is None else str(have[key])) != expected:
            yield f"{key}: expected {expected}, recorded {have[key]}"


def compare(wants, events):
    """Report each fault; the number of faults."""
    faults = 0
    for number in range(max(len(wants), len(events))):
        want = wants[number] if number < len(wants) else None
        event = events[number] if number < len(events) else None
        if want is None or event is None or want["call"] != event["call"]:
            print(f"case {number + 1}: expected {want}, recorded {event}")
            return faults + 1
        for text in differences(want, event):
            print(f"case {number + 1}, {want['call']}: {text}")
            faults += 1
    return faults


def main(library, program):
    needs_memory = os.path.basename(program) == "cover_sync"  # sem_open
    lacks.skip_script(lacks.shared_memory() if needs_memory else "")
    library, program = os.path.abspath(library), os.path.abspath(program)
    source = os.environ["WHYIO_SOURCE"]
    with tempfile.TemporaryDirectory(prefix="whyio-cover-") as top:
        rings, work = os.path.join(top, "rings"), os.path.join(top, "work")
        os.mkdir(rings)
        os.mkdir(work)
        wanted = os.path.join(top, "wanted")
        env = dict(os.environ, LD_PRELOAD=library, WHYIO_RINGS=rings, WHYIO_CAUSAL="1",
                   LC_ALL="C")
        done = subprocess.run([program, wanted], cwd=os.path.realpath(work), env=env, check=False,
                              timeout=60)
        if done.returncode != 0:
            sys.exit(f"{program} ended with {done.returncode}")
        with open(wanted, encoding="utf-8") as lines:
            wants = [parse(line) for line in lines]
        # a name that the installed libraries do not have
        wants = [want for want in wants if "absent" not in want]
        first, *others = ring_reader.read_rings(rings, source)
        wrapped = ring_reader.wrapped_names(source)
        events = [event for event in first.events()
                  if event["call"] != "exit" and event["tid"] == first.pid]
        inner = [event for ring in others for event in ring.events()
                 if event["call"] in wrapped]
    faults = compare([want for want in wants if "child" not in want], events)
    of_children = [want for want in wants if want.pop("child", None)]
    if of_children:
        faults += compare(of_children, inner)
    print(f"{len(wants)} cases, {faults} faults")
    return 1 if faults or not wants else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
