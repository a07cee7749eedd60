#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recording and replaying under a Slurm of four nodes.

usage: slurm_test.py EXAMPLES FLAG     the directory of the example programs, and ../hosts/flag.c
"""
import json
import os
import subprocess
import sys
import tempfile

import cluster
import mpi_environment  # noqa: F401

ROUNDS = 4
# MPI: options of srun, how the program's name ends. MPICH's ranks are on four nodes; Open MPI's
# speak to each other by PMIx on one.
FAMILIES = {
    "mpich": (["-N4", "-n4", "--mpi=pmi2"], "-mpich"),
    "openmpi": (["-N1", "-n4", "--overcommit", "--mpi=pmix"], ""),
}


def lines(environment, *args):
    done = subprocess.run([os.environ["WHYIO"], *args], env=environment, check=True, text=True,
                          stdout=subprocess.PIPE, timeout=60)
    return [json.loads(line) for line in done.stdout.splitlines()]


def srun(environment, options, *command):
    return subprocess.run(["srun", *options, *command], env=environment, check=True, text=True,
                          stdout=subprocess.PIPE, timeout=100).stdout


def faults_of(environment, options, program):
    """The token goes round: to the right by each rank, the last turn ends at the last one."""
    whyio = os.environ["WHYIO"]
    srun(environment, options, whyio, "record", "-q", "-o", "trace", "--", program, "-d", ".", "-n",
         str(ROUNDS))
    lines(environment, "check", "-q", "--format=json", "trace")
    info = lines(environment, "info", "--format=json", "trace")[0]
    if len(info["jobs"]) != 1 or not info["jobs"][0].isdigit():
        yield f"jobs {info['jobs']}: not the one of Slurm"
    *edges, summary = lines(environment, "edges", "trace")
    messages = sum("from" in edge and edge["evidence"] == "mpi" for edge in edges)
    if messages != 4 * ROUNDS - 1 or any(summary["unmatched"].values()):
        yield f"{messages} messages, expected {4 * ROUNDS - 1}; unmatched: {summary['unmatched']}"
    os.mkdir("replay")
    answer = json.loads(srun(environment, options, whyio, "replay", "-q", "trace", "--root=replay",
                             "--format=json"))
    if answer["mode"] != "causal" or answer["mismatch_count"] != 0:
        yield f"replay in mode {answer['mode']}, {answer['mismatch_count']} mismatches"


def held_faults(environment, flag):
    """One recorder in front of srun directs those on the nodes."""
    whyio = os.environ["WHYIO"]
    answer = subprocess.run(
        [whyio, "record", "--causal=throttle", "--hosts", "--format=json", "-o", "held", "--", "sh", "-c",
         'rm -f log flag; exec "$@"', "sh", "srun", "-N4", "-n4", whyio, "record", "--", flag, "map", ".",
         "4", "1"], env=environment, check=False, text=True, stderr=subprocess.PIPE, timeout=100)
    if answer.returncode != 0:
        yield f"held: {answer.returncode}: {answer.stderr}"
        return
    end = json.loads(answer.stderr.splitlines()[-1])["throttle"]
    if end["end"] != "proven" or end["edges"] != 3:
        yield f"held: {answer.stderr}"


def main(examples, flag):
    failures = tried = 0
    with tempfile.TemporaryDirectory(prefix="whyio-slurm.") as scratch:
        try:
            with cluster.cluster(scratch) as environment:
                for family, (options, suffix) in FAMILIES.items():
                    program = os.path.join(examples, "turns" + suffix)
                    if not os.path.exists(program):
                        continue
                    tried += 1
                    os.mkdir(os.path.join(scratch, family))
                    os.chdir(os.path.join(scratch, family))
                    for fault in faults_of(environment, options, program):
                        failures += 1
                        print(f"{family}: {fault}")
                os.chdir(scratch)
                for fault in held_faults(environment, flag):
                    failures += 1
                    print(fault)
                os.chdir("/")
        except cluster.Missing as reason:
            print(f"skipped: {reason}", file=sys.stderr)
            return 77
    if tried == 0:
        print("skipped: no MPI is installed", file=sys.stderr)
        return 77
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])))
