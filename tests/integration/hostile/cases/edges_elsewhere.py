# SPDX-License-Identifier: Apache-2.0
"""trace.edges leads outside: edges that are derived replace the link, not what it leads to."""
import os


def make(world):
    world.copy("sealed")
    os.unlink(world.at("trace.edges"))
    os.symlink(world.out("precious"), world.at("trace.edges"))
