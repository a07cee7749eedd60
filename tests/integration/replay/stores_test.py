#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stores into mapped files that record --mmap-pages saw are done again."""
import os
import subprocess
import sys
import unittest

import replay_case
from replay_case import TIMEOUT, WHYIO

PROGRAM = """
import mmap, os
fd = os.open("mapped", os.O_RDWR | os.O_CREAT, 0o600)
os.ftruncate(fd, 64 * 4096 + 10)
with mmap.mmap(fd, 0) as view:
    view[4096:3 * 4096] = b"x" * 8192
    view.flush()
    view[64 * 4096] = 1
"""


class Stores(replay_case.ReplayCase):
    def test_pages_are_written_again(self):
        subprocess.run([WHYIO, "record", "-q", "--mmap-pages", "-o", self.trace, "--", sys.executable,
                        "-c", PROGRAM], check=True, cwd=self.dir, timeout=TIMEOUT)
        told = subprocess.run([WHYIO, "info", self.trace, "--format=json"], check=True,
                              capture_output=True, text=True, timeout=TIMEOUT).stdout
        if '"mmap_write"' not in told:
            print("this kernel does not tell which pages are written", file=sys.stderr)
            sys.exit(77)
        self.replay("--mode=afap")
        with open(self.path(os.path.join(self.dir, "mapped")), "rb") as file:
            data = file.read()
        written = [page for page in range(65) if any(data[page * 4096:(page + 1) * 4096])]
        self.assertEqual(written, [1, 2, 64])
        self.assertEqual(len(data), 64 * 4096 + 10)


if __name__ == "__main__":
    unittest.main()
