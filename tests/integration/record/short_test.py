#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a process that does nothing pays for being recorded, in system calls.

Times would depend on the machine; calls are what whyio decides. The bounds leave room for kernels before 6.2 and 6.11,
which have to be asked in more calls which descriptors are open and what is mapped."""

import collections
import os
import re
import subprocess

from record_case import WHYIO, RecordCase, main, need

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


class Short(RecordCase):
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


if __name__ == "__main__":
    main()
