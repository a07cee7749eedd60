# SPDX-License-Identifier: Apache-2.0
"""Series that are measured here: lists performed in a directory, on a machine that was calibrated."""
import contextlib
import json
import os
import subprocess
import tempfile

import dirty_limits
import model_scenarios
import storage
from model_errors import LIMIT_S, MIB, Series, Skipped, op, whyio, write_list

RATE = 100 * MIB  # of the limited device, bytes a second
DEVICE_BYTES = 12 << 30  # calibrating writes a tenth of what is free
BACKGROUND, HARD = 128 * MIB, 512 * MIB
GROUP = 256 * MIB  # of memory
SIZES = [4096 << (2 * step) for step in range(8)]  # 4 KiB to 64 MiB
ROUNDS = 4  # calibrations, each with its series: a disk that others share has moods
REST_S = 1.0  # until a limit of the rate has forgotten what was written before
CHUNK = 16 * MIB
MEMORY_SIZES = [512, 4096, 65536, MIB, CHUNK]


def free_bytes(directory):
    stat = os.statvfs(directory)
    return stat.f_bavail * stat.f_frsize


def calibrate(directory, options):
    """HOST.json of the file system, without what is only for information."""
    if options.host:
        with open(options.host, encoding="utf-8") as file:
            return json.load(file)
    with tempfile.TemporaryDirectory(prefix="whyio-host.") as scratch:
        path = os.path.join(scratch, "host.json")
        whyio("calibrate", "-q", directory, "-o", path)
        with open(path, encoding="utf-8") as file:
            return json.load(file)


def as_it_was(ops, rows):
    """The list with the delays that there really were: a sleep takes longer where others compute."""
    ends = [0.0] + [start_s + cost_s for _, start_s, cost_s, _ in rows]
    return [{**line, "delay_s": max(row[1] - end_s, 0.0)} for line, row, end_s in zip(ops, rows, ends)]


def space_of(ops):
    """Bytes of all files that a list makes: each is as long as its farthest write reaches."""
    ends = {}
    for line in ops:
        ends[line["file"]] = max(ends.get(line["file"], 0), line["offset"] + line["size"])
    return sum(ends.values())


def perform(name, what, host, ops, directory, first=0, prefix=()):
    """The list, performed in a new directory: its measured series. `prefix`: in front of the command."""
    need = space_of(ops)
    if free_bytes(directory) < need + 64 * MIB:
        raise Skipped(f"{name}: {directory} has less than {need // MIB} MiB free")
    with tempfile.TemporaryDirectory(dir=directory) as place, \
            tempfile.NamedTemporaryFile(suffix=".jsonl") as file:
        write_list(file.name, ops)
        done = subprocess.run([*prefix, os.path.join(os.environ["WHYIO_BENCH"], "model_perform"), file.name, place],
                              capture_output=True, text=True, timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip())
    rows = [[float(word) for word in line.split()] for line in done.stdout.splitlines()]
    return Series(name, what, host, as_it_was(ops, rows), [row[2] for row in rows],
                  [row[3] for row in rows], first)


def written(size, file="a"):
    """A file of `size` that is on the device and in memory."""
    return [op(at, min(CHUNK, size - at), file=file) for at in range(0, size, CHUNK)] + \
           [op(method="fsync", file=file)]


def size_text(size):
    return f"{size // MIB} MiB" if size >= MIB else f"{size // 1024} KiB" if size >= 1024 else f"{size} B"


def of_round(series, place, number):
    """The series under a name of this place and round: runs of the same text share a row."""
    return series._replace(name=f"{place}{series.name}#{number}",
                           what=f"{place.replace('_', ', ')}{series.what}")


def rounds_by_device(host, directory, options):
    """Again with a calibration for each time, on a disk that others may share."""
    for number in range(ROUNDS):
        for series in by_device(host if number == 0 else calibrate(directory, options), directory, options):
            yield of_round(series, "", number)


def by_limited_device(host, directory, options):
    """On a device of which nobody else has a part."""
    for series in by_device(host, directory, options, REST_S):
        yield of_round(series, "limited_", 0)


