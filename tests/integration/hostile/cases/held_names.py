# SPDX-License-Identifier: Apache-2.0
"""Held edges beside segments with line ends in their names, which look like lines of a table."""
import os
import shutil


def make(world):
    world.copy("held")
    segment = next(name for name in os.listdir(world.trace) if name.endswith(".seg"))
    shutil.copyfile(world.at(segment), world.at("x 1 00000000 0\nq 1 00000000 4000000000\ny.seg"))
    os.rename(world.at(segment), world.at("a\n" + segment))


def check(world, answers):
    assert answers[("edges",)].returncode == 0, answers[("edges",)].stderr
    assert b"\"held\": " in answers[("edges",)].stdout, answers[("edges",)].stdout[-400:]
