# SPDX-License-Identifier: Apache-2.0
"""The sections of the benchmark. Each measures and fills one table."""
import json
import os
import re
import shutil
import statistics
import subprocess
import time

import tracers

SKIP = 77
SOURCE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# Loop of loops.c, calls in a full run, highest ratio to the run without a tracer. Streams need no
# system call for most calls: strace and perf see next to nothing of them.
LOOPS = (("pwrite512", 40_000, 1.15), ("pwrite4k", 40_000, 1.15), ("pread512", 40_000, 1.25),
         ("pread4k", 40_000, 1.25), ("read512", 40_000, 1.25), ("fread64", 400_000, 2.4),
         ("fwrite64", 400_000, 2.1), ("openclose", 10_000, 1.25), ("stat", 20_000, 1.25),
         ("threads2", 40_000, 1.25))
# Loop, highest number of instructions added to a call.
INSTRUCTIONS = (("pwrite512", 200), ("pread512", None), ("read512", None), ("fread64", None),
                ("fwrite64", None), ("openclose", None), ("stat", None), ("lock", 110))


class Bench:
    """Where things are, and how to run them."""

    def __init__(self, place, quick, full):
        self.place = place
        self.full = full
        self.rounds = 9 if quick else 31
        self.quick = quick
        self.whyio = os.environ.get("WHYIO", os.path.join(SOURCE, "build", "whyio"))
        self.build = os.environ.get("WHYIO_BUILD", os.path.dirname(self.whyio))
        self.loops = os.path.join(self.build, "bench", "loops")
        if not os.path.exists(self.loops):
            raise SystemExit(f"bench: {self.loops} is not there: make build first")

    def tool(self, name):
        path = os.path.join(self.build, "bench", name)
        return path if os.path.exists(path) else None

    def tracers(self):
        library = os.path.join(self.build, "bench", "liblttng-baseline.so")
        return [tracers.Strace(self.place),
                tracers.PerfTrace(self.place), tracers.Lttng(self.place, library),
                tracers.Whyio(self.place, self.whyio)]

    def run(self, argv, tracer=None, good=(0,), **env):
        command = tracer.command(argv) if tracer else argv
        extra = tracer.environment() if tracer else {}
        result = subprocess.run(command, env={**os.environ, **extra, **env}, check=False,
                                capture_output=True, stdin=subprocess.DEVNULL)
        if result.returncode not in good:
            raise RuntimeError(f"{command}: exit {result.returncode}: {result.stderr.decode()}")
        return result

    def loop(self, name, count, tracer=None):
        """Nanoseconds per call of one loop."""
        argv = [self.loops, name, str(count), self.place]
        return float(self.run(argv, tracer).stdout.split()[0])

    def json(self, *args):
        output = self.run([self.whyio, *args]).stdout
        return json.loads(output.splitlines()[-1])


def calls(bench, table):
    """ns per call, as ratios to the run without a tracer in the same round."""
    present = []
    for tracer in bench.tracers():
        reason = tracer.available()
        if reason is None:
            tracer.start()
            present.append(tracer)
        else:
            table.note(f"{tracer.name} is not shown: {reason}.")
    try:
        for name, count, target in LOOPS:
            measure_loop(bench, table, present, (name, count, target))
    finally:
        for tracer in present:
            tracer.stop()
    table.note("whyio (value): blocks of 1,024 calls by name and of libc's own function take turns in "
               "one process; median of the ratios. Others, and threads2: a run with against a "
               "run without directly before; median.")


def measure_loop(bench, table, present, loop):
    """Others: against a run without a tracer directly before. whyio: inside one process."""
    name, count, target = loop
    others, value, times = {}, None, None
    for tracer in present:
        if tracer.name != "whyio":
            others[tracer.name] = f"{run_ratio(bench, tracer, name, count, 3):.2f}"
        elif name == "threads2":
            value = run_ratio(bench, tracer, name, count, bench.rounds)
        else:
            value, times = paired(bench, tracer, name, count)
    columns = {"no tracer, ns": f"{times[1]:.0f}", "whyio, ns": f"{times[0]:.0f}"} if times else {}
    table.add(name, round(value, 3), "x", at_most=target, **columns, **others)


