#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Add up the results in Meson's logs: the last line is "N passed, N failed, N skipped".

usage: test_totals.py [--make-status=N] BUILD...

Exit 1 where a test failed, where `make test` failed otherwise (the build; counted as one failure),
or where nothing was run.
"""
import argparse
import json
import os
import sys

PASSED = {"OK", "EXPECTEDFAIL"}
SKIPPED = {"SKIP", "IGNORED"}


def results(build):
    path = os.path.join(build, "meson-logs", "testlog.json")
    if not os.path.exists(path):
        return
    with open(path, encoding="utf-8") as log:
        for line in log:
            if line.strip():
                yield json.loads(line)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--make-status", type=int, default=0)
    parser.add_argument("builds", nargs="+")
    args = parser.parse_args()
    passed = failed = skipped = 0
    for build in args.builds:
        for test in results(build):
            if test["result"] in PASSED:
                passed += 1
            elif test["result"] in SKIPPED:
                skipped += 1
                print(f"skipped: {build}: {test['name']}")
            else:
                failed += 1
                print(f"failed: {build}: {test['name']}: {test['result']}")
    if args.make_status != 0 and failed == 0:
        failed = 1
        print("failed: `make test` itself, see above")
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
