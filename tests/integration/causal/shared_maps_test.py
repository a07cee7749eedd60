#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shared_maps_test.py PROGRAM: semaphores in shared memory are found, however it was mapped and
however much of it there is, and no round of mapping and unmapping asks the kernel what is mapped."""
import os
import shutil
import subprocess
import sys
import tempfile

import graph

PAIRS = 22
# scene, other maps, edges from a post in the child to a wait in the parent
SCENES = [
    ("anonymous", 10, PAIRS), ("anonymous", 300, PAIRS), ("anonymous", 2000, PAIRS), ("by-thread", 300, PAIRS),
    ("of-a-file", 10, PAIRS), ("of-a-file", 2000, PAIRS), ("moved", 0, PAIRS), ("fixed", 300, PAIRS),
    ("system-v", 0, PAIRS), ("named", 300, PAIRS), ("unseen", 300, PAIRS), ("replaced", 0, 0)]


def record(program, *arguments, before=()):
    trace = "-".join(arguments) + ".whyio"
    subprocess.run([*before, os.environ["WHYIO"], "record", "-q", "-o", trace, "--", program, *arguments],
                   check=True)
    return trace


def edges_between_processes(trace):
    found = graph.Graph(trace, raw=True).edges
    return sum("from" in edge and edge["evidence"] == "thread" and edge["from"]["pid"] != edge["to"]["pid"]
               for edge in found)


def reads_of_maps(program, rounds):
    """How often the program's process opens /proc/self/maps, which is read by no other means."""
    record(program, "rounds", "1000", str(rounds),
           before=["strace", "-f", "-q", "-o", "calls", "-e", "trace=openat"])
    with open("calls", encoding="utf-8") as calls:
        return sum('"/proc/self/maps"' in call for call in calls)


def main(program):
    program = os.path.abspath(program)
    faults = []
    with tempfile.TemporaryDirectory(prefix="whyio-maps.") as scratch:
        os.chdir(scratch)
        for scene, others, wanted in SCENES:
            found = edges_between_processes(record(program, scene, str(others)))
            if found != wanted:
                faults.append(f"{scene} beside {others} maps: {found} edges, expected {wanted}")
        if shutil.which("strace"):
            few, many = (reads_of_maps(program, rounds) for rounds in (10, 400))
            if few != many:
                faults.append(f"10 rounds read the maps {few} times, 400 rounds {many} times")
        os.chdir("/")
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
