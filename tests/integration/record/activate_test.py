#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""activate_test.py LIBRARY BOUND [LAUNCHER PROGRAM]..: programs that are recorded because their
environment says so, without whyio record."""

import os
import shutil
import subprocess
import sys
import unittest

from record_case import WHYIO, RecordCase, main

LIBRARY, BOUND = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
LAUNCHED = list(zip(sys.argv[3::2], map(os.path.abspath, sys.argv[4::2])))
del sys.argv[1:]
TOLD = "whyio: nothing is recorded: cannot use WHYIO_TRACE="


class Activate(RecordCase):
    def environment(self, trace="t", **more):
        return dict(os.environ, LD_PRELOAD=LIBRARY, WHYIO_TRACE=os.path.abspath(trace), WHYIO_CAUSAL="1", **more)

    def run_in(self, *command, trace="t", **more):
        return subprocess.run(command, env=self.environment(trace, **more), check=False, capture_output=True, text=True,
                              timeout=60)

    def test_plain_program(self):
        """Every command reads the directory; the first one seals it."""
        answer = self.run_in(BOUND, "100", "1", "1", "exit")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertEqual(os.listdir("t"), ["raw"])
        info = self.info()
        self.assertEqual((info["dropped"], info["killed"], info["open"], info["live"]), (0, 0, 0, False))
        self.assertEqual(len(self.dump("--op=pwrite")), 100)
        self.check()
        self.assert_sealed()
        for command in (["explain"], ["edges"], ["dump"], ["replay", "--root=below"], ["compare", "t"]):
            answer = self.whyio(*command, "t")
            self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("no recorder waited", self.whyio("info", "t").stdout)

    def test_fork_and_exec(self):
        """What the program makes and executes is recorded too, also where it takes the environment away."""
        script = f"{BOUND} 10 2 1 exit; env -i {BOUND} 20 1 1 exit; exec {BOUND} 30 1 1 exec"
        answer = self.run_in("sh", "-c", script)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        sizes = {}
        for event in self.dump("--op=pwrite"):
            name = os.path.basename(event["path"])
            sizes[name] = sizes.get(name, 0) + 1
        self.assertEqual(sizes, {"p0.t0": 10 + 20 + 2 * 30, "p1.t0": 10})
        self.check()

    def test_runs_of_one_directory(self):
        """A later run adds to the trace, sealed or not."""
        for _ in range(2):
            self.run_in(BOUND, "10", "1", "1", "exit")
        self.assertEqual(len(self.dump("--op=pwrite")), 20)
        self.run_in(BOUND, "10", "1", "1", "exit")
        self.assertEqual(len(self.dump("--op=pwrite")), 30)
        self.check()

    def test_flight_recorder(self):
        """The last events of a program that is killed."""
        answer = self.run_in(BOUND, "60000", "1", "1", "kill", WHYIO_MAX_SIZE="1M", WHYIO_KEEP="last")
        self.assertEqual((answer.returncode, answer.stderr), (-9, ""))
        self.assertEqual(self.dump("--op=pwrite")[-1]["offset"], 59999)
        info = self.info()
        self.assertEqual((info["bound"]["keep"], info["bound"]["max_size"]), ("last", 1 << 20))
        self.assertEqual(info["dropped"], info["bound"]["evicted"])
        self.check()

    def assert_told_once(self, trace, reason, **more):
        """As without whyio, but for one line on the standard error."""
        script = f"{BOUND} 10 2 2 exit; sh -c 'ls p0.t0; exit 3'"
        plain = subprocess.run(["sh", "-c", script], check=False, capture_output=True, text=True, timeout=60, **more)
        answer = subprocess.run(["sh", "-c", script], check=False, capture_output=True, text=True, timeout=60,
                                env=dict(self.environment(), WHYIO_TRACE=trace), **more)
        self.assertEqual((answer.returncode, answer.stdout), (plain.returncode, plain.stdout))
        lines = answer.stderr.splitlines()
        self.assertEqual(len(lines), 1, answer.stderr)
        self.assertTrue(lines[0].startswith(TOLD), lines)
        self.assertIn(reason, lines[0])

    def test_directories_that_cannot_be(self):
        with open("file", "w", encoding="ascii"):
            pass
        here = os.getcwd()
        self.assert_told_once(here + "/no/such", "the directory above it does not exist")
        self.assert_told_once("relative", "an absolute path is expected")
        self.assert_told_once(here + "/file", "it is no directory")
        self.assert_told_once("/proc/nothing", "does not exist")
        self.assertEqual([], [name for name in os.listdir(".") if name not in ("file", "p0.t0", "p0.t1", "p1.t0", "p1.t1")])

    def test_told_once_below_an_empty_environment(self):
        answer = self.run_in("env", "-i", BOUND, "10", "1", "1", "exit", trace="no/such")
        self.assertEqual((answer.returncode, answer.stderr.count(TOLD)), (0, 1), answer.stderr)

    def test_standard_error_that_takes_nothing(self):
        """A pipe that is full, or without a reader: the program neither waits nor is killed."""
        for is_full in (True, False):
            with self.subTest(is_full=is_full):
                reader, writer = os.pipe()
                self.addCleanup(os.close, writer)
                if is_full:
                    self.addCleanup(os.close, reader)
                    os.set_blocking(writer, False)
                    with self.assertRaises(BlockingIOError):
                        while True:
                            os.write(writer, b"x" * 4096)
                    os.set_blocking(writer, True)
                else:
                    os.close(reader)
                answer = subprocess.run([BOUND, "10", "1", "1", "exit"], env=self.environment("no/such"), check=False,
                                        stderr=writer, timeout=20)
                self.assertEqual(answer.returncode, 0)

    @unittest.skipUnless(os.geteuid() == 0, "root alone may change its user")
    def test_directory_of_another_user(self):
        os.mkdir("other", 0o755)
        os.chmod(self.dir, 0o777)
        self.assert_told_once(os.path.abspath("other"), "permission denied", user=65534)
        os.mkdir("other/raw", 0o711)
        self.assert_told_once(os.path.abspath("other"), "permission denied", user=65534)

    def test_no_variable(self):
        """Without the variable, or with an empty one, the library does nothing and says nothing."""
        for value in ({}, {"WHYIO_TRACE": ""}):
            environment = {key: text for key, text in self.environment().items() if key != "WHYIO_TRACE"}
            answer = subprocess.run([BOUND, "1", "1", "1", "exit"], env=dict(environment, **value), check=False,
                                    capture_output=True, text=True, timeout=60)
            self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertEqual(os.listdir("."), ["p0.t0"])

    def test_recorder_within(self):
        """whyio record goes its own way."""
        answer = self.run_in(WHYIO, "record", "-q", "-o", "inner", "--", BOUND, "10", "1", "1", "exit")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertEqual(len(self.dump("--op=pwrite", trace="inner")), 10)
        self.assertEqual([], [event for event in self.dump("--op=pwrite") if "p0.t0" in event["path"]])

    def test_lines_for_a_shell(self):
        """whyio env says what a shell has to set."""
        script = f'eval "$({WHYIO} env --trace=t --max-size=8M --keep=last)"; {BOUND} 10 1 1 exit'
        answer = subprocess.run(["sh", "-c", script], check=False, capture_output=True, text=True, timeout=60)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertEqual(len(self.dump("--op=pwrite")), 10)
        self.assertEqual(self.info()["bound"]["keep"], "last")

    def test_ranks_of_mpi(self):
        """All ranks into one directory, with what they wait for."""
        if not LAUNCHED:
            self.skipTest("no MPI is installed")
        for launcher, program in LAUNCHED:
            if shutil.which(launcher) is None:
                continue
            trace = os.path.basename(launcher)
            more = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            options = ["--oversubscribe"] if launcher.endswith("openmpi") else []
            answer = self.run_in(launcher, "-n", "4", *options, program, "-d", ".", "-n", "3", trace=trace, **more)
            self.assertEqual(answer.returncode, 0, answer.stderr)
            self.assertNotIn("whyio", answer.stderr)
            info = self.info(trace)
            self.assertEqual((info["ranks"], info["dropped"], info["unseen"]), (4, 0, {}))
            self.check(trace)
            edges = self.whyio("edges", "--format=json", trace)
            self.assertIn('"evidence": "mpi"', edges.stdout)
            replay = self.whyio("replay", f"--root={trace}.below", trace)
            self.assertEqual(replay.returncode, 0, replay.stderr)


if __name__ == "__main__":
    main()
