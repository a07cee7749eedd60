#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""waits_test.py WAITS [SCENE...]: each way to wait, once."""
import sys

import graph
import scenes

SCENES = {
    "pipe": ("pipe", ["written < read"], ["before | written", "child goes on | read"]),
    "end": ("pipe", ["closing < at end"], ["child goes on | at end"]),
    "full": ("pipe", ["makes room < written", "fits < written"], ["makes room | fits"]),
    "fifo-reader": ("pipe", ["opening < opened", "before < child goes on"],
                    ["before | opening", "opened | child goes on"]),
    "fifo-writer": ("pipe", ["opening < opened", "before < child goes on"],
                    ["before | opening", "opened | child goes on"]),
    "socketpair": ("socket", ["written < read"], ["before | written", "child goes on | read"]),
    "tcp": ("socket", ["connecting < accepted", "sent < received", "received < answered",
                       "accepted < answered"], ["accepted | sent"]),
    "eventfd": ("pipe", ["written < read"], ["before | written", "child goes on | read"]),
    "look": ("poll", ["making < found"], ["child goes on | found"]),
    "process": ("process", ["before < child", "child < after", "before < after"],
                ["meanwhile | child"]),
    "signal": ("signal", ["sending < came"], ["child goes on | came"]),
    "signalfd": ("signal", ["sending < came"], ["before | sending", "child goes on | came"]),
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


def check_lock(trace, kind, evidence, least):
    edges = graph.Graph(trace)
    found = [edge for edge in edges.edges if edge["class"] == kind and edge["evidence"] == evidence]
    if len(found) < least or (least == 0 and found):
        yield f"{len(found)} edges of class {kind}, expected {least} or more"
    if len({edge["object"] for edge in found}) > 1 or any(edge["object"] is None for edge in found):
        yield f"edges of one lock have the objects {[edge['object'] for edge in found]}"


if __name__ == "__main__":
    FAULTS = scenes.run(sys.argv[1], SCENES) + scenes.run(sys.argv[1], LOCKS, check_lock)
    sys.exit(1 if FAULTS else 0)
