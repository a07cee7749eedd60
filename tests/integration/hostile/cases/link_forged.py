# SPDX-License-Identifier: Apache-2.0
"""A link to rings whose rings-of names another raw/: a trace that was copied with its links."""
import os


def make(world):
    world.copy("rings")
    os.symlink(world.rings, world.at("raw/q"))
    raw = os.stat(world.out("home"))
    world.write(os.path.join(world.rings, "rings-of"),
                f"{raw.st_dev} {raw.st_ino} {world.at('raw')}\n".encode())


def check(world, answers):
    assert b"no recorder of this trace" in answers[("check",)].stdout, answers[("check",)].stdout
