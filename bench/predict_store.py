#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`whyio predict` of files on a store, beside a store: predict_store.py BUILD

The store is the one in memory of the tests, whose target sleeps for a millisecond for each operation, so that clients
and server do not wait for processors. `op_s` is measured there with 8 clients and the policy fifo, `net_s` with one;
all rows are predicted from these two. Real: operations of `whyio load`, each client in a closed loop. Predicted: as
many processes that write as often to files of their own, recorded on a local disk.
"""
import json
import os
import subprocess
import sys
import tempfile

SERVICE_US = 1000
WRITES = 4000  # of all together: what a process needs to begin is little beside that
SECONDS = 3
SIZE = 4096
ROWS = (("credit", 1), ("credit", 2), ("credit", 4), ("credit", 16), ("credit", 64), ("drr", 4), ("drr", 16),
        ("drr", 64), ("tbf", 16), ("fifo", 4), ("fifo", 16), ("hint", 16))

WORK = """
import os, sys
directory, processes, turns = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
children = []
for number in range(processes):
    if (child := os.fork()) == 0:
        file = os.open(f"{directory}/{number}", os.O_WRONLY | os.O_CREAT)
        for turn in range(turns):
            os.pwrite(file, bytes(%d), turn * %d)
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
""" % (SIZE, SIZE)


def load(build, policy, clients):
    """Operations per second, and the median time of one, seconds."""
    served = os.path.join(build, "tests/unit/store/api/store_served")
    command = [served, "1", "0", "0", policy, str(SERVICE_US), "client"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        address = server.stdout.readline().strip()
        said = subprocess.run([os.path.join(build, "tools/whyio/whyio"), "load", "--format=json", f"--size={SIZE}",
                               f"--duration={SECONDS}s", f"--clients={clients}", address], check=True,
                              stdout=subprocess.PIPE, text=True).stdout
        server.stdin.close()
        server.wait(60)
    answer = json.loads(said)
    return answer["ops_s"], answer["p50_us"] / 1e6


def record(build, work, processes):
    trace, files = os.path.join(work, f"trace{processes}"), os.path.join(work, f"files{processes}")
    os.mkdir(files)
    subprocess.run([os.path.join(build, "tools/whyio/whyio"), "record", "-q", "-o", trace, "--", sys.executable, "-c",
                    WORK, files, str(processes), str(WRITES // processes)], check=True)
    return trace


def predict(build, trace, host, policy, processes):
    """Operations per second while all write."""
    said = subprocess.run([os.path.join(build, "tools/whyio/whyio"), "predict", "--format=json", f"--host={host}",
                           f"--store-policy={policy}", trace], check=True, stdout=subprocess.PIPE, text=True).stdout
    answer = json.loads(said.splitlines()[-1])
    return WRITES // processes * processes / answer["total_s"]


def main():
    build = os.path.realpath(sys.argv[1])
    _, alone_s = load(build, "fifo", 1)
    with open(os.path.join(os.path.dirname(__file__), "../tests/data/predict/host.json"), encoding="utf-8") as file:
        host = json.load(file)
    ops_s, _ = load(build, "fifo", 8)  # never idle: what it takes for one
    one = 1 / ops_s
    store = {"targets": 1, "op_s": one, "bw": 1e12, "net_s": max(0, (alone_s - one) / 2), "stripe_unit": 1 << 20}
    print(f"op_s {one * 1e6:.0f} us, net_s {store['net_s'] * 1e6:.0f} us\n")
    print("| policy | clients | store, operations/s | predicted | error |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="whyio-bench.") as work:
        host["store"] = store
        path = os.path.join(work, "host.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(host, file)
        traces = {}
        for policy, clients in ROWS:
            if clients not in traces:
                traces[clients] = record(build, work, clients)
            real, _ = load(build, policy, clients)
            said = predict(build, traces[clients], path, policy, clients)
            print(f"| `{policy}` | {clients} | {real:.0f} | {said:.0f} | {100 * (said - real) / real:+.1f} % |", flush=True)


if __name__ == "__main__":
    main()
