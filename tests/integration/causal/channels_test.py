#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""channels_test.py CHANNELS [SCENE...]: messages, ends, counters, and what passes from channel to
channel."""
import sys

import scenes

TWO = ("socket", ["first < got first", "second < got second"],
       ["between | got first", "goes on | got second"])
SCENES = {
    "datagrams": TWO,
    "packets": TWO,
    "udp-connected": TWO,
    "udp": ("socket", ["asking < asked", "answering < answered"],
            ["meanwhile | asked", "goes on | answered"]),
    "local-datagrams": ("socket", ["first < got first", "second < got second"],
                        ["second | got first", "goes on | got second"]),
    "many-datagrams": TWO,
    "udp-many": ("socket", ["asking < asked", "answering < answered"],
                 ["meanwhile | asked", "goes on | answered"]),
    "udp-around": ("socket", ["first < got second", "first < got first"],
                   ["goes on | got second", "goes on | got first"]),
    "tcp-end": ("socket", ["closing < at end"], ["goes on | at end"]),
    "shut-down": ("socket", ["shutting < at end"], ["goes on | at end"]),
    "sent-descriptor": ("pipe", ["first < got first", "closing < at end"],
                        ["goes on | got first"]),
    "eventfd-functions": ("pipe", ["first < got first"], ["goes on | got first"]),
    "spliced": ("pipe", ["first < passed on", "first < got first"],
                ["goes on | got first", "passed on | got first"]),
    "teed": ("pipe", ["first < passed on", "first < got first", "first < drained"],
             ["goes on | got first", "passed on | got first"]),
    "peeked": ("socket", ["first < peeked", "first < got first", "second < got second"],
               ["between | got first", "goes on | got second"]),
    "file-to-socket": ("socket", ["first < got first"], ["goes on | got first"]),
}

if __name__ == "__main__":
    sys.exit(1 if scenes.run(sys.argv[1], SCENES) else 0)
