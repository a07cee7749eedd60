#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail on a document that names a file of the tree which is not there.

A name is what stands between backquotes and ends in a suffix of a file of this tree: a path from the
root, from the document's directory, or from src, include, docs or tests; `a/{b,c}.h`, `x.[ch]` and `x_*.c`
are lists. A plain name may be any file's. Names with capitals before the suffix (NAME.c) are patterns, those
with _gen are made by the build.

usage: names.py ROOT           check *.md of the tree, but for CHANGELOG.md, which is history
       names.py --self-test    check the checker
"""
import fnmatch
import itertools
import os
import re
import sys

from each_document import check

NAME = re.compile(r"`((?:\.\./)*[\w./*{},\[\]-]+\.(?:\[ch\]|\{[a-z,]+\}|c|h|md|py|sh|def|table|scd|svg|xml|build))`")
PATTERN = re.compile(r"[A-Z]{2,}\.")
ELSEWHERE = {"uv.h", "fileops.c", "mpi.h", "mm/page-writeback.c", "fs/fs-writeback.c", "simulation.c"}
FROM = ("", "src", "include", "docs", "tests", "tests/unit")
SKIPPED = ("build", ".git", "data")


def alternatives(name):
    """`a.{c,h}` and `a.[ch]` are two names."""
    name = name.replace("[ch]", "{c,h}")
    list_of = re.search(r"\{([^{}]*)\}", name)
    if list_of is None:
        return [name]
    return list(itertools.chain.from_iterable(
        alternatives(name[:list_of.start()] + part + name[list_of.end():])
        for part in list_of.group(1).split(",")))


def is_there(name, directory, tree):
    paths = [os.path.normpath(os.path.join(place, name)) for place in (*FROM, directory)]
    if "*" in name:
        paths += [os.path.join("*", name)]
        return any(fnmatch.filter(tree, path) for path in paths)
    return any(path in tree for path in paths) or any(path.endswith("/" + name) for path in tree)


def faults(path, lines, tree):
    for number, line in enumerate(lines, 1):
        for found in NAME.finditer(line):
            name = found.group(1)
            if name in ELSEWHERE or "_gen." in name or (PATTERN.search(name) and not name.endswith(".md")):
                continue
            for each in alternatives(name):
                if not is_there(each, os.path.dirname(path), tree):
                    yield f"{path}:{number}: {each} is not there"


def files(root):
    for directory, below, names in os.walk(root):
        below[:] = sorted(name for name in below if not name.startswith(SKIPPED))
        for name in names:
            yield os.path.normpath(os.path.relpath(os.path.join(directory, name), root))


def self_test():
    tree = {"src/a/b.c", "src/a/b.h", "src/a/README.md", "include/whyio/x.h", "docs/FORMAT.md"}
    cases = [
        ("`b.c`", 0), ("`src/a/b.c`", 0), ("`a/b.{c,h}`", 0), ("`b.[ch]`", 0), ("`a/*.c`", 0), ("`whyio/x.h`", 0),
        ("`../a/b.h`", 0), ("`cmd_NAME.c`", 0), ("`x_gen.h`", 0), ("`uv.h`", 0), ("b.x without quotes", 0),
        ("`docs/FORMAT.md`", 0),
        ("`c.c`", 1), ("`src/b.c`", 1), ("`a/{b,c}.h`", 1), ("`c*.c`", 1), ("`docs/GONE.md`", 1),
        ("`b.c` and `d.c`", 1),
    ]
    wrong = [line for line, count in cases if len(list(faults("src/a/README.md", [line], tree))) != count]
    for line in wrong:
        print(f"self-test: {line}", file=sys.stderr)
    print(f"{len(cases)} cases")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = sys.argv[1]
    tree = set(files(root))
    paths = sorted(path for path in tree if path.endswith(".md") and path != "CHANGELOG.md")
    return check(root, paths, lambda path, lines: faults(path, lines, tree))


if __name__ == "__main__":
    sys.exit(main())
