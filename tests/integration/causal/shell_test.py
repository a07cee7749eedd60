#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A pipeline of a shell, and Python's multiprocessing: programs that nobody made for this."""
import os
import subprocess
import sys
import tempfile

import graph

POOL = """
import multiprocessing, os
def work(n):
    os.path.exists("/mark/work")
    try:
        os.chmod("/mark/item%d" % n, 0)
    except OSError:
        pass
    return n * n
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(2) as pool:
        total = sum(pool.map(work, range(4), 1))
    try:
        os.chmod("/mark/sum", 0)
    except OSError:
        pass
    assert total == 14
"""


QUEUE = """
import multiprocessing, os
def mark(name):
    try:
        os.chmod("/mark/" + name, 0)
    except OSError:
        pass
def consume(queue):
    for n in range(10):
        queue.get()
        mark("got%d" % n)
if __name__ == "__main__":
    queue = multiprocessing.get_context("fork").Queue()
    consumer = multiprocessing.get_context("fork").Process(target=consume, args=(queue,))
    consumer.start()
    for n in range(10):
        mark("before%d" % n)
        queue.put(n)
        mark("next%d" % n)
        for _ in range(300000):
            pass
    consumer.join()
"""


def record(*command, raw=False):
    trace = f"{os.path.basename(command[0])}.{len(os.listdir())}.whyio"
    subprocess.run([os.environ["WHYIO"], "record", "-q", "-o", trace, "--", *command], check=True,
                   stdout=subprocess.DEVNULL)
    return graph.Graph(trace, raw=raw)


def check_pipeline():
    """Each part waits for the one before it, the shell for all of them."""
    edges = record("sh", "-c", "printf 'b\\na\\n' | sort | tail -n 1 | cat; true")
    pipes = {(edge["from"]["pid"], edge["to"]["pid"]) for edge in edges.edges
             if edge["evidence"] == "pipe" and edge["object"]}
    if len(pipes) != 3:
        yield f"data goes between {len(pipes)} pairs of processes, expected 3: {pipes}"
    chain = {first: second for first, second in pipes}
    if len(chain) == 3 and len(set(chain) & set(chain.values())) != 2:
        yield f"the parts of the pipeline are no chain: {pipes}"
    if edges.count(evidence="process") < 8:
        yield f"{edges.count(evidence='process')} edges of processes, expected 4 forks and 4 waits"


POLL = """
(until [ -e looked3 ]; do sleep 0.02; done; mkdir made) &
(echo $BASHPID >looker; n=0; until [ -e made ]; do touch looked$n; n=$((n + 1)); done) &
wait
"""


def check_poll():
    """The shell that most people have looks for a file until somebody has made it."""
    edges = record("bash", "-c", POLL, raw=True)  # the end of the maker may imply it
    with open("looker", encoding="ascii") as file:
        looker = int(file.read())
    found = [edge for edge in edges.edges
             if edge["evidence"] == "poll" and edge["to"]["pid"] == looker]
    if len(found) != 1:
        yield f"{len(found)} edges of looking for a file, expected 1"


def check_pool():
    """Results come through pipes: the sum is made after each item."""
    with open("pool.py", "w", encoding="ascii") as file:
        file.write(POOL)
    edges = record(sys.executable, "pool.py")
    for item in range(4):
        if not edges.precedes(f"item{item}", "sum"):
            yield f"item {item} does not come before the sum"


def check_queue():
    """Items travel through a thread of the producer's, which gets the interpreter's lock when it
    gets it: what the producer does before that is nothing that the item waits for."""
    with open("handed.py", "w", encoding="ascii") as file:
        file.write(QUEUE)
    edges = record(sys.executable, "handed.py")
    if not edges.precedes("before0", "got0"):
        yield "the first item is got before it is there"
    for n in range(10):
        if edges.precedes(f"next{n}", f"got{n}"):
            yield f"item {n} is got after what its producer does next"


def main():
    failures = 0
    with tempfile.TemporaryDirectory(prefix="whyio-shell.") as scratch:
        os.chdir(scratch)
        for check in (check_pipeline, check_poll, check_pool, check_queue):
            for fault in check():
                failures += 1
                print(f"{check.__name__}: {fault}")
        os.chdir("/")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
