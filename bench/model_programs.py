# SPDX-License-Identifier: Apache-2.0
"""Programs recorded on one storage, predicted for another from its HOST.json alone, and run there.

The MPI programs are those of the accuracy suite of replays (replay_programs.py) with its arguments for a
limited device, but for the rounds and the computing: what waits for each write there goes into memory here.

What goes into memory, and computing, takes longer where processors are slower, and those of a virtual machine
are so now and then. So each run there comes behind a record of its own, and medians are compared.
"""
import collections
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys

import model_live
import replay_programs
import storage
from model_errors import MIB, MODELS, Skipped, op, whyio, write_list

RATE = 40 * MIB  # of the device to predict
RUNS = 3  # there, and as many records
RANKS = 4
# So many times the rounds of the accuracy suite take about a second here.
SCALE = {"checkpoint": 4, "checkpoint-sync": 4, "checkpoint-sync-compute": 4, "turns": 56, "mesh": 2.4,
         "workers": 10, "spin": 2.5}
# Linux takes some ten milliseconds to see that a rank waits in a loop on a processor of its own while three
# share the other one. Steps that last no longer would say how the ranks happened to lie.
COMPUTING = {"mesh": ("-c", "30")}

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "integration"))
import mpi_environment  # noqa: E402,F401

# Seconds of several runs: `here` on the device that it was recorded on, `there` on the other one;
# `predicted`: by model, from the records made here; `itself`: by the kernel model from those made there,
# None where they do not tell enough.
Program = collections.namedtuple("Program", "name here there predicted itself")


def write_heavy(scratch):
    """256 MiB in pieces of 1 MiB with a little computing, and an fsync at last."""
    path = os.path.join(scratch, "write-heavy.jsonl")
    write_list(path, [op(i * MIB, MIB, 0.005) for i in range(256)] + [op(method="fsync")])
    return [os.path.join(os.environ["WHYIO_BENCH"], "model_perform"), path, "."]


def fio(scratch):
    """128 MiB in pieces of 64 KiB at random places, and an fsync at last."""
    if shutil.which("fio") is None:
        raise Skipped("fio is not installed")
    return ["fio", "--name=random", "--rw=randwrite", "--bs=64k", "--size=128m", "--ioengine=psync",
            "--end_fsync=1", "--fallocate=none", "--thread", "--randseed=1",
            "--output=" + os.path.join(scratch, "fio.out")]


def example(name):
    def command(_):
        if shutil.which("mpirun.openmpi") is None:
            raise Skipped("Open MPI is not installed")
        return ["mpirun.openmpi", "-n", str(RANKS), os.path.join(os.environ["WHYIO_EXAMPLES"], name),
                "-d", ".", *replay_programs.arguments(name, "limited", SCALE[name]), *COMPUTING.get(name, ())]
    return command


COMMANDS = {"write-heavy": write_heavy, "fio": fio, **{name: example(name) for name in SCALE}}


def record_options(name):
    return replay_programs.PROGRAMS[name].options if name in SCALE else ()


def record(command, directory, trace, *options):
    """A trace of the command in an empty directory on the storage."""
    work = os.path.join(directory, "work")
    os.mkdir(work)
    try:
        done = subprocess.run([os.environ["WHYIO"], "record", "-q", "--force", "-o", trace, *options, "--",
                               *command], cwd=work, capture_output=True, text=True,
                              timeout=model_live.LIMIT_S, check=False)
    finally:
        shutil.rmtree(work)
        os.sync()
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit status {done.returncode}: {done.stderr}")


def predicted(trace, host, model):
    return json.loads(whyio("predict", "-q", trace, "--host=" + host, "--model=" + model, "--format=json"))


def measure(name, command, scratch, here, there, host):
    options = record_options(name)
    program = Program(name, [], [], {model: [] for model in MODELS}, [] if not options else None)
    for _ in range(RUNS):
        trace = os.path.join(scratch, name + ".whyio")
        record(command, here, trace, *options)
        for model in MODELS:
            summary = predicted(trace, host, model)
            program.predicted[model].append(summary["total_s"])
        program.here.append(summary["traced_s"])
        record(command, there, trace)
        summary = predicted(trace, host, "kernel")
        program.there.append(summary["traced_s"])
        if program.itself is not None:
            program.itself.append(summary["total_s"])
    return program


# What a context manager makes of the scratch directory, which is on a disk.
STORAGE = {"disk": contextlib.nullcontext, "tmpfs": storage.tmpfs,
           "limited": lambda scratch: model_live.limited_device(scratch, RATE)}
TEXTS = {"disk": "The other storage is the disk",
         "tmpfs": "The other storage is memory (tmpfs)",
         "limited": f"The other device is limited to {RATE // MIB} MiB/s"}


def storage_of(name, role, scratch):
    """In a directory of its own: both roles may have the same kind, and its files the same names."""
    place = os.path.join(scratch, role)
    os.mkdir(place)
    return STORAGE[name](place)


def described(there, host):
    """HOST.json of the other storage: one that is there is kept, so that several runs may share it."""
    if not os.path.exists(host):
        whyio("calibrate", "-q", there, "-o", host)
    return host


def programs(options, scratch, skipped):
    """All programs; reasons of what is left out go to `skipped`."""
    try:
        with storage_of(options.source, "here", scratch) as here, \
                storage_of(options.target, "there", scratch) as there:
            host = described(there, options.host or os.path.join(scratch, "there.json"))
            for name in options.programs or COMMANDS:
                try:
                    yield measure(name, COMMANDS[name](scratch), scratch, here, there, host)
                except Skipped as reason:
                    skipped.append(f"program {name}: {reason}")
    except (Skipped, storage.Missing) as reason:
        skipped.append(f"programs on another device: {reason}")


def scatter(seconds):
    """Median and half of the range."""
    median = statistics.median(seconds)
    return f"{median:.3f} ± {50 * (max(seconds) - min(seconds)) / median:.0f} %"


def itself(program):
    """Of each run there what it was to take by its own trace."""
    if program.itself is None:
        return "-"
    return f"{100 * statistics.median(p / r - 1 for p, r in zip(program.itself, program.there)):+.1f} %"


def cells(program):
    """Its row in a table."""
    return {"recorded, s": scatter(program.here), "run there, s": scatter(program.there),
            **{model: f"{scatter(program.predicted[model])}: {100 * error(program, model):+.1f} %"
               for model in MODELS},
            "kernel, recorded there": itself(program)}


def error(program, model):
    return statistics.median(program.predicted[model]) / statistics.median(program.there) - 1
