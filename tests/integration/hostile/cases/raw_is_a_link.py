# SPDX-License-Identifier: Apache-2.0
"""raw leads to a directory with a file `key`: nothing there is unlinked."""
import os


def make(world):
    world.copy("sealed")
    os.symlink(world.out("home"), world.at("raw"))


def check(world, answers):
    assert b"symbolic link" in answers[("info",)].stderr, answers[("info",)].stderr
