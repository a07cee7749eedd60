# SPDX-License-Identifier: Apache-2.0
"""The graph that `whyio edges` prints, and what it says of two operations.

Programs leave marks: chmod("/mark/NAME") fails, and is an operation of that path in the trace.
"""
import collections
import json
import os
import subprocess

MARK = "/mark/"


def lines(*args):
    run = subprocess.run([os.environ["WHYIO"], *args], stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in run.stdout.splitlines()]


class Graph:
    """Edges of the classes given, by thread (pid, tid); `edges` are the raw lines."""

    def __init__(self, trace, classes=("hard", "collective"), raw=False):
        *self.edges, self.summary = lines("edges", "--raw" if raw else "--reduced", trace)
        self.steps = collections.defaultdict(list)
        self.hubs = []
        for edge in self.edges:
            if edge["class"] not in classes:
                continue
            if "members" in edge:
                self.add_collective(edge["members"])
            else:
                self.steps[thread(edge["from"])].append((edge["from"]["seq"], thread(edge["to"]),
                                                         edge["to"]["seq"]))
        self.marks = {}
        for event in lines("dump", "--path", MARK + "*", trace)[:-1]:
            self.marks[event["path"][len(MARK):]] = (thread(event), event["seq"])

    def add_collective(self, members):
        takers = [(thread(member), member["leave_seq"]) for member in members if member["takes"]]
        for member in members:
            if member["gives"]:  # what precedes it is done before takers leave
                for taker, leave in takers:
                    if taker != thread(member):
                        self.steps[thread(member)].append((member["seq"] - 1, taker, leave))

    def after(self, start):
        """{thread: first operation that cannot end before `start` is done}"""
        reached = {start[0]: start[1]}
        queue = [start]
        while queue:
            where, seq = queue.pop()
            for begin, other, end in self.steps[where]:
                if begin >= seq and end < reached.get(other, float("inf")):
                    reached[other] = end
                    queue.append((other, end))
        return reached

    def precedes(self, first, second):
        """Is the mark `second` made only after the mark `first`, whatever the timing?"""
        where, seq = self.marks[second]
        return self.after(self.marks[first]).get(where, float("inf")) <= seq

    def count(self, **wanted):
        return sum(all(edge.get(key) == value for key, value in wanted.items())
                   for edge in self.edges)


def thread(point):
    return point["pid"], point["tid"]
