#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""clang-tidy over source files: each once, however many programs compile it, and only where the
file, what it includes or the rules have changed since it was found clean.

usage: tidy.py BUILD FILE...      BUILD was configured with CC=clang and is built
"""
import concurrent.futures
import hashlib
import json
import os
import subprocess
import sys

RULES = ".clang-tidy"


def commands_of(build):
    """{source, relative to here: its first compile command}"""
    commands = {}
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        for entry in json.load(file):
            source = os.path.relpath(os.path.join(entry["directory"], entry["file"]))
            commands.setdefault(source, entry)
    return commands


def includes_of(build):
    """{object file: what Ninja found it to depend on}"""
    text = subprocess.run(["ninja", "-C", build, "-t", "deps"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    includes = {}
    for block in text.split("\n\n"):
        head, *paths = block.strip().split("\n")
        includes[head.split(":")[0]] = sorted(path.strip() for path in paths)
    return includes


class Fingerprints:
    """What a verdict was about: the command, the rules, and the contents of all files read."""

    def __init__(self, build):
        self.build = build
        self.known = {}
        version = subprocess.run(["clang-tidy", "--version"], check=True, stdout=subprocess.PIPE)
        self.common = version.stdout + self.content(os.path.abspath(RULES))

    def content(self, path):
        if path not in self.known:
            try:
                with open(os.path.join(self.build, path), "rb") as file:
                    self.known[path] = hashlib.sha256(file.read()).digest()
            except FileNotFoundError:
                self.known[path] = b"gone since it was included"
        return self.known[path]

    def of(self, command, includes):
        digest = hashlib.sha256(self.common + command.encode())
        for path in includes:
            digest.update(path.encode() + self.content(path))
        return digest.hexdigest()


def check(database, source, stamp, fingerprint):
    """The findings as text, "" where there are none."""
    if fingerprint is not None and os.path.exists(stamp):
        with open(stamp, encoding="ascii") as file:
            if file.read() == fingerprint:
                return ""
    result = subprocess.run(["clang-tidy", "--quiet", "-p", database, source], check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if result.returncode != 0:
        return result.stdout or result.stderr
    if fingerprint is not None:
        with open(stamp, "w", encoding="ascii") as file:
            file.write(fingerprint)
    return ""


def main():
    build, sources = sys.argv[1], sys.argv[2:]
    database = os.path.join(build, "tidy")
    os.makedirs(database, exist_ok=True)
    commands = commands_of(build)
    with open(os.path.join(database, "compile_commands.json"), "w", encoding="utf-8") as file:
        json.dump(list(commands.values()), file)
    includes = includes_of(build)
    fingerprints = Fingerprints(build)
    jobs = []
    for source in sources:
        # What this machine compiles nothing of is checked like its neighbours, each time.
        entry = commands.get(source)
        known = includes.get(entry["output"]) if entry else None
        fingerprint = fingerprints.of(entry["command"], known) if known else None
        jobs.append((database, source, os.path.join(database, source.replace("/", "_")),
                     fingerprint))
    found = 0
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for text in pool.map(lambda job: check(*job), jobs):
            found += text != ""
            print(text, end="", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
