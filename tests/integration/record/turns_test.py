#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who comes first is served first: runs that share out the same work differently are no fault."""

import json
import os
import sys

import record_case

TURNS = os.path.abspath(sys.argv.pop(1))
ITEMS = "40"


class Turns(record_case.RecordCase):
    def throttle(self, how, status, *options):
        answer = self.record(TURNS, how, ITEMS, options=("--causal=throttle", "--format=json",
                                                         *options))
        self.assertEqual(answer.returncode, status, answer.stderr)
        closing = answer.stderr.splitlines()[-1]
        self.assert_described(closing)
        return json.loads(closing)["throttle"], answer.stderr

    def edges(self, trace="t"):
        answer = self.whyio("edges", trace)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return [json.loads(line) for line in answer.stdout.splitlines()[:-1]]

    def outputs(self, trace="t"):
        """Which place each process wrote."""
        answer = self.whyio("dump", trace, "--op=pwrite")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        lines = [json.loads(line) for line in answer.stdout.splitlines()[:-1]]
        return sorted(line["offset"] for line in lines if line["path"].endswith("/output"))

    def test_merged_is_the_first_run_with_what_was_observed(self):
        """Who is throttled gets the fewest items: not all runs can be alike."""
        throttle, _ = self.throttle("queue", 0, "--method=trace")
        self.assertEqual(throttle["end"], "merged")
        self.assert_first_run()

    def test_who_is_held_gets_other_items(self):
        throttle, said = self.throttle("queue", 0)
        self.assertEqual(throttle["end"], "first_come", said)
        self.assertIn("/queue", throttle["difference"]["turns"])
        self.assertIn("any order is right", said)
        self.assert_first_run()

    def assert_first_run(self):
        self.assertEqual(self.outputs(), [8 * item for item in range(int(ITEMS))])
        self.assertTrue(any(edge["class"] == "mutex" for edge in self.edges()))
        self.check()

    def test_random_places_are_not_excused_by_a_lock(self):
        self.assert_differs("--method=trace")

    def test_random_places_of_who_is_held_are_not_excused_by_a_lock(self):
        self.assert_differs()

    def assert_differs(self, *options):
        throttle, said = self.throttle("random", 1, *options)
        self.assertEqual(throttle["end"], "differs", said)
        self.assertIsNone(throttle["difference"]["turns"])
        self.assertIn("not deterministic", said)


if __name__ == "__main__":
    record_case.main()
