#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recording and replaying on two hosts whose clocks differ.

usage: hosts_test.py EXAMPLES     the directory of the example programs
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import hosts
import mpi_environment  # noqa: F401

RANKS, ROUNDS = 4, 4
AHEAD_S = (0, 7)


def mpirun(enter, agent, *command):
    each = ",".join(f"{address}:{RANKS // 2}" for address in hosts.ADDRESSES)
    mca = {"plm_rsh_agent": agent, "btl": "tcp,self", "pml": "ob1", "btl_tcp_if_include": hosts.NETWORK,
           "oob_tcp_if_include": hosts.NETWORK, "plm_rsh_no_tree_spawn": "1"}
    options = [word for name, value in mca.items() for word in ("--mca", name, value)]
    passed = [word for name in os.environ if name.startswith(("WHYIO", "OMPI_MCA_"))
              for word in ("-x", name)]
    done = subprocess.run([*enter, "mpirun.openmpi", *options, *passed, "--map-by", "node", "-H", each,
                           "-n", str(RANKS), *command], capture_output=True, text=True, timeout=100,
                          check=False)
    if done.returncode != 0:
        raise RuntimeError(f"mpirun: exit status {done.returncode}: {done.stderr}")
    return done.stdout


def lines(*args):
    done = subprocess.run([os.environ["WHYIO"], *args], check=True, text=True, stdout=subprocess.PIPE,
                          timeout=60)
    return [json.loads(line) for line in done.stdout.splitlines()]


def faults_of(enter, agent, program, ahead_s):
    whyio = os.environ["WHYIO"]
    mpirun(enter, agent, whyio, "record", "-q", "-o", "trace", "--", program, "-d", ".", "-n",
           str(ROUNDS))
    info = lines("info", "--format=json", "trace")[0]
    if sorted(info["hosts"]) != sorted(hosts.NAMES):
        yield f"hosts {info['hosts']}"
    *edges, summary = lines("edges", "trace")
    messages = [edge for edge in edges if "from" in edge and edge["evidence"] == "mpi"]
    if len(messages) != RANKS * ROUNDS - 1 or any(summary["unmatched"].values()):
        yield f"{len(messages)} messages, expected {RANKS * ROUNDS - 1}; {summary['unmatched']}"
    os.mkdir("replay")
    for how, run in (("on one host", lambda *args: subprocess.run(
            args, check=True, capture_output=True, text=True, timeout=100).stdout),
                     ("on both hosts", lambda *args: mpirun(enter, agent, *args))):
        answer = json.loads(run(whyio, "replay", "-q", "trace", "--root=replay", "--format=json"))
        if answer["mode"] != "causal" or answer["mismatch_count"] != 0:
            yield f"replay {how}: mode {answer['mode']}, {answer['mismatch_count']} mismatches"
        if ahead_s and answer["traced_s"] >= ahead_s:
            yield f"replay {how}: the run took {answer['traced_s']} s: its clocks are not corrected"


def main(examples):
    program = os.path.join(examples, "turns")
    if shutil.which("mpirun.openmpi") is None or not os.path.exists(program):
        print("skipped: Open MPI is not installed", file=sys.stderr)
        return 77
    failures = 0
    for ahead_s in AHEAD_S:
        with tempfile.TemporaryDirectory(prefix="whyio-hosts.") as scratch:
            os.chdir(scratch)
            try:
                with hosts.two_hosts(scratch, ahead_s) as (enter, agent):
                    for fault in faults_of(enter, agent, program, ahead_s):
                        failures += 1
                        print(f"second host ahead by {ahead_s} s: {fault}")
            except hosts.Missing as reason:
                print(f"skipped: {reason}", file=sys.stderr)
                return 77
            finally:
                os.chdir("/")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
