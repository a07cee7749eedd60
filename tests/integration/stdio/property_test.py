#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""property_test.py LIBRARY PROGRAM SEED...: what stdio causes is what strace sees.

PROGRAM uses stdio at random, but the same way for the same seed. It runs once under the capture
library and once under strace; the CAUSED events of the one must be the system calls of the other:
as many, in the same order, with the same descriptor, offset, size and result.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

import ring_reader

STEPS = "700"
CALL = re.compile(r"(\w+)\((.*)\)\s+= (-?\d+)")
WHENCE = {"SEEK_SET": 0, "SEEK_CUR": 1, "SEEK_END": 2}
ANYWHERE = "anywhere"  # an offset that strace does not tell: appended bytes


def number(text):
    """The number of a descriptor that strace -y wrote as "3</tmp/x>"."""
    return int(text.split("<")[0])


def read_strace(path, directory):
    """[name, descriptor, arguments, result] of calls on the files of a directory."""
    calls = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            found = CALL.match(line)
            if found and directory + "/" in line:
                name, args, result = found.groups()
                args = args.split(", ")
                file = None if name == "openat" else number(args[0])
                calls.append([name, file, args[1:], int(result)])
    return calls


def join_reopened(calls):
    """freopen opens a new descriptor, moves it to the old number and closes the new one: that is
    one open with the old number. It may have looked for the file's end in between."""
    joined, i = [], 0
    while i < len(calls):
        call = calls[i]
        for k in range(i + 1, min(i + 3, len(calls) - 1)):
            if call[0] == "openat" and calls[k][0] == "dup3" and calls[k][1] == call[3]:
                call[3] = number(calls[k][2][0])
                del calls[k:k + 2]
                break
        joined.append(call)
        i += 1
    return joined


class Expectation:
    """The events that calls must have made; positions are computed along."""

    def __init__(self):
        self.position, self.appends = {}, set()
        self.last_open = None

    def opened(self, args, result):
        self.last_open = result
        if result >= 0:
            self.position[result] = 0
            self.appends.discard(result)
            if "O_APPEND" in args[1]:
                self.appends.add(result)
        return ("open", None, None, None, result)

    def moved(self, file, args, result):
        offset, whence = int(args[0]), WHENCE[args[1]]
        if file not in self.position:  # freopen's new descriptor, before it got its number
            self.position[self.last_open] = result
        elif result >= 0:
            self.position[file] = result
        return ("lseek", file, offset, whence, result)

    def transferred(self, name, file, args, result):
        offset = self.position[file]
        if name == "write" and file in self.appends and result > 0:
            self.position[file] = offset = ANYWHERE
        elif result > 0 and offset != ANYWHERE:
            self.position[file] += result
        return (name, file, offset, int(args[-1]), result)

    def event(self, call):
        name, file, args, result = call
        if name == "openat":
            return self.opened(args, result)
        if name == "lseek":
            return self.moved(file, args, result)
        if name == "close":
            return ("close", file, None, None, result)
        return self.transferred(name, file, args, result)


def caused(rings, directory, source):
    """The same for what the library recorded, in order of time."""
    (ring,) = ring_reader.read_rings(rings, source)
    events = [event for event in ring.events() if event["flags"] & ring_reader.FLAG_CAUSED
              and (event["path"] or "").startswith(directory + "/")]
    events.sort(key=lambda event: event["begin"])
    for event in events:
        op = event["op"]
        if op == "open":
            yield (op, None, None, None, event["result"])
        elif op == "lseek":
            yield (op, event["fd"], event["offset"], event["args"][0], event["result"])
        elif op == "close":
            yield (op, event["fd"], None, None, event["result"])
        elif op != "fstat":
            yield (op, event["fd"], event["offset"], event["size"], event["result"])


def agree(want, have):
    return want == have or (want[2] == ANYWHERE and want[:2] == have[:2] and want[3:] == have[3:])


def compare(seed, wants, haves):
    """Report the first difference; True where there is none."""
    for place, pair in enumerate(zip(wants, haves)):
        if not agree(*pair):
            print(f"seed {seed}, call {place}: strace {pair[0]}, recorded {pair[1]}")
            return False
    if len(wants) != len(haves):
        print(f"seed {seed}: strace {len(wants)} calls, recorded {len(haves)}")
        return False
    return True


def check(library, program, seed, top):
    work, rings = os.path.join(top, "work"), os.path.join(top, "rings")
    trace = os.path.join(top, "strace")
    command = [program, work, seed, STEPS]
    os.mkdir(work)
    os.mkdir(rings)
    env = dict(os.environ, LD_PRELOAD=library, WHYIO_RINGS=rings)
    subprocess.run(command, env=env, check=True, timeout=60)
    shutil.rmtree(work)
    os.mkdir(work)
    subprocess.run(["strace", "-y", "-s0", "-e", "trace=read,write,lseek,openat,close,dup3", "-o",
                    trace] + command, check=True, timeout=60)
    expectation = Expectation()
    wants = [expectation.event(call) for call in join_reopened(read_strace(trace, work))]
    haves = list(caused(rings, work, os.environ["WHYIO_SOURCE"]))
    print(f"seed {seed}: {len(wants)} system calls")
    return compare(seed, wants, haves) and len(wants) > 100


def main(library, program, *seeds):
    if shutil.which("strace") is None:
        print("strace is not installed", file=sys.stderr)
        return 77
    good = True
    for seed in seeds:
        with tempfile.TemporaryDirectory(prefix="whyio-stdio-") as top:
            good = check(library, program, seed, os.path.realpath(top)) and good
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
