# SPDX-License-Identifier: Apache-2.0
"""raw leads to the rings of another trace, and there is nothing else."""
import os


def make(world):
    os.mkdir(world.trace)
    os.symlink(world.rings, world.at("raw"))


def check(world, answers):
    assert answers[("info",)].returncode == 3
