# SPDX-License-Identifier: Apache-2.0
"""An empty directory, and one with an empty raw/."""
import os


def make(world):
    os.mkdir(world.trace)
    os.mkdir(world.at("raw"))


def check(world, answers):
    assert all(answer.returncode == 3 for answer in answers.values())
