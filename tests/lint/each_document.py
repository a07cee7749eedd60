# SPDX-License-Identifier: Apache-2.0
"""What the checks of documents have in common: each is read, faults are printed, and all are counted."""
import os
import sys


def check(root, paths, faults):
    """faults(path, lines) gives texts. The exit status: 1 where there was one."""
    count, failed = 0, 0
    for path in paths:
        with open(os.path.join(root, path), encoding="utf-8") as file:
            found = list(faults(path, file.read().split("\n")))
        count += 1
        failed += len(found)
        for text in found:
            print(text, file=sys.stderr)
    print(f"{count} documents")
    return 1 if failed else 0
