#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run one golden test of the command line.

usage: run.py [--update] CASE.sh

CASE.sh runs with /bin/sh -eu in an empty directory of its own; `whyio` is the command that was built
and $DATA is tests/data. What comes out is compared with the files beside it:

    CASE.stdout.exact   byte for byte        CASE.stdout.glob   line by line, * = anything in a line,
    CASE.stderr.exact   likewise                                a line "..." = any number of lines
    CASE.exit           the exit status, 0 where the file is missing

Where the runner was given them, `make_trace KIND DIR` makes a small trace (make_trace.c), `txn_trace SEGMENT`
one of transactions from a script (tests/unit/explain/txn_script.h). JSON
lines are checked against docs/schema/ where their schema is described there.

Without a file stdout is not compared, and stderr must be empty. --update writes the .exact files
that exist, and the exit status: look at the difference before you commit it.
"""
import argparse
import difflib
import fnmatch
import json
import os
import subprocess
import sys
import tempfile

import schema


def run(case):
    build = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(os.environ["WHYIO"]))))
    with tempfile.TemporaryDirectory(prefix="whyio-cli.") as scratch:
        commands = os.path.join(scratch, "commands")
        work = os.path.join(scratch, "work")
        os.mkdir(commands)
        os.mkdir(work)
        os.symlink(os.path.realpath(os.environ["WHYIO"]), os.path.join(commands, "whyio"))
        for variable in ("MAKE_TRACE", "TXN_TRACE"):
            if variable in os.environ:
                os.symlink(os.environ[variable], os.path.join(commands, variable.lower()))
        env = {"PATH": f"{commands}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "HOME": work,
               "LC_ALL": "C.UTF-8", "TZ": "UTC", "BUILD": build, "SOURCE": os.environ["WHYIO_SOURCE"],
               "DATA": os.path.join(os.environ["WHYIO_SOURCE"], "tests", "data")}
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TMPDIR"):
            if name in os.environ:
                env[name] = os.environ[name]
        return subprocess.run(["/bin/sh", "-eu", case], cwd=work, env=env, check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60)


def matches(patterns, lines):
    """Glob patterns per line; "..." stands for any number of lines."""
    at = line = 0
    dots = None  # (pattern behind the last "...", line where it was tried)
    while line < len(lines):
        if at < len(patterns) and patterns[at] == "...":
            at += 1
            dots = (at, line)
        # Brackets are common in output and are meant literally.
        elif at < len(patterns) and fnmatch.fnmatchcase(lines[line],
                                                        patterns[at].replace("[", "[[]")):
            at, line = at + 1, line + 1
        elif dots:
            dots = (dots[0], dots[1] + 1)
            at, line = dots
        else:
            return False
    return all(pattern == "..." for pattern in patterns[at:])


def text_of(path):
    with open(path, encoding="utf-8", errors="surrogateescape") as file:
        return file.read()


def compare(base, stream, got, update):
    """What is wrong with one stream, '' if nothing is."""
    got = got.decode("utf-8", "surrogateescape")
    exact, glob = f"{base}.{stream}.exact", f"{base}.{stream}.glob"
    if os.path.exists(exact):
        if update:
            with open(exact, "w", encoding="utf-8", errors="surrogateescape") as out:
                out.write(got)
            return ""
        return "".join(difflib.unified_diff(text_of(exact).splitlines(True), got.splitlines(True),
                                            "expected " + stream, "found " + stream))
    if os.path.exists(glob):
        if matches(text_of(glob).splitlines(), got.splitlines()):
            return ""
        return f"{stream} does not match {glob}:\n{got}"
    return f"unexpected stderr:\n{got}" if stream == "stderr" and got else ""


def check_json(stdout):
    """What does not fit the description of the JSON in docs/schema/."""
    faults = ""
    for line in stdout.decode("utf-8", "replace").splitlines():
        if not line.startswith('{"schema": "whyio.'):
            continue
        value = json.loads(line)
        name = value["schema"].split(".")[1].split("/")[0]
        if schema.is_described(name):
            faults += "".join(f"{fault}\n" for fault in schema.check(value, schema.load(name)))
    return faults


def expected_exit(base, status, update):
    path = base + ".exit"
    if update and (status != 0 or os.path.exists(path)):
        with open(path, "w", encoding="utf-8") as out:
            out.write(f"{status}\n")
    return int(text_of(path)) if os.path.exists(path) else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--update", action="store_true")
    parser.add_argument("case")
    args = parser.parse_args()
    base = os.path.splitext(os.path.realpath(args.case))[0]
    result = run(base + ".sh")
    if result.returncode == 77:
        print(result.stderr.decode("utf-8", "replace"), file=sys.stderr, end="")
        return 77
    faults = [compare(base, "stdout", result.stdout, args.update),
              compare(base, "stderr", result.stderr, args.update), check_json(result.stdout)]
    wanted = expected_exit(base, result.returncode, args.update)
    if result.returncode != wanted:
        faults.append(f"exit status {result.returncode}, expected {wanted}\n")
    print("".join(faults), file=sys.stderr, end="")
    return 1 if any(faults) else 0


if __name__ == "__main__":
    sys.exit(main())
