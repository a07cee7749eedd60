# SPDX-License-Identifier: Apache-2.0
"""raw/x/a.ring leads to a ring of another trace, and raw/x/b.ring to a file that is none."""
import os


def make(world):
    world.copy("rings")
    os.mkdir(world.at("raw/x"))
    ring = next(name for name in os.listdir(world.rings) if name.endswith(".ring"))
    os.symlink(os.path.join(world.rings, ring), world.at("raw/x/a.ring"))
    os.symlink(world.out("precious"), world.at("raw/x/b.ring"))


def check(world, answers):
    assert b"symbolic link" in answers[("check",)].stdout, answers[("check",)].stdout
