#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""processes_test.py PROCESSES [SCENE...]: programs begin after the call that started them, and who
waits goes on after their end."""
import sys

import scenes

SCENES = {
    "system": ("process", ["before < child", "child < after"], []),
    "system-failing": ("process", ["before < child", "child < after"], []),
    "popen": ("process", ["before < child", "child < line", "child < after"],
              ["meanwhile | child"]),
    "popen-to-write": ("process", ["before < child", "meanwhile < child", "child ends < after"],
                       ["goes on | child"]),
    "spawn": ("process", ["before < child", "child < line", "child < at end", "child < after"],
              ["meanwhile | child"]),
    "spawn-without-pipe": ("pipe", ["closing < at end"], ["child | at end"]),
    "signal-of-child": ("signal", ["dying < told"], []),
    "kill": ("signal", ["killing < after"], ["child goes on | after"]),
    "vfork": ("process", ["before < child", "child < after"], ["meanwhile | child"]),
}

if __name__ == "__main__":
    sys.exit(1 if scenes.run(sys.argv[1], SCENES) else 0)
