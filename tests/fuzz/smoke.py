#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run one libFuzzer program for a few seconds: no crash, and fast enough to be of use.

usage: smoke.py FUZZER CORPUS CRASHES FLOOR

FLOOR is the least number of executions per second of CPU time. On a busy machine that takes longer,
too: caches and cores are shared, so the best of a few tries counts. Seconds: WHYIO_FUZZ_SECONDS,
default 3.
"""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

TRIES = 4


def used_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def fuzz(fuzzer, corpus, crashes, seconds):
    os.makedirs(crashes, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="whyio-fuzz.") as scratch:
        seeds = os.path.join(scratch, "corpus")
        shutil.copytree(corpus, seeds)
        return subprocess.run(
            [fuzzer, f"-max_total_time={seconds}", "-print_final_stats=1", "-timeout=10",
             "-rss_limit_mb=2048", f"-artifact_prefix={crashes}/", seeds],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, errors="replace", check=False)


def main():
    fuzzer, corpus, crashes, floor = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
    if not os.path.isdir(corpus) or not os.listdir(corpus):
        print(f"{corpus}: every parser needs at least one seed", file=sys.stderr)
        return 1
    for _ in range(TRIES):
        before_s = used_s()
        result = fuzz(fuzzer, corpus, crashes, os.environ.get("WHYIO_FUZZ_SECONDS", "3"))
        print("\n".join(result.stdout.splitlines()[-40:]))
        if result.returncode != 0:
            print(f"the fuzzer ended with {result.returncode}; input in {crashes}", file=sys.stderr)
            return 1
        runs = int(re.search(r"number_of_executed_units: (\d+)", result.stdout).group(1))
        rate = runs / max(used_s() - before_s, 0.01)
        print(f"{runs} executions, {rate:.0f} per CPU second, at least {floor:.0f} wanted")
        if rate >= floor:
            return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
