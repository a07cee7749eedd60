#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example for SimGrid: what its table says, and how it ends where its machine is wrong.

usage: example_test.py PROGRAM PLATFORM.xml
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROGRAM, PLATFORM = sys.argv[1:3]
HOST = {"bw_mem": 8e9, "bw_ramdisk": 4e9, "bw_reduced": 3e9, "bw_dev": 1, "bw_rdev": 1, "sc_w": 0, "sc_sw": 0,
        "c_sk": 0, "bs": 4096, "bf": 4096, "limit_bg": 4e9, "limit_hard": 8e9, "dirty_expire": 30}


def run(*args):
    result = subprocess.run([PROGRAM, *args], check=False, text=True, timeout=60,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return result.returncode, result.stdout, result.stderr


def table(text):
    """Each checkpoint: seconds on the disk, seconds through the page cache, MB dirty."""
    return [tuple(float(word) for word in line.split()[1:]) for line in text.splitlines()[1:]]


class Example(unittest.TestCase):
    def with_host(self, changes):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "HOST.json")
            with open(path, "w", encoding="utf-8") as out:
                json.dump({**HOST, **changes}, out)
            return run(PLATFORM, path)

    def test_the_page_cache_takes_the_first_and_shortens_the_others(self):
        status, text, _ = run(PLATFORM)
        rows = table(text)
        self.assertEqual((status, len(rows)), (0, 5))
        self.assertEqual([row[0] for row in rows], [3.2] * 5)
        self.assertLess(rows[0][1], 0.5)
        for _, cached_s, dirty_mb in rows[1:]:
            self.assertTrue(1 < cached_s < 3.2, cached_s)
            self.assertTrue(400 < dirty_mb < 800, dirty_mb)

    def test_with_room_for_all_nothing_waits(self):
        status, text, _ = self.with_host({})
        self.assertEqual(status, 0)
        self.assertEqual([row[1] for row in table(text)], [0.16] * 5)

    def test_a_wrong_machine_is_named(self):
        status, _, complaint = self.with_host({"limit_hard": 1e9})
        self.assertEqual(status, 3)
        self.assertIn("'limit_hard'", complaint)

    def test_usage(self):
        self.assertEqual(run()[0], 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
