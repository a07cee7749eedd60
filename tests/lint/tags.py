#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail on a struct, union or enum tag that src, include, tools and plugins define twice: a name
means one thing in the whole house, and a debugger shows the right one.

usage: tags.py ROOT           check the tree
       tags.py --self-test    check the checker
"""
import collections
import os
import re
import sys

FOLDERS = ("src", "include", "tools", "plugins")
DEFINITION = re.compile(r"^\s*(?:static |const |typedef |_Atomic )*(struct|union|enum) (\w+)\s*\{", re.MULTILINE)


def defined(text):
    return {(kind, name) for kind, name in DEFINITION.findall(text)}


def twice(files):
    """{(kind, name): sorted paths} from {path: text}, of those in more than one file."""
    where = collections.defaultdict(list)
    for path in sorted(files):
        for tag in defined(files[path]):
            where[tag].append(path)
    return {tag: paths for tag, paths in where.items() if len(paths) > 1}


def sources(root):
    files = {}
    for folder in FOLDERS:
        for directory, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                if name.endswith((".c", ".h")):
                    path = os.path.join(directory, name)
                    with open(path, encoding="utf-8") as file:
                        files[os.path.relpath(path, root)] = file.read()
    return files


def self_test():
    files = {"a.c": "struct one {\n};\nstruct two;\n", "b.h": "struct one {\n};\nstruct two {\n};\n",
             "c.c": "enum one {\nA };\nstatic const struct two *x = &(struct two){0};\n"}
    right = twice(files) == {("struct", "one"): ["a.c", "b.h"]}
    print("1 case" if right else "self-test: wrong", file=sys.stdout if right else sys.stderr)
    return 0 if right else 1


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    found = twice(sources(sys.argv[1]))
    every = [f"{' '.join(tag)}: defined in {', '.join(paths)}" for tag, paths in sorted(found.items())]
    for text in every:
        print(text, file=sys.stderr)
    print(f"{len(found)} tags")
    return 1 if every else 0


if __name__ == "__main__":
    sys.exit(main())
