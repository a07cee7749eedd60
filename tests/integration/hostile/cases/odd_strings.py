# SPDX-License-Identifier: Apache-2.0
"""A trace whose own texts a terminal takes for commands: files, arguments, the program, attributes."""
import os
import shutil

ODD = "\x1b[2J\x1b]0;owned\x07\r\x7f\u009b31m\n"
SCRIPT = 'i=0; while [ $i -lt 300 ]; do echo $i >> "$1"; i=$((i + 1)); done; ln -s "$1" "$1.2"; rm "$1"; "$1"'


def make(world):
    place = os.path.join(world.base, "cwd", ODD)
    os.mkdir(place)
    program = os.path.join(place, "sh" + ODD)
    shutil.copy(os.path.realpath("/bin/sh"), program)
    world.run("record", "-q", "--causal=observe", "-o", world.trace, "--", program, "-c", SCRIPT, ODD,
              os.path.join(place, ODD), check=False)


def check(world, answers):
    command = answers[("info",)].stdout
    assert b"\\x1b[2J" in command and b"\\xc2\\x9b31m" in command, command
    assert b"\\u001b[2J" in answers[("dump",)].stdout and b"\\u009b31m" in answers[("dump",)].stdout
