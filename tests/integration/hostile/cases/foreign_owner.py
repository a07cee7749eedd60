# SPDX-License-Identifier: Apache-2.0
"""A trace of another user, with rings, a key, half-written files: read, but not written."""
import os

STRANGER = 54321


def make(world):
    if os.geteuid() != 0:
        raise Skip("only root may give files away")  # noqa: F821 (of hostile_test.py)
    world.copy("rings")
    world.write(world.at("raw/key"), b"k" * 192)
    world.write(world.at("x.seg.tmp"), b"half")
    os.symlink(world.rings, world.at("raw/q"))
    for directory, below, names in os.walk(world.trace):
        os.chown(directory, STRANGER, STRANGER)
        for name in below + names:
            os.lchown(os.path.join(directory, name), STRANGER, STRANGER)
    world.guard_trace()


def check(world, answers):
    assert answers[("info",)].returncode == 0, answers[("info",)].stderr
