#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail on a comment that makes a person of a thread, a call or a file: "who", "nobody", "he".

A comment states facts with the thing as the subject (CONTRIBUTING.md, "Words"). A comment that
speaks of people (a user, a reader, an administrator) may say "who": the line names them.
Lines that stood when the rule was made are counted per file in people.known; a count may only
become smaller.

usage: people.py ROOT           check comments of src, include, tools, plugins, examples, tests, bench
       people.py --write ROOT   write people.known anew, where no count grows
       people.py --self-test    check the checker
"""
import os
import re
import sys

KNOWN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "people.known")
FOLDERS = ("src", "include", "tools", "plugins", "examples", "tests", "bench")
PERSON = re.compile(r"\b(who|whom|whoever|nobody|somebody|anybody|everybody|he|she|his|him|her)\b", re.IGNORECASE)
PEOPLE = re.compile(r"\b(users?|readers? of|person|people|authors?|administrators?|owners?|strangers?|attackers?|"
                    r"newcomers?|programmers?|man)\b", re.IGNORECASE)
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')


def comments(lines):
    """(line number, text of the comment on it) of C source."""
    inside = False
    for number, line in enumerate(lines, 1):
        rest, said = STRING.sub('""', line) if not inside else line, ""
        while rest:
            if inside:
                end = rest.find("*/")
                said += rest if end < 0 else rest[:end]
                inside, rest = end < 0, "" if end < 0 else rest[end + 2:]
            else:
                begin, short = rest.find("/*"), rest.find("//")
                if short >= 0 and (begin < 0 or short < begin):
                    said, rest = said + rest[short + 2:], ""
                elif begin >= 0:
                    inside, rest = True, rest[begin + 2:]
                else:
                    rest = ""
        if said:
            yield number, said


def people(lines):
    return [(number, found.group(0)) for number, said in comments(lines)
            if (found := PERSON.search(said)) and not PEOPLE.search(said)]


def sources(root):
    for folder in FOLDERS:
        for directory, below, names in os.walk(os.path.join(root, folder)):
            below.sort()
            for name in sorted(names):
                if name.endswith((".c", ".h", ".def")):
                    yield os.path.relpath(os.path.join(directory, name), root)


def read_known():
    with open(KNOWN, encoding="utf-8") as file:
        rows = [line.split() for line in file if line.strip() and not line.startswith("#")]
    return {path: int(count) for path, count in rows}


def found_in(root):
    rows = {}
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            if lines := people(file.read().split("\n")):
                rows[path] = lines
    return rows


def faults(found, known):
    for path, lines in found.items():
        if len(lines) > known.get(path, 0):
            for number, word in lines:
                yield f"{path}:{number}: \"{word}\": name the thing (thread, process, caller, node)"
    for path, count in sorted(known.items()):
        if len(found.get(path, ())) < count:
            yield f"people.known: {path} has {len(found.get(path, ()))} such lines, not {count}: correct the list"


def write(found, known):
    if grown := [path for path, lines in found.items() if len(lines) > known.get(path, 0)]:
        print("more than before: " + " ".join(grown), file=sys.stderr)
        return 1
    with open(KNOWN, "w", encoding="utf-8") as file:
        file.write("# Comment lines that still make persons of things: file and count. Only smaller.\n")
        file.writelines(f"{path} {len(lines)}\n" for path, lines in sorted(found.items()))
    return 0


CASES = [
    ("/* nobody waits */", 1), ("int who; /* the waiter */", 0), ('print("who"); // he is late', 1),
    ('print("/* who */");', 0), ("/* a user who kills jobs */", 0), ("/*\n * whoever comes first\n */ int he;", 1),
    ("/* the thread that waits */", 0), ("// one\nint a; /* His turn */ int b; /* and whom */", 1),
]


def self_test():
    wrong = [text for text, count in CASES if len(people(text.split("\n"))) != count]
    if not list(faults({"a.c": [(1, "who")]}, {})) or not list(faults({}, {"a.c": 1})):
        wrong.append("known")
    if list(faults({"a.c": [(1, "who")]}, {"a.c": 1})):
        wrong.append("known and found")
    for text in wrong:
        print(f"self-test: {text!r}", file=sys.stderr)
    print(f"{len(CASES)} cases")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    if sys.argv[1] == "--write":
        return write(found_in(sys.argv[2]), read_known())
    found = found_in(sys.argv[1])
    every = list(faults(found, read_known()))
    for text in every:
        print(text, file=sys.stderr)
    print(f"{sum(map(len, found.values()))} known lines in {len(found)} files")
    return 1 if every else 0


if __name__ == "__main__":
    sys.exit(main())
