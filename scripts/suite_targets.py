#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The Ninja targets that the tests of some suites need, one per line.

usage: meson introspect --tests --targets BUILD | suite_targets.py BUILD SUITE...
"""
import json
import os
import sys


def main():
    build = os.path.realpath(sys.argv[1])
    wanted = set(sys.argv[2:])
    project = json.load(sys.stdin)
    files = {target["id"]: target["filename"] for target in project["targets"]}
    needed = set()
    for test in project["tests"]:
        if wanted & {suite.split(":")[-1] for suite in test["suite"]}:
            for target in test["depends"]:
                needed.update(os.path.relpath(path, build) for path in files[target])
    print("\n".join(sorted(needed)))


if __name__ == "__main__":
    main()
