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
CAUSE_SHARE = 0.5  # of the time with a processor: a loaded machine makes the rest longer
OTHER_SHARE = 0.1   # likewise: I/O that shows no pattern, and what is not explained
PAIR_SHARE = 0.2    # of each of two causes
TRIES = 3           # load may stretch what is no I/O: shares count if one run shows them ..
LOADED_SHARE = 0.1  # .. and so does all else of a run that waited for a processor for so long


class Case:
    def __init__(self, kind, ranks=0, on=None, delay_us=2000, names_us=0, writes=1, has_line=True,
                 other=OTHER_SHARE, library=None, cache=(0, 0), is_shared=False, share=CAUSE_SHARE, also=()):
        self.also = also        # kinds of findings that the mended variant mends, too
        self.kind = kind        # of the finding that comes first; of a pair: the first two
        self.ranks = ranks      # 0: no MPI
        self.on = on            # ranks that the finding names; None: all
        self.delay_us = delay_us
        self.names_us = names_us
        self.writes = writes      # of so many one waits
        self.cache = cache        # KiB, and KiB per second in which they are written back
        self.is_shared = is_shared  # transfers under way slow each other down
        self.share = share        # of the time with a processor that the cause has at least
        self.library = library    # that the marked line calls; None: the program calls itself
        self.has_line = has_line  # False: what costs time is no call
        self.other = other        # part of the time that is neither cause nor computing nor waiting


CASES = {
    "sync_storm": Case("sync_storm", 2, also=("small_writes",)),
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
    "lock_ping_pong": Case("lock_ping_pong", delay_us=500, names_us=4000),
    "mapped_faults": Case("mapped_faults", delay_us=4000, has_line=False),
    "library_writes": Case("small_writes", library="HDF5"),
    "misaligned": Case("misaligned", 2, delay_us=8000),
    "buffered_records": Case("io_amplification"),
    "compute_and_write": Case("blocking_io", delay_us=25000),
    "many_writers": Case("concurrent_io", delay_us=1000, is_shared=True),
    # what can be spread over the computing is less than half of the run
    "bursts": Case("write_burst", cache=(2048, 6400), share=0.35),
    "no_aggregators": Case("aggregators", 2, delay_us=4000),
    "stream_files": Case("many_small_files", delay_us=500, names_us=2000),
    "aio_reads": Case("small_reads"),
    "throttling": Case("page_cache_throttling", delay_us=80000, writes=40),
    "pair_reads_and_flushes": Case(("small_reads", "sync_storm")),
    "pair_files_and_looks": Case(("many_small_files", "stat_storm"), names_us=2000),
    "pair_straggler_and_flushes": Case(("straggler", "sync_storm"), 3, delay_us=8000),
    "pair_scans_and_random_reads": Case(("dir_scan", "random_access"), delay_us=3000, names_us=3000),
    "pair_partial_blocks_and_names": Case(("read_modify_write", "metadata_storm"), delay_us=5000, names_us=2000),
    "pair_one_rank_and_small_writes": Case(("one_rank", "small_writes"), 3, delay_us=4000),
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
    command += [str(option) for option in
                (case.names_us, case.writes, *case.cache, int(case.is_shared))]
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


def is_planted(name, case, finding):
    return not case.has_line or (finding["file"] == name + ".c" and finding["line"] in marked(name))


def check_cause(name, case, answer):
    """What comes first: kind, line, ranks."""
    found = causes(answer)
    if not found:
        yield f"nothing was found where {case.kind} is planted"
        return
    first = found[0]
    if first["kind"] != case.kind:
        yield f"{first['kind']} comes first, {case.kind} is planted"
    if not is_planted(name, case, first):
        yield f"named is {first['file']}:{first['line']}, marked are lines {sorted(marked(name))}"
    if case.library and first["library"] != case.library:
        yield f"named is library {first['library']}, it is {case.library}"
    ranks = case.on if case.on is not None else list(range(case.ranks))
    if first["ranks"] != ranks:
        yield f"named are ranks {first['ranks']}, it is {ranks}"


def check_pair(name, case, answer):
    """Both come first, in the order of what they cost."""
    first = causes(answer)[:2]
    if tuple(finding["kind"] for finding in first) != case.kind:
        yield f"first are {[finding['kind'] for finding in first]}, planted are {list(case.kind)}"
    for finding in first:
        if not is_planted(name, case, finding):
            yield f"{finding['kind']} names {finding['file']}:{finding['line']}"


def check_shares(name, case, answer):
    """How much of the run the causes are, and how little is neither cause nor computing."""
    kinds = case.kind if isinstance(case.kind, tuple) else (case.kind,)
    slept_s = answer["unexplained_s"]
    busy_s = answer["duration_s"] - answer["critical_path"]["cpu_wait_s"]
    for kind in kinds:
        share = sum(finding["seconds"] for finding in causes(answer)
                    if finding["kind"] == kind and is_planted(name, case, finding)) / busy_s
        if share < (case.share if len(kinds) == 1 else PAIR_SHARE):
            yield f"{kind} has {100 * share:.0f} % of the run"
    general_s = sum(finding["seconds"] for finding in answer["findings"] if finding["general"])
    if (general_s + slept_s) / busy_s > case.other:
        yield (f"other I/O has {100 * general_s / busy_s:.0f} %, not explained are "
               f"{100 * slept_s / busy_s:.0f} % of the run")


def check_mended(answer):
    for finding in causes(answer):
        if finding["share"] > HEALTHY_SHARE:
            yield f"{finding['kind']} ({100 * finding['share']:.0f} %) where nothing is wrong: {finding['title']}"


def check_answer(name, variant, case, answer):
    """Faults, and those that load alone may make."""
    faults = list(check_sum(answer))
    if variant == "mended" or not case.kind:
        return faults + list(check_mended(answer)), []
    look = check_pair if isinstance(case.kind, tuple) else check_cause
    return faults + list(look(name, case, answer)), list(check_shares(name, case, answer))


def is_loaded(answer):
    return answer["critical_path"]["cpu_wait_s"] > LOADED_SHARE * answer["duration_s"]


def check(name, variant):
    case = CASES[name]
    for _ in range(TRIES):
        with tempfile.TemporaryDirectory(prefix="whyio-diagnosis.") as scratch:
            trace = record(name, variant, case, scratch)
            answer = explain(trace)
            faults, shares = check_answer(name, variant, case, answer)
            if not faults and not shares:
                return []
            text = subprocess.run([WHYIO, "explain", "--all", trace], check=False, stdout=subprocess.PIPE,
                                  encoding="utf-8", errors="replace").stdout
        if faults and not is_loaded(answer):
            break
    return [f"{name} {variant}: {fault}" for fault in faults + shares + [text]]


def main():
    name = sys.argv[1]
    faults = check(name, "mended")
    if CASES[name].kind:
        faults += check(name, "slow")
    print("\n".join(faults), file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
