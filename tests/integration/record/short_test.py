#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What short runs pay for being recorded, in system calls: of a process that does nothing, and waits for the disk.

Times would depend on the machine; calls are what whyio decides. The bounds leave room for kernels before 6.2 and 6.11,
which have to be asked in more calls which descriptors are open and what is mapped."""

import collections
import glob
import os
import re
import shutil
import struct
import subprocess
import sys
import time

from record_case import WHYIO, RecordCase, main, need, until

need("strace", "strace is not installed")
PROGRAM = "/bin/true"
CALL = re.compile(r"\d+ +(?:<\.\.\. )?(\w+)")
# Calls that recording may add to the process: of each kind, and of all kinds together.
BOUNDS = {"openat": 12, "mmap": 12, "munmap": 3, "read": 14, "readlink": 2, "readlinkat": 2, "getpid": 4,
          "getrusage": 2}
ALL = 100


def calls_of_program(lines):
    """Calls of the process that executes the program, from then on."""
    begin = f'execve("{PROGRAM}"'
    pid = next(line.split()[0] for line in lines if begin in line)
    own = [line for line in lines if line.split()[0] == pid]
    first = next(number for number, line in enumerate(own) if begin in line)
    return collections.Counter(CALL.match(line).group(1) for line in own[first + 1:]
                               if CALL.match(line) and "resumed>" not in line)


START_MONO_NS = struct.Struct("<Q"), 32  # docs/FORMAT.md, section 2: in the header of a ring
OLD_NS = 6_000_000_000


def make_older(trace):
    """Let the rings that a killed recorder left have begun some seconds earlier."""
    field, offset = START_MONO_NS
    for ring in glob.glob(os.path.join(trace, "raw", "*", "*.ring")):
        with open(ring, "r+b") as file:
            file.seek(offset)
            start_ns = field.unpack(file.read(field.size))[0]
            file.seek(offset)
            file.write(field.pack(max(start_ns - OLD_NS, 1)))


class Short(RecordCase):
    def flushes(self, *command):
        answer = subprocess.run(["strace", "-f", "-e", "trace=fsync", "-o", "calls", *command], check=False,
                                capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
        if not os.path.exists("calls"):
            self.skipTest("strace cannot trace here")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        with open("calls", encoding="utf-8", errors="replace") as file:
            return sum(" fsync(" in line for line in file)

    def record_killed(self, trace):
        self.start("sh", "-c", "kill -9 $PPID; true > x; echo > done", trace=trace).wait()
        self.assertTrue(until(lambda: os.path.exists("done")))
        os.unlink("done")
        self.assertTrue(until(lambda: not self.info_live(trace)))

    def info_live(self, trace):
        shutil.copytree(trace, "copy", symlinks=True)
        try:
            return self.info("copy")["live"]
        finally:
            shutil.rmtree("copy")

    def test_waits_for_the_disk(self):
        """The segment and its name are flushed before the rings go, nothing else of a short run."""
        begin = time.monotonic()
        flushes = self.flushes(WHYIO, "record", "-q", "-o", "t", "--", PROGRAM)
        is_short = time.monotonic() - begin < 4  # else the rings are old, and their mark is flushed
        self.assertEqual(flushes, 2 if is_short else 3)

    def test_old_rings_are_marked_durably(self):
        """They may be on the disk: where the power fails, they are not to be sealed twice."""
        self.record_killed("old")
        make_older("old")
        self.assertEqual(self.flushes(WHYIO, "dump", "-q", "old"), 3)

    def calls(self, *command):
        answer = subprocess.run(["strace", "-f", "-o", "calls", *command], check=False, capture_output=True,
                                stdin=subprocess.DEVNULL, timeout=60)
        if not os.path.exists("calls") or os.path.getsize("calls") == 0:
            self.skipTest("strace cannot trace here")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        with open("calls", encoding="utf-8", errors="replace") as file:
            return calls_of_program(file.read().splitlines())

    def test_calls_of_a_process_that_does_nothing(self):
        alone = self.calls(PROGRAM)
        recorded = self.calls(WHYIO, "record", "-q", "-o", "t", "--", PROGRAM)
        self.assertGreater(self.info()["events"], 0)
        added = recorded - alone
        for call, bound in BOUNDS.items():
            self.assertLessEqual(added[call], bound, added)
        self.assertLessEqual(sum(added.values()), ALL, added)

    def test_a_file_without_a_type_is_asked_once(self):
        """An eventfd has none: its type is known after the first read all the same."""
        python = ("import os\nfd = os.eventfd(1000, os.EFD_SEMAPHORE)\n"
                  "for _ in range(100): os.read(fd, 8)\n")
        counts = self.calls_all(WHYIO, "record", "-q", "-o", "t", "--", sys.executable, "-S", "-E", "-c", python)
        self.assertGreaterEqual(counts["read 8"], 100)
        self.assertLess(counts["statx of eventfd"], 5, counts)

    def calls_all(self, *command):
        answer = subprocess.run(["strace", "-f", "-y", "-e", "trace=read,statx,fstat,newfstatat", "-o", "calls",
                                 *command], check=False, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)
        if not os.path.exists("calls") or os.path.getsize("calls") == 0:
            self.skipTest("strace cannot trace here")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        counts = collections.Counter()
        with open("calls", encoding="utf-8", errors="replace") as file:
            for line in file:
                if "[eventfd" in line:
                    counts["read 8" if " read(" in line else "statx of eventfd"] += 1
        return counts


if __name__ == "__main__":
    main()
