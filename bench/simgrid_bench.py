#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The plug-in for SimGrid beside SimGrid's own disk: writes simulated per second of processor time, and how
far both are from measured writes, which must lie beside the project.

usage: simgrid_bench.py [BENCH]      BENCH: the program simgrid_bench, else build/bench/simgrid_bench

Exit status 77: built without SimGrid.
"""
import os
import statistics
import subprocess
import sys
import tempfile

import model_shared
from model_errors import Predicted, Skipped, errors, write_host

HERE = os.path.dirname(os.path.abspath(__file__))
LIMIT_S = 170
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <zone id="all" routing="Full">
    <host id="node" speed="1Gf">
      <disk id="disk" read_bw="{read}Bps" write_bw="{write}Bps"/>
      <disk id="plain" read_bw="{read}Bps" write_bw="{write}Bps"/>
    </host>
  </zone>
</platform>
"""


def run(bench, host, what, text=None):
    with tempfile.TemporaryDirectory() as scratch:
        platform, machine = os.path.join(scratch, "platform.xml"), os.path.join(scratch, "HOST.json")
        with open(platform, "w", encoding="utf-8") as out:
            out.write(PLATFORM.format(read=host["bw_rdev"], write=host["bw_dev"]))
        write_host(machine, host)
        done = subprocess.run([bench, platform, machine, what], input=text, text=True, capture_output=True,
                              timeout=LIMIT_S, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{bench}: exit status {done.returncode}: {done.stderr}")
    return done.stdout


def speeds(bench):
    """What was written, millions of writes per second (plug-in, SimGrid's disk, model alone), and the
    ratios plug-in / disk and model / plug-in."""
    rounds = {}
    for line in run(bench, model_shared.limited_host(False), "--speed").splitlines():
        what, writes, *seconds = line.split("\t")
        rounds.setdefault((what, int(writes)), []).append([float(second) for second in seconds])
    for (what, writes), rows in rounds.items():
        rates = [writes / statistics.median(column) / 1e6 for column in zip(*rows)]
        yield (what, rates, statistics.median(disk / cached for cached, disk, _ in rows),
               statistics.median(cached / alone for cached, _, alone in rows))


def speed(bench):
    print("| writes | plug-in, M/s | SimGrid's disk, M/s | model alone, M/s | plug-in / disk | model / plug-in |")
    print("|---|---|---|---|---|---|")
    for what, rates, to_disk, to_model in speeds(bench):
        print(f"| {what} | " + " | ".join(f"{rate:.3g}" for rate in rates) +
              f" | {to_disk:.2f} | {to_model:.0f} |")


def costs(bench, series):
    """Of the plug-in and of SimGrid's disk, as the errors of what was measured."""
    files = {name: number for number, name in enumerate(sorted({op["file"] for op in series.ops}))}
    text = "".join(f"{op['method']} {files[op['file']]} {op['offset']} {op['size']} {op['delay_s']:.9f}\n"
                   for op in series.ops)
    rows = [line.split() for line in run(bench, series.host, "--costs", text).splitlines()]
    if len(rows) != len(series.ops):
        raise SystemExit(f"{bench}: {len(rows)} answers to {len(series.ops)} operations")
    return [errors(series, Predicted([float(row[i]) for row in rows], None)) for i in range(2)]


def accuracy(bench):
    scenarios = {}
    for series in model_shared.measured():
        scenarios.setdefault(series.what, []).append(costs(bench, series))
    print("| measured | plug-in: WAPE | error of the total | SimGrid's disk: WAPE | error of the total |")
    print("|---|---|---|---|---|")
    for what, runs in scenarios.items():
        cells = [what]
        for side in zip(*runs):
            cells += [f"{statistics.fmean(e.wape for e in side):.3f}",
                      f"{statistics.fmean(e.total for e in side):+.1%}"]
        print("| " + " | ".join(cells) + " |")


def main():
    bench = sys.argv[1] if len(sys.argv) > 1 else os.path.join(HERE, "..", "build", "bench", "simgrid_bench")
    if not os.path.exists(bench):
        print("skipped: simgrid_bench was not built: SimGrid (libsimgrid-dev) is not here", file=sys.stderr)
        return 77
    speed(bench)
    print()
    try:
        accuracy(bench)
    except Skipped as why:
        print(f"Accuracy: skipped: {why}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
