# SPDX-License-Identifier: Apache-2.0
"""Changes of a directory that a number decides: bytes, lengths, names, kinds of files, links."""

import os
import shutil
import stat
import struct
import sys

sys.path.append(os.path.join(os.environ["WHYIO_SOURCE"], "tests"))

import trace_reader  # noqa: E402

NAMES = ("raw", "trace.edges", "trace.held", "x.seg", "x.seg.tmp", "lock", "raw/key", "raw/sealed-as",
         "raw/r.ring", "raw/q", "\x1b[2Jx.seg", "raw/\x07.ring", "a\nb.seg")
SIZES = (0, 1, 2**7, 2**16 - 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1)
HEAD, BLOCK, TRAILER = 80, 24, 24
LARGEST = 1 << 28  # bytes of a file that is changed


def files_of(top):
    """Regular files, in the order of their names; nothing behind a link, and none without end."""
    found = []
    for directory, below, names in os.walk(top):
        below.sort()
        found += [os.path.join(directory, name) for name in sorted(names)]
    states = [(path, os.lstat(path)) for path in found]
    return [path for path, st in states if stat.S_ISREG(st.st_mode) and st.st_size <= LARGEST]


def repair(data):
    """Checksums of a file of blocks are made right, or no changed byte would get past them."""
    if len(data) < HEAD + TRAILER:
        return data
    data = bytearray(data)
    struct.pack_into("<I", data, HEAD - 4, trace_reader.crc32c(data[:HEAD - 4]))
    at, end = HEAD, len(data) - TRAILER
    while end - at >= BLOCK:
        stored = min(struct.unpack_from("<I", data, at + 8)[0], end - at - BLOCK)
        struct.pack_into("<I", data, at + 8, stored)
        struct.pack_into("<I", data, at + 16, trace_reader.crc32c(data[at + BLOCK:at + BLOCK + stored]))
        struct.pack_into("<I", data, at + 20, trace_reader.crc32c(data[at:at + 20]))
        at += BLOCK + stored
    struct.pack_into("<Q", data, end + 8, len(data))
    struct.pack_into("<I", data, end + 16, trace_reader.crc32c(data[end:end + 16]))
    return bytes(data)


def change_bytes(random, data):
    data = bytearray(data)
    # A ring is mostly room: what is behind its first chunk's records hardly matters.
    reach = min(len(data), random.choice((64, 512, 8192, 1 << 20)))
    for _ in range(random.choice((1, 1, 2, 8, 64))):
        at = random.randrange(reach)
        if random.random() < 0.5:
            data[at] = random.randrange(256)
        else:
            size = random.choice((1, 2, 4, 8))
            value = random.choice(SIZES) & (1 << 8 * size) - 1
            data[at:at + size] = value.to_bytes(size, "little")
    return bytes(data)


def change_length(random, data):
    at = random.randrange(len(data) + 1)
    kind = random.randrange(3)
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + bytes(random.randrange(256) for _ in range(random.randrange(1, 64))) + data[at:]
    return data[:at] + data[at + random.randrange(1, 64):]


def rewrite(random, path):
    with open(path, "rb") as file:
        data = file.read()
    if not data:
        data = b"\0"
    data = random.choice((change_bytes, change_bytes, change_bytes, change_length))(random, data)
    if random.random() < 0.7 and path.endswith((".seg", "trace.edges", "trace.held")):
        data = repair(data)
    os.chmod(path, 0o600)
    with open(path, "wb") as file:
        file.write(data)


def replace(random, path, world):
    """By another kind of file."""
    kind = random.randrange(4)
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)
    if kind == 0:
        targets = ("precious", "empty", "home", "home/key", "nothing")
        os.symlink(random.choice([world.out(name) for name in targets] + [world.rings, ".", "raw"]), path)
    elif kind == 1:
        os.mkdir(path)
    elif kind == 2:
        os.mkfifo(path)
    else:
        world.write(path, random.choice((b"", b"\0", b"WIORING\n", b"\x89WIOSEG\n", b"x" * 5000)))


def add(random, world):
    path = world.at(random.choice(NAMES))
    parent = os.path.dirname(path)
    if os.path.isdir(parent) and not os.path.islink(parent):
        replace(random, path, world)


def move(random, path, world):
    target = world.at(random.choice(NAMES))
    parent = os.path.dirname(target)
    if os.path.isdir(parent) and not os.path.islink(parent) and not os.path.lexists(target):
        random.choice((os.rename, shutil.copyfile, os.link))(path, target)


def mutate(random, world):
    for _ in range(random.choice((1, 1, 2, 4))):
        files = files_of(world.trace)
        kind = random.randrange(10)
        if not files or kind == 9:
            add(random, world)
        elif kind == 8:
            move(random, random.choice(files), world)
        elif kind == 7:
            replace(random, random.choice(files), world)
        elif kind == 6:
            os.chmod(random.choice(files), random.choice((0, 0o200, 0o400, 0o777)))
        else:
            rewrite(random, random.choice(files))