def by_device(host, directory, options, rest_s=0.0):
    """Direct and synchronous writes of one size after the other, over a file that exists and, for
    synchronous ones, also behind its end; after a rest, where what made the file would hold up the
    first one."""
    for size in SIZES:
        count = max(min(64 * MIB // size, 64), 4)
        text = size_text(size)
        for name, method, what in (("direct", "direct", "direct"), ("sync", "sync", "sync"),
                                   ("nosync", "direct_nosync", "direct without O_SYNC")):
            start = written(size * count)
            ops = [op(i * size, size, 0.0 if i else rest_s, method) for i in range(count)]
            yield perform(f"{name}_{size}", f"{what}, {text}", host, start + ops, directory, len(start))
        ops = [op(i * size, size, 0.0 if i else rest_s, "sync") for i in range(count)]
        yield perform(f"append_{size}", f"sync, appending, {text}", host, ops, directory)


def papers(host, directory, options):
    """The direct and synchronous series of the paper: 1,024 times 1 KiB, and 32 MiB to 2 GiB."""
    largest = min(options.largest, free_bytes(directory) // 4)
    sizes = [32 * MIB << step for step in range(7) if 32 * MIB << step <= largest]
    if not sizes:
        raise Skipped(f"{directory}: less than 128 MiB free")
    for method in ("direct", "sync"):
        start = written(MIB)
        ops = [op(i * 1024, 1024, method=method) for i in range(1024)]
        yield perform(f"paper_{method}_1k", f"1,024 x 1 KiB, {method}", host, start + ops, directory,
                      len(start))
        start = written(max(sizes))
        ops = [op(0, size, method=method) for size in sizes]
        yield perform(f"paper_{method}_large", f"32 MiB to {max(sizes) // MIB:,} MiB, {method}", host,
                      start + ops, directory, len(start))


def stdio(host, directory, options):
    """64 KiB by fwrite in pieces of 512 B, several times."""
    ops = []
    for number in range(32):
        name = f"f{number}"
        ops += [op(at, 512, method="fwrite", file=name) for at in range(0, 65536, 512)]
        ops.append(op(method="fflush", file=name))
    yield perform("fwrite_512", "64 KiB by fwrite in 512 B pieces, 32 times", host, ops, directory)


def in_memory(host, directory, options):
    """What nobody waits for: into a new file, over one that is dirty, over one that is clean, reads;
    the file is made by writes of the same size."""
    for size in MEMORY_SIZES:
        count = max(min(CHUNK // size, 2048), 4)
        text = size_text(size)
        writes = [op(i * size, size) for i in range(count)]
        yield perform(f"new_{size}", f"{text} into a new file", host, writes, directory)
        yield perform(f"dirty_{size}", f"{text} over what is dirty", host, writes + writes, directory, count)
        start = writes + [op(method="fsync")]
        yield perform(f"clean_{size}", f"{text} over what is clean", host, start + writes, directory, len(start))
        reads = [op(i * size, size, method="read") for i in range(count)]
        yield perform(f"hit_{size}", f"{text} read from memory", host, start + reads, directory, len(start))


# Size of a write, how many, where the next begins (in sizes behind this one), computing before it
# (s), text. So many that they are throttled.
CASES = {
    "sequential": (16 * MIB, 64, 1.0, 0.0, "16 MiB one after the other"),
    "pieces": (65536, 16384, 1.0, 0.0, "64 KiB one after the other"),
    "back75": (16 * MIB, 128, 0.25, 0.0, "16 MiB, each rewrites the last 75 %"),
    "computing": (16 * MIB, 80, 1.0, 0.1, "16 MiB, 0.1 s of computing before each"),
    "hovering": (16 * MIB, 96, 1.0, 0.12, "16 MiB, 0.12 s of computing before each"),
}


def cached_over(size, count, advance, delay_s):
    """Writes over a file that is in memory already, so that the price of new memory plays no part:
    a virtual machine may have to ask for it. What makes the file, and the writes."""
    ops = [op(int(i * size * advance), size, 2.0 if i == 0 else delay_s) for i in range(count)]
    return written(ops[-1]["offset"] + size), ops


def on_fresh_devices(prefix, cases, host, scratch):
    """Writes into the page cache under low dirty limits. Each list has a device of its own: what the
    kernel believes of one depends on what it was used for, and that nobody can read."""
    host = {**host, "limit_bg": BACKGROUND, "limit_hard": HARD}
    for name, text, start, ops in cases:
        try:
            with limited_device(scratch) as directory, \
                    dirty_limits.lowered(BACKGROUND, HARD, directory):
                measured = perform(prefix + name, text, host, start + ops, directory, len(start))
        except storage.Missing as reason:
            raise Skipped(f"dirty limits cannot be set: {reason}") from reason
        yield measured


def page_cache(host, scratch):
    """Hovering is the hard case: computing takes about as long as the device needs."""
    cases = ((name, text + ", over a file in memory", *cached_over(*numbers))
             for name, (*numbers, text) in CASES.items())
    return on_fresh_devices("live_", cases, host, scratch)


def scenarios(host, scratch):
    return on_fresh_devices("scenario_", model_scenarios.over(), host, scratch)


def scenarios_new(host, scratch):
    return on_fresh_devices("scenario_", model_scenarios.new(), host, scratch)


def in_memory_group(host, scratch):
    """Jobs of a batch system: a group that may have GROUP bytes, on a machine whose own dirty limits are far.
    Of the group the program has the buffer that it writes from."""
    thresholds = dirty_limits.thresholds()
    if thresholds["nr_dirty_background_threshold"] < 2 * GROUP:
        raise Skipped("the machine's dirty limits are below those of the group")
    for name, text, start, ops in model_scenarios.group():
        try:
            with limited_device(scratch) as directory, storage.memory_group(GROUP) as (prefix, version):
                limits = {"limit_bg": thresholds["nr_dirty_background_threshold"],
                          "limit_hard": thresholds["nr_dirty_threshold"], "group_limit": GROUP,
                          "group_used": CHUNK, "group_version": version}
                measured = perform("group_" + name, text, {**host, **limits}, start + ops, directory,
                                   len(start), prefix)
        except storage.Missing as reason:
            raise Skipped(f"no memory group: {reason}") from reason
        yield measured


@contextlib.contextmanager
def limited_device(scratch, rate=RATE):
    """ext4 on a loop device of a limited rate."""
    if free_bytes(scratch) < DEVICE_BYTES * 5 // 4:
        raise Skipped(f"less than {DEVICE_BYTES * 5 // 4 >> 30} GiB free in {scratch}")
    try:
        with storage.rate_limited(scratch, f"limited-{rate // MIB}", rate, DEVICE_BYTES) as directory:
            yield directory
    except storage.Missing as reason:
        raise Skipped(f"no rate-limited loop device: {reason}") from reason


def on_disk(options, scratch):
    """On the file system of `scratch` itself: a limited rate would let single writes pass at full
    speed and stop others for a tenth of a second."""
    host = calibrate(scratch, options)
    for part in PARTS[on_disk]:
        yield part, lambda part=part: part(host, scratch, options)


def on_limited_device(options, scratch):
    """Where write-back decides, on a device slower than any disk it may lie on."""
    with limited_device(scratch) as directory:
        host = calibrate(directory, options)
        yield by_limited_device, lambda: by_limited_device(host, directory, options)
    for part in (page_cache, scenarios, scenarios_new, in_memory_group):
        yield part, lambda part=part: part(host, scratch)


PARTS = {on_disk: (rounds_by_device, papers, stdio, in_memory),
         on_limited_device: (by_limited_device, page_cache, scenarios, scenarios_new,
                             in_memory_group)}


def part_names():
    """Of all places and parts, as --parts has them."""
    return sorted({function.__name__ for place, parts in PARTS.items() for function in (place, *parts)})


def is_wanted(options, *functions):
    return not options.parts or any(function.__name__ in options.parts for function in functions)


def series(options, scratch, skipped):
    """All live series; reasons of what is left out go to `skipped`. Options name places or parts."""
    for place, parts in PARTS.items():
        if not is_wanted(options, place, *parts):
            continue
        try:
            for part, run in place(options, scratch):
                if not is_wanted(options, place, part):
                    continue
                try:
                    yield from run()
                except Skipped as reason:
                    skipped.append(f"live, {part.__name__}: {reason}")
        except Skipped as reason:
            skipped.append(f"live, {place.__name__}: {reason}")
