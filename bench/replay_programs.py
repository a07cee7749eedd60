# SPDX-License-Identifier: Apache-2.0
"""The programs of the accuracy suite, and how long they are on each storage.

What lasts some milliseconds says how a machine schedules, not how good a replay is: so each program gets
as many rounds as take about a second on the storage that is replayed on.
"""
import collections

# Of one read or write. Small ones on the disk, whose speed with many bytes depends on what it had to do in
# the seconds before; and in memory, of which a virtual machine may have to ask its host for new pages.
BLOCKS = {"tmpfs": "4K", "sync": "16K", "limited": "64K", "delayed": "64K"}
# Recorded on, replayed on. What takes a second in memory would take minutes elsewhere.
PAIRS = (("tmpfs", "tmpfs"), ("tmpfs", "sync"), ("tmpfs", "limited"), ("tmpfs", "delayed"),
         ("sync", "limited"), ("limited", "delayed"), ("delayed", "limited"))

# rounds: per storage; target: of the worst error, in percent; options: of `whyio record`; words: more
# arguments of the program
Program = collections.namedtuple("Program", "rounds target options words", defaults=(None, (), ()))

PROGRAMS = {
    "checkpoint": Program({"tmpfs": 30000, "sync": 600, "limited": 60, "delayed": 100}),
    "checkpoint-sync": Program({"tmpfs": 20000, "sync": 600, "limited": 60, "delayed": 50}, 8),
    "checkpoint-sync-compute": Program({"tmpfs": 250, "sync": 150, "limited": 60, "delayed": 50}, 6),
    "turns": Program({"tmpfs": 4000, "sync": 120, "limited": 16, "delayed": 16}, 4),
    "mesh": Program({"tmpfs": 8000, "sync": 800, "limited": 300, "delayed": 60}, 6, words=("-c", "10")),
    "workers": Program({"tmpfs": 1500, "sync": 600, "limited": 140, "delayed": 150}),
    # each turn is held in several runs before it is recorded
    "spin": Program({"tmpfs": 40, "sync": 40, "limited": 40, "delayed": 40}, None,
                    ("--causal=throttle",), ("-c", "5")),
}


def arguments(program, target, scale):
    """Of a program that is replayed on `target`, wherever it is recorded."""
    count = int(PROGRAMS[program].rounds[target] * scale)
    return ["-b", BLOCKS[target], "-n", str(max(count, 4)), *PROGRAMS[program].words]
