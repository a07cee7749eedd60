# SPDX-License-Identifier: Apache-2.0
"""The trace's own name holds commands for a terminal; it is no trace, or it is one."""
import os


def make(world):
    world.trace = os.path.join(world.base, "\x1b[31mtrace\x07")
    world.copy("sealed")
