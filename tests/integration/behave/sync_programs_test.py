#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sync_programs_test.py LIBRARY: programs as they are used: threads and processes of Python, a shell's
pipeline, make with a job server, fio with threads. Each must do what it does without capture."""

import collections
import os
import shutil
import sys
import tempfile
import textwrap

import lacks
import more_test
from sync_stress_test import check_alone
from sync_test import of_class

PYTHON = textwrap.dedent("""
    import multiprocessing, os, queue, sqlite3, threading

    def square(x):
        return x * x

    def fill(lines, lock, total):
        for i in range(50):
            with lock:
                total.value += 1
            lines.put(i)
        lines.put(None)

    def insert(number):
        base = sqlite3.connect("base.db", timeout=60)
        for i in range(5):
            with base:
                base.execute("insert into t values (?)", (i * number,))

    def drain(source, out):
        while (item := source.get()) is not None:
            out.append(item)

    if __name__ == "__main__":
        with multiprocessing.Pool(2) as pool:
            print(sum(pool.map(square, range(100))))
        lines, lock = multiprocessing.Queue(), multiprocessing.Lock()
        total, got = multiprocessing.Value("i", 0), []
        child = multiprocessing.Process(target=fill, args=(lines, lock, total))
        child.start()
        drain(lines, got)
        child.join()
        print(sum(got), total.value)
        source, out = queue.Queue(), []
        threads = [threading.Thread(target=drain, args=(source, out)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for i in range(500):
            source.put(i)
        for _ in threads:
            source.put(None)
        for thread in threads:
            thread.join()
        print(sum(out))
        sqlite3.connect("base.db").execute("create table t (a)")
        threads = [threading.Thread(target=insert, args=(i,)) for i in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        print(sqlite3.connect("base.db").execute("select count(*), sum(a) from t").fetchone())
    """)

MAKEFILE = "all: a b c d e f\n%:\n\t@sleep 0.02; echo made > $@\n"


def python(library, top):
    script = os.path.join(top, "many.py")
    with open(script, "w", encoding="utf-8") as out:
        out.write(PYTHON)
    rings = more_test.traced(library, [os.path.realpath(sys.executable), script], WHYIO_CAUSAL="1")
    semaphores = collections.defaultdict(set)
    for event in of_class(rings, "SEM_WAIT", "SEM_POST"):
        semaphores[event["args"][0]].add(event["pid"])
    assert any(ident < 0 and len(who) > 1 for ident, who in semaphores.items()), semaphores
    for ring in rings:  # locks of one process: their addresses are its own
        check_alone([ring])


def pipeline(library, _):
    command = ["sh", "-c", "seq 20000 | sort -n | tail -n 1"]
    rings = more_test.traced(library, command, WHYIO_CAUSAL="1")
    moved = collections.defaultdict(collections.Counter)
    for event in of_class(rings, "READ", "WRITE"):
        if (event["path"] or "").startswith("pipe:[") and event["result"] > 0:
            moved[event["path"]][event["class"]] += event["result"]
    pairs = [counts for counts in moved.values() if counts["READ"] and counts["WRITE"]]
    assert len(pairs) == 2 and all(c["READ"] == c["WRITE"] == 108894 for c in pairs), moved


def make(library, top):
    makefile = os.path.join(top, "Makefile")
    with open(makefile, "w", encoding="ascii") as out:
        out.write(MAKEFILE)
    rings = more_test.traced(library, ["make", "-s", "-j3", "-f", makefile], WHYIO_CAUSAL="1")
    sleeps = [ring for ring in rings if ring.meta(1).endswith(b"/sleep")]
    assert len(sleeps) >= 6, [ring.meta(1) for ring in rings]


def fio(library, _):
    command = ["fio", "--name=t", "--filename=fio.dat", "--size=1m", "--bs=4k", "--rw=randwrite",
               "--ioengine=psync", "--thread", "--numjobs=4", "--output=out"]
    rings = more_test.traced(library, command, WHYIO_CAUSAL="1")
    writes = [event for event in of_class(rings, "WRITE") if event["op"] == "pwrite"]
    assert len(writes) == 4 * 256, len(writes)


def main(library):
    library = os.path.abspath(library)
    for needed, check in ((sys.executable, python), ("seq", pipeline), ("make", make), ("fio", fio)):
        if shutil.which(needed) is None:
            print(f"{check.__name__}: not installed here")
            continue
        if check is python and lacks.shared_memory():
            print(f"{check.__name__}: {lacks.shared_memory()}")
            continue
        with tempfile.TemporaryDirectory(prefix="whyio-programs-") as top:
            check(library, top)
        print(f"{check.__name__}: ok")


if __name__ == "__main__":
    main(*sys.argv[1:])
