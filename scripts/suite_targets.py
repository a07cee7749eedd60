#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Ninja targets that the tests of some suites need, one per line.

usage: meson introspect --tests BUILD | suite_targets.py BUILD SUITE...
"""
import json
import os
import sys


def main():
    build = os.path.realpath(sys.argv[1])
    wanted = set(sys.argv[2:])
    targets = set()
    for test in json.load(sys.stdin):
        if not wanted & {suite.split(":")[-1] for suite in test["suite"]}:
            continue
        for word in test["cmd"][:1] + test.get("extra_paths", []):
            path = os.path.realpath(word)
            if path.startswith(build + os.sep):
                targets.add(os.path.relpath(path, build))
    print("\n".join(sorted(targets)))


if __name__ == "__main__":
    main()
