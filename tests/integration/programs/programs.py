#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One real program against strace: programs.py [--keep] CASE. Cases: see cases.py.

Environment: WHYIO = the command to test; exit status 0 passed, 1 failed, 77 skipped.
"""
import sys

from cases import CASES
from harness import SKIP, Failure, Skip, run_case


def main():
    args = [arg for arg in sys.argv[1:] if arg != "--keep"]
    if len(args) != 1 or args[0] not in CASES:
        print("usage: programs.py [--keep] CASE; cases:", *CASES, file=sys.stderr)
        return 2
    try:
        print(f"{args[0]}: {run_case(CASES[args[0]], keep='--keep' in sys.argv)}")
    except Skip as reason:
        print(f"skipped: {reason}", file=sys.stderr)
        return SKIP
    except Failure as reason:
        print(f"{args[0]}: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
