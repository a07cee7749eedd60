#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The flag in shared memory of examples/spin: MPI ranks, nothing to observe, found by holding.

usage: spin_test.py LAUNCHER SPIN
"""

import json
import os
import sys

import record_case

LAUNCHER, SPIN = sys.argv[1], os.path.abspath(sys.argv[2])
del sys.argv[1:]
RANKS, ROUNDS = 3, 3
# So that what is unexplained is more than a hundredth of a rank's life, its start included.
COMPUTE_MS = 10


class Spin(record_case.RecordCase):
    def test_turns_are_found(self):
        self.find_turns()

    def test_a_script_becomes_the_launcher(self):
        """What was a thread that is held is none any more, and has not died."""
        self.find_turns("sh", "-c", 'true; exec "$@"', "sh")

    def test_a_script_starts_the_launcher(self):
        """Which is no thread that is held; the script, which waits for it, is one."""
        self.find_turns("sh", "-c", 'true; "$@"; true', "sh")

    def find_turns(self, *script):
        record_case.need(LAUNCHER, f"no {LAUNCHER} here")
        command = [*script, LAUNCHER, "-n", str(RANKS), SPIN, "-n", str(ROUNDS), "-c",
                   str(COMPUTE_MS)]
        answer = self.record(
            *command, options=("--causal=throttle", "--format=json"), timeout=100
        )
        self.assertEqual(answer.returncode, 0, answer.stderr)
        throttle = json.loads(answer.stderr.splitlines()[-1])["throttle"]
        self.assertEqual(throttle["end"], "proven", answer.stderr)
        edges = self.whyio("edges", "t")
        self.assertEqual(edges.returncode, 0, edges.stderr)
        place = {
            (line["tid"], line["seq"]): line["offset"] // line["size"]
            for line in self.dump("--op=pwrite")
        }
        held = set()
        for line in edges.stdout.splitlines()[:-1]:
            edge = json.loads(line)
            if edge["evidence"] == "held":
                ends = [(edge[end]["tid"], edge[end]["seq"]) for end in ("from", "to")]
                if script and not set(ends) <= set(place):
                    continue  # the script itself comes before its ranks
                held.add(tuple(place[end] for end in ends))
        self.assertEqual(held, {(i, i + 1) for i in range(RANKS * ROUNDS - 1)})
        self.check()


if __name__ == "__main__":
    record_case.main()
