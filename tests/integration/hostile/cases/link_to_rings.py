# SPDX-License-Identifier: Apache-2.0
"""raw/q leads to another trace's rings: they are neither sealed into this directory nor removed."""
import os


def make(world):
    world.copy("sealed")
    os.mkdir(world.at("raw"))
    os.symlink(world.rings, world.at("raw/q"))


def check(world, answers):
    segments = [name for name in os.listdir(world.trace) if name.endswith(".seg")]
    assert len(segments) == 1, segments
    assert answers[("check",)].returncode == 1, answers[("check",)]
    assert b"no recorder of this trace" in answers[("check",)].stdout, answers[("check",)].stdout
