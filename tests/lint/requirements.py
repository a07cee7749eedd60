#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each requirement (R-...) of the format documents is cited by code and by a test, and none is invented.

usage: requirements.py ROOT
"""
import os
import re
import sys

DOCUMENTS = ("FORMAT.md", "STORE-FORMAT.md", "STORE-PROTOCOL.md")
ID = re.compile(r"\bR-[A-Z]+-\d+\b")


def cited(root, top):
    """{id: file that cites it} over the text files below `top`."""
    found = {}
    for directory, _, names in os.walk(os.path.join(root, top)):
        for name in names:
            if name.endswith((".c", ".h", ".def", ".py")):
                path = os.path.join(directory, name)
                with open(path, encoding="utf-8") as file:
                    for match in ID.findall(file.read()):
                        found.setdefault(match, os.path.relpath(path, root))
    return found


def main():
    root = sys.argv[1]
    text = ""
    for document in DOCUMENTS:
        with open(os.path.join(root, "docs", document), encoding="utf-8") as file:
            text += file.read()
    statements = re.findall(r"\*\*(R-[A-Z]+-\d+)\*\*", text)
    stated = set(statements)
    faults = [f"{name} is stated twice" for name in sorted(stated) if statements.count(name) > 1]
    faults += [f"docs mention {name}, which is stated nowhere"
               for name in sorted(set(ID.findall(text)) - stated)]
    for top, what in (("src", "code"), ("tests", "test")):
        found = cited(root, top)
        faults += [f"{name}: cited by no {what}" for name in sorted(stated - set(found))]
        faults += [f"{found[name]}: cites {name}, which no document states"
                   for name in sorted(set(found) - stated)]
    for line in faults:
        print(line, file=sys.stderr)
    print(f"{len(stated)} requirements")
    return 1 if faults or not stated else 0


if __name__ == "__main__":
    sys.exit(main())
