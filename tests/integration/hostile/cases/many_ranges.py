# SPDX-License-Identifier: Apache-2.0
"""Each byte of a file locked for itself, and never released."""
RANGES = 300000
COMMANDS = (("edges", "--format=text"),)


def make(world):
    world.script([f"fcntl path=/f fd=3 a0=6 a1=1 off={2 * i} size=1" for i in range(RANGES)])


def check(_, answers):
    answer = answers[COMMANDS[0]]
    assert answer.returncode == 0 and b"locks of ranges came when" in answer.stdout, answer
