#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Over real sockets: a target whose loop needs 1 ms for an operation, and ten times the clients that it can serve in
their time. Counts and shares only: what one run says of itself."""
import unittest

from store_case import Served, StoreCase

WORK_US = 1000
DEADLINE = "--give-up=50ms"  # in which the target does 50 operations, at most
CLIENTS = 100


class Overload(StoreCase):
    def serve(self):
        return Served(1, 0, 0, "credit", WORK_US, "client")

    def load(self, *options, status=None):
        words = ["load", f"--clients={CLIENTS}", "--objects=1", "--size=64", "--duration=3s", DEADLINE,
                 "--deadline=50ms", *options]
        for wanted in ([0, 1] if status is None else [status]):
            try:
                return self.json(*words, status=wanted)
            except AssertionError:
                if wanted == 1:
                    raise
        return None

    def with_policy(self, name):
        self.assertEqual(self.served.end(), 0)
        self.served = Served(1, 0, 0, name, WORK_US, "client")
        return self.load()

    def test_credit_keeps_its_goodput(self):
        credit = self.load()
        self.assertGreater(credit["goodput"], 0)
        self.assertGreater(credit["held_back"] + credit["overloads"], 0)
        self.assertLess(credit["overloads_per_op"], 5)
        self.assertGreater(credit["least"], 0, "a client starved")
        self.assertGreater(credit["fairness"], 0.5)
        # nearly all that is done at all is done in time
        self.assertGreater(credit["goodput"], 0.9 * credit["ops_s"])

    def test_fifo_is_the_contrast(self):
        credit = self.load()
        fifo = self.with_policy("fifo")
        self.assertGreater(credit["fairness"], fifo["fairness"])
        self.assertGreater(credit["goodput"] * 1.1, fifo["goodput"])


if __name__ == "__main__":
    unittest.main()
