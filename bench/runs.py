# SPDX-License-Identifier: Apache-2.0
"""What a whole run costs, its start, the ends of its processes and the sealing of its trace with it."""
import statistics
import time

SHORT_PROCESSES = 300
SHORT_SCRIPT = 'i=0; while [ $i -lt "$1" ]; do /bin/true; i=$((i+1)); done'
CALLS = 100_000


def seconds(bench, argv, tracer=None):
    begin = time.monotonic()
    bench.run(argv, tracer)
    return time.monotonic() - begin


def added(bench, tracer, argv, traced_argv, rounds):
    """Seconds that the tracer adds, per unit of each command: (argv, units). Median; they take turns."""
    (alone, alone_units), (traced, traced_units) = argv, traced_argv
    return statistics.median(seconds(bench, traced, tracer) / traced_units - seconds(bench, alone) / alone_units
                             for _ in range(rounds))


def with_tracers(bench, table, row):
    """row(tracer): the figure of one tracer, for each that is here."""
    figures = {}
    for tracer in bench.tracers():
        reason = tracer.available()
        if reason is not None:
            table.note(f"{tracer.name} is not shown: {reason}.")
            continue
        tracer.start()
        try:
            figures[tracer.name] = row(tracer)
        finally:
            tracer.stop()
    return figures


def short_row(bench, tracer):
    argv = (["sh", "-c", SHORT_SCRIPT, "sh", str(SHORT_PROCESSES)], SHORT_PROCESSES)
    return added(bench, tracer, argv, argv, 5 if bench.quick else 11) * 1e3


def calls_row(bench, tracer):
    count = max(int(CALLS * tracer.scale), 1000)
    return added(bench, tracer, ([bench.loops, "pwrite512", str(CALLS), bench.place], CALLS),
                 ([bench.loops, "pwrite512", str(count), bench.place], count), 5 if bench.quick else 11) * 1e9


def runs(bench, table):
    """Milliseconds for a process that does nothing; nanoseconds for a call of a short run."""
    short = with_tracers(bench, table, lambda tracer: short_row(bench, tracer))
    calls = with_tracers(bench, Quiet(), lambda tracer: calls_row(bench, tracer))
    table.add(f"{SHORT_PROCESSES} processes of /bin/true", round(short.pop("whyio"), 2), "ms each", at_most=0.4,
              **{name: f"{figure:.2f}" for name, figure in short.items()})
    table.add(f"{CALLS:,} calls of pwrite512", round(calls.pop("whyio")), "ns each", at_most=150,
              **{name: f"{figure:,.0f}" for name, figure in calls.items()})
    table.note("Added to the run without a tracer directly before, sealing included; median.")


class Quiet:
    """The reasons stand in the table once."""

    def note(self, text):
        pass
