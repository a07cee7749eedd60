#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""slurm_test.py BOUND: prolog, TaskProlog and epilog of examples/activation under a real Slurm of four nodes: the parts
of all nodes become one trace, jobs that do not ask for it leave nothing."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.path.append(os.path.join(os.environ["WHYIO_SOURCE"], "tests", "integration", "slurm"))

import cluster  # noqa: E402
import scripts  # noqa: E402

WHYIO = os.environ["WHYIO"]


def srun(environment, work, *command, **more):
    answer = subprocess.run(["srun", "-N2", "-n4", "--overcommit", *command], env=dict(environment, **more), cwd=work,
                            check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120)
    assert answer.returncode == 0, answer.stderr
    return answer


def wait_for(condition):
    """The epilog runs when srun has ended."""
    cluster.time.sleep(0.1)
    for _ in range(300):
        if condition():
            return True
        cluster.time.sleep(0.1)
    return False


def traces(work):
    return sorted(name for name in os.listdir(work) if name.endswith(".whyio"))


def check(environment, scratch, bound):
    # All nodes are this host: they share the directory that each would have for itself.
    work = os.path.join(scratch, "work")
    os.mkdir(work)
    srun(environment, work, bound, "5", "1", "1", "exit")
    wait_for(lambda: not [name for name in os.listdir(scratch) if name.startswith("whyio-job-")])
    assert traces(work) == [], traces(work)
    script = f"{bound} 50 1 1 exit"
    srun(environment, work, "sh", "-c", script, WHYIO_RECORD="1")
    assert wait_for(lambda: traces(work) and not [name for name in os.listdir(scratch) if name.startswith("whyio-job-")])
    trace = os.path.join(work, traces(work)[0])
    assert subprocess.run([WHYIO, "check", trace], check=False).returncode == 0
    info = json.loads(subprocess.run([WHYIO, "info", "--format=json", trace], check=True, stdout=subprocess.PIPE).stdout)
    assert info["ops"]["pwrite"]["count"] == 4 * 50, info["ops"]
    assert info["ranks"] == 4 and info["jobs"] == [os.path.basename(trace)[len("whyio-"):-len(".whyio")]], info
    print(f"{info['events']} events of {info['processes']} processes of 4 tasks on 2 nodes")


def main(bound):
    if shutil.which("setpriv") is None:
        print("skipped: setpriv is not installed", file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory(prefix="whyio-slurm.") as scratch:
        lines = "PrologFlags=Alloc\n"
        for key, name in (("Prolog", "prolog"), ("TaskProlog", "task-prolog"), ("Epilog", "epilog")):
            lines += f"{key}={scripts.install(f'slurm-{name}.sh', scratch, base=scratch)}\n"
        try:
            with cluster.cluster(scratch, lines) as environment:
                check(environment, scratch, bound)
        except cluster.Missing as reason:
            print(f"skipped: {reason}", file=sys.stderr)
            return 77
    return 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
