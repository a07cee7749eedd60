#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The trace directory: refused, replaced, not writable, full."""

import os
import resource
import shutil
import subprocess
import sys
import unittest

from record_case import WHYIO, RecordCase, main


class Existing(RecordCase):
    def assert_refused(self, answer, part):
        self.assertEqual(answer.returncode, 2, answer.stderr)
        self.assertEqual(answer.stdout, "")
        self.assertIn(part, answer.stderr)
        self.assertEqual(answer.stderr.count("\n"), 1)

    def test_a_trace_is_not_overwritten(self):
        self.record("true")
        before = self.segments()
        self.assert_refused(self.record("touch", "ran"), "--force")
        self.assertEqual(self.segments(), before)
        self.assertFalse(os.path.exists("ran"))

    def test_an_empty_directory_is_refused_and_taken_with_force(self):
        os.mkdir("t")
        self.assert_refused(self.record("true"), "exists")
        self.assertEqual(os.listdir("t"), [])
        self.assertEqual(self.record("true", options=("-q", "--force")).returncode, 0)
        self.assert_sealed()

    def test_force_replaces_a_trace(self):
        self.record("touch", "a")
        before = self.segments()
        self.assertEqual(self.record("touch", "b", options=("-q", "--force")).returncode, 0)
        self.assertEqual(len(self.segments()), 1)
        self.assertNotEqual(self.segments(), before)
        self.assert_sealed()

    def test_force_keeps_other_files_of_a_trace(self):
        self.record("true")
        write("t/notes.txt", "mine")
        self.assertEqual(self.record("true", options=("-q", "--force")).returncode, 0)
        self.assertIn("notes.txt", os.listdir("t"))
        self.assertEqual(len(self.segments()), 1)

    def test_force_refuses_what_is_no_trace(self):
        os.mkdir("t")
        write("t/thesis.seg", "twelve years of work")
        self.assert_refused(self.record("true", options=("-q", "--force")), "no trace")
        self.assertEqual(os.listdir("t"), ["thesis.seg"])

    def test_a_file_is_refused(self):
        write("t", "x")
        for options in (("-q",), ("-q", "--force")):
            self.assert_refused(self.record("true", options=options), "not a directory")

    def test_force_works_where_nothing_is(self):
        self.assertEqual(self.record("true", options=("-q", "--force")).returncode, 0)
        self.assert_sealed()


