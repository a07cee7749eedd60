# SPDX-License-Identifier: Apache-2.0
"""FIFOs, directories and links in place of segments, edges, rings and the key."""
import os


def make(world):
    world.copy("rings")
    os.mkfifo(world.at("a.seg"))
    os.mkdir(world.at("b.seg"))
    os.symlink(world.out("precious"), world.at("c.seg"))
    os.symlink(world.at("d.seg"), world.at("d.seg"))
    os.mkfifo(world.at("trace.edges"))
    os.mkfifo(world.at("raw/f.ring"))
    os.mkdir(world.at("raw/g.ring"))
    os.mkfifo(world.at("raw/key"))
