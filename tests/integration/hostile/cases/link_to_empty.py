# SPDX-License-Identifier: Apache-2.0
"""raw/a leads to an empty directory, which is not removed."""
import os


def make(world):
    world.copy("sealed")
    os.mkdir(world.at("raw"))
    os.symlink(world.out("empty"), world.at("raw/a"))
