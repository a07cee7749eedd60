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
    def throttle(self, how, status):
        answer = self.record(TURNS, how, ITEMS, options=("--causal=throttle", "--format=json",
                                                         "--method=trace"))
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
        throttle, _ = self.throttle("queue", 0)
        self.assertEqual(throttle["end"], "merged")
        self.assertEqual(self.outputs(), [8 * item for item in range(int(ITEMS))])
        self.assertTrue(any(edge["class"] == "mutex" for edge in self.edges()))
        self.check()

    def test_random_places_are_not_excused_by_a_lock(self):
        throttle, said = self.throttle("random", 1)
        self.assertEqual(throttle["end"], "differs")
        self.assertIsNone(throttle["difference"]["turns"])
        self.assertIn("not deterministic", said)


if __name__ == "__main__":
    record_case.main()
