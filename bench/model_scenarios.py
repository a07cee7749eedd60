# SPDX-License-Identifier: Apache-2.0
"""Lists of writes that the models were not developed with: the kernel model's blind test. Each is a
text, what makes the files before, and the writes that count."""
import random

from model_errors import MIB, op

KIB = 1024
CHUNK = 16 * MIB
CACHED = 1024 * MIB  # of a file that is there before, so that new memory costs nothing
ALL = ", over a file in memory"


def row(size, count, delay_s=0.0, method="write"):
    return [op(i * size, size, delay_s, method) for i in range(count)]


def bursts(length, pause_s, count):
    """16 MiB one after the other, with a pause after every `length` of them."""
    return [op(i * CHUNK, CHUNK, pause_s if i > 0 and i % length == 0 else 0.0) for i in range(count)]


def anywhere(size, span, count, seed):
    places = random.Random(seed)
    return [op(places.randrange(span // size) * size, size) for _ in range(count)]


def in_turn(size, files, count):
    return [op(i // files * size, size, file=f"f{i % files}") for i in range(count)]


def synced(length, count):
    """An fsync after every `length` writes."""
    for i in range(count):
        yield op(i * CHUNK, CHUNK)
        if i % length == length - 1:
            yield op(method="fsync")


def on_clean_file(ops):
    """What makes a file for these operations that is on the device and in memory, and they, after the
    device has come to rest."""
    made = [*row(CHUNK, CACHED // CHUNK), op(method="fsync")]
    return made, [{**ops[0], "delay_s": 2.0}, *ops[1:]]


def over():
    """Over a file in memory."""
    for name, text, ops in (
            ("over_64m", "64 MiB", row(64 * MIB, 16)),
            ("over_1m", "1 MiB", row(MIB, 1024)),
            ("over_delay", "16 MiB, 0.05 s of computing before each", row(CHUNK, 64, 0.05)),
            ("over_bursts", "16 MiB, after every 40 a pause of 4 s", bursts(40, 4.0, 64)),
            ("over_random_1m", "1 MiB at random places", anywhere(MIB, CACHED, 1024, 10)),
            ("over_random_64k", "64 KiB at random places", anywhere(64 * KIB, CACHED, 12288, 9)),
            ("over_fsync", "16 MiB, an fsync after every 16", list(synced(16, 48)))):
        yield name, text + ALL, *on_clean_file(ops)


def new():
    """Into new files."""
    yield "new_256m", "256 MiB one after the other", [], row(256 * MIB, 5)
    yield "new_delay", "16 MiB, 0.02 s of computing before each", [], row(CHUNK, 80, 0.02)
    yield "new_back50", "16 MiB, each rewrites the last 50 %", [], \
        [op(i * CHUNK // 2, CHUNK) for i in range(128)]
    yield "new_back90", "16 MiB, each rewrites the last 90 %", [], \
        [op(i * 400 * 4 * KIB, CHUNK) for i in range(400)]
    yield "new_files", "16 MiB into two files in turn", [], in_turn(CHUNK, 2, 80)
    yield "new_many", "8 MiB into 60 files in turn", [], in_turn(8 * MIB, 60, 160)
    yield "new_holes", "4 MiB, each 4 MiB behind the last", [], \
        [op(i * 8 * MIB, 4 * MIB) for i in range(320)]
    yield "new_random", "16 MiB at random places of 2 GiB", [], anywhere(CHUNK, 2048 * MIB, 96, 8)
    yield "new_fwrite", "64 KiB by fwrite", [], row(64 * KIB, 16384, method="fwrite")


def group():
    """In a memory group that is smaller than what they write or read. What fills it does not count: memory
    that is new to a virtual machine may have to be asked for."""
    text = " in a group of 256 MiB that is full"
    fill, more = row(CHUNK, 80)[:20], row(CHUNK, 80)[20:]
    yield "new", "16 MiB one after the other," + text, fill, more
    yield "delay", "16 MiB, 0.1 s of computing before each," + text, fill, [{**one, "delay_s": 0.1} for one in more]
    made = [*row(CHUNK, 32), op(method="fsync")]
    yield "read", "512 MiB read again," + text, made, [{**one, "method": "read"} for one in row(CHUNK, 32)]
