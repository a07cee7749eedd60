# SPDX-License-Identifier: Apache-2.0
"""Names that a terminal takes for commands, in all messages."""
import os

ODD = "\x1b[2J\x1b]0;owned\x07\r\x7f\u009b31m\n"


def make(world):
    world.copy("rings")
    world.write(world.at(ODD + ".seg"), b"no segment")
    world.write(world.at("raw/" + ODD + ".ring"), b"WIORING\n" + b"\0" * 5000)
    os.symlink(ODD, world.at("raw/" + ODD))


def check(world, answers):
    assert b"\\x1b[2J" in answers[("info",)].stderr, answers[("info",)].stderr
