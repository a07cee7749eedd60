# SPDX-License-Identifier: Apache-2.0
"""What a generated program says of its waits, and how much of it `whyio edges` found.

Compared is who is ordered, not edge by edge: an edge may be said by several others. For each mark
of one actor and each other actor there is a first mark that comes only after it; the marks from
there on are the ordered pairs.
"""
import bisect
import collections
import glob
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "integration",
                                "causal"))
import graph  # noqa: E402

NEVER = float("inf")


class Order:
    """Who comes after whom, by these edges."""

    def __init__(self, edges):
        self.steps = collections.defaultdict(list)
        for _, (source, mark), (target, later) in edges:
            self.steps[source].append((mark, target, later))

    def after(self, start):
        return graph.Graph.after(self, start)


class Truth:
    """The files truth.* of a directory."""

    def __init__(self, directory):
        self.marks = {}
        self.edges = []  # kind, (actor, mark), (actor, mark)
        self.early = []
        groups = collections.defaultdict(list)
        sections = collections.defaultdict(dict)
        for path in glob.glob(os.path.join(directory, "truth.*")):
            with open(path, encoding="ascii") as lines:
                for what, *words in map(str.split, lines):
                    if what == "marks":
                        self.marks[int(words[0])] = int(words[1])
                    elif what == "edge":
                        self.add(words[0], *map(int, words[1:]))
                    elif what == "early":
                        actor, mark, other, later = map(int, words[1:])
                        self.early.append((words[0], (actor, mark), (other, later)))
                    elif what == "group":
                        groups[words[0], words[1]].append(tuple(map(int, words[2:])))
                    elif what == "section":
                        sections[words[0]][int(words[1])] = tuple(map(int, words[2:]))
        for (kind, _), members in groups.items():
            self.add_group(kind, members)
        for kind, tickets in sections.items():
            for ticket in range(len(tickets) - 1):
                self.add(kind, *tickets[ticket], *tickets[ticket + 1])
        self.waited = Order(self.edges)
        self.all = Order(self.edges + self.early)

    def add(self, kind, source, mark, target, later):
        self.edges.append((kind, (source, mark), (target, later)))

    def add_group(self, kind, members):
        for source, enter, _, gives, _ in members:
            for target, _, leave, _, takes in members:
                if gives and takes and source != target:
                    self.add(kind, source, enter, target, leave)


class Found:
    """What the edges of a trace say of the marks."""

    def __init__(self, trace, classes):
        self.graph = graph.Graph(trace, classes)
        self.threads = {}
        self.seqs = collections.defaultdict(list)
        for name, (thread, seq) in self.graph.marks.items():
            actor, _ = map(int, name.split("."))
            self.threads[actor] = thread
            self.seqs[actor].append(seq)
        for seqs in self.seqs.values():
            seqs.sort()

    def after(self, start):
        """As Truth.after, in marks."""
        actor, mark = start
        reached = self.graph.after((self.threads[actor], self.seqs[actor][mark]))
        return {other: bisect.bisect_left(self.seqs[other], reached[thread])
                for other, thread in self.threads.items() if thread in reached}


# Pairs that are ordered by waits, how many of these the edges say; pairs that the edges say, how
# many of these are true; edges that the program names, how many of these are said; edges that
# nobody waited for; the first faults in words.
Score = collections.namedtuple("Score", "pairs met said right direct named early faults")


def compare_queue(truth, trace):
    """The score of takers that race: which of them got what is told by nothing, and any is as good
    (class queue). But what each took was put by somebody, and nothing was taken twice."""
    takes = sum(kind == "queue" for kind, _, _ in truth.edges)
    pairs = [(graph.thread(edge["from"]), edge["from"]["seq"], graph.thread(edge["to"]), edge["to"]["seq"])
             for edge in graph.Graph(trace, raw=True).edges
             if edge["class"] == "queue" and edge["evidence"] == "pipe"]
    puts = len({pair[:2] for pair in pairs})
    taken = len({pair[2:] for pair in pairs})
    right = min(puts, taken, takes)
    faults = [] if right == takes == len(pairs) else [
        f"{len(pairs)} edges from {puts} puts to {taken} takes of {takes}"]
    return Score(takes, right, len(pairs), right, takes, right, 0, faults)


def compare(truth, found, limit=5):
    """The score. That nobody waited is no fault of the edges, but to say so is right."""
    pairs = met = said = right = 0
    faults = []
    known = {}
    for actor, count in truth.marks.items():
        if len(found.seqs[actor]) != count:
            faults.append(f"actor {actor} made {count} marks, recorded are {len(found.seqs[actor])}")
            return Score(1, 0, 1, 0, 1, 0, 0, faults)
        for mark in range(count):
            start = actor, mark
            reached = truth.waited.after(start), truth.all.after(start), found.after(start)
            known[start] = reached[2]
            for other, marks in truth.marks.items():
                if other == actor:
                    continue
                waited, true, claim = (min(first.get(other, NEVER), marks) for first in reached)
                pairs += marks - waited
                met += marks - max(waited, claim)
                said += marks - claim
                right += marks - max(true, claim)
                if claim < true:
                    faults.append(f"wrong: {actor}.{mark} < {other}.{claim}")
                elif claim > waited:
                    faults.append(f"missed: {actor}.{mark} < {other}.{waited}")
    named = sum(known[source].get(target, NEVER) <= later
                for _, source, (target, later) in truth.edges)
    wrong_first = sorted(faults, key=lambda fault: not fault.startswith("wrong"))
    return Score(pairs, met, said, right, len(truth.edges), named, len(truth.early),
                 wrong_first[:limit])
