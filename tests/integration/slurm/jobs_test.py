#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The jobs of processes under a real Slurm: several jobs on one node, several processes each.

usage: jobs_test.py LOOK     the program probe_look
"""
import os
import subprocess
import sys
import tempfile
import time

import cluster

JOBS, TASKS = 3, 2
TASK = 'echo "$$" > "$1/$SLURM_JOB_ID.$SLURM_PROCID.new"; mv "$1/$SLURM_JOB_ID.$SLURM_PROCID.new" ' \
       '"$1/$SLURM_JOB_ID.$SLURM_PROCID"; exec sleep 600'


def start(environment, pids):
    """srun's of the jobs; each task says its pid in a file named by its job."""
    command = ["srun", "-w", "node1", "-N1", f"-n{TASKS}", "--overcommit", "--oversubscribe", "sh", "-c", TASK, "sh",
               pids]
    return [subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL)
            for _ in range(JOBS)]


def wait_for_tasks(pids, runs):
    for _ in range(300):
        names = [name for name in os.listdir(pids) if not name.endswith(".new")]
        if len(names) == JOBS * TASKS:
            return {open(os.path.join(pids, name), encoding="ascii").read().strip(): name.split(".")[0]
                    for name in names}
        if any(run.poll() is not None for run in runs):
            raise cluster.Missing("srun ends at once")
        time.sleep(0.2)
    raise cluster.Missing("the jobs do not start")


def look(program, mode, pids):
    text = subprocess.run([program, mode, *pids], check=True, stdout=subprocess.PIPE, text=True,
                          timeout=60).stdout
    return dict(line.split(" ", 1) for line in text.splitlines())


def check(program, wanted):
    assert len(set(wanted.values())) == JOBS, wanted
    found = look(program, "batch", list(wanted))
    assert found == wanted, (found, wanted)
    with subprocess.Popen(["sleep", "600"], env={"XSLURM_JOB_ID": "1", "SLURM_JOB_IDS": "2"}) as other:
        time.sleep(0.2)  # exec
        found = look(program, "SLURM_JOB_ID", [*wanted, str(other.pid)])
        other.kill()
    assert found.pop(str(other.pid)) == "", "a process that is in no job"
    assert found == wanted, (found, wanted)
    found = look(program, "procname_uid", list(wanted))
    assert set(found.values()) == {f"sleep.{os.getuid()}"}, found
    print(f"{len(wanted)} processes of {JOBS} jobs")


def main():
    with tempfile.TemporaryDirectory(prefix="whyio-jobs.") as scratch:
        pids = os.path.join(scratch, "pids")
        os.mkdir(pids)
        try:
            with cluster.cluster(scratch) as environment:
                runs = start(environment, pids)
                try:
                    check(sys.argv[1], wait_for_tasks(pids, runs))
                finally:
                    subprocess.run(["scancel", "--user=root"], env=environment, check=False)
                    for run in runs:
                        run.kill()
                        run.wait()
        except cluster.Missing as reason:
            print(f"skipped: {reason}", file=sys.stderr)
            sys.exit(77)


if __name__ == "__main__":
    main()
