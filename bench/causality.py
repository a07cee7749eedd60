# SPDX-License-Identifier: Apache-2.0
"""What it costs to record which operation waits for which: the examples and fio, with and without whyio in turn."""
import os
import shutil
import statistics
import subprocess

import sections
import tracers
from replay_programs import PROGRAMS, arguments

RANKS = 4
TARGET = 1.10
FIO = ("fio", "--name=job", "--numjobs=4", "--ioengine=psync", "--bs=4k", "--size=64m", "--loops=4",
       "--fallocate=none", "--unlink=1", "--group_reporting")
MAPS = (10, 1_000, 10_000)
MAP_ROUNDS = 5_000
ROUND_US = 5.0
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
    shared_maps(bench, table, rounds)
    if not table.rows:
        table.note("not measured: neither Open MPI nor fio is installed.")


def shared_maps(bench, table, rounds):
    """What recording synchronisation adds to mapping shared memory, using a semaphore there, and
    unmapping it, beside maps that stay: the least of several times, which is what the code takes."""
    program = os.path.join(bench.build, "tests", "integration", "causal", "shared_maps")
    if not os.path.exists(program):
        return
    for maps in MAPS:
        least = {}
        for _ in range(rounds):
            for causal in ("off", "observe"):
                took = a_round(bench, program, maps, causal)
                least[causal] = min(took, least.get(causal, took))
        table.add(f"a round of shared memory beside {maps} maps", round(least["observe"] - least["off"], 2),
                  "us", at_most=ROUND_US, **{"no tracer, s": "", "least": f"{least['off']:.2f}",
                                             "most": f"{least['observe']:.2f}"})


def a_round(bench, program, maps, causal):
    """Microseconds, as the program says."""
    work = os.path.join(bench.place, "work")
    shutil.rmtree(work, ignore_errors=True)
    os.mkdir(work)
    run = subprocess.run([bench.whyio, "record", "-q", f"--causal={causal}", "-o", "trace", "--", program,
                          "rounds", str(maps), str(MAP_ROUNDS)],
                         cwd=work, check=True, stdout=subprocess.PIPE)
    return float(run.stdout)


def timed(bench, argv, work, tracer):
    """Seconds of one run in an empty directory."""
    shutil.rmtree(work, ignore_errors=True)
    os.mkdir(work)
    return sections.timed(bench, argv, tracer)[0]
