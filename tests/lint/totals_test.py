#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/test_totals.py: what CI reads must be right also when all goes wrong.

usage: totals_test.py ROOT
"""
import json
import os
import subprocess
import sys
import tempfile

CASES = [  # (results, status of make, last line, exit status)
    (["OK", "OK", "SKIP"], 0, "2 passed, 0 failed, 1 skipped", 0),
    (["OK", "FAIL", "TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS"], 2,
     "1 passed, 5 failed, 0 skipped", 1),
    (["OK", "FAIL"], 0, "1 passed, 1 failed, 0 skipped", 1),
    (["OK", "EXPECTEDFAIL"], 2, "2 passed, 1 failed, 0 skipped", 1),
    ([], 2, "0 passed, 1 failed, 0 skipped", 1),
    ([], 0, "0 passed, 0 failed, 0 skipped", 1),
    (["SKIP"], 0, "0 passed, 0 failed, 1 skipped", 1),
]


def totals(root, results, status):
    with tempfile.TemporaryDirectory(prefix="whyio-totals.") as scratch:
        os.mkdir(os.path.join(scratch, "meson-logs"))
        with open(os.path.join(scratch, "meson-logs", "testlog.json"), "w", encoding="utf-8") as log:
            for number, result in enumerate(results):
                log.write(json.dumps({"name": f"test {number}", "result": result}) + "\n")
        script = os.path.join(root, "scripts", "test_totals.py")
        return subprocess.run(
            [sys.executable, script, f"--make-status={status}", scratch, scratch + "/absent"],
            check=False, stdout=subprocess.PIPE, text=True)


def main():
    failed = 0
    for results, status, line, wanted in CASES:
        got = totals(sys.argv[1], results, status)
        if got.stdout.splitlines()[-1] != line or got.returncode != wanted:
            print(f"{results}, make {status}: expected {line!r} and {wanted}, found "
                  f"{got.stdout!r} and {got.returncode}", file=sys.stderr)
            failed = 1
    print(f"{len(CASES)} cases")
    return failed


if __name__ == "__main__":
    sys.exit(main())
