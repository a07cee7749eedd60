#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How well a replay foretells the time of a program on storage it was not recorded on.

usage: replay_suite.py [--quick] [--runs=N] [--programs=A,B] [--storage=A,B] [--from=A,B]
                       [--method-trace] [--write=docs/BENCHMARKS.md]

Each program is recorded on one storage system; the trace is replayed on all of them, with its
waits (causal), without them (think), and, with --method-trace, with those that //TRACE's own method
finds (`record --causal=throttle --method=trace`). The error is that of the median time against the
median time of the program itself there. Runs of the program and replays take turns. Time is from
the first operation to the last, for both: the program's is told by a recording there.
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

import storage

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "integration"))
import mpi_environment  # noqa: E402,F401

# Arguments for some seconds on the slowest storage; the targets of the worst error, in percent.
PROGRAMS = {
    "checkpoint": (["-b", "64K", "-n", "128"], None),
    "checkpoint-sync": (["-b", "64K", "-n", "128"], 8),
    "checkpoint-sync-compute": (["-b", "64K", "-n", "128"], 6),
    "turns": (["-b", "64K", "-n", "32"], 4),
    "mesh": (["-b", "64K", "-n", "100"], 6),
    "workers": (["-b", "16K", "-n", "200"], None),
    "spin": (["-b", "16K", "-n", "20"], None),
}
AVERAGE_TARGET = 4
RANKS = 4
LIMIT_S = 300
BEGIN, END = "<!-- bench-replay: begin -->\n", "<!-- bench-replay: end -->\n"

Cell = collections.namedtuple("Cell", "program recorded replayed mode itself times error")


def whyio(*args):
    done = subprocess.run([os.environ["WHYIO"], *args], capture_output=True, text=True,
                          timeout=LIMIT_S, check=False)
    if done.returncode not in (0, 1):
        raise RuntimeError(f"whyio {' '.join(args)}: exit status {done.returncode}: {done.stderr}")
    return done.stdout


def record(program, directory, trace, *options):
    """A trace of the program on the storage that `directory` is on."""
    work = os.path.join(directory, "work")
    shutil.rmtree(work, ignore_errors=True)
    os.mkdir(work)
    arguments, _ = PROGRAMS[program]
    whyio("record", "-q", "--force", "-o", trace, *options, "--", "mpirun.openmpi", "-n", str(RANKS),
          os.path.join(os.environ["WHYIO_EXAMPLES"], program), "-d", work, *arguments)
    shutil.rmtree(work)


def replay(trace, directory, mode, *options):
    root = os.path.join(directory, "replay")
    os.makedirs(root, exist_ok=True)
    answer = json.loads(whyio("replay", "-q", trace, "--root=" + root, "--mode=" + mode,
                              "--format=json", *options))
    if not options:
        shutil.rmtree(root)
    return answer


def traced(trace, directory):
    return replay(trace, directory, "think", "--dry-run")["traced_s"]


class Suite:
    def __init__(self, options, systems, scratch):
        self.options = options
        self.systems = systems
        self.traces = os.path.join(scratch, "traces")
        self.cells = []
        self.failed = []
        os.mkdir(self.traces)

    def trace(self, *words):
        return os.path.join(self.traces, "-".join(words))

    def recorded(self, program, source):
        """The traces of one program on one storage, by mode: (trace, mode of replay)."""
        plain = self.trace(program, source)
        options = ("--causal=throttle",) if program == "spin" else ()
        record(program, self.systems[source], plain, *options)
        modes = {"causal": (plain, "causal"), "think": (plain, "think")}
        if self.options.method_trace:
            trace = self.trace(program, source, "method")
            record(program, self.systems[source], trace, "--causal=throttle", "--method=trace",
                   f"--period={self.options.period}")
            modes["//TRACE"] = (trace, "causal")
        return modes

    def measure(self, program, modes, source, target):
        """Runs of the program and replays in turn: medians on one storage."""
        times = collections.defaultdict(list)
        directory = self.systems[target]
        for _ in range(self.options.runs):
            trace = self.trace(program, target, "again")
            record(program, directory, trace)
            times["itself"].append(traced(trace, directory))
            for mode, (trace, how) in modes.items():
                times[mode].append(replay(trace, directory, how)["time_s"])
        itself = statistics.median(times["itself"])
        for mode in modes:
            error = 100 * (statistics.median(times[mode]) / itself - 1)
            self.cells.append(Cell(program, source, target, mode, times["itself"], times[mode], error))
            print(f"{program:24} {source:8} -> {target:8} {mode:8} {itself:8.3f} s {error:+7.1f} %",
                  file=sys.stderr, flush=True)

    def run(self):
        for program in self.options.programs:
            for source in self.options.sources:
                if source not in self.systems:
                    continue
                try:
                    modes = self.recorded(program, source)
                    for target in self.systems:
                        self.measure(program, modes, source, target)
                except (RuntimeError, subprocess.TimeoutExpired) as error:
                    self.failed.append(f"{program} recorded on {source}: {error}")


