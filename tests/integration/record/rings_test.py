#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rings_test.py NO_SHARED_MAP: directories where rings cannot be are found before the program runs;
a process that found no room for its ring is counted (R-RING-9)."""

import os
import pathlib
import subprocess
import sys
import unittest

from record_case import WHYIO, RecordCase, main, until

NO_SHARED_MAP = os.path.abspath(sys.argv.pop(1))


class Rings(RecordCase):
    def assert_refused(self, answer, *texts):
        self.assertNotEqual(answer.returncode, 0)
        for text in texts:
            self.assertIn(text, answer.stderr)
        self.assertFalse(os.path.exists("ran"), "the program ran")
        self.assertFalse(os.path.exists("t"), "a trace was left behind")

    def assert_recorded(self, trace="t"):
        info = self.info(trace)
        self.assertGreater(info["events"], 0)
        self.assertEqual((info["unseen"], info["dropped"], info["complete"]), ({}, 0, True))

    def without_maps(self, place, **more):
        return dict(os.environ, LD_PRELOAD=NO_SHARED_MAP, NO_SHARED_MAP=os.path.realpath(place), **more)

    def test_trace_where_nothing_can_be_mapped(self):
        """Rings go elsewhere."""
        answer = self.record("sh", "-c", "readlink t/raw/*; touch ran", env=self.without_maps("."))
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("whyio-rings-", answer.stdout)
        self.assertTrue(os.path.exists("ran"))
        self.assert_recorded()
        self.assert_sealed()

    def test_chosen_directory_where_nothing_can_be_mapped(self):
        """What the user chose is not replaced by another."""
        os.mkdir("rings")
        answer = self.record("touch", "ran", env=self.without_maps("rings", WHYIO_RING_DIR="rings"))
        self.assert_refused(answer, "cannot be mapped shared", "rings")
        self.assertEqual(os.listdir("rings"), [])

    def test_nowhere(self):
        answer = self.record("touch", "ran", env=self.without_maps("/"))
        self.assert_refused(answer, "cannot be mapped shared")

    def slow_file_system(self):
        """A mount of FUSE that allows no shared maps (direct_io)."""
        program = pathlib.Path(os.environ["WHYIO_BUILD"]) / "bench" / "slowfs"
        if os.geteuid() != 0 or not os.path.exists("/dev/fuse") or not program.exists():
            self.skipTest("no FUSE here")
        os.mkdir("behind")
        os.mkdir("front")
        server = subprocess.Popen([program, "behind", "0", "front"], stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(subprocess.run, ["umount", "-l", "front"], check=False)
        if not until(lambda: os.path.ismount("front") or server.poll() is not None) or server.poll() is not None:
            self.skipTest("cannot mount a file system of FUSE")

    def test_file_system_of_fuse(self):
        self.slow_file_system()
        answer = self.record("touch", "ran", env=dict(os.environ, WHYIO_RING_DIR="front"))
        self.assert_refused(answer, "cannot be mapped shared")
        self.assertEqual(os.listdir("behind"), [])
        answer = self.record("touch", "ran", trace="front/t")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assert_recorded("front/t")

    @unittest.skipIf(os.geteuid() != 0, "mounts a file system")
    def test_no_room_for_a_ring(self):
        """There is room for what is written before, and none for rings."""
        os.mkdir("small")
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", "small"]
        if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
            self.skipTest("cannot mount a tmpfs")
        self.addCleanup(subprocess.run, ["umount", "-l", "small"], check=False)
        answer = self.record("touch", "ran", trace="small/t")
        self.assert_refused(answer, "No space left", "for a ring")
        self.assertEqual(os.listdir("small"), [])
        answer = self.record("touch", "ran", env=dict(os.environ, WHYIO_RING_DIR="small"))
        self.assert_refused(answer, "No space left", "small")

    def test_program_that_may_write_no_ring(self):
        """A limit on the size of files leaves no room for the first bytes of it."""
        answer = self.record("bash", "-c", "ulimit -f 2; exec cat /dev/null", options=())
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("has no header", answer.stderr)
        info = self.info()
        self.assertEqual(info["unseen"], {"no_ring": 1})
        self.assertFalse(info["complete"])
        self.assertIn("has no header", info["remarks"][0])
        self.check()
        self.assert_sealed()

    def test_nothing_but_programs_without_room(self):
        script = f"ulimit -f 3; exec {WHYIO} record -o t -- cat /dev/null"
        answer = subprocess.run(["bash", "-c", script], check=False, capture_output=True, text=True)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertNotIn("no process loaded the capture library", answer.stderr)
        info = self.info()
        self.assertEqual((info["events"], info["unseen"]), (0, {"no_ring": 1}))
        self.assertFalse(info["complete"])


if __name__ == "__main__":
    main()
