#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""When edges are derived: by the first command that needs them, or at once (--edges=now)."""

import json
import os

from record_case import RecordCase, main

PROGRAM = "echo first > a; cat a | tr f F > b & wait; cat b"


class Edges(RecordCase):
    def has_edges(self, trace="t"):
        return "trace.edges" in os.listdir(trace)

    def run_program(self, *options, trace="t"):
        answer = self.record("sh", "-c", PROGRAM, options=("-q", *options), trace=trace)
        self.assertEqual(answer.returncode, 0, answer.stderr)

    def test_the_first_command_that_needs_them_stores_them(self):
        for number, command in enumerate((("edges",), ("explain",), ("info",), ("dump", "--annotate"),
                                          ("replay", "--dry-run", "--root=root"))):
            trace = f"t{number}"
            self.run_program(trace=trace)
            self.assertFalse(self.has_edges(trace))
            answer = self.whyio(*command, trace)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertTrue(self.has_edges(trace), command)
            self.check(trace)

    def test_others_leave_them_to_it(self):
        self.run_program()
        for command in (("dump",), ("check",), ("jobstats",), ("info", "--index")):
            self.assertEqual(self.whyio(*command, "t").returncode, 0, command)
            self.assertFalse(self.has_edges(), command)

    def test_at_once(self):
        self.run_program("--edges=now")
        self.assertTrue(self.has_edges())
        self.assertGreater(self.info()["edges"]["by_evidence"]["pipe"], 0)

    def test_they_are_the_same(self):
        """Of one trace, whenever they are derived: info has them as if they had been stored."""
        self.run_program("--edges=now")
        stored = json.loads(self.whyio("info", "--index", "--format=json", "t").stdout)["edges"]
        os.unlink("t/trace.edges")
        self.assertEqual(self.info()["edges"], stored)
        self.assertTrue(self.has_edges())

    def test_none_without_observation(self):
        self.run_program("--causal=off")
        self.assertEqual(self.info()["edges"], {"by_class": {}, "by_evidence": {}})
        self.assertFalse(self.has_edges())

    def test_a_time_that_is_none(self):
        answer = self.record("true", options=("--edges=soon",))
        self.assertEqual(answer.returncode, 2)
        self.assertIn("expected later or now", answer.stderr)
        self.assertFalse(os.path.exists("t"))


if __name__ == "__main__":
    main()
