# SPDX-License-Identifier: Apache-2.0
"""Marks that say which rings are sealed, of 63 MiB each: bounded all together."""
import os

MARKS, MARK_BYTES = 9, 63 << 20
COMMANDS = (("info",), ("check",))


def make(world):
    world.copy("rings")
    directory = next(entry.path for entry in os.scandir(world.at("raw")) if entry.is_dir())
    world.write(world.at("none.seg"), b"")
    for number in range(MARKS):
        name = "sealed-as" if number == 0 else f"sealed-as.{number}"
        world.write(os.path.join(directory, name), b"none.seg\n%d" % number + b"a" * MARK_BYTES)


def check(world, answers):
    os.remove(world.at("none.seg"))  # which is no segment: that is what the commands say
    answer = world.run("info", world.trace)
    assert answer.returncode == 0 and b"no memory" not in answer.stderr, answer.stderr
    for answer in answers.values():
        assert b"no memory" not in answer.stderr, answer.stderr
