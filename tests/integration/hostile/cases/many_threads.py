# SPDX-License-Identifier: Apache-2.0
"""Thousands of threads of one operation each: what a thread costs does not grow with how many there are."""
import world as worlds

THREADS = 5000
COMMANDS = (("info",), ("edges",), ("explain",), ("predict", "--host", worlds.HOST))


def make(world):
    lines = [f"process {i + 1}" for i in range(THREADS)] + [f"stream {i} {i + 1}" for i in range(THREADS)]
    lines += [f"read stream={i} t={i + 1} fd=3 path=/x size=1" for i in range(THREADS)]
    world.script(lines)


def check(_, answers):
    for command, answer in answers.items():
        assert answer.returncode == 0, (command, answer)
