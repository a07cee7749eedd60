#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail on a document that is hard to read or to compare: a line of more than 120 characters outside
tables, a paragraph of more than six lines, a thread, call or file that is "who", "nobody" or "he".

A list item, and what a man page indents below an option, is a paragraph of its own. Pictures and
examples (indented by four blanks, or fenced) may be longer than six lines. Quotations keep their
words.

usage: documents.py ROOT           check *.md and man/*.scd of the tree
       documents.py --self-test    check the checker
"""
import os
import re
import sys

from each_document import check
from people import STRING, person_in

WIDTH = 120
LINES = 6
ITEM = re.compile(r"^\s*([-*+]|\d+\.)\s")
SKIPPED = ("build", ".git", "data")


def is_table(line):
    return line.lstrip().startswith("|")


def indent_of(line):
    return len(line) - len(line.lstrip("\t "))


def paragraphs(lines, is_man):
    """(number of its first line, its lines) of each paragraph and item of text."""
    first, kept, is_fenced, was_item = 0, [], False, False
    for number, line in enumerate(lines + [""], 1):
        is_fence = line.lstrip().startswith("```")
        is_fenced ^= is_fence
        is_picture = not is_man and line.startswith("    ") and not kept and not was_item
        is_text = line.strip() and not is_fenced and not is_fence and not is_table(line) \
            and not line.startswith("#") and not is_picture
        is_other = is_man and kept and indent_of(line) != indent_of(kept[-1]) and not ITEM.match(kept[0])
        if kept and (not is_text or ITEM.match(line) or is_other):
            yield first, kept
            kept = []
        if is_text:
            first = first if kept else number
            kept = kept + [line]
            was_item = bool(ITEM.match(kept[0])) or (was_item and line.startswith(" "))
        elif line.strip() and not line.startswith(" "):
            was_item = False


def faults(path, lines):
    for number, line in enumerate(lines, 1):
        if len(line) > WIDTH and not is_table(line):
            yield f"{path}:{number}: {len(line)} characters, expected at most {WIDTH} outside tables"
        if word := person_in(STRING.sub('""', line)):
            yield f"{path}:{number}: \"{word}\": name the thing (thread, process, caller, node)"
    for number, kept in paragraphs(lines, path.endswith(".scd")):
        if len(kept) > LINES:
            yield f"{path}:{number}: a paragraph of {len(kept)} lines, expected at most {LINES}"


def documents(root):
    for directory, below, names in os.walk(root):
        below[:] = sorted(name for name in below if not name.startswith(SKIPPED))
        for name in sorted(names):
            if name.endswith(".md") or (name.endswith(".scd") and os.path.basename(directory) == "man"):
                yield os.path.relpath(os.path.join(directory, name), root)


def self_test():
    long = "x" * 121
    six = ["a line"] * 6
    cases = [
        ("a.md", [long], 1), ("a.md", ["| " + long], 0), ("a.md", ["    " + long], 1),
        ("a.md", six, 0), ("a.md", six + ["one more"], 1), ("a.md", six + ["", "next"], 0),
        ("a.md", ["- item"] + ["  on"] * 5 + ["- item"], 0), ("a.md", ["- item"] + ["  on"] * 6, 1),
        ("a.md", ["- item", "", *["  on"] * 7], 1), ("a.md", ["    picture"] * 9, 0),
        ("a.md", ["1. item", "", *["    on"] * 7], 1),
        ("a.md", ["```", *["code"] * 9, "```"], 0), ("a.md", ["| row |"] * 9, 0),
        ("a.scd", ["*-x*", *["\tsaid"] * 6, "*-y*", "\tsaid"], 0), ("a.scd", ["*-x*", *["\tsaid"] * 7], 1),
        ("a.md", ["a call that nobody made"], 1), ("a.md", ["a user who asks"], 0),
        ("a.md", ['as "servers who fail" says'], 0),
        ("docs/adr/1.md", ["nobody knows"], 1),
    ]
    wrong = [lines for path, lines, count in cases if len(list(faults(path, lines))) != count]
    for lines in wrong:
        print(f"self-test: {lines}", file=sys.stderr)
    print(f"{len(cases)} cases")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    root = sys.argv[1]
    return check(root, documents(root), faults)


if __name__ == "__main__":
    sys.exit(main())