def run_ratio(bench, tracer, name, count, rounds):
    calls_made = max(int(count * tracer.scale), 1000)
    return statistics.median(1 / bench.loop(name, count) * bench.loop(name, calls_made, tracer)
                             for _ in range(rounds))


def paired(bench, tracer, name, count):
    """(ratio, (ns by name, ns of libc's own)): median of some runs of bench/paired."""
    argv = [os.path.join(bench.build, "bench", "paired"), name, str(5 * count), bench.place]
    runs = [[float(n) for n in bench.run(argv, tracer).stdout.split()] for _ in range(5)]
    fastest = min(runs, key=lambda run: run[1])
    return statistics.median(run[2] for run in runs), (fastest[0], fastest[1])


def counted(bench, name, count, preload):
    """Instructions of the whole process, by callgrind."""
    out = os.path.join(bench.place, "callgrind.out")
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", bench.loops, name,
               str(count), bench.place]
    env = {}
    if preload:
        rings = os.path.join(bench.place, "rings")
        os.makedirs(rings, exist_ok=True)
        env = {"LD_PRELOAD": preload, "WHYIO_RINGS": rings, "WHYIO_CAUSAL": "1"}
    stderr = bench.run(command, None, **env).stderr.decode()
    return int(re.search(r"Collected : (\d+)", stderr).group(1))


def per_call(bench, name, preload):
    """Two runs of different length: what start and end cost drops out."""
    few, many = 2_000, 12_000
    return (counted(bench, name, many, preload) - counted(bench, name, few, preload)) / (many - few)


def instructions(bench, table):
    """User-side instructions that recording adds to one call."""
    library = os.path.join(bench.build, "src", "capture", "libwhyio-capture.so")
    if not shutil.which("valgrind"):
        table.note("not measured: valgrind is not installed.")
        return
    for name, target in INSTRUCTIONS:
        alone, traced = per_call(bench, name, None), per_call(bench, name, library)
        table.add(name, round(traced - alone), "instructions", at_most=target,
                  **{"no tracer": f"{alone:.0f}", "whyio": f"{traced:.0f}"})
    table.note("value = instructions per call added by whyio (valgrind --tool=callgrind); "
               "openclose and lock are two calls.")


def gate(bench, table):
    """The figures that do not wander, quickly: a test runs it."""
    if not shutil.which("valgrind"):
        raise SystemExit(SKIP)
    library = os.path.join(bench.build, "src", "capture", "libwhyio-capture.so")
    if not os.path.exists(library):  # the loader would go on without it: nothing costs nothing
        raise SystemExit(f"bench: {library} is not there: make build first")
    for name, target in (("pwrite512", 200), ("lock", 110)):
        added = per_call(bench, name, library) - per_call(bench, name, None)
        table.add(name, round(added), "instructions", at_most=target)


def tree_bytes(path):
    return sum(os.path.getsize(os.path.join(directory, name))
               for directory, _, names in os.walk(path) for name in names)


def size(bench, table):
    """Bytes of a sealed trace per event, and how long sealing took."""
    recorder = tracers.Whyio(bench.place, bench.whyio)
    loops = [("mixed", 1_000_000, 8), ("pwrite512", 1_000_000, None)]
    if bench.full:
        loops.append(("mixed", 100_000_000, 8))
    for name, count, target in loops:
        program_s, all_s = timed(bench, [bench.loops, name, str(count), bench.place], recorder)
        events = bench.json("info", "--format=json", recorder.trace)["events"]
        table.add(f"{name}, {events:,} events", round(tree_bytes(recorder.trace) / events, 2),
                  "bytes per event", at_most=target, **{"to seal": f"{all_s - program_s:.2f} s"})


TRACE_LINE = re.compile(r"  (\S.*?) {2,}([\d.]+) (\S+) *([\d.]+)?")
TRACE_EVENTS = (1_000_000, 100_000_000)


