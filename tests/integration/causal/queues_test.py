#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""queues_test.py QUEUES [SCENE...]: semaphores and queues of System V and POSIX, what is done once
(R-SYNC-6, R-SYNC-10, R-SYNC-11)."""
import os
import subprocess
import sys
import tempfile

import scenes

ONCE = ("thread", ["initialised < main goes on"],
        ["thread goes on | main goes on", "main comes | initialised"])
SCENES = {
    "semaphore": ("thread", ["posting < taken"], ["posting | first", "child goes on | taken"]),
    "semaphore-zero": ("thread", ["taking < empty"], ["child goes on | empty"]),
    "semaphore-set": ("thread", ["setting < taken", "emptying < empty"],
                      ["between | taken", "emptying | posted", "child goes on | empty"]),
    "messages": ("thread", ["sending < received", "other < received"],
                 ["before | sending", "child goes on | received"]),
    "full": ("thread", ["makes room < sent", "fits < sent"], ["child goes on | sent"]),
    "posix": ("thread", ["sending < received", "makes room < sent"],
              ["before | sending", "child goes on | received", "makes room | fits"]),
    "moved": ("thread", ["waking < woken", "between < woken"], ["goes on | woken"]),
    "once": ONCE,
    "once-c11": ONCE,
}


def has_queues(program):
    with tempfile.TemporaryDirectory(prefix="whyio-scene.") as scratch:
        return subprocess.run([os.path.abspath(program), "posix"], cwd=scratch,
                              check=False).returncode != 77


if __name__ == "__main__":
    if not has_queues(sys.argv[1]):
        print("no message queues of POSIX here: left out")
        del SCENES["posix"]
    sys.exit(1 if scenes.run(sys.argv[1], SCENES) else 0)
