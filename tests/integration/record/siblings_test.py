#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recorders of one launch share a directory; one rank of many dies.

Usage: siblings_test.py LAUNCHER MPI_WRITER"""

import os
import subprocess
import sys

from record_case import WHYIO, RecordCase, main, need

LAUNCHER = sys.argv.pop(1)
MPI_WRITER = os.path.abspath(sys.argv.pop(1))
RANKS = 4
LEAST = 0.999


class Siblings(RecordCase):
    def launch(self, *command):
        return subprocess.run(
            [LAUNCHER, "-n", str(RANKS), *command],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def launch_recorders(self, *command, options=("-q",)):
        return self.launch(WHYIO, "record", "-o", "t", *options, "--", *command)

    def test_ranks_share_a_directory(self):
        answer = self.launch_recorders("sh", "-c", "echo x > out.$$")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assert_sealed()
        self.assertEqual(len(self.segments()), RANKS)
        info = self.info()
        self.assertEqual(info["ranks"], RANKS)
        self.assertTrue(info["complete"])
        opened = [line for line in self.dump("--op", "open") if "/out." in line["path"]]
        self.assertEqual(sorted(line["rank"] for line in opened), list(range(RANKS)))

    def test_ranks_hide_a_name_alike(self):
        """Also where one rank ends before another opens the file; all recorders are there by then."""
        script = (f'rank=${{OMPI_COMM_WORLD_RANK:-$PMI_RANK}}; : > here.$rank; '
                  f'until [ "$(ls here.* | wc -l)" -eq {RANKS} ]; do sleep 0.02; done; '
                  f'until [ $rank -eq 0 ] || [ -e done.$((rank - 1)) ]; do sleep 0.02; done; '
                  f'cat harvest.txt; : > done.$rank')
        with open("harvest.txt", "w", encoding="ascii") as out:
            out.write("x")
        answer = self.launch_recorders("sh", "-c", script, options=("-q", "--anonymize"))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assert_sealed()
        opened = [line for line in self.dump("--op", "open") if line["path"].endswith(".txt")]
        self.assertEqual(sorted(line["rank"] for line in opened), list(range(RANKS)))
        self.assertEqual(len({line["path"] for line in opened}), 1)
        self.assertNotIn("harvest", opened[0]["path"])

    def test_a_second_launch_is_refused(self):
        self.launch_recorders("true")
        before = self.segments()
        answer = self.launch_recorders("touch", "ran")
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("exists", answer.stderr)
        self.assertEqual(self.segments(), before)
        self.assertFalse(os.path.exists("ran"))

    def test_force_clears_the_old_launch_once(self):
        self.launch_recorders("true")
        before = set(self.segments())
        for _ in range(5):
            answer = self.launch_recorders("true", options=("-q", "--force"))
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assert_sealed()
            self.assertEqual(len(self.segments()), RANKS)
            self.assertFalse(before & set(self.segments()))
            before = set(self.segments())

    def test_recorder_in_front_of_the_launcher(self):
        answer = self.record(LAUNCHER, "-n", str(RANKS), "sh", "-c", "echo x > out.$$")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(self.info()["ranks"], RANKS)

    def assert_ranks_recorded(self):
        lines = self.dump("--op", "pwrite")
        for rank in range(RANKS):
            path = os.path.join(os.path.realpath("data"), str(rank))
            events = [line for line in lines if line["path"] == path]
            done = os.path.getsize(path) // 8
            self.assertGreaterEqual(len(events), LEAST * done - 1)
            self.assertLessEqual(len(events), done)
            self.assertEqual({line["rank"] for line in events}, {rank})

    def test_one_rank_dies_behind_the_launcher(self):
        os.mkdir("data")
        answer = self.record(LAUNCHER, "-n", str(RANKS), MPI_WRITER, "data", "3000")
        self.assertNotEqual(answer.returncode, 0)
        self.assert_ranks_recorded()
        self.assertFalse(self.info()["complete"])

    def test_one_rank_dies_in_front_of_its_recorder(self):
        os.mkdir("data")
        answer = self.launch_recorders(MPI_WRITER, "data", "3000")
        self.assertNotEqual(answer.returncode, 0)
        self.assert_ranks_recorded()
        self.assertFalse(self.info()["complete"])


if __name__ == "__main__":
    need(LAUNCHER, f"no {LAUNCHER} here")
    main()
