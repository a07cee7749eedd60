#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""senders_test.py SENDERS [SCENE...]: signals to groups, timers and processes behind descriptors."""
import sys

import scenes

GOES_ON = "sender goes on | member"
SCENES = {
    "group": ("signal", ["sending < member", "sending < leader"],
              [GOES_ON, "sender goes on | leader"]),
    "own-group": ("signal", ["sending < member"], [GOES_ON]),
    "killed-leader": ("signal", ["killing < after"], ["killer goes on | after"]),
    "two-senders": ("signal", ["second < came"], []),
    "polled-process": ("process", ["dying < told"], ["meanwhile | told", "meanwhile | dying"]),
    "awaited-process": ("process", ["dying < told", "meanwhile < told"], ["meanwhile | dying"]),
    "signalled-process": ("signal", ["sending < member"], [GOES_ON]),
    "timer": ("pipe", ["setting < gone off"], ["setter goes on | gone off"]),
    "own-timer": ("process", ["setting < gone off"], ["dying | gone off"]),
}

if __name__ == "__main__":
    sys.exit(1 if scenes.run(sys.argv[1], SCENES) else 0)
