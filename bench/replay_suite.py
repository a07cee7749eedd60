#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well a replay foretells the time of a program on storage it was not recorded on.

usage: replay_suite.py [--quick] [--runs=N] [--programs=A,B] [--storage=A,B] [--from=A,B] [--to=A,B]
                       [--ranks=N] [--method-trace [--period=N]] [--scale=X]
                       [--results=FILE [--seconds=N]] [--write=docs/BENCHMARKS.md]

A run records each program on one storage system, lets it run on another one, and replays the trace
there, with its waits (causal), without them (think), and, with --method-trace, with those that
//TRACE's own method finds (`record --causal=throttle --method=trace`; it holds each I/O for about 0.15 s,
so --scale, a factor on the rounds of the programs, has to be small). The error is that of the median
time against the median time of the program itself there. Time is from the first operation to the last, for
both: the program's is told by a recording there. --results keeps the times, so that a later call goes on
where this one stopped, after --seconds or a signal.
"""
import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import replay_tables
import storage
from replay_programs import PAIRS, PROGRAMS, arguments

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "integration"))

LIMIT_S = 300
KEPT = ("ranks", "method_trace", "period", "scale")  # options that results depend on


def whyio(*args):
    """What the command prints. Its programs end with it."""
    with subprocess.Popen([os.environ["WHYIO"], *args], text=True, start_new_session=True,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
        try:
            out, err = command.communicate(timeout=LIMIT_S)
        except BaseException:
            os.killpg(command.pid, signal.SIGKILL)
            raise
    if command.returncode not in (0, 1):
        raise RuntimeError(f"whyio {' '.join(args)}: exit status {command.returncode}: {err}")
    return out


class Suite:
    def __init__(self, options, systems, scratch):
        self.options = options
        self.systems = systems
        self.scratch = scratch
        self.failed = []
        self.times = {}  # (program, source, target) -> mode -> seconds of each run
        self.end = time.monotonic() + (options.seconds or float("inf"))

    # ---- results that are kept ----

    def settings(self):
        return {name: getattr(self.options, name) for name in KEPT}

    def load(self):
        if not self.options.results or not os.path.exists(self.options.results):
            return
        with open(self.options.results, encoding="utf-8") as file:
            kept = json.load(file)
        if kept["settings"] != self.settings():
            raise SystemExit(f"{self.options.results} has results of other options")
        self.times = {tuple(key): times for key, times in kept["times"]}

    def save(self):
        if not self.options.results:
            return
        with open(self.options.results + ".new", "w", encoding="utf-8") as file:
            json.dump({"settings": self.settings(), "times": list(self.times.items())}, file, indent=1)
        os.rename(file.name, self.options.results)

    # ---- one measurement each ----

    def record(self, key, where, name, *options):
        """A trace of the program on the storage `where`."""
        program, _, target = key
        trace, work = os.path.join(self.scratch, name), os.path.join(self.systems[where], "work")
        shutil.rmtree(work, ignore_errors=True)
        os.mkdir(work)
        whyio("record", "-q", "--force", "-o", trace, *options, "--", "mpirun.openmpi", "-n",
              str(self.options.ranks), os.path.join(os.environ["WHYIO_EXAMPLES"], program), "-d", work,
              *arguments(program, target, self.options.scale))
        shutil.rmtree(work)
        return trace

    def replay(self, trace, where, mode):
        root = os.path.join(self.systems[where], "replay")
        os.mkdir(root)
        answer = whyio("replay", "-q", trace, "--root=" + root, "--mode=" + mode, "--format=json")
        shutil.rmtree(root)
        return json.loads(answer)["time_s"]

    def traced(self, trace):
        return json.loads(whyio("replay", "-q", trace, "--root=" + self.scratch, "--mode=think",
                                "--dry-run", "--format=json"))["traced_s"]

    def run_once(self, key):
        program, source, target = key
        trace = self.record(key, source, "trace", *PROGRAMS[program].options)
        replays = {"causal": (trace, "causal"), "think": (trace, "think")}
        if self.options.method_trace:
            method = self.record(key, source, "method", "--causal=throttle", "--method=trace",
                                 f"--period={self.options.period}")
            replays["//TRACE"] = (method, "causal")
        self.record(key, target, "again")  # a disk that has rested is slow at first, to whoever comes
        times = {replay_tables.ITSELF: self.traced(self.record(key, target, "again"))}
        for mode, (trace, how) in replays.items():
            times[mode] = self.replay(trace, target, how)
        for mode, seconds in times.items():
            self.times.setdefault(key, {}).setdefault(mode, []).append(seconds)

    # ---- all ----

    def keys(self):
        return [(program, source, target) for program in self.options.programs
                for source, target in PAIRS
                if source in self.systems and target in self.systems
                and source in self.options.sources and target in self.options.targets]

    def cells(self):
        return [replay_tables.Cell(*key, self.times[key]) for key in self.keys() if key in self.times]

    def run(self):
        for run in range(self.options.runs):
            for key in self.keys():
                done = len(self.times.get(key, {}).get("causal", ()))
                if done > run or time.monotonic() > self.end:
                    continue
                try:
                    self.run_once(key)
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    self.failed.append(f"{' '.join(key)}: {error}")
                    continue
                self.save()
                last = {mode: times[-1] for mode, times in self.times[key].items()}
                print(f"{run + 1} {' '.join(key):40}", " ".join(
                    f"{mode} {seconds:.3f}" for mode, seconds in last.items()), file=sys.stderr, flush=True)

    def is_complete(self):
        return all(len(self.times.get(key, {}).get("causal", ())) >= self.options.runs
                   for key in self.keys())


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--method-trace", action="store_true")
    parser.add_argument("--period", type=int, default=1)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--results")
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--write")
    parser.add_argument("--marker", default="bench-replay")
    for name, dest in (("--programs", "programs"), ("--storage", "storage"), ("--from", "sources"),
                       ("--to", "targets")):
        parser.add_argument(name, dest=dest, type=lambda text: text.split(","))
    options = parser.parse_args()
    options.runs = options.runs or (3 if options.quick else 5)
    options.programs = options.programs or list(PROGRAMS)
    options.storage = options.storage or list(storage.SYSTEMS)
    options.targets = options.targets or options.storage
    options.sources = options.sources or (options.storage[:1] if options.quick else options.storage)
    return options


def measure(options):
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="whyio-replay."))
        systems = {}
        for name in options.storage:
            try:
                systems[name] = stack.enter_context(storage.SYSTEMS[name](scratch))
            except storage.Missing as reason:
                print(f"skipped: storage {name}: {reason}", file=sys.stderr)
        suite = Suite(options, systems, scratch)
        suite.load()
        suite.run()
    return suite


def main():
    options = parse()
    if shutil.which("mpirun.openmpi") is None:
        print("skipped: Open MPI is not installed", file=sys.stderr)
        return 77
    storage.isolate()
    import mpi_environment  # noqa: F401 # makes a directory: not before isolate() has begun anew
    suite = measure(options)
    cells = suite.cells()
    shown = [word for word in sys.argv[1:] if not word.startswith(("--results", "--seconds", "--write"))]
    text = "\n".join(replay_tables.tables(cells, " ".join(["bench/replay_suite.py", *shown]), options.ranks,
                                          list(suite.systems))) + "\n"
    print(text)
    if options.write:
        replay_tables.write(options.write, options.marker, text)
    failures = [*suite.failed, *replay_tables.missed(cells)]
    if not suite.is_complete():
        failures.append("not all runs: call it again with the same --results")
    for failure in failures:
        print("missed: " + failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