def spread(times):
    """Half of the range, in percent of the median."""
    return 50 * (max(times) - min(times)) / statistics.median(times)


def tables(suite, command):
    modes = list(dict.fromkeys(cell.mode for cell in suite.cells))
    yield f"\n    {command}\n"
    yield f"{RANKS} ranks, {os.cpu_count()} processors, {suite.options.runs} runs each, load " \
          f"{os.getloadavg()[1]:.1f} at the end. Storage:"
    yield "; ".join(f"*{name}*: {storage.TEXTS[name]}" for name in suite.systems) + ".\n"
    yield "| program | recorded on | replayed on | itself, s | " + " | ".join(
        f"{mode}, error %" for mode in modes) + " |"
    yield "|---|---|---|---|" + "---|" * len(modes)
    rows = collections.defaultdict(dict)
    for cell in suite.cells:
        rows[cell.program, cell.recorded, cell.replayed][cell.mode] = cell
    for key, cells in rows.items():
        itself = next(iter(cells.values())).itself
        shown = [f"{cells[mode].error:+.1f} ± {spread(cells[mode].times):.0f}" for mode in modes]
        yield f"| {' | '.join(key)} | {statistics.median(itself):.3f} ± {spread(itself):.0f} % | " \
              f"{' | '.join(shown)} |"
    yield "\n| worst error, % | target | " + " | ".join(modes) + " |"
    yield "|---|---|" + "---|" * len(modes)
    for program in dict.fromkeys(cell.program for cell in suite.cells):
        worst = [max(abs(cell.error) for cell in suite.cells
                     if cell.program == program and cell.mode == mode) for mode in modes]
        target = PROGRAMS[program][1]
        yield f"| {program} | {f'<= {target}' if target else ''} | " + " | ".join(
            f"{value:.1f}" for value in worst) + " |"
    average = [statistics.mean(abs(cell.error) for cell in suite.cells if cell.mode == mode)
               for mode in modes]
    yield f"| average over all | < {AVERAGE_TARGET} | " + " | ".join(
        f"{value:.1f}" for value in average) + " |"
    yield "\nThe spread (±) is half of the range of the runs in percent of their median."


def missed(suite):
    """Targets that the causal replay missed."""
    causal = [cell for cell in suite.cells if cell.mode == "causal"]
    for cell in causal:
        target = PROGRAMS[cell.program][1]
        if target is not None and abs(cell.error) > target:
            yield f"{cell.program} {cell.recorded} -> {cell.replayed}: {cell.error:+.1f} %, " \
                  f"target {target} %"
    if causal and statistics.mean(abs(cell.error) for cell in causal) >= AVERAGE_TARGET:
        yield f"the average is not below {AVERAGE_TARGET} %"


def write(path, text):
    """Between the markers of the document."""
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    after = rest.split(END)[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + text + END + after)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--runs", type=int)
    parser.add_argument("--method-trace", action="store_true")
    parser.add_argument("--period", type=int, default=1)
    parser.add_argument("--write")
    for name, dest in (("--programs", "programs"), ("--storage", "storage"), ("--from", "sources")):
        parser.add_argument(name, dest=dest, type=lambda text: text.split(","))
    options = parser.parse_args()
    options.runs = options.runs or (3 if options.quick else 5)
    options.programs = options.programs or list(PROGRAMS)
    options.storage = options.storage or list(storage.SYSTEMS)
    options.sources = options.sources or (options.storage[:1] if options.quick else options.storage)
    return options


def main():
    options = parse()
    if shutil.which("mpirun.openmpi") is None:
        print("skipped: Open MPI is not installed", file=sys.stderr)
        return 77
    with contextlib.ExitStack() as stack:
        scratch = stack.enter_context(tempfile.TemporaryDirectory(prefix="whyio-replay."))
        systems = {}
        for name in options.storage:
            try:
                systems[name] = stack.enter_context(storage.SYSTEMS[name](scratch))
            except storage.Missing as reason:
                print(f"skipped: storage {name}: {reason}", file=sys.stderr)
        suite = Suite(options, systems, scratch)
        suite.run()
        text = "\n".join(tables(suite, " ".join(["bench/replay_suite.py", *sys.argv[1:]]))) + "\n"
    print(text)
    if options.write:
        write(options.write, text)
    failures = [*suite.failed, *missed(suite)]
    for failure in failures:
        print("missed: " + failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
