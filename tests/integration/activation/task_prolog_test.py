#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""task_prolog_test.py BOUND: the scripts for Slurm one behind the other, without a Slurm: what the TaskProlog prints
is the environment of the task."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import scripts

BOUND = os.path.abspath(sys.argv.pop(1))
WHYIO = os.environ["WHYIO"]


class TaskProlog(unittest.TestCase):
    def setUp(self):
        self.top = tempfile.mkdtemp(prefix="whyio-task.")
        self.addCleanup(shutil.rmtree, self.top, ignore_errors=True)
        self.job = {"SLURM_JOB_ID": "17", "SLURM_JOB_UID": str(os.getuid()), "SLURM_JOB_GID": str(os.getgid()),
                    "SLURM_JOB_WORK_DIR": self.top, "PATH": os.environ["PATH"]}
        self.directory = os.path.join(self.top, "whyio-job-17")
        self.target = os.path.join(self.top, "whyio-17.whyio")

    def run_script(self, name, **more):
        path = scripts.install(f"slurm-{name}.sh", self.top, base=self.top)
        answer = subprocess.run([path], env=dict(self.job, **more), check=False, capture_output=True, text=True, timeout=60)
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        return answer.stdout

    def environment_of(self, text):
        """As slurmstepd reads it."""
        lines = [line for line in text.splitlines() if line.startswith("export ")]
        self.assertEqual(len(lines), len(text.splitlines()), text)
        return dict(self.job, **dict(line[len("export "):].split("=", 1) for line in lines))

    def run_task(self, environment, *arguments):
        answer = subprocess.run([BOUND, *arguments], env=environment, cwd=self.top, check=False, capture_output=True,
                                text=True, timeout=60)
        self.assertEqual(answer.stderr, "")

    def info(self):
        return json.loads(subprocess.run([WHYIO, "info", "--format=json", self.target], check=True,
                                         stdout=subprocess.PIPE).stdout)

    def test_job_that_asks_for_it(self):
        self.run_script("prolog")
        self.assertEqual(os.stat(self.directory).st_mode & 0o777, 0o700)
        for _ in range(2):
            self.run_task(self.environment_of(self.run_script("task-prolog", WHYIO_RECORD="1")), "100", "1", "1", "exit")
        if shutil.which("setpriv") is None or os.geteuid() != 0:
            self.skipTest("the epilog needs root and setpriv")
        self.assertEqual(self.run_script("epilog"), "")
        self.assertFalse(os.path.exists(self.directory))
        info = self.info()
        self.assertEqual((info["processes"], info["ops"]["pwrite"]["count"], info["jobs"]), (2, 200, ["17"]))

    def test_flight_recorder(self):
        self.run_script("prolog")
        environment = self.environment_of(self.run_script("task-prolog", WHYIO_RECORD="1M"))
        self.assertEqual((environment["WHYIO_MAX_SIZE"], environment["WHYIO_KEEP"]), ("1048576", "last"))
        self.run_task(environment, "60000", "1", "1", "kill")
        if shutil.which("setpriv") is None or os.geteuid() != 0:
            self.skipTest("the epilog needs root and setpriv")
        self.run_script("epilog")
        self.assertGreater(self.info()["bound"]["evicted"], 30000)

    def test_job_that_does_not(self):
        self.run_script("prolog")
        self.assertEqual(self.run_script("task-prolog"), "")
        self.assertEqual(self.run_script("task-prolog", WHYIO_RECORD="0"), "")
        if shutil.which("setpriv") is not None and os.geteuid() == 0:
            self.run_script("epilog")
            self.assertFalse(os.path.exists(self.directory))
            self.assertFalse(os.path.exists(self.target))

    def test_directory_of_another_user(self):
        """One that was there before the prolog is not taken over."""
        os.symlink("/etc", self.directory)
        self.run_script("prolog")
        self.assertTrue(os.path.islink(self.directory))
        self.assertIn("print whyio: nothing is recorded", self.run_script("task-prolog", WHYIO_RECORD="1"))
        self.run_script("epilog")
        self.assertTrue(os.path.islink(self.directory))

    def test_wrong_size(self):
        self.run_script("prolog")
        path = scripts.install("slurm-task-prolog.sh", self.top, base=self.top)
        answer = subprocess.run([path], env=dict(self.job, WHYIO_RECORD="much"), check=False, capture_output=True,
                                text=True, timeout=60)
        self.assertEqual((answer.returncode, answer.stdout), (0, "print whyio: nothing is recorded\n"))

    @unittest.skipIf(shutil.which("shellcheck") is None, "shellcheck is not installed")
    def test_shellcheck(self):
        names = [scripts.install(f"slurm-{name}.sh", self.top) for name in ("prolog", "task-prolog", "epilog")]
        subprocess.run(["shellcheck", "--exclude=SC3067", *names], check=True)


if __name__ == "__main__":
    unittest.main(verbosity=2)
