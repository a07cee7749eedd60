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
        words = ["load", f"--clients={CLIENTS}", "--objects=1", "--size=64", "--duration=1s", DEADLINE,
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

    # How much is done, and how fairly, is a matter of the machine here: tests/sim/overload_test.c has it in virtual time.
    def test_credit_holds_clients_back(self):
        credit = self.load()
        self.assertGreater(credit["ops"], 0)
        self.assertGreater(credit["held_back"] + credit["overloads"], 0)
        self.assertGreaterEqual(credit["failed"], credit["busy"])
        self.assertLessEqual(credit["fairness"], 1)

    def test_fifo_is_the_contrast(self):
        fifo = self.with_policy("fifo")
        self.assertEqual(fifo["held_back"], 0)
        self.assertEqual(fifo["overloads"], 0)


if __name__ == "__main__":
    unittest.main()
