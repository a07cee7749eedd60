#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Through a mount, each request counts for the job of the process that made it: whyio jobstats of the store.

usage: mount_jobs_test.py [RECYCLED]      so many processes of one id, 1,000 by default
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

import mount_test
from mount_test import WAIT
from store_case import Serving, WHYIO

RECYCLED = 1000

WRITE = """
import os, sys, time
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
until = time.monotonic() + 20
for turn in range(int(sys.argv[3])):
    time.sleep(0.02 if turn < 3 else 0)
    os.pwrite(file, bytes(int(sys.argv[2])), 0)
"""


class Jobs(unittest.TestCase):
    options = ()

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="whyio-mount.")
        self.work = os.path.realpath(self.scratch.name)
        self.point = os.path.join(self.work, "mnt")
        os.mkdir(self.point)
        self.server = Serving(self.work, 3)
        self.mount = None

    def begin(self, *options):
        self.mount = subprocess.Popen([WHYIO, "mount", *options, self.server.address, self.point],
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        self.assertEqual(self.mount.stdout.readline(), f"mounted  {self.point}\n")

    def tearDown(self):
        if self.mount is not None:
            self.mount.terminate()
            self.mount.communicate(timeout=WAIT)
            self.assertEqual(self.mount.returncode, 0)
        self.assertEqual(self.server.end(), 0)
        self.scratch.cleanup()

    def path(self, *parts):
        return os.path.join(self.point, *parts)

    def jobstats(self, *options):
        done = subprocess.run([WHYIO, "jobstats", *options, self.server.address], check=True, timeout=WAIT,
                              stdout=subprocess.PIPE)
        return done.stdout

    def jobs(self):
        rows = json.loads(self.jobstats("--format=json"))["jobs"]
        return {row["job_id"]: row["ops"] for row in rows}

    def written(self):
        """By job: sizes of writes, least and greatest, and how many."""
        return {job: (ops["write_bytes"]["min"], ops["write_bytes"]["max"], ops["write_bytes"]["samples"])
                for job, ops in self.jobs().items() if "write_bytes" in ops}

    def write(self, size, count, environment, name="f", begin=False):
        own = {key: text for key, text in os.environ.items() if not key.startswith("SLURM")}
        own.update(environment)
        process = subprocess.Popen([sys.executable, "-c", WRITE, self.path(name), str(size), str(count)], env=own)
        if begin:
            return process
        self.assertEqual(process.wait(WAIT), 0)
        return None

    def only(self, job, size):
        """All writes of `size` bytes of which the job was known are that job's, and they are most."""
        written = self.written()
        self.assertIn(job, written)
        self.assertEqual(written[job][:2], (size, size))
        self.assertGreaterEqual(written[job][2], 7)

    def test_odd_names(self):
        self.begin()
        names = ["a b", "c:d", 'e"f\\g', "é中", "- x", "tab\there", "line\nend", "n" * 128, "n" * 4096, "null", "'q'"]
        for i, name in enumerate(names):
            self.write(100 + i, 10, {"SLURM_JOB_ID": name})
        for i, name in enumerate(names):
            self.only(name, 100 + i)
        yaml = self.jobstats().decode("ascii")  # odd bytes are escaped there
        self.assertEqual(yaml.count("- job_id:"), len(self.jobs()))
        self.assertIn('"tab\\x09here"', yaml)
        # one too long is none; it is not cut into another
        self.write(99, 10, {"SLURM_JOB_ID": "n" * 4097})
        self.assertEqual(self.written()["n" * 4096][:2], (100 + 8, 100 + 8))

    def test_look_alikes_and_large_environments(self):
        self.begin("--jobid-var=USER")
        self.write(11, 10, {"USER": "me", "USERTEST": "x", "XUSER": "y", "SLURM_JOB_ID": "7"})
        self.only("me", 11)
        large = {f"V{i}": "v" * 100000 for i in range(10)}
        self.write(12, 10, {**large, "USER": "large"})
        self.only("large", 12)
        without = {key: text for key, text in os.environ.items() if key != "USER"}
        subprocess.run([sys.executable, "-c", WRITE, self.path("f"), "13", "10"], check=True,
                       env={**without, "USERTEST": "x"})
        self.assertEqual(sorted(job for job in self.written() if job), ["large", "me"])

    def test_an_environment_that_may_not_be_read(self):
        """The bytes of a process that is not dumpable are its own; it has no job then, and its I/O goes on."""
        self.begin()
        hide = "import ctypes\nctypes.CDLL(None).prctl(4, 0)\n"
        own = {**os.environ, "SLURM_JOB_ID": "hidden"}
        subprocess.run([sys.executable, "-c", hide + WRITE, self.path("f"), "21", "10"], check=True, env=own)
        written = self.written()
        self.assertTrue(set(written) <= {"hidden", "", None}, written)  # as root it may be read
        self.assertEqual(sum(row[2] for row in written.values()), 10)

    def test_several_jobs_write_one_file(self):
        self.begin()
        sizes = {f"job {i}": 1000 + i for i in range(6)}
        running = [self.write(size, 60, {"SLURM_JOB_ID": job}, begin=True) for job, size in sizes.items()]
        for process in running:
            self.assertEqual(process.wait(WAIT), 0)
        for job, size in sizes.items():
            self.only(job, size)

    def test_control(self):
        self.begin("--jobid-var=nodelocal", "--jobid-name=first")
        self.write(31, 10, {})
        self.only("first", 31)
        with open(self.path(".whyio", "jobid_name"), "r+", encoding="utf-8") as control:
            self.assertEqual(control.read(), "first\n")
        with open(self.path(".whyio", "jobid_name"), "w", encoding="utf-8") as control:
            control.write("second\n")
        self.write(32, 10, {})
        self.only("second", 32)
        with open(self.path(".whyio", "jobid_var"), encoding="utf-8") as control:
            self.assertEqual(control.read(), "nodelocal\n")
        self.assertEqual(sorted(os.listdir(self.path(".whyio"))), ["jobid_name", "jobid_this_session", "jobid_var"])
        self.assertNotIn(".whyio", os.listdir(self.point))
        for call in (lambda: os.unlink(self.path(".whyio", "jobid_name")), lambda: os.mkdir(self.path(".whyio", "d")),
                     lambda: os.rename(self.path("f"), self.path(".whyio", "f")),
                     lambda: os.rename(self.path(".whyio"), self.path("g")),
                     lambda: os.open(self.path(".whyio", "x"), os.O_CREAT | os.O_WRONLY)):
            with self.assertRaises(OSError):
                call()
        with self.assertRaises(OSError), open(self.path(".whyio", "jobid_name"), "wb", buffering=0) as control:
            control.write(b'"open')

    def test_sessions(self):
        self.begin("--jobid-var=session")
        program = ("import os, sys\nos.setsid()\n"
                   "with open(sys.argv[4], 'w') as control:\n    control.write('night run\\n')\n" + WRITE)
        subprocess.run([sys.executable, "-c", program, self.path("f"), "41", "10",
                        self.path(".whyio", "jobid_this_session")], check=True)
        self.only("night run", 41)

    def test_disabled(self):
        self.begin("--jobid-var=disable")
        self.write(51, 10, {"SLURM_JOB_ID": "7"})
        self.assertEqual([job for job in self.written() if job], [])

    def test_clear_and_purge(self):
        self.begin()
        for job in ("one", "two", "three"):
            self.write(61, 10, {"SLURM_JOB_ID": job})
        self.jobstats("--clear=one")
        self.assertEqual(sorted(job for job in self.jobs() if job), ["three", "two"])
        self.jobstats("--purge=1h")
        self.assertEqual(sorted(job for job in self.jobs() if job), ["three", "two"])
        top = json.loads(self.jobstats("--format=json", "--top=1"))["jobs"]
        self.assertEqual(len(top), 1)
        time.sleep(0.05)
        self.jobstats("--purge=10ms")
        self.assertEqual([job for job in self.jobs() if job], [])
        self.write(61, 10, {"SLURM_JOB_ID": "two"})
        self.jobstats("--clear")
        self.assertEqual([job for job in self.jobs() if job], [])

    def test_a_library_program_has_its_job(self):
        source = os.path.join(self.work, "source")
        with open(source, "wb") as out:
            out.write(bytes(777))
        own = {key: text for key, text in os.environ.items() if key != "WHYIO_JOB"}
        subprocess.run([WHYIO, "store", "put", "-q", f"--server={self.server.address}", source, "/f"], check=True,
                       env={**own, "SLURM_JOB_ID": "library"}, stdout=subprocess.DEVNULL)
        self.assertEqual(self.written(), {"library": (777, 777, 1)})
        names = ["a b", "- x", "{a: b}", "tab\there", "line\nend", "n" * 4096]
        for name in names:
            subprocess.run([WHYIO, "store", "put", "-q", f"--server={self.server.address}", source, "/f"], check=True,
                           env={**own, "SLURM_JOB_ID": name}, stdout=subprocess.DEVNULL)
        self.assertEqual(self.written(), {name: (777, 777, 1) for name in ("library", *names)})


class Recycled(unittest.TestCase):
    """In a pid namespace of its own, which begins again with this file: see below."""

    def test_recycled_ids(self):
        unshare = shutil.which("unshare")
        if unshare is None or os.getuid() != 0:
            self.skipTest("needs a pid namespace")
        done = subprocess.run([unshare, "--pid", "--fork", "--mount-proc", "--kill-child", sys.executable, __file__,
                               "--inside", str(RECYCLED)], check=False, text=True, stderr=subprocess.PIPE, timeout=3600)
        if done.returncode == 77 or "unshare failed" in done.stderr:
            self.skipTest("needs a pid namespace whose last id may be set")
        self.assertEqual(done.returncode, 0, done.stderr)
        print(done.stderr, file=sys.stderr)


def size_of(number):
    return 1 + number % 4093


def inside(count, cache):
    """All processes have one id. Sizes tell whether a job's writes were its own; with Lustre's rules some are not."""
    case = Jobs("test_disabled")
    case.setUp()
    try:
        case.begin("--jobid-var=WHYIO_TEST_JOB", f"--cache={cache}")
        with open(case.path("f"), "wb"):
            pass
        status = subprocess.run([os.environ["MOUNT_RECYCLE"], case.path("f"), str(count)], check=False,
                                env={**os.environ, "WHYIO_TEST_JOB": "job.----------"}).returncode
        if status != 0:
            return status
        began = time.monotonic()
        written = case.written()
        took = time.monotonic() - began
        wrong = [(job, row) for job, row in written.items()
                 if job and "-" not in job and row[:2] != (size_of(int(job[4:])),) * 2]
        known = sum(row[2] for job, row in written.items() if job and "-" not in job)
        print(f"{cache}: {count} processes of one id, {known} of {4 * count} writes with their job, {len(written)} jobs in "
              f"{took:.2f} s, {len(wrong)} wrong {wrong[:3]}", file=sys.stderr)
        return 0 if known > count // 2 and bool(wrong) == (cache == "lustre") else 1
    finally:
        case.tearDown()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        sys.exit(inside(int(sys.argv[2]), "exit") or inside(100, "lustre"))
    if mount_test.lacks() is not None:
        print("skipped:", mount_test.lacks(), file=sys.stderr)
        sys.exit(77)
    if sys.argv[1:2] and sys.argv[1].isdigit():
        RECYCLED = int(sys.argv.pop(1))
    unittest.main()
