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
        record_case.need(LAUNCHER, f"no {LAUNCHER} here")
        command = [LAUNCHER, "-n", str(RANKS), SPIN, "-n", str(ROUNDS), "-c", str(COMPUTE_MS)]
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
                ends = [place[edge[end]["tid"], edge[end]["seq"]] for end in ("from", "to")]
                held.add(tuple(ends))
        self.assertEqual(held, {(i, i + 1) for i in range(RANKS * ROUNDS - 1)})
        self.check()


if __name__ == "__main__":
    record_case.main()
