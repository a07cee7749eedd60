#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""reuse_test.py REUSE [SCENE...]: names and memory that are used again for something else."""
import sys

import graph
import scenes

SCENES = {
    "fifo-to-file": ("process", [], ["writing | read"]),
    "file-to-fifo": ("process", [], ["writing | read"]),
    "two-names": ("pipe", ["opening < opened", "writing < read"],
                  ["between | opened", "child goes on | read"]),
    "lock-file": ("poll", ["removing < locked"], ["child goes on | locked"]),
}

LOCKS = {
    "lock-removed": ["has the old one | has the new one"],
    "mutex-anew": ["first | second"],
}


def check_locks(trace, *unordered):
    """Of two locks nobody waits for the other one, whoever comes first."""
    edges = graph.Graph(trace, classes=("hard", "mutex"), raw=True)
    for pair in unordered:
        first, second = pair.split(" | ")
        if edges.precedes(first, second) or edges.precedes(second, first):
            yield f"'{first}' and '{second}' are ordered"


def check_kept(trace, first, second):
    if any("op" in line for line in graph.lines("dump", "--format=json", "--op=pthread_mutex_destroy", trace)):
        yield "a mutex in use is said to end"
    edges = graph.Graph(trace, classes=("hard", "mutex"), raw=True)
    if not edges.precedes(first, second):
        yield f"'{first}' does not come before '{second}'"


if __name__ == "__main__":
    faults = scenes.run(sys.argv[1], SCENES) + scenes.run(sys.argv[1], LOCKS, check_locks)
    faults += scenes.run(sys.argv[1], {"mutex-kept": ["unlocking", "second"]}, check_kept)
    sys.exit(1 if faults else 0)
