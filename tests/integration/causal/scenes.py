# SPDX-License-Identifier: Apache-2.0
"""Scenes of programs whose waits are known, recorded: the edges say exactly that.

A table says of each scene: the evidence that must be there, then marks of which the first comes
before the second, and marks of which neither does.
"""
import os
import subprocess
import sys
import tempfile

import graph


def record(program, scene):
    trace = scene + ".whyio"
    subprocess.run([os.environ["WHYIO"], "record", "-q", "--edges=now", "-o", trace, "--", program, scene], check=True)
    subprocess.run([os.environ["WHYIO"], "check", "-q", trace], check=True,
                   stdout=subprocess.DEVNULL)
    assert os.path.exists(os.path.join(trace, "trace.edges")), "record has stored no edges"
    return trace


def check_scene(trace, evidence, ordered, unordered):
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


def run(program, table, check=check_scene):
    """Each scene of the table, or those that the command line names; the number of faults."""
    program = os.path.abspath(program)
    here, faults = os.getcwd(), 0
    for scene in table:
        if sys.argv[2:] and scene not in sys.argv[2:]:
            continue
        with tempfile.TemporaryDirectory(prefix="whyio-scene.") as scratch:
            os.chdir(scratch)
            trace = record(program, scene)
            for fault in check(trace, *table[scene]):
                faults += 1
                print(f"{scene}: {fault}")
            os.chdir(here)
    return faults