class Unusable(RecordCase):
    def assert_failed(self, answer, *parts):
        self.assertEqual(answer.returncode, 3, answer.stderr)
        self.assertEqual(answer.stderr.count("\n"), 1, answer.stderr)
        for part in parts:
            self.assertIn(part, answer.stderr)
        self.assertFalse(os.path.exists("ran"))

    def test_more_segments_than_open_files_are_allowed(self):
        """A large job has a segment for each of its recorders."""
        self.record("true")
        (name,) = self.segments()
        for i in range(200):
            shutil.copy(f"t/{name}", f"t/{i}.seg")
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        for command in (["info"], ["dump"], ["check"], ["compare", "t"]):
            answer = self.whyio(
                *command,
                "t",
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard)),
            )
            # The copies hold the same processes, which check says.
            self.assertEqual(answer.returncode, 1 if command == ["check"] else 0, answer.stderr)
            self.assertNotIn("Too many open files", answer.stdout + answer.stderr)

    def test_parent_is_missing(self):
        self.assert_failed(self.record("touch", "ran", trace="no/such/t"), "no/such/t")

    def test_not_writable(self):
        """Root without the right to override permissions: a build that other users cannot reach
        (below /root, say) is still found."""
        weaken = []
        if os.geteuid() == 0:
            os.chown(self.dir, 65534, 65534)
            weaken = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]
            if not shutil.which("setpriv"):
                self.skipTest("no setpriv to give up root's rights")
        os.chmod(self.dir, 0o555)
        self.addCleanup(os.chmod, self.dir, 0o755)
        command = weaken + [WHYIO, "record", "-q", "-o", "t", "--", "touch", "ran"]
        answer = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
        self.assert_failed(answer, "Permission denied")

    @unittest.skipIf(os.geteuid() != 0, "gives up root's rights")
    def test_child_without_the_right_to_make_its_ring(self):
        """What it does cannot be seen: that is said, and the trace is not called complete."""
        script = "import os; os.setuid(65534); os.waitpid(os.fork() or os._exit(0), 0)"
        answer = self.record(sys.executable, "-c", script, options=())
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("the ring file could not be made", answer.stderr)
        info = self.info()
        self.assertEqual(info["unseen"], {"no_ring": 1})
        self.assertFalse(info["complete"])
        text = self.whyio("info", "t").stdout
        self.assertIn("an incomplete trace", text)
        self.assertIn("1 time: the ring file could not be made", text)

    @unittest.skipIf(os.geteuid() != 0, "mounts a file system")
    def test_full_disk_before_the_start(self):
        os.mkdir("full")
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k,nr_inodes=20", "tmpfs", "full"]
        if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
            self.skipTest("cannot mount a tmpfs")
        self.addCleanup(subprocess.run, ["umount", "-l", "full"], check=False)
        write("full/rest", b"x" * 65536)
        answer = self.record("touch", "ran", trace="full/t")
        self.assert_failed(answer, "No space left")
        self.assertEqual(os.listdir("full"), ["rest"])

    def test_dropped_events_make_no_system_calls(self):
        """A limit of the file's size is to a ring what a full disk is."""
        if shutil.which("strace") is None:
            self.skipTest("no strace")
        script = "import os\nfd = os.open('data', os.O_CREAT | os.O_WRONLY)\nfor _ in range(20000): os.pwrite(fd, b'x', 0)"
        traced = ["strace", "-f", "-c", "-U", "calls,name", "-e", "trace=rt_sigprocmask", "-o", "log", sys.executable,
                  "-c", script]
        answer = self.record("prlimit", "--fsize=500000", "--", *traced, options=())
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertGreater(self.info("t")["dropped"], 10000)
        with open("log", encoding="ascii") as log:
            calls = sum(int(line.split()[0]) for line in log if "rt_sigprocmask" in line)
        self.assertLess(calls, 5000)  # of 20,000 events; it was two for each of them

    @unittest.skipIf(os.geteuid() != 0, "mounts a file system")
    def test_disk_that_fills_while_the_program_runs(self):
        """The program goes on undisturbed, what is lost is counted."""
        os.mkdir("small")
        mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", "small"]
        if subprocess.run(mount, check=False, capture_output=True).returncode != 0:
            self.skipTest("cannot mount a tmpfs")
        self.addCleanup(subprocess.run, ["umount", "-l", "small"], check=False)
        script = "head -c 900k /dev/zero > small/ballast; for i in $(seq 20000); do echo $i; done > out"
        answer = self.record("bash", "-c", script, trace="small/t", options=())
        self.assertEqual(answer.returncode, 0, answer.stderr)
        with open("out", encoding="ascii") as out:
            self.assertEqual(len(out.readlines()), 20000)
        os.remove("small/ballast")
        info = self.info("small/t")
        self.assertGreater(info["dropped"], 0)
        self.assertFalse(info["complete"])

    def limited(self, kib, *command):
        script = f"ulimit -f {kib}; exec \"$@\""
        return subprocess.run(
            ["bash", "-c", script, "-", *command], capture_output=True, text=True, check=False
        )

    def test_limit_on_the_size_of_files(self):
        """It ends the program as without whyio, and never the recorder."""
        for script in ("head -c 100000 /dev/zero > out", "trap '' XFSZ; head -c 100000 /dev/zero > out"):
            plain = self.limited(8, "bash", "-c", script)
            size = os.path.getsize("out")
            traced = self.limited(8, WHYIO, "record", "-o", "t", "--force", "--", "bash", "-c", script)
            self.assertNotEqual(plain.returncode, 0)
            self.assertEqual(traced.returncode % 128, plain.returncode % 128, traced.stderr)
            self.assertEqual(os.path.getsize("out"), size)
        self.assert_failed(self.limited(0, WHYIO, "record", "-o", "t2", "--", "touch", "ran"), "t2")
        self.assertFalse(os.path.exists("t2"))

    def test_rings_elsewhere(self):
        os.mkdir("local")
        environment = dict(os.environ, WHYIO_RING_DIR=os.path.join(self.dir, "local"))
        script = "readlink t/raw/*; ls local"
        answer = self.record("sh", "-c", script, env=environment)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn(os.path.join(self.dir, "local", "whyio-rings-"), answer.stdout)
        self.assertEqual(os.listdir("local"), [])
        self.assert_sealed()
        self.assertGreater(self.info()["events"], 0)

    def test_rings_cannot_be_made(self):
        environment = dict(os.environ, WHYIO_RING_DIR="/no/such/place")
        self.assert_failed(self.record("touch", "ran", env=environment), "/no/such/place")
        self.assertFalse(os.path.exists("t"))


def write(path, data):
    with open(path, "wb") as out:
        out.write(data if isinstance(data, bytes) else data.encode())


if __name__ == "__main__":
    main()
