#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Fail on a comment, a message or a name that makes a person of a thread, a call or a file: "who",
"nobody", "he".

A comment states facts with the thing as the subject (CONTRIBUTING.md). A comment that
speaks of people (a user, a reader, an administrator) may say "who": the line names them. Words that
leave open whether it is a person ("nobody", "anyone") are never needed. Names of code have none of
these as a part: a stream has no `who`.

usage: people.py ROOT           check comments and names of src, include, tools, plugins, examples, tests,
                                 bench, and strings of all but tests and bench
       people.py --self-test    check the checker
"""
import os
import re
import sys

FOLDERS = ("src", "include", "tools", "plugins", "examples", "tests", "bench")
PERSON = re.compile(r"\b(who|whom|he|she|his|him|her)\b", re.IGNORECASE)
# .. but the account of that name
ANYBODY = re.compile(r"(?<!\buser )\b(whoever|whomever|(?:no|some|any|every)body|(?:some|any|every)one|no one)\b(?! (?:of|thing)\b)",
                     re.IGNORECASE)
IN_NAMES = {"who", "whom", "whoever", "nobody", "somebody", "anybody", "everybody", "someone", "anyone", "everyone"}
NAME = re.compile(r"\b[A-Za-z_]\w*")
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


def person_in(text):
    """The word of a text that makes a person of a thing; None where there is none."""
    found = ANYBODY.search(text) or (None if PEOPLE.search(text) else PERSON.search(text))
    return found.group(0) if found else None


def people(lines):
    return [(number, word) for number, said in comments(lines) if (word := person_in(said))]


def messages(lines):
    """The same of what the program says: its strings. A single word is a name or a key."""
    return [(number, word) for number, line in enumerate(lines, 1) for text in STRING.findall(line)
            if " " in text.strip('"') and (word := person_in(text))]


def names(lines):
    """The same of names: variables, constants, functions."""
    without = "\n".join(lines)
    without = re.sub(r"/\*.*?\*/|//[^\n]*|\"(?:[^\"\\\n]|\\.)*\"", lambda m: "\n" * m.group(0).count("\n"), without,
                     flags=re.DOTALL)
    return [(number, name) for number, line in enumerate(without.split("\n"), 1) for name in NAME.findall(line)
            if IN_NAMES & set(name.lower().split("_"))]


def sources(root):
    for folder in FOLDERS:
        for directory, below, names in os.walk(os.path.join(root, folder)):
            below.sort()
            for name in sorted(names):
                if name.endswith((".c", ".h", ".def")):
                    yield os.path.relpath(os.path.join(directory, name), root)


def found_in(root):
    rows = {}
    for path in sources(root):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            text = file.read().split("\n")
        spoken = [] if path.startswith(("tests", "bench")) else messages(text)
        if lines := people(text) + spoken + names(text):
            rows[path] = lines
    return rows


def faults(found):
    for path, lines in found.items():
        for number, word in lines:
            yield f"{path}:{number}: \"{word}\": name the thing (thread, process, caller, node)"


CASES = [
    ("/* nobody waits */", 1), ("int who; /* the waiter */", 0), ('print("who"); // he is late', 1),
    ('print("/* who */");', 0), ("/* a user who kills jobs */", 0), ("/*\n * whoever comes first\n */ int he;", 1),
    ("/* the thread that waits */", 0), ("/* the owner: somebody waits for it */", 1), ("/* a user or anyone */", 1),
    ("/* of the user nobody (65534) */", 0),
    ("/* any one thing, every one of them, someone */", 1), ("/* no one thing, the owner, who may write */", 0), ("// one\nint a; /* His turn */ int b; /* and whom */", 1),
]


def self_test():
    wrong = [text for text, count in CASES if len(people(text.split("\n"))) != count]
    if not list(faults({"a.c": [(1, "who")]})) or list(faults({})):
        wrong.append("faults")
    if len(messages(['say("nobody reads it"); ask("who"); // who asks', 'say("of a user who asks");'])) != 1:
        wrong.append("messages")
    if names(["int who; /* who */ f(WIO_NOBODY, \"who\");", "int whole, nobodys;"]) != [(1, "who"), (1, "WIO_NOBODY")]:
        wrong.append("names")
    for text in wrong:
        print(f"self-test: {text!r}", file=sys.stderr)
    print(f"{len(CASES)} cases")
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    every = list(faults(found_in(sys.argv[1])))
    for text in every:
        print(text, file=sys.stderr)
    print(f"{len(every)} lines")
    return 1 if every else 0


if __name__ == "__main__":
    sys.exit(main())
