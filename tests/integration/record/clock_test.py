#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clock_test.py FALSE_CLOCK WRITER: times of a trace are the kernel's, whatever a preloaded library
makes of libc's clocks in the program or in the recorder."""

import os
import shutil
import sys
import time
import unittest

import lacks
from record_case import RecordCase, main

FALSE_CLOCK = os.path.abspath(sys.argv.pop(1))
WRITER = os.path.abspath(sys.argv.pop(1))
MINUTE = 60


class Clock(RecordCase):
    def assert_times(self, begin):
        end = time.time()
        info = self.info()
        self.assertGreater(info["events"], 50)
        self.assertLess(info["duration_s"], end - begin + MINUTE)
        self.assertLess(abs(info["start_unix_ns"] / 1e9 - begin), end - begin + MINUTE)
        times = [line["t_ns"] for line in self.dump("--op", "pwrite")]
        self.assertEqual(times, sorted(times))
        self.assertGreater(len(set(times)), 10, "time stands still")
        self.check()

    def test_in_the_program(self):
        begin = time.time()
        answer = self.record("env", f"LD_PRELOAD={FALSE_CLOCK}", WRITER, "out", "50", "exit")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assert_times(begin)

    def test_in_the_recorder(self):
        begin = time.time()
        environment = dict(os.environ, LD_PRELOAD=FALSE_CLOCK)
        answer = self.record(WRITER, "out", "50", "exit", env=environment)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assert_times(begin)

    @unittest.skipUnless(shutil.which("faketime"), "no faketime here")
    @unittest.skipIf(lacks.shared_memory(), lacks.shared_memory())
    def test_faketime(self):
        begin = time.time()
        answer = self.record("faketime", "2020-01-01 00:00:00", WRITER, "out", "50", "exit")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assert_times(begin)


if __name__ == "__main__":
    main()
