#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""filtered_test.py SANDBOX PROGRAM: programs under a filter of system calls that was there before
them do as they do without whyio; that they are not seen is counted."""

import os
import shutil
import subprocess
import sys
import unittest

from record_case import WHYIO, RecordCase, main

SANDBOX = os.path.abspath(sys.argv.pop(1))
PROGRAM = os.path.abspath(sys.argv.pop(1))


def filters_can_be_set():
    return subprocess.run([SANDBOX, "prctl", "/bin/true"], check=False).returncode != 92


@unittest.skipUnless(filters_can_be_set(), "this machine lets nobody set filters of system calls")
class Filtered(RecordCase):
    def under_filter(self, how, *command):
        answer = self.record(SANDBOX, how, *command)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        with open("out", encoding="ascii") as out:
            self.assertEqual(out.read(), "abc")
        info = self.info()
        self.assertEqual(info["unseen"]["filtered_exec"], 1)
        self.assertFalse(info["complete"])
        self.assertIn("under a filter of system calls", self.whyio("info", "t").stdout)
        self.assertEqual([line for line in self.dump() if (line["path"] or "").endswith("/out")], [])

    def test_prctl(self):
        self.under_filter("prctl", PROGRAM, "out")

    def test_seccomp(self):
        self.under_filter("seccomp", PROGRAM, "out")

    def test_spawn(self):
        self.under_filter("prctl,spawn", PROGRAM, "out")

    def test_system(self):
        self.under_filter("prctl,system", f"{PROGRAM} out")

    def test_further_programs(self):
        """Also those that the confined program executes, with an environment of their own."""
        self.under_filter("prctl", "/bin/sh", "-c", f"{PROGRAM} first; LD_PRELOAD= exec {PROGRAM} out")

    def test_sandbox_that_is_not_seen(self):
        """What preloads the library finds the filter by itself."""
        script = f"exec {SANDBOX} prctl /usr/bin/env LD_PRELOAD=$LD_PRELOAD {PROGRAM} out"
        answer = self.record("sh", "-c", script)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertTrue(os.path.exists("out"))

    def test_sandbox_that_is_not_seen_without_proc(self):
        """The filter is asked for where /proc does not tell it. A container's own is one, too: then it is not known
        whether there are more."""
        with open("/proc/self/status", encoding="ascii") as status:
            if "Seccomp:\t0" not in status.read():
                self.skipTest("there are filters of system calls here already")
        if subprocess.run([SANDBOX, "prctl,noproc,ask", "/bin/true"], check=False).returncode == 96:
            self.skipTest("/proc cannot be hidden here")
        script = f"exec {SANDBOX} prctl,noproc,ask /usr/bin/env LD_PRELOAD=$LD_PRELOAD {PROGRAM} out"
        answer = self.record("sh", "-c", script)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertTrue(os.path.exists("out"))

    def test_filter_of_the_recorder_too(self):
        """One that the recorder lives with is no reason to stay out (containers have one)."""
        answer = subprocess.run(["bwrap", "--dev-bind", "/", "/", "--seccomp", "3", WHYIO, "record", "-q",
                                 "-o", "t", "--", PROGRAM, "out"], check=False, capture_output=True,
                                text=True, pass_fds=(3,), preexec_fn=self.allow_all) \
            if shutil.which("bwrap") else None
        if answer is None or answer.returncode != 0:
            self.skipTest("bwrap cannot make a sandbox here")
        self.assertTrue(self.info()["complete"])
        self.assertEqual(self.info()["unseen"], {})

    @staticmethod
    def allow_all():
        """Descriptor 3: a filter of one instruction, which returns SECCOMP_RET_ALLOW."""
        reader, writer = os.pipe()
        os.write(writer, (6).to_bytes(2, "little") + bytes(2) + (0x7FFF0000).to_bytes(4, "little"))
        os.close(writer)
        if reader != 3:
            os.dup2(reader, 3)
            os.close(reader)
        os.set_inheritable(3, True)


if __name__ == "__main__":
    main()
