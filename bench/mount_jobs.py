#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What it costs that each request of a mount counts for the job of its process.

usage: mount_jobs.py [--build=DIR] [--rounds=N]

Two mounts of one store, with --jobid-var=batch and with disable, get the same requests (pread and pwrite of 4 KiB,
of one process whose job is known) in turn. Counted for each request, as the difference between many and few:
instructions of the mount's process (callgrind), its system calls (strace -f -c), and the time of reads in the program
(writes wait for the disk).
Instructions and calls do not depend on other programs; times are medians, shown for both.
"""
import argparse
import collections
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

FEW, MANY = 200, 1200

WORK = """
import os, sys, time
file = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT)
data = bytes(4096)
for turn in range(50):
    os.pwrite(file, data, 0)
    time.sleep(0.002)
for turn in range(int(sys.argv[2])):
    os.pwrite(file, data, 0)
    os.pread(file, 4096, 0)
began = time.monotonic_ns()
for turn in range(int(sys.argv[2])):
    os.pread(file, 4096, 0)
print(time.monotonic_ns() - began)
"""


class Store:
    def __init__(self, build, work):
        whyio = os.path.join(build, "tools", "whyio", "whyio")
        self.build = build
        self.whyio, self.point = whyio, os.path.join(work, "mnt")
        os.mkdir(self.point)
        self.process = subprocess.Popen([whyio, "serve", f"--root={work}/root", f"unix:{work}/socket"],
                                        stdout=subprocess.PIPE, text=True)
        while not self.process.stdout.readline().startswith("address"):
            pass
        self.address = f"unix:{work}/socket"

    def run(self, mode, count, *tool):
        """Nanoseconds of the program's requests, and what the tool said."""
        mount = subprocess.Popen([*tool, self.whyio, "mount", f"--jobid-var={mode}", self.address, self.point],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if not mount.stdout.readline().startswith("mounted"):
            sys.exit(mount.communicate()[1])
        took = subprocess.run([sys.executable, "-c", WORK, os.path.join(self.point, "f"), str(count)], check=True,
                              stdout=subprocess.PIPE, text=True, env={**os.environ, "SLURM_JOB_ID": "4711"}).stdout
        subprocess.run(["fusermount3", "-u", self.point], check=True)
        said = mount.communicate(timeout=120)[1]
        while os.path.ismount(self.point):
            time.sleep(0.01)
        return int(took), said


def instructions(store, mode, count, work):
    """Of all threads of the process."""
    shim = os.path.join(store.build, "bench", "libpidfd_stand_in.so")
    said = store.run(mode, count, "env", f"LD_PRELOAD={shim}", "valgrind", "--tool=callgrind", f"--callgrind-out-file={work}/callgrind")[1]
    return int(re.search(r"Collected : (\d+)", said).group(1))


def calls(store, mode, count, work):
    name = os.path.join(work, "strace")
    store.run(mode, count, "strace", "-f", "-c", "-o", name)
    found = collections.Counter()
    with open(name, encoding="utf-8") as table:
        for line in table:
            words = line.split()
            if len(words) >= 5 and words[3].isdigit() and words[-1] != "total":
                found[words[-1]] += int(words[3])
    return found


def each(more, less):
    return (more - less) / (3 * (MANY - FEW))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--build", default="build")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    modes = ("disable", "batch")
    if os.getuid() == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="whyio-bench.") as work:
        store = Store(os.path.realpath(given.build), work)
        try:
            if shutil.which("valgrind"):
                rows = {mode: [] for mode in modes}
                for _ in range(given.rounds):
                    for mode in modes:
                        rows[mode].append(each(instructions(store, mode, MANY, work),
                                               instructions(store, mode, FEW, work)))
                for mode in modes:
                    print(f"{mode:8} instructions a request: median {statistics.median(rows[mode]):.0f} of "
                          f"{[round(row) for row in rows[mode]]}")
                ratio = statistics.median(rows["batch"]) / statistics.median(rows["disable"])
                print(f"batch / disable: {100 * (ratio - 1):+.2f} %")
            if shutil.which("strace"):
                found = {mode: (calls(store, mode, MANY, work), calls(store, mode, FEW, work)) for mode in modes}
                names = sorted({name for pair in found.values() for name in pair[0]},
                               key=lambda name: -found["batch"][0][name])
                for name in names:
                    row = [each(found[mode][0][name], found[mode][1][name]) for mode in modes]
                    if max(row) >= 0.005:
                        print(f"{name:16} disable {row[0]:6.3f}  batch {row[1]:6.3f}  a request")
            times = {mode: [] for mode in modes}
            for turn in range(given.rounds):
                for mode in modes if turn % 2 == 0 else modes[::-1]:
                    times[mode].append(store.run(mode, MANY)[0] / MANY / 1000)
            for mode in modes:
                print(f"{mode:8} time of a read, us: median {statistics.median(times[mode]):.1f} of "
                      f"{[round(row, 1) for row in times[mode]]}")
        finally:
            store.process.terminate()
            store.process.wait(60)


if __name__ == "__main__":
    main()