def trace(bench, table):
    """Writing and reading traces: figures of bench/trace_bench, which measures itself."""
    tool = bench.tool("trace_bench")
    if tool is None:
        table.note("not measured: trace_bench was not built.")
        return
    for events in TRACE_EVENTS if bench.full else TRACE_EVENTS[:1]:
        best = {}
        for _ in range(1 if events > 10_000_000 else 5):
            output = bench.run([tool, str(events), bench.place], good=(0, 1)).stdout.decode()
            for line in output.splitlines():
                found = TRACE_LINE.match(line)
                if found:
                    what, value, unit, target = found.groups()
                    row = (float(value), unit, float(target) if target else None)
                    best[what] = min(row, best.get(what, row))
        for what, (value, unit, target) in best.items():
            table.add(f"{what}, {events // 1_000_000} M events", value, unit, at_most=target)


def replay(bench, table):
    """Operations per second of an afap replay of eight threads that write to /dev/null."""
    recorder = tracers.Whyio(bench.place, bench.whyio)
    bench.loop("null8", 50_000 if bench.quick else 200_000, recorder)
    root = os.path.join(bench.place, "target")
    rates = []
    for _ in range(3):
        shutil.rmtree(root, ignore_errors=True)
        os.makedirs(root)
        result = bench.json("replay", "-q", "--format=json", "--mode=afap", f"--root={root}",
                            recorder.trace)
        rates.append(result["ops"] / result["time_s"])
    table.add("afap, null I/O, 8 threads", round(max(rates)), "operations/s", at_least=1e6)
    table.note(f"{os.cpu_count()} processors here; best of three runs.")


def start(bench, table):
    """How late the operations of a replay begin: one thread that writes each millisecond."""
    recorder = tracers.Whyio(bench.place, bench.whyio)
    bench.loop("paced", 500, recorder)
    root = os.path.join(bench.place, "target")
    for mode in ("think", "timed", "causal"):
        results = []
        for _ in range(5):
            shutil.rmtree(root, ignore_errors=True)
            os.makedirs(root)
            results.append(bench.json("replay", "-q", "--format=json", f"--mode={mode}", f"--root={root}",
                                      recorder.trace))
        late = [result["late"] for result in results]
        table.add(f"500 writes, a millisecond apart, mode {mode}",
                  statistics.median(one["p99_us"] for one in late), "us", at_most=50,
                  **{"p50, us": " ".join(f"{one['p50_us']:.2g}" for one in late),
                     "p99, us": " ".join(f"{one['p99_us']:.3g}" for one in late),
                     "time, %": " ".join(f"{100 * result['time_error']:+.1f}" for result in results)})
    table.note("value = median p99 of five replays. Only where nobody else wants the processors.")


def timed(bench, argv, recorder=None):
    """Seconds of the program itself: under the recorder, without its sealing."""
    script = 'begin=$(date +%s%N); "$@" >/dev/null || exit; echo $(($(date +%s%N) - begin))'
    begin = time.monotonic()
    result = bench.run(["sh", "-c", script, "sh", *argv], recorder, OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_mpi_yield_when_idle="1")
    return int(result.stdout.split()[-1]) / 1e9, time.monotonic() - begin


def mpi(bench, table):
    """An MPI program with two ranks, 4 KiB blocks, with and without whyio."""
    program = os.path.join(bench.build, "examples", "checkpoint")
    if not os.path.exists(program) or not shutil.which("mpirun.openmpi"):
        table.note("not measured: Open MPI is not installed.")
        return
    argv = ["mpirun.openmpi", "--oversubscribe", "-n", "2", program, "-d", bench.place, "-b", "4K",
            "-n", "30000"]
    recorder = tracers.Whyio(bench.place, bench.whyio)
    rounds = range(3 if bench.quick else 9)
    pairs = [(timed(bench, argv), timed(bench, argv, recorder)) for _ in rounds]
    ratio = statistics.median(traced[0] / alone[0] for alone, traced in pairs)
    alone = statistics.median(a[0] for a, _ in pairs)
    sealing = statistics.median(traced[1] - traced[0] for _, traced in pairs)
    table.add("checkpoint, 2 ranks, 4 KiB", round(ratio, 3), "x", at_most=1.10, **{
        "no tracer, s": f"{alone:.2f}", "whyio, s": f"{alone * ratio:.2f}",
        "and to seal, s": f"{sealing:.2f}"})
