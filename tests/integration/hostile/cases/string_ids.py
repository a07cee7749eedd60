# SPDX-License-Identifier: Apache-2.0
"""Events name strings that the table lacks: the fault is named, and no room is made for the ids."""
import os
import struct

import mutate

STRINGS = 2
ONE_STRING = b"\x01\x01\x01x\x00"  # first id, count, length, text, NUL


def make(world):
    world.copy("sealed")
    os.unlink(world.at("trace.edges"))
    name = next(name for name in os.listdir(world.trace) if name.endswith(".seg"))
    with open(world.at(name), "rb") as file:
        data = bytearray(file.read())
    at = mutate.HEAD
    while struct.unpack_from("<H", data, at + 4)[0] != STRINGS:
        at += mutate.BLOCK + struct.unpack_from("<I", data, at + 8)[0]
    stored = struct.unpack_from("<I", data, at + 8)[0]
    struct.pack_into("<HII", data, at + 6, 0, stored, stored)
    data[at + mutate.BLOCK:at + mutate.BLOCK + stored] = ONE_STRING + bytes(stored - len(ONE_STRING))
    world.write(world.at(name), mutate.repair(data))


def check(world, answers):
    for command in (("dump",), ("edges",), ("replay", "--dry-run", "--root", "root")):
        assert answers[command].returncode == 3, answers[command]
        assert b"expected a known string" in answers[command].stderr, answers[command].stderr
        assert b".seg' at byte " in answers[command].stderr, answers[command].stderr
    assert answers[("check",)].returncode == 1, answers[("check",)]
