#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whyio explain on traces that lack something: an answer that says what is missing and what to do.

Each case is a trace made by hand (tests/support/script.h), words that the text has to have, words
that it must not have, and a look at the JSON, which fits its schema.
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import tempfile

import schema

S = 1_000_000_000
STREAMS = 10_000
MOST_MIB = 512

TWO_RANKS = "process 1 rank=0\nprocess 2 rank=1\nstream 0 1\nstream 1 2\n"
SYNC = "".join(
    f"write t={i * 10_100_000 + 10} dur=2000000 fd=3 path=/mnt/a off={i * 2048} size=2048 at=0x20\n"
    f"fsync t={i * 10_100_000 + 2_100_000} dur=8000000 fd=3 path=/mnt/a at=0x30\n" for i in range(200))


def many_streams():
    ranks = "".join(f"process {i + 1} rank={i}\nstream {i} {i + 1}\n" for i in range(STREAMS))
    return ranks + "".join(f"write stream={i} t={1000 * i} dur=2000000 fd=3 path=/d/f{i} off=0 size=4096 at=0x20\n"
                           f"fsync stream={i} t={1000 * i + 2000001} dur=900000 fd=3 path=/d/f{i} at=0x30\n"
                           for i in range(STREAMS))


CASES = {
    "no edges": {
        "script": TWO_RANKS + f"write stream=0 t=0 dur={S} fd=3 path=/d/a off=0 size=4096 at=0x10\n"
                  f"MPI_Barrier stream=0 t={S} dur={3 * S} at=0x20\n"
                  f"write stream=1 t=0 dur={4 * S} fd=3 path=/d/a off=4096 size=4096 at=0x10\n"
                  f"MPI_Barrier stream=1 t={4 * S} dur=0 at=0x20\n",
        "has": ["no edges between threads are known", "record with --causal=observe"]},
    "no sources": {
        "script": SYNC.replace(" at=0x20", "").replace(" at=0x30", ""),
        "has": ["fsync after every 2.00 KiB", "/mnt/a", "the trace has no sources"],
        "json": lambda of: of["findings"][0]["line"] is None},
    "events were lost": {
        "script": "process 1 rank=0 dropped=7\nprocess 2 rank=1\nstream 0 1\nstream 1 2\n"
                  f"write stream=0 t=0 dur={S} fd=3 path=/d/a off=0 size=4096 at=0x10\n"
                  f"read stream=1 t=0 dur={S} fd=3 path=/d/b off=0 size=4096 at=0x10\n",
        "has": ["events were dropped", "WHYIO_RING_DIR", "the trace is incomplete"],
        "has_not": ["--causal=observe"], "stderr": True},
    "one rank": {
        "script": "process 1 rank=0\nstream 0 1\n" + SYNC,
        "has": ["on 1 rank.", "fsync after every 2.00 KiB", "rank 0"],
        "has_not": ["note:", "no edges"]},
    "many streams": {
        "script": many_streams(),
        "has": [f"on {STREAMS} ranks", f"ranks 0-{STREAMS - 1}"]},
    "nothing slow": {
        "script": "open t=0 dur=1000 path=/d/a res=3 at=0x10\n"
                  f"write t={S} dur=1000 fd=3 path=/d/a off=0 size=4096 at=0x20\n"
                  f"close t={9 * S} dur=1000 fd=3 path=/d/a at=0x30\n",
        "has": ["Nothing is slow here"], "lines": 2,
        "json": lambda of: of["findings"] == []},
    "a line that works on several files": {
        "script": "process 100\nprocess 101\nstream 0 100\nstream 1 101\n"
                  f"write stream=0 t=0 dur={S} fd=3 path=/d/a off=0 size=8388608 at=0x20\n"
                  f"write stream=0 t={S} dur={S} fd=4 path=/d/b off=0 size=8388608 at=0x20\n"
                  f"sem_post stream=0 t={2 * S} dur=1000 at=0x30\n"
                  f"sem_wait stream=1 t=0 dur={2 * S + 2000} at=0x40\n"
                  "edge 0:2 1:0\n",
        "has": ["%  write  program+0x20  /d/a", "%  write  program+0x20  /d/b"]},
    "much I/O of no known pattern": {
        "script": f"write t=0 dur={S} fd=3 path=/d/a off=0 size=8388608 at=0x20\n"
                  f"write t={S} dur={S} fd=3 path=/d/a off=8388608 size=8388608 at=0x20\n",
        "has": ["No cause is known", "other I/O: 2.00 s (100 %)  16.0 MiB by write"],
        "has_not": ["Nothing is slow"]},
    "network file system": {
        "script": "file /mnt/a regular size=409600 fs=nfs\n" + SYNC,
        "has": ["fsync after every 2.00 KiB", "fitted from the trace", "no model knows nfs"],
        "has_not": ["--host=HOST.json"],
        "json": lambda of: of["gain_basis"] == "trace" and
        of["findings"][0]["change"]["network_fs"] == "nfs"},
}
failures = []


def bound_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MIB << 20, MOST_MIB << 20))


def explain(directory, *options):
    return subprocess.run([os.environ["WHYIO"], "explain", *options, directory], capture_output=True, timeout=100,
                          check=False, preexec_fn=bound_memory, text=True)


def check_case(name, case, directory):
    subprocess.run([os.environ["TRACE_SCRIPT"], directory], input=case["script"].encode(), check=True)
    result = explain(directory)
    faults = [f"lacks '{words}'" for words in case["has"] if words not in result.stdout]
    faults += [f"has '{words}'" for words in case.get("has_not", []) if words in result.stdout]
    if result.returncode != 0 or (result.stderr and "stderr" not in case):
        faults.append(f"exit status {result.returncode}, {result.stderr!r}")
    if "lines" in case and len(result.stdout.splitlines()) != case["lines"]:
        faults.append(f"not {case['lines']} lines")
    answer = json.loads(explain(directory, "--format=json").stdout)
    faults += schema.check(answer, schema.load("explain"))
    if not case.get("json", lambda of: True)(answer):
        faults.append(f"the JSON is another one: {json.dumps(answer)[:2000]}")
    if faults:
        failures.append(name)
        print(f"# {name}: {'; '.join(faults)}\n{result.stdout}", file=sys.stderr)


def main():
    with tempfile.TemporaryDirectory() as top:
        for number, (name, case) in enumerate(CASES.items()):
            directory = pathlib.Path(top, str(number))
            directory.mkdir()
            check_case(name, case, str(directory))
    print(f"{len(CASES)} cases, {len(failures)} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
