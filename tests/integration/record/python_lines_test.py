#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""R-SOURCE-3: calls of a Python program are those of its own lines, in each version of CPython that is here."""

import glob
import os
import shutil
import subprocess
import sys
import unittest

from record_case import RecordCase, main

KNOWN = range(8, 14)  # src/capture/script/python.c
HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.path.join(HERE, "python_lines.py")
# A thread comes back from its call when the interpreter has ended, and is gone for it.
LATE = """
import os, threading, time
r, w = os.pipe()
def work():
    while True:
        os.read(r, 1)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
class Last:
    def __del__(self, write=os.write, w=w, sleep=time.sleep):
        for _ in range(20):
            write(w, b"x")
            sleep(0.001)
last = Last()
"""
WRITES = {1: "one_place", 2: "one_place", 3: "deep", 4: "<lambda>", 5: "numbers", 6: "numbers", 8: "main"}


def versions():
    """{version: path} of the interpreters that can be run."""
    found = {}
    beside = os.path.join(os.path.dirname(sys.executable), "..", "..", "*", "bin", "python3")  # as pyenv has them
    names = [sys.executable] + [f"python3.{minor}" for minor in KNOWN] + sorted(glob.glob(beside))
    for name in names:
        path = shutil.which(name)
        asked = [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2]); print(sys.executable)"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False) if path else None
        if done and done.returncode == 0:
            version, executable = done.stdout.split()
            found.setdefault(version, executable)
    return {version: path for version, path in found.items() if version in {f"3.{minor}" for minor in KNOWN}}


def lines_of(*texts):
    with open(PROGRAM, encoding="ascii") as source:
        lines = source.read().splitlines()
    return [next(number for number, line in enumerate(lines, 1) if text in line) for text in texts]


class PythonLines(RecordCase):
    def events(self, python, *options):
        shutil.rmtree("t", ignore_errors=True)
        answer = self.record(python, PROGRAM, os.path.join(self.dir, "out"), options=("-q", *options))
        self.assertEqual((answer.returncode, answer.stdout), (0, ""), answer.stderr)
        return self.dump("--op", "write"), self.dump("--op", "read")

    def check_lines(self, python, *options):
        writes, reads = self.events(python, *options)
        of_size = {event["size"]: event["own_source"] for event in writes
                   if event["path"] == os.path.join(self.dir, "out")}
        places = dict(zip(WRITES, lines_of("b\"1\"", "b\"2\"", "b\"3\"", "b\"4\"", "b\"5\"", "b\"5\"", "b\"8\"")))
        for size, function in WRITES.items():
            self.assertEqual(of_size[size], f"{function} (python_lines.py:{places[size]})")
        self.assertEqual(of_size[7], "<module> (<string>:1)")
        (load,) = lines_of("return json.load")
        loads = {event["own_source"] for event in reads if (event["path"] or "").endswith("out.json")}
        self.assertEqual(loads, {f"by_a_library (python_lines.py:{load})"})

    def test_each_version(self):
        known = versions()
        print("versions:", *sorted(known), file=sys.stderr)
        self.assertTrue(known)
        for version, python in known.items():
            with self.subTest(version=version):
                self.check_lines(python)

    def test_a_thread_behind_the_end(self):
        for version, python in versions().items():
            with self.subTest(version=version):
                shutil.rmtree("t", ignore_errors=True)
                answer = self.record(python, "-c", LATE)
                self.assertEqual((answer.returncode, answer.stderr), (0, ""))

    def test_anonymised(self):
        """Names are hidden, lines stay. (Whether a hidden name was an interpreter's, nothing tells.)"""
        writes, _ = self.events(sys.executable, "--anonymize", "--stacks")
        (line,) = lines_of('b"3"')
        (event,) = [event for event in writes if event["size"] == 3]
        (frame,) = [text for text in event["stack"] if text.endswith(f":{line})")]
        self.assertNotIn("deep", frame)
        self.assertNotIn("python_lines", frame)

    def test_whole_stacks(self):
        self.check_lines(sys.executable, "--stacks")


if __name__ == "__main__":
    main()
