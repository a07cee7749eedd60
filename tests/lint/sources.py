#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail where docs/SOURCES.md names a file that is not there, or in a row of a table a word of code
that is in none of the files which the row names.

usage: sources.py ROOT          check docs/SOURCES.md of the tree
       sources.py --self-test   check the checker
"""
import os
import re
import sys
import tempfile

DOCUMENT = os.path.join("docs", "SOURCES.md")
CODE = re.compile(r"`([^`]+)`")
PATH = re.compile(r"^[A-Za-z0-9_.-]+(/[A-Za-z0-9_.-]+)+$")
NAME = re.compile(r"^[a-z_][a-z0-9]*(_[a-z0-9]+)+$")  # of a test or function, not of an option


def text_of(path):
    if os.path.isdir(path):
        return ""
    with open(path, encoding="utf-8") as file:
        return file.read()


def faults(root):
    with open(os.path.join(root, DOCUMENT), encoding="utf-8") as document:
        lines = document.read().splitlines()
    for number, line in enumerate(lines, 1):
        words = CODE.findall(line)
        paths = [word for word in words if PATH.match(word)]
        missing = [path for path in paths if not os.path.exists(os.path.join(root, path))]
        for path in missing:
            yield f"{DOCUMENT}:{number}: there is no {path}"
        if not line.startswith("|"):
            continue
        there = [text_of(os.path.join(root, path)) for path in paths if path not in missing]
        for name in filter(NAME.match, words):
            if not any(re.search(rf"\b{name}\b", text) for text in there):
                yield f"{DOCUMENT}:{number}: {name} is in none of the files of its row"


def self_test():
    with tempfile.TemporaryDirectory() as root:
        for folder in ("docs", "src"):
            os.mkdir(os.path.join(root, folder))
        with open(os.path.join(root, "src", "a.c"), "w", encoding="utf-8") as file:
            file.write("static void a_test(void);\n")
        for line, count in (("| `a_test` in `src/a.c`, `--set` | x |", 0), ("see `src/b.c`", 1),
                            ("| `a_tes` in `src/a.c` |", 1), ("| `other_test` in `src/b.c` |", 2)):
            with open(os.path.join(root, DOCUMENT), "w", encoding="utf-8") as file:
                file.write(line + "\n")
            found = list(faults(root))
            if len(found) != count:
                print(f"{line}: expected {count} faults, found {found}", file=sys.stderr)
                return 1
    return 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    found = list(faults(sys.argv[1]))
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
