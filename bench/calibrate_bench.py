#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whyio calibrate beside fio, on the disk and on the same limited to 50 MiB/s.

usage: calibrate_bench.py [--dir=DIR] [--only=disk|limited] [--rounds=N]     environment: WHYIO, the command

Each round calibrates, then measures synchronous direct writes of the calibrated sizes by fio; printed is the
median of the rounds and, in brackets, the least and the greatest. Needs root and fio, and a machine that does
nothing else.
"""
import argparse
import json
import os
import statistics
import subprocess
import tempfile

import storage

LIMIT = 50 << 20
MIB = 1 << 20


def calibrate(directory):
    path = os.path.join(directory, "host.json")
    done = subprocess.run([os.environ["WHYIO"], "calibrate", directory, "-o", path, "--format=json"], check=True,
                          stdout=subprocess.PIPE)
    with open(path, encoding="utf-8") as file:
        host = json.load(file)
    os.unlink(path)
    return host, json.loads(done.stdout)


def fio(directory, size, write=True):
    """(bytes a second, seconds of one operation) of direct synchronous writes or buffered reads."""
    total = max(min(16 * size, 256 * MIB), 2 * MIB)
    how = ["--rw=write", "--direct=1", "--sync=1", "--overwrite=1"] if write else \
        ["--rw=read", "--direct=0", "--invalidate=1"]
    done = subprocess.run(["fio", "--name=x", f"--filename={directory}/fio", f"--size={total}", f"--bs={size}",
                           "--ioengine=psync", "--output-format=json", *how],
                          check=True, stdout=subprocess.PIPE, text=True)
    job = json.loads(done.stdout[done.stdout.index("{"):])["jobs"][0]["write" if write else "read"]
    os.unlink(os.path.join(directory, "fio"))
    return job["bw_bytes"], job["clat_ns"]["mean"] * 1e-9


def measure(directory):
    host, result = calibrate(directory)
    largest = int(host["dev_table"][-2][0])  # the last one is not measured
    return {
        "bw_dev, MiB/s": (host["bw_dev"] / MIB, fio(directory, largest)[0] / MIB),
        "bw_rdev, MiB/s": (host["bw_rdev"] / MIB, fio(directory, MIB, write=False)[0] / MIB),
        "4 KiB direct, us": (host["dev_table"][0][1] * 1e6, fio(directory, 4096)[1] * 1e6),
        "bw_reduced / bw_ramdisk": (host["bw_reduced"] / host["bw_ramdisk"], None),
        "time, s": (result["elapsed_s"], None),
        "written, MiB": (result["written_bytes"] / MIB, None),
    }


def text(values):
    if None in values:
        return ""
    return f"{statistics.median(values):.3g} ({min(values):.3g} .. {max(values):.3g})"


def report(name, directory, count):
    rounds = [measure(directory) for _ in range(count)]
    for key in rounds[0]:
        ours, theirs = zip(*(one[key] for one in rounds))
        ratio = text([a / b for a, b in zip(ours, theirs)]) if None not in theirs else ""
        print(f"| {name} | {key} | {text(ours)} | {text(theirs)} | {ratio} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--dir", default=tempfile.gettempdir())
    parser.add_argument("--only", choices=["disk", "limited"])
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    print("| storage | | calibrate | fio | ratio |\n|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory(prefix="calibrate-bench.", dir=args.dir) as scratch:
        if args.only != "limited":
            report("disk", scratch, args.rounds)
        if args.only != "disk":
            with storage.rate_limited(scratch, "slow", LIMIT, 4 << 30) as directory:
                report("limited to 50 MiB/s", directory, args.rounds)


if __name__ == "__main__":
    main()
