#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs whose waits are known, recorded: the edges say exactly that.

usage: waits_test.py WAITS [SCENE...]
"""
import os
import subprocess
import sys
import tempfile

import graph

# scene: evidence that must be there, then marks of which the first comes before the second, and
# marks of which neither does
SCENES = {
    "pipe": ("pipe", ["written < read"], ["before | written", "child goes on | read"]),
    "end": ("pipe", ["closing < at end"], ["child goes on | at end"]),
    "full": ("pipe", ["makes room < written", "fits < written"], ["makes room | fits"]),
    "socketpair": ("socket", ["written < read"], ["before | written", "child goes on | read"]),
    "tcp": ("socket", ["connecting < accepted", "sent < received", "received < answered",
                       "accepted < answered"], ["accepted | sent"]),
    "eventfd": ("pipe", ["written < read"], ["before | written", "child goes on | read"]),
    "look": ("poll", ["making < found"], ["child goes on | found"]),
    "process": ("process", ["before < child", "child < after", "before < after"],
                ["meanwhile | child"]),
    "signal": ("signal", ["sending < came"], ["child goes on | came"]),
    "thread": ("thread", ["before < thread", "thread < after"], ["meanwhile | thread"]),
    "condition": ("thread", ["ready < woken"], ["thread goes on | woken"]),
    "barrier": ("thread", ["thread comes < main goes", "main comes < thread goes"],
                ["thread comes | main comes", "thread goes | main goes"]),
    "semaphore": ("thread", ["posting < taken"], ["thread goes on | taken"]),
}
# scene: class, evidence, least number of edges
LOCKS = {
    "flock": ("mutex", "lock", 1),
    "ranges": ("mutex", "lock", 0),
    "range": ("mutex", "lock", 1),
    "mutex": ("mutex", "thread", 1),
}


def record(waits, scene):
    trace = scene + ".whyio"
    subprocess.run([os.environ["WHYIO"], "record", "-q", "-o", trace, "--", waits, scene], check=True)
    subprocess.run([os.environ["WHYIO"], "check", "-q", trace], check=True,
                   stdout=subprocess.DEVNULL)
    assert os.path.exists(os.path.join(trace, "trace.edges")), "record has stored no edges"
    return trace


def check_scene(trace, scene):
    evidence, ordered, unordered = SCENES[scene]
    for raw in (False, True):  # reducing changes nothing of what they say
        edges = graph.Graph(trace, raw=raw)
        if edges.count(evidence=evidence) == 0:
            yield f"no edge is told by {evidence}"
        for pair in ordered:
            first, second = pair.split(" < ")
            if not edges.precedes(first, second):
                yield f"'{first}' does not come before '{second}' (raw: {raw})"
            if edges.precedes(second, first):
                yield f"'{second}' comes before '{first}' (raw: {raw})"
        for pair in unordered:
            first, second = pair.split(" | ")
            if edges.precedes(first, second) or edges.precedes(second, first):
                yield f"'{first}' and '{second}' are ordered (raw: {raw})"


def check_lock(trace, scene):
    kind, evidence, least = LOCKS[scene]
    edges = graph.Graph(trace)
    found = [edge for edge in edges.edges if edge["class"] == kind and edge["evidence"] == evidence]
    if len(found) < least or (least == 0 and found):
        yield f"{len(found)} edges of class {kind}, expected {least} or more"
    if len({edge["object"] for edge in found}) > 1 or any(edge["object"] is None for edge in found):
        yield f"edges of one lock have the objects {[edge['object'] for edge in found]}"


def main(waits, *scenes):
    waits = os.path.abspath(waits)
    failures = 0
    here = os.getcwd()
    for scene in scenes or (*SCENES, *LOCKS):
        with tempfile.TemporaryDirectory(prefix="whyio-waits.") as scratch:
            os.chdir(scratch)
            trace = record(waits, scene)
            for fault in (check_scene if scene in SCENES else check_lock)(trace, scene):
                failures += 1
                print(f"{scene}: {fault}")
            os.chdir(here)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
