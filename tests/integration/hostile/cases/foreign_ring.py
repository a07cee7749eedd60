# SPDX-License-Identifier: Apache-2.0
"""A ring of another user in a directory of this one: left out, named, and removed
by the owner of the directory (R-RING-10)."""
import os
import shutil

STRANGER = 54321


def make(world):
    if os.geteuid() != 0:
        raise Skip("only root may give files away")  # noqa: F821 (of hostile_test.py)
    world.copy("rings")
    directory = next(entry.path for entry in os.scandir(world.at("raw")) if entry.is_dir())
    ring = next(entry.path for entry in os.scandir(directory) if entry.name.endswith(".ring"))
    planted = os.path.join(directory, "planted.ring")
    shutil.copyfile(ring, planted)
    os.chown(planted, STRANGER, STRANGER)


def check(world, answers):
    out = answers[("info",)].stdout
    assert b"planted.ring' of user %d is no ring of this run" % STRANGER in out, out
    assert answers[("check",)].returncode == 0, answers[("check",)].stdout  # each event once
    assert not os.path.exists(world.at("raw"))
