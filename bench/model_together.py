#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two programs that share a device: `whyio predict A B` beside both run at the same time.

usage: model_together.py [--dir=DIR] [--host=HOST.json] [--rounds=N] [--rate=MIB] [--pairs=NAME,...] [--limits]

On a loop device of a limited rate in DIR (root, cgroup v1): each of two programs is recorded alone, both
traces are predicted together, and both programs run at the same time, in turn for N rounds. Printed are
medians, and the errors of three answers: the prediction; the longer of both alone, as if they shared
nothing; the sum of both alone, as if one came after the other. --limits adds pairs that write into the page
cache under low dirty limits, which are those of the whole machine meanwhile. Environment: WHYIO,
WHYIO_BENCH (the directory of model_perform). A HOST.json that is not there is made, and kept.
"""
import argparse
import collections
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import dirty_limits
import storage
from model_errors import LIMIT_S, MIB, Skipped, op, whyio, write_list

DEVICE_BYTES = 3 << 30
BACKGROUND, HARD = 32 * MIB, 128 * MIB
BUFFER_S = 1.0  # until the limit of the rate has forgotten what was written before
FILE_BYTES = 64 * MIB


def in_turn(count, size, method, delay_s=0.0, end=(), every=0):
    """Writes of `size` one behind the other; behind each `every` of them, and the last, what `end` says."""
    ops = []
    for number in range(count):
        ops.append(op(number * size, size, delay_s, method))
        if end and (number + 1 == count or (every and (number + 1) % every == 0)):
            ops += end
    return ops


def at_random(count, size, method, delay_s=0.0):
    """Over a file that is written first."""
    slots = FILE_BYTES // size
    start = in_turn(FILE_BYTES // (4 * MIB), 4 * MIB, "write", end=[op(method="fsync")])
    return start + [op(7919 * number % slots * size, size, delay_s, method) for number in range(count)]


FSYNC = [op(method="fsync")]
PROGRAMS = {
    "log": lambda: in_turn(160, 262144, "sync", 0.004),  # 256 KiB with O_SYNC
    "checkpoint": lambda: in_turn(96, MIB, "write", 0.01, FSYNC, 16),  # 16 MiB, then fsync
    "direct": lambda: at_random(200, 262144, "direct"),  # 256 KiB at random places with O_DIRECT
    "copy": lambda: in_turn(24, 4 * MIB, "write", 0.0, FSYNC),  # 96 MiB, fsync at the end
    "stream": lambda: in_turn(288, MIB, "write"),  # 288 MiB, no fsync
    "think": lambda: in_turn(48, 4 * MIB, "write", 0.15),  # 192 MiB, 0.15 s of computing before each 4 MiB
}
SHARED = (("checkpoint", "checkpoint"), ("log", "copy"), ("direct", "checkpoint"), ("log", "direct"))
LIMITED = (("stream", "stream"), ("stream", "think"))
Pair = collections.namedtuple("Pair", "names alone expected_alone together expected ends expected_ends")


def settle():
    os.sync()
    time.sleep(BUFFER_S)


@contextlib.contextmanager
def places(root, names):
    """A directory for each program of a pair, gone afterwards with what they wrote."""
    found = [os.path.join(root, f"{number}-{name}") for number, name in enumerate(names)]
    for place in found:
        os.mkdir(place)
    settle()
    try:
        yield found
    finally:
        for place in found:
            shutil.rmtree(place)
        settle()


def perform_command(lists, name, place):
    return [os.path.join(os.environ["WHYIO_BENCH"], "model_perform"), lists[name], place]


def record(lists, name, place, trace):
    """Seconds of the program alone. Its rank is given, so that predictions tell programs apart."""
    done = subprocess.run([os.environ["WHYIO"], "record", "-q", "--force", "-o", trace, "--",
                           *perform_command(lists, name, place)], capture_output=True, text=True,
                          timeout=LIMIT_S, check=False, env={**os.environ, "PMI_RANK": "0", "PMI_SIZE": "1"})
    if done.returncode != 0:
        raise RuntimeError(f"{name}: exit status {done.returncode}: {done.stderr}")
    return end_of(done.stdout)


def end_of(rows):
    """When the last operation ended, by what model_perform prints: number, begin, cost, dirty."""
    last = rows.splitlines()[-1].split()
    return float(last[1]) + float(last[2])


def run_together(lists, names, where):
    """Seconds of each, run at the same time."""
    with contextlib.ExitStack() as stack:
        running = [stack.enter_context(subprocess.Popen(perform_command(lists, name, place), text=True,
                                                        stdout=subprocess.PIPE))
                   for name, place in zip(names, where)]
        rows = [program.communicate(timeout=LIMIT_S)[0] for program in running]
    for name, program in zip(names, running):
        if program.returncode != 0:
            raise RuntimeError(f"{name}: exit status {program.returncode}")
    return [end_of(text) for text in rows]


def predict(traces, host):
    """Seconds of both together, and of each."""
    answer = json.loads(whyio("predict", "-q", *traces, "--host=" + host, "--format=json"))
    return answer["total_s"], [rank["total_s"] for rank in answer["ranks"] if rank["rank"] is not None]


def measure(names, lists, root, scratch, host, rounds):
    pair = Pair(names, [], [], [], [], [], [])
    for _ in range(rounds):
        alone, traces = [], []
        with places(root, names) as where:
            for number, (name, place) in enumerate(zip(names, where)):
                traces.append(os.path.join(scratch, f"{number}.whyio"))
                alone.append(record(lists, name, place, traces[-1]))
                settle()
        with places(root, names) as where:
            ends = run_together(lists, names, where)
        total_s, each_s = predict(traces, host)
        apart = [predict([trace], host)[0] for trace in traces]
        for row, value in zip(pair[1:], (alone, apart, max(ends), total_s, ends, each_s)):
            row.append(value)
    return pair


def middle(values):
    return statistics.median(values)


def percent(value, truth):
    return f"{100 * (value / truth - 1):+.1f} %"


def each(rows):
    """Medians of the first and the second."""
    return [middle(column) for column in zip(*rows)]


def errors(predicted, truth):
    """Of each program."""
    return ", ".join(percent(value, true) for value, true in zip(each(predicted), each(truth)))


def row(pair):
    together, alone = middle(pair.together), each(pair.alone)
    spread = 50 * (max(pair.together) - min(pair.together)) / together
    cells = [" + ".join(pair.names), f"{alone[0]:.2f}, {alone[1]:.2f}", errors(pair.expected_alone, pair.alone),
             f"{together:.2f} ± {spread:.0f} %",
             f"{middle(pair.expected):.2f}: {percent(middle(pair.expected), together)}",
             errors(pair.expected_ends, pair.ends), percent(max(alone), together), percent(sum(alone), together)]
    return "| " + " | ".join(cells) + " |"


HEAD = ("| programs | alone, s | predicted alone | together, s | predicted together, s | of each | the longer alone | "
        "the sum |\n|---|---|---|---|---|---|---|---|")


def described(root, host):
    if not os.path.exists(host):
        whyio("calibrate", "-q", root, "-o", host)
    return host


def with_limits(host, scratch):
    """The same machine with other dirty limits."""
    with open(host, encoding="utf-8") as file:
        machine = json.load(file)
    path = os.path.join(scratch, "limits.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({**machine, "limit_bg": BACKGROUND, "limit_hard": HARD}, file)
    return path


def run(options, scratch):
    lists = {}
    for name, make in PROGRAMS.items():
        lists[name] = os.path.join(scratch, name + ".jsonl")
        write_list(lists[name], make())
    with storage.rate_limited(scratch, "shared", options.rate * MIB, DEVICE_BYTES) as root:
        host = described(root, options.host or os.path.join(scratch, "host.json"))
        print(HEAD, flush=True)
        for names in SHARED:
            if options.pairs is None or "+".join(names) in options.pairs:
                print(row(measure(names, lists, root, scratch, host, options.rounds)), flush=True)
        if options.limits:
            host = with_limits(host, scratch)
            with dirty_limits.lowered(BACKGROUND, HARD, root):
                for names in LIMITED:
                    print(row(measure(names, lists, root, scratch, host, options.rounds)), flush=True)
    print(f"\n{options.rounds} rounds, {options.rate} MiB/s, {platform_text()}")


def platform_text():
    return f"{os.cpu_count()} processors, Linux {os.uname().release}, load {os.getloadavg()[0]:.1f} at the end"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dir", default=None)
    parser.add_argument("--host", default=None)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=int, default=40)
    parser.add_argument("--pairs", type=lambda text: text.split(","), default=None)
    parser.add_argument("--limits", action="store_true")
    options = parser.parse_args()
    storage.isolate()
    try:
        with tempfile.TemporaryDirectory(prefix="whyio-together.", dir=options.dir) as scratch:
            run(options, scratch)
    except (storage.Missing, Skipped) as reason:
        print(f"skipped: {reason}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
