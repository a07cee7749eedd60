#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs of a real Slurm write to a mount: what each has written counts for it; and the lines of docs/JOBS.md for its
prolog and epilog do what they say."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import cluster

WHYIO = os.environ["WHYIO"]
WRITE = ("import os, sys, time\nfile = os.open(sys.argv[1], os.O_RDWR)\ndata = bytes(1000 + int(os.environ['SLURM_JOB_ID']))\n"
         "for turn in range(20):\n    time.sleep(0.02 if turn < 3 else 0)\n    os.pwrite(file, data, 0)\n")
SCRIPT = "#!/bin/sh\n{line} && echo {what} $SLURM_JOB_ID >> {log}\nexit 0\n"


class Mounted:
    def __init__(self, work, mode):
        self.point = os.path.join(work, f"mnt.{mode}")
        os.mkdir(self.point)
        self.server = subprocess.Popen([WHYIO, "serve", f"--root={work}/root.{mode}", f"unix:{work}/socket.{mode}"],
                                       stdout=subprocess.PIPE, text=True)
        while not self.server.stdout.readline().startswith("address"):
            assert self.server.poll() is None
        self.address = f"unix:{work}/socket.{mode}"
        self.mount = subprocess.Popen([WHYIO, "mount", f"--jobid-var={mode}", self.address, self.point],
                                      stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if not self.mount.stdout.readline().startswith("mounted"):
            said = self.mount.communicate()[1]
            self.server.terminate()
            self.server.wait()
            raise cluster.Missing(said)
        with open(os.path.join(self.point, "f"), "wb"):
            pass

    def written(self):
        text = subprocess.run([WHYIO, "jobstats", "--format=json", self.address], check=True, stdout=subprocess.PIPE).stdout
        return {job["job_id"]: (job["ops"]["write_bytes"]["min"], job["ops"]["write_bytes"]["max"])
                for job in json.loads(text)["jobs"] if job["job_id"] and "write_bytes" in job["ops"]}

    def end(self):
        self.mount.terminate()
        self.mount.communicate(timeout=60)
        self.server.terminate()
        self.server.wait(60)


def write_script(path, line, what, log):
    with open(path, "w", encoding="ascii") as script:
        script.write(SCRIPT.format(line=line, what=what, log=log))
    os.chmod(path, 0o755)


def run_jobs(environment, point, count):
    command = ["srun", "-w", "node1", "-N1", "-n2", "--overcommit", "--oversubscribe", sys.executable, "-c", WRITE,
               os.path.join(point, "f")]
    runs = [subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL) for _ in range(count)]
    if any(run.wait(120) != 0 for run in runs):
        raise cluster.Missing("srun fails")


def check(work, batch, local):
    control = os.path.join(batch.point, ".whyio", "jobid_name"), os.path.join(local.point, ".whyio", "jobid_name")
    log = os.path.join(work, "log")
    prolog, epilog = os.path.join(work, "prolog"), os.path.join(work, "epilog")
    write_script(prolog, f'echo "$SLURM_JOB_ID" > {control[1]}', "prolog", log)
    write_script(epilog, f'echo "$SLURM_JOB_ID" > {control[0]} && echo idle > {control[1]}', "epilog", log)
    with cluster.cluster(work, f"Prolog={prolog}\nEpilog={epilog}\nPrologFlags=Alloc\n") as environment:
        run_jobs(environment, batch.point, 3)
        written = batch.written()
        assert len(written) == 3, written
        for job, sizes in written.items():
            assert sizes == (1000 + int(job),) * 2, written
        run_jobs(environment, local.point, 1)  # one job at a time
    written = local.written()
    assert len(written) == 1, written
    for job, sizes in written.items():
        assert sizes == (1000 + int(job),) * 2, written
    with open(log, encoding="ascii") as lines:
        ran = lines.read().split()
    assert ran.count("prolog") >= 4 and ran.count("epilog") >= 4, ran
    with open(control[1], encoding="ascii") as name:
        assert name.read() == "idle\n"
    print(f"jobs {sorted(batch.written())} by their variable, {sorted(written)} by prolog and epilog")


def main():
    if shutil.which("fusermount3") is None or not os.path.exists("/dev/fuse"):
        print("skipped: no /dev/fuse or no fusermount3", file=sys.stderr)
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="whyio-jobs.") as work:
        mounts = []
        try:
            mounts += [Mounted(work, "batch")]
            mounts += [Mounted(work, "nodelocal")]
            check(work, *mounts)
        except cluster.Missing as reason:
            print(f"skipped: {reason}", file=sys.stderr)
            sys.exit(77)
        finally:
            for mount in mounts:
                mount.end()


if __name__ == "__main__":
    main()
