#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record --causal=throttle --hosts where hosts know each other by IPv6 alone, started by a script: no MPI.

usage: launched_test.py FLAG     the program of flag.c
"""
import json
import os
import subprocess
import sys
import tempfile

import hosts

RANKS, ROUNDS, AHEAD_S = 3, 2, 7


def write_launcher(scratch, flag, agent):
    """Ranks on both hosts in turn; it ends with the first status that is not 0."""
    lines = ["#!/bin/sh", f"cd {scratch} && rm -f log flag"]
    for rank in range(RANKS):
        host = hosts.ADDRESSES_6[rank % 2]
        command = f"{os.environ['WHYIO']} record -- {flag} map {scratch} {RANKS} {ROUNDS}"
        lines += [f"PMI_RANK={rank} {agent} {host} {command} &", 'pids="$pids $!"']
    lines += ["for pid in $pids; do wait $pid || exit; done"]
    path = os.path.join(scratch, "launch")
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    os.chmod(path, 0o755)
    return path


def fault_of(scratch, enter, launcher, *options):
    """What is wrong, if anything."""
    command = [*enter, os.environ["WHYIO"], "record", "--causal=throttle", "--hosts", "--format=json",
               "--force", "-o", os.path.join(scratch, "trace"), *options, "--", launcher]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if answer.returncode != 0:
        return f"{options}: {answer.returncode}: {answer.stderr}"
    end = json.loads(answer.stderr.splitlines()[-1])
    throttle = end["throttle"]
    is_good = end["images"] == RANKS and throttle["end"] in ("proven", "merged") and throttle["contradicted"] == 0
    return None if is_good else f"{options}: {answer.stderr}"


def main(flag):
    with tempfile.TemporaryDirectory(prefix="whyio-launched.") as scratch:
        try:
            with hosts.two_hosts(scratch, AHEAD_S, hosts.ADDRESSES_6) as (enter, agent):
                launcher = write_launcher(scratch, flag, agent)
                faults = [fault_of(scratch, enter, launcher),
                          fault_of(scratch, enter, launcher, "--method=trace", "--nodes=1", "--budget=20s")]
        except hosts.Missing as reason:
            print(f"skipped: {reason}", file=sys.stderr)
            return 77
    for fault in filter(None, faults):
        print(fault)
    return 1 if any(faults) else 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
