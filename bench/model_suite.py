#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The write models beside measurements: `make bench-model`.

usage: model_suite.py [--quick] [--only=SECTION,...] [--parts=PART,...] [--programs=NAME,...]
                      [--from=STORAGE] [--to=STORAGE] [--dir=DIR] [--host=HOST.json] [--largest=BYTES]
                      [--pictures=docs] [--write=docs/BENCHMARKS.md]

Sections: shared (measurements beside the project), paper (the CAWL authors' own), live (series
performed here, in DIR, best as root: on a loop device of a limited rate; PART: a function of
model_live.py), programs (recorded on one storage, predicted for another and run there: disk, limited or
tmpfs; each row is also printed to stderr as soon as it is there), speed. What cannot be done here is
skipped, and said so. Exit status 1: a target is missed.
"""
import argparse
import collections
import contextlib
import io
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile

import model_figures
import model_live
import model_programs
import model_shared
import simgrid_bench
from model_errors import (MIB, MODELS, Skipped, errors, op, predict, scatter, whyio, write_host,
                          write_list)
from table import Table

BEGIN, END = "<!-- bench-model: begin -->\n", "<!-- bench-model: end -->\n"
PICTURES = {
    "A1_seq16_1": "model-a1.svg", "A3_seq16_d100_1": "model-a3.svg", "A5_back75_1": "model-a5.svg",
    "paper_host1_0s": "model-paper-host1.svg", "paper_host2_0s": "model-paper.svg",
    "paper_host2_0.1s": "model-paper-delay.svg", "live_hovering": "model-hovering.svg",
}
# The two speeds of host 2's device, read off its first and its last throttled writes.
TWO_PHASE = {"bw_burst": 488e6, "burst_size": 2.5e9}
PREDICT_OPS = 1000000
PREDICT_EVENTS = 1000000  # of traces




class Rows:
    """A table of texts; its first column is `what`."""

    def __init__(self, title):
        self.title = title
        self.rows = []
        self.notes = []

    def add(self, what, **cells):
        self.rows.append({"": what, **cells})

    def names(self):
        return list(dict.fromkeys(name for row in self.rows for name in row))

    def row(self, row):
        return "| " + " | ".join(row.get(name, "") for name in self.names()) + " |"

    def text(self):
        if not self.rows:
            return ""
        names = self.names()
        lines = [f"\n### {self.title}\n", "| " + " | ".join(names) + " |", "|---" * len(names) + "|"]
        lines += [self.row(row) for row in self.rows]
        return "\n".join(lines + ["\n" + note for note in self.notes]) + "\n"


class Targets(Table):
    """The kernel model's figures beside their targets; the other models' are shown."""

    def compare(self, what, figure, unit, at_most):
        self.add(what, float(figure("kernel")), unit, at_most=at_most,
                 **{model: float(figure(model)) for model in MODELS[:-1]})

    def text(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.show()
        return out.getvalue()


class Suite:
    def __init__(self, options, scratch):
        self.options = options
        self.scratch = scratch
        self.skipped = []
        self.failed = []
        self.tables = []
        self.sizes = {}
        self.targets = Targets("Targets (value: the kernel model)")

    def table(self, title):
        self.tables.append(Rows(title))
        return self.tables[-1]

    def compared(self, series):
        """Errors of a series by model; its picture, if it has one."""
        predictions = {model: predict(series, model, self.scratch) for model in MODELS}
        name = PICTURES.get(series.name)
        if self.options.pictures and name is not None:
            try:
                model_figures.draw(series, predictions, os.path.join(self.options.pictures, name),
                                   self.scratch)
            except Skipped as reason:
                self.skipped.append(f"picture {name}: {reason}")
        return {model: errors(series, predictions[model]) for model in MODELS}

    def compare(self, title, all_series):
        """A table of all series, runs of the same in one row; errors by model, by series' name."""
        table, by_name = self.table(title), {}
        rows, scatters = collections.defaultdict(list), collections.defaultdict(list)
        for series in all_series:
            by_name[series.name] = found = self.compared(series)
            self.sizes[series.name] = max(line["size"] for line in series.ops[series.first:])
            rows[series.what].append(found)
            if series.ops[-1]["method"] in ("direct", "sync", "direct_nosync"):
                scatters[series.what].append(scatter(series))
            print(f"{series.name}: " + ", ".join(f"{model} {shown([found[model]])}" for model in MODELS),
                  file=sys.stderr, flush=True)
        for what, runs in rows.items():
            table.add(what, **{model: shown([found[model] for found in runs]) for model in MODELS},
                      **({"MRE of the rounds": ranged([found["kernel"].mre for found in runs]),
                          "scatter": ranged(scatters[what])} if scatters else {}))
        table.notes.append("Each cell: MRE, WAPE, error of the total, largest error of the running sum; "
                           "means where there are several runs.")
        if scatters:
            table.notes.append("Scatter: the MRE of the series' own median, which no model can do much better. "
                               "Of several rounds the middle one, the least and the greatest.")
        return by_name

    # ---- sections ----

    def shared(self):
        found = self.compare("Measured on a device of 100 MiB/s", model_shared.measured())
        judged = [found[name] for name in found if name.startswith(model_shared.JUDGED)]
        scenarios = collections.defaultdict(list)
        for name, by_model in found.items():
            if name.startswith(model_shared.JUDGED):
                scenarios[name.rpartition("_")[0]].append(by_model)
        count = f"{len(scenarios)} scenarios, "
        add = self.targets.compare
        add(count + "mean WAPE", lambda model: mean(by[model].wape for by in judged), "", 0.12)
        add(count + "mean error of the total", lambda model: 100 * mean(
            abs(mean(by[model].total for by in runs)) for runs in scenarios.values()), "%", 2)
        add(count + "worst error of a total", lambda model: 100 * max(
            abs(mean(by[model].total for by in runs)) for runs in scenarios.values()), "%", 8)

    def paper(self):
        series = list(model_shared.paper())
        series += [one._replace(name=one.name + "_two_phase", what=one.what + ", two-phase device",
                                host={**one.host, **TWO_PHASE})
                   for one in series if one.name in ("paper_host2_0s", "paper_host2_0.1s")]
        for name, by_model in self.compare("The CAWL authors' hosts", series).items():
            target = 4.5 if name.endswith("two_phase") else 5
            self.targets.compare(name.replace("_", " ") + ": MRE",
                                 lambda model, by=by_model: 100 * by[model].mre, "%", target)

    def live(self):
        found = self.compare("Measured here", model_live.series(self.options, self.scratch, self.skipped))
        rounds = collections.defaultdict(list)
        for name, by_model in found.items():
            rounds[name.partition("#")[0]].append(by_model)
        for place in ("", "limited_"):
            for method in ("direct", "sync", "append", "nosync"):
                sizes = [runs for name, runs in rounds.items() if name.startswith(place + method + "_")]
                if sizes:
                    self.targets.compare(
                        f"{place.replace('_', ', ')}{method}, 4 KiB to 64 MiB: worst MRE, middle of its rounds",
                        lambda model, all_=sizes: max(statistics.median(by[model].mre for by in runs)
                                                      for runs in all_), "", 0.15)
        for name, target in (("fwrite_512", 5), ("live_hovering", 30)):
            if name in found:
                self.targets.compare(name.replace("_", " ") + ": error of the total",
                                     lambda model, n=name: 100 * abs(found[n][model].total), "%", target)

        groups = [by for name, by in found.items() if name.startswith("group_")]
        if groups:
            self.targets.compare("in a memory group: mean error of the total", lambda model: mean(
                100 * abs(by[model].total) for by in groups), "%", 10)

        self.scenarios([(found[name], size) for name, size in self.sizes.items()
                        if name.startswith("scenario_")])

    def scenarios(self, judged):
        """Single writes below 4 MiB jump by jiffies: only their totals are told."""
        if not judged:
            return
        large = [by for by, size in judged if size >= 4 * MIB]
        add, count = self.targets.compare, f"{len(judged)} more scenarios, "

        def totals(model):
            return [100 * abs(by[model].total) for by, _ in judged]

        if large:
            add(count + "mean WAPE (4 MiB and more)", lambda model: mean(by[model].wape for by in large),
                "", 0.12)
        add(count + "mean error of the total", lambda model: mean(totals(model)), "%", 2)
        add(count + "worst error of a total", lambda model: max(totals(model)), "%", 8)

    def programs(self):
        table = self.table("Programs, recorded on one device, predicted for another")
        for program in model_programs.programs(self.options, self.scratch, self.skipped):
            table.add(program.name, **model_programs.cells(program))
            print(table.row(table.rows[-1]), file=sys.stderr, flush=True)
            self.targets.compare(program.name + " on another device: error of the total",
                                 lambda model, p=program: 100 * abs(model_programs.error(p, model)), "%", 10)
        table.notes.append(f"Recorded on: {self.options.source}. {model_programs.TEXTS[self.options.target]}. "
                   f"{model_programs.RUNS} times recorded here and run there in turn: medians ± half of the range. "
                   "Last column: predicted for the other device from what was recorded on it.")

    def speed(self):
        """Predicted writes a second, and operations from text to result."""
        table = self.table("Speed, one core")
        done = subprocess.run([os.path.join(os.environ["WHYIO_BENCH"], "model_bench")],
                              capture_output=True, text=True, check=True)
        rates = collections.defaultdict(list)
        for line in done.stdout.splitlines():
            model, rate, what = line.split(maxsplit=2)
            rates[model].append(float(rate))
            table.add(f"{model}, {what}", **{"M writes/s": f"{float(rate) / 1e6:.2f}"})
        self.targets.add("slowest case", min(rates["kernel"]), "writes/s", at_least=5e6)
        self.targets.add("predict --ops, from text to result", self.ops_rate(), "operations/s",
                         at_least=1e6)
        self.targets.add("predict DIR, events of one rank", self.trace_rate(1), "events/s",
                         at_least=2e6)
        self.targets.add("predict DIR, events of 64 ranks", self.trace_rate(64), "events/s",
                         at_least=2e6)

        self.simgrid(table)

    def simgrid(self, table):
        bench = os.path.join(os.environ["WHYIO_BENCH"], "simgrid_bench")
        if not os.path.exists(bench):
            raise Skipped("SimGrid is not installed")
        for what, rates, *_ in simgrid_bench.speeds(bench):
            for name, rate in zip(("plug-in for SimGrid", "SimGrid's own disk", "the model alone"), rates):
                table.add(f"{name}, {what}", **{"M writes/s": f"{rate:.2f}"})

    def ops_rate(self):
        ops, host = os.path.join(self.scratch, "many.jsonl"), os.path.join(self.scratch, "machine.json")
        write_list(ops, (op(i * 4096, 4096) for i in range(PREDICT_OPS)))
        write_host(host, model_shared.limited_host(False))
        before = os.times().children_user
        whyio("predict", "-q", "--ops=" + ops, "--host=" + host, "--format=json")
        return PREDICT_OPS / (os.times().children_user - before)

    def trace_rate(self, ranks):
        """Of the trace of one rank, which as many run side by side: reads and writes of 4 KiB."""
        trace, host = os.path.join(self.scratch, f"long{ranks}"), os.path.join(self.scratch, "machine.json")
        maker = os.path.join(os.environ["WHYIO_BENCH"], "..", "tests", "cli", "make_trace")
        subprocess.run([maker, "long", trace, str(PREDICT_EVENTS // ranks)], check=True)
        before = os.times().children_user
        whyio("predict", "-q", trace, "--host=" + host, f"--scale-ranks={ranks}")
        return PREDICT_EVENTS / (os.times().children_user - before)

    def run(self):
        for name in self.options.only:
            try:
                getattr(self, name)()
            except Skipped as reason:
                self.skipped.append(f"{name}: {reason}")
            except (RuntimeError, subprocess.SubprocessError) as error:
                self.failed.append(f"{name}: {error}")


SECTIONS = ("shared", "paper", "live", "programs", "speed")


def mean(values):
    return statistics.mean(list(values))


def shown(runs):
    mre, wape, total, worst = (mean(values) for values in zip(*runs))
    return f"{mre:.2f}, {wape:.2f}, {100 * total:+.1f} %, {100 * worst:.1f} %"


def ranged(values):
    if len(values) < 2:
        return "".join(f"{value:.2f}" for value in values)
    return f"{statistics.median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def texts(suite, command):
    yield f"\n    {command}\n"
    yield f"{os.cpu_count()} processors, {platform.system()} {platform.release()}, load " \
          f"{os.getloadavg()[1]:.1f} at the end.\n"
    yield suite.targets.text()
    for table in suite.tables:
        yield table.text()
    yield from (f"- skipped: {reason}" for reason in suite.skipped)
    yield from (f"- failed: {error}" for error in suite.failed)


def write(path, text):
    """Between the markers of the document."""
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(BEGIN)
    after = rest.split(END)[1]
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + text + END + after)


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="shorter series")
    parser.add_argument("--dir", default="/var/tmp", help="where files may be written; not tmpfs")
    parser.add_argument("--host", help="instead of calibrating; with --only=programs made if it is not there")
    parser.add_argument("--largest", type=int, help="bytes of the largest write")
    parser.add_argument("--pictures", help="directory for SVG files")
    parser.add_argument("--write", help="document to put the tables into")
    for name in ("only", "parts", "programs"):
        parser.add_argument("--" + name, type=lambda text: text.split(","))
    for name, dest, usual in (("from", "source", "disk"), ("to", "target", "limited")):
        parser.add_argument("--" + name, dest=dest, default=usual, choices=model_programs.STORAGE,
                            help="storage of the programs")
    options = parser.parse_args(arguments)
    options.only = options.only or SECTIONS
    options.largest = options.largest or ((128 if options.quick else 2048) * MIB)
    for path in ("host", "pictures", "write"):
        value = getattr(options, path)
        setattr(options, path, os.path.abspath(value) if value else None)
    for what, given, known in (("section", options.only, SECTIONS),
                               ("part", options.parts, model_live.part_names()),
                               ("program", options.programs, model_programs.COMMANDS)):
        unknown = set(given or ()) - set(known)
        if unknown:
            parser.error(f"no {what} {', '.join(sorted(unknown))}: there are {', '.join(known)}")
    if options.host and "live" in options.only and not os.path.isfile(options.host):
        parser.error(f"no file {options.host}: only --only=programs makes it")
    return options


def main():
    options = parse()
    # So that devices are taken down and limits put back.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with tempfile.TemporaryDirectory(prefix="whyio-model.", dir=options.dir) as scratch:
        suite = Suite(options, scratch)
        suite.run()
    text = "\n".join(texts(suite, " ".join(["bench/model_suite.py", *sys.argv[1:]]))) + "\n"
    print(text)
    if options.write:
        write(options.write, text)
    missed = [row for row in suite.targets.rows if row["met"] is False]
    for row in missed:
        print(f"missed: {row['what']}: {row['value']:.3g} (target {row['target']})", file=sys.stderr)
    return 1 if missed or suite.failed else 0


if __name__ == "__main__":
    sys.exit(main())
