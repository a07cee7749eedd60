# SPDX-License-Identifier: Apache-2.0
"""trace.edges is damaged: info and dump show the trace without it, and say so."""


def make(world):
    world.copy("sealed")
    with open(world.at("trace.edges"), "r+b") as file:
        file.seek(-40, 2)
        file.write(b"\xff\xff\xff\xff")


def check(world, answers):
    for command in (("info",), ("dump",)):
        assert answers[command].returncode == 0, answers[command]
        assert b"edges are not shown" in answers[command].stderr, answers[command].stderr
    assert answers[("edges",)].returncode == 3
    assert answers[("check",)].returncode == 1
