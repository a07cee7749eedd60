#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whyio load: what it counts adds up, and it leaves nothing behind."""
import unittest

from store_case import StoreCase


class Load(StoreCase):
    targets = 2

    def load(self, *options, status=0):
        return self.json("load", "--duration=300ms", *options, status=status)

    def check(self, result):
        self.assertGreater(result["ops"], 0)
        self.assertEqual(result["failed"], 0)
        self.assertLessEqual(result["p50_us"], result["p99_us"])
        self.assertLessEqual(result["p99_us"], result["max_us"] * 1.126)
        self.assertLessEqual(result["goodput"], result["ops_s"])
        self.assertAlmostEqual(result["ops_s"] * result["duration_s"], result["ops"], delta=1)
        self.assertEqual(self.json("store", "ls")["entries"], [])
        self.assertEqual(self.json("store", "df")["used_bytes"], 0)

    def test_patterns(self):
        for pattern in ("disjoint", "random", "same", "opposite"):
            result = self.load(f"--pattern={pattern}", "--transaction=2", "--objects=4", "--reads=30")
            self.check(result)
            self.assertEqual((result["clients"], result["transaction"], result["size"]), (4, 2, 4096))

    def test_single_operations(self):
        result = self.load("--clients=2", "--size=100000", "--stable")
        self.check(result)
        self.assertEqual(result["aborts_per_commit"], 0)
        self.assertAlmostEqual(result["bytes_s"], result["ops_s"] * 100000, delta=1)

    def test_an_open_loop_offers_its_rate(self):
        result = self.load("--rate=100", "--clients=3", "--deadline=1ms")
        self.check(result)
        self.assertAlmostEqual(result["offered_s"] * result["duration_s"], 30, delta=1)
        self.assertIn("goodput", self.whyio("load", "--duration=100ms", self.served.address).stdout)

    def test_usage(self):
        for words in (["--pattern=zigzag"], ["--clients=0"], ["--reads=101"], ["--rate=-1"], ["--duration=soon"],
                      ["--transaction=65"], ["--transaction=3", "--objects=2"], ["a", "b"]):
            self.whyio("load", *words, status=2)


if __name__ == "__main__":
    unittest.main()
