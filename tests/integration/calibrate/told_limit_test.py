#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The limit of a disk is found as the system says it. usage: told_limit_test.py PROGRAM"""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.environ["WHYIO_SOURCE"], "bench"))
import storage  # noqa: E402  pylint: disable=wrong-import-position

RATE = 12345678
BYTES = 32 << 20


def skip(reason):
    print(f"skipped: {reason}", file=sys.stderr)
    sys.exit(77)


def told(directory):
    return int(subprocess.run([sys.argv[1], directory], check=True, stdout=subprocess.PIPE, text=True).stdout)


def main():
    groups = pathlib.Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    if os.geteuid() != 0 or not any(line.endswith(":blkio:/") for line in groups):
        skip("not root, or not in the first group of blkio")
    with tempfile.TemporaryDirectory(prefix="whyio-told-limit.") as scratch:
        try:
            with storage.rate_limited(scratch, "limited", RATE, BYTES) as directory:
                limited, beside = told(directory), told(scratch)
        except storage.Missing as missing:
            skip(missing)
    if limited != RATE or beside == RATE:
        print(f"{limited} and, beside, {beside}, where the limit is {RATE}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    storage.isolate()
    sys.exit(main())
