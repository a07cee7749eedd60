#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is a planted cause found first, and is nothing found where it is mended?

usage: diagnosis_test.py NAME

Each program has one cause at the lines marked CAUSE. It runs on a FUSE file system whose reads,
writes, flushes and names take their time (bench/slowfs.c), so that what is slow does not depend on
the machine. `whyio explain` must name kind, line and ranks first; the mended variant must have no
finding above 5 %.
"""
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time

WHYIO = os.environ["WHYIO"]
BUILD = os.environ["WHYIO_BUILD"]
HERE = os.path.dirname(os.path.realpath(__file__))
HEALTHY_SHARE = 0.05
CAUSE_SHARE = 0.25  # of the time with a processor: a loaded machine makes the rest longer


class Case:
    def __init__(self, kind, ranks=0, on=None, delay_us=2000, names_us=0):
        self.kind = kind        # of the finding that comes first; of a pair: set of the first two
        self.ranks = ranks      # 0: no MPI
        self.on = on            # ranks that the finding names; None: all
        self.delay_us = delay_us
        self.names_us = names_us


CASES = {
    "sync_storm": Case("sync_storm", 2),
    "small_writes": Case("small_writes", 2),
    "small_reads": Case("small_reads"),
    "random_reads": Case("random_access", delay_us=4000),
    "redundant_reads": Case("redundant_reads", delay_us=4000),
    "read_after_write": Case("read_after_write", delay_us=4000),
    "many_small_files": Case("many_small_files", names_us=1000),
    "open_storm": Case("open_storm", names_us=2000),
    "stat_storm": Case("stat_storm", names_us=2000),
    "dir_scan": Case("dir_scan", names_us=3000),
    "token_turns": Case("serialised", 3, on=[0, 1, 2], delay_us=8000),
    "barrier_turns": Case("serialised", 3, on=[0, 1, 2], delay_us=8000),
    "shared_input": Case("redundant_reads", 3, on=[0, 1, 2], delay_us=16000),
    "flush_each_line": Case("small_writes", delay_us=4000),
    "random_writes": Case("random_access", delay_us=4000),
    "mutex_turns": Case("serialised", delay_us=4000),
    "straggler": Case("straggler", 3, on=[2], delay_us=8000),
    "one_rank": Case("one_rank", 3, on=[0], delay_us=8000),
    "stdio_bulk": Case("stdio_bulk_data"),
    "partial_blocks": Case("read_modify_write", delay_us=4000),
    "synchronous_writes": Case("sync_storm", delay_us=4000),
    "polling": Case("polling", 2, on=[1]),
    "temporary_files": Case("metadata_storm", names_us=2000),
    "independent": Case("independent_mpi_io", 2, delay_us=4000),
    "pair_reads_and_flushes": Case({"small_reads", "sync_storm"}),
    "pair_files_and_looks": Case({"many_small_files", "stat_storm"}, names_us=2000),
    "pair_straggler_and_flushes": Case({"straggler", "sync_storm"}, 3, delay_us=8000),
    "healthy_reader": Case(None, 2),
    "healthy_log": Case(None),
    "healthy_collective": Case(None, 2),
    "healthy_children": Case(None),
    "healthy_checkpoint": Case(None, 2),
    "healthy_messages": Case(None, 3),
    "healthy_threads": Case(None),
    "healthy_stream": Case(None),
}


def skip(reason):
    print(reason, file=sys.stderr)
    sys.exit(77)


@contextlib.contextmanager
def slow_directory(scratch, case):
    program = os.path.join(BUILD, "bench", "slowfs")
    if not os.path.exists(program):
        skip("built without libfuse3: no slow file system")
    if not os.access("/dev/fuse", os.R_OK | os.W_OK):
        skip("no /dev/fuse: no slow file system")
    behind, directory = os.path.join(scratch, "behind"), os.path.join(scratch, "slow")
    os.makedirs(behind)
    os.makedirs(directory)
    command = [program, behind, str(case.delay_us), directory]
    command += [str(case.names_us)] if case.names_us else []
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
        try:
            for _ in range(1000):
                if os.path.ismount(directory) or server.poll() is not None:
                    break
                time.sleep(0.01)
            if not os.path.ismount(directory):
                skip("FUSE cannot be mounted here")
            yield directory
        finally:
            for tool in ("fusermount3", "umount"):
                with contextlib.suppress(FileNotFoundError):
                    if subprocess.run([tool, "-u", directory] if tool != "umount" else
                                      [tool, directory], check=False,
                                      stderr=subprocess.DEVNULL).returncode == 0:
                        break
            server.terminate()


def launcher(case):
    return ["mpirun.openmpi", "--oversubscribe", "-n", str(case.ranks)] if case.ranks else []


def record(name, variant, case, scratch):
    """Run a variant on the slow file system; the trace lies elsewhere."""
    program = os.path.join(BUILD, "tests", "diagnosis", name)
    if not os.path.exists(program):
        skip("built without Open MPI")
    trace = os.path.join(scratch, "trace")
    env = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_orte_tmpdir_base=scratch)
    with slow_directory(scratch, case) as directory:
        subprocess.run([WHYIO, "record", "-q", "-o", trace, "--", *launcher(case), program, variant],
                       cwd=directory, env=env, check=True, stdout=subprocess.DEVNULL, timeout=200)
    return trace


def explain(trace):
    text = subprocess.run([WHYIO, "explain", "--format=json", trace], check=True, timeout=60,
                          stdout=subprocess.PIPE).stdout
    return json.loads(text)


def marked(name):
    with open(os.path.join(HERE, name + ".c"), encoding="utf-8") as file:
        return {number for number, line in enumerate(file, 1) if re.search(r"/\* CAUSE \*/", line)}


def causes(answer):
    return [finding for finding in answer["findings"] if not finding["general"]]


def check_sum(answer):
    path = answer["critical_path"]
    total = sum(path.values()) + answer["unexplained_s"]
    if abs(total - answer["duration_s"]) > 1e-6 * max(1, answer["duration_s"]):
        yield f"the parts of the critical path are {total} s, the run {answer['duration_s']} s"


def check_cause(name, case, answer):
    found = causes(answer)
    if not found:
        yield f"nothing was found where {case.kind} is planted"
        return
    first = found[0]
    if first["kind"] != case.kind:
        yield f"{first['kind']} comes first, {case.kind} is planted"
    busy_s = answer["duration_s"] - answer["critical_path"]["cpu_wait_s"] - answer["unexplained_s"]
    if first["seconds"] < CAUSE_SHARE * busy_s:
        yield f"{first['kind']} has {100 * first['seconds'] / busy_s:.0f} % of the run"
    if first["file"] != name + ".c" or first["line"] not in marked(name):
        yield f"named is {first['file']}:{first['line']}, marked are lines {sorted(marked(name))}"
    ranks = case.on if case.on is not None else list(range(case.ranks))
    if first["ranks"] != ranks:
        yield f"named are ranks {first['ranks']}, it is {ranks}"


def check_pair(name, case, answer):
    first = causes(answer)[:2]
    if {finding["kind"] for finding in first} != case.kind:
        yield f"first are {[finding['kind'] for finding in first]}, planted are {sorted(case.kind)}"
    for finding in first:
        if finding["file"] != name + ".c" or finding["line"] not in marked(name):
            yield f"{finding['kind']} names {finding['file']}:{finding['line']}"


def check_mended(answer):
    for finding in causes(answer):
        if finding["share"] > HEALTHY_SHARE:
            yield f"{finding['kind']} ({100 * finding['share']:.0f} %) where nothing is wrong: {finding['title']}"


def check(name, variant):
    case = CASES[name]
    with tempfile.TemporaryDirectory(prefix="whyio-diagnosis.") as scratch:
        trace = record(name, variant, case, scratch)
        answer = explain(trace)
        faults = list(check_sum(answer))
        if variant == "slow" and isinstance(case.kind, set):
            faults += check_pair(name, case, answer)
        elif variant == "slow" and case.kind:
            faults += check_cause(name, case, answer)
        else:
            faults += check_mended(answer)
        if faults:
            text = subprocess.run([WHYIO, "explain", "--all", trace], check=False, stdout=subprocess.PIPE,
                                  encoding="utf-8", errors="replace").stdout
            faults.append(text)
    return [f"{name} {variant}: {fault}" for fault in faults]


def main():
    name = sys.argv[1]
    faults = check(name, "mended")
    if CASES[name].kind:
        faults += check(name, "slow")
    print("\n".join(faults), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
