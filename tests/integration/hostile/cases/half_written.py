# SPDX-License-Identifier: Apache-2.0
"""Half-written segments and edges: those of the dead go, links stay and lead nowhere."""
import os


def make(world):
    world.copy("sealed")
    world.write(world.at("dead.seg.tmp"), b"half")
    world.write(world.at("trace.edges.1-2.tmp"), b"half")
    world.write(world.at("trace.held.1-2.tmp"), b"half")
    os.symlink(world.out("precious"), world.at("link.seg.tmp"))


def check(world, answers):
    left = sorted(name for name in os.listdir(world.trace) if name.endswith(".tmp"))
    assert left == ["link.seg.tmp"], left
