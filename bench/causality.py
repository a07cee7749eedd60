# SPDX-License-Identifier: Apache-2.0
"""What it costs to record who waits for whom: the examples and fio, with and without whyio in turn."""
import os
import shutil
import statistics

import sections
import tracers
from replay_programs import PROGRAMS, arguments

RANKS = 4
TARGET = 1.10
FIO = ("fio", "--name=job", "--numjobs=4", "--ioengine=psync", "--bs=4k", "--size=64m", "--loops=4",
       "--fallocate=none", "--unlink=1", "--group_reporting")
FIO_PATTERNS = ("write", "randread", "randrw")


def commands(bench, work):
    """(name, argv) of what is there."""
    examples = os.path.join(bench.build, "examples")
    if shutil.which("mpirun.openmpi"):
        for name in PROGRAMS:
            if os.path.exists(os.path.join(examples, name)):
                yield f"{name}, {RANKS} ranks", [
                    "mpirun.openmpi", "--oversubscribe", "-n", str(RANKS), os.path.join(examples, name),
                    "-d", work, *arguments(name, "tmpfs", 1)]
    if shutil.which("fio"):
        for pattern in FIO_PATTERNS:
            yield f"fio {pattern}, 4 jobs", [*FIO, f"--rw={pattern}", f"--directory={work}"]


def causality(bench, table):
    """Whole runs, one with whyio directly after one without: the median of the ratios."""
    recorder = tracers.Whyio(bench.place, bench.whyio)
    work = os.path.join(bench.place, "work")
    rounds = 5 if bench.quick else 9
    for name, argv in commands(bench, work):
        times = [[timed(bench, argv, work, tracer) for tracer in (None, recorder)] for _ in range(rounds)]
        ratios = [traced / alone for alone, traced in times]
        alone = statistics.median(alone for alone, _ in times)
        table.add(name, round(statistics.median(ratios), 3), "x", at_most=TARGET, **{
            "no tracer, s": f"{alone:.2f}", "least": f"{min(ratios):.2f}", "most": f"{max(ratios):.2f}"})
    if not table.rows:
        table.note("not measured: neither Open MPI nor fio is installed.")


def timed(bench, argv, work, tracer):
    """Seconds of one run in an empty directory."""
    shutil.rmtree(work, ignore_errors=True)
    os.mkdir(work)
    return sections.timed(bench, argv, tracer)[0]
