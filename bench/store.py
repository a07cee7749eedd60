#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The store under load, beside what the machine gives at best (make bench-store).

Each row is a run of `whyio load`; the baselines are measured in the same run, by bench/store_raw.c: a request and a
reply of a socket between two processes, and a write with fdatasync of a preallocated file. What a row says of a
target is a ratio or a figure; `met` compares it with the table of the design.

usage: store.py [--build=DIR] [--dir=DIR] [--seconds=S] [--only=TEXT] [--json]
"""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CLIENTS = (1, 2, 4, 8, 16, 32, 64)
TARGETS = (1, 2, 3, 4)


class Server:
    """A store: whyio serve where this build has it, else, and for the time-out policy, the one in memory of the tests."""

    def __init__(self, bench, targets=1, policy="wound-wait"):
        self.pin = bench.server_pin
        self.root = tempfile.mkdtemp(prefix="store-bench.", dir=bench.dir)
        is_real = bench.can_serve and policy == "wound-wait"
        if is_real:
            address = f"unix:{self.root}/s"
            command = [bench.whyio, "serve", address, f"--root={self.root}/root", f"--targets={targets}"]
        else:
            command = [bench.served, str(targets), "1" if policy == "timeout" else "0"]
        self.process = subprocess.Popen(self.pin + command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if is_real:
            self.address = address
            self.wait_for(bench)
        else:
            self.address = self.process.stdout.readline().strip()

    def wait_for(self, bench):
        for _ in range(100):
            if subprocess.run([bench.whyio, "store", "df", f"--server={self.address}", "--timeout=200ms"],
                              check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0:
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.05)
        sys.exit("whyio serve did not start")

    def cpu_s(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="utf-8") as file:
            fields = file.read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def end(self):
        self.process.stdin.close()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.process.wait(timeout=60)
        self.process.stdout.close()
        shutil.rmtree(self.root, ignore_errors=True)


class Bench:
    def __init__(self, args):
        self.args = args
        self.dir = args.dir
        self.whyio = os.path.join(args.build, "whyio")
        self.served = os.path.join(args.build, "tests/unit/store/api/store_served")
        self.can_serve = subprocess.run([self.whyio, "serve", "--help"], check=False, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL).returncode == 0
        self.one_pin = ["taskset", "-c", "0"] if shutil.which("taskset") else []
        self.server_pin = self.one_pin
        self.rows = []
        self.raw = {}

    def baselines(self):
        out = subprocess.run(self.one_pin + [os.path.join(self.args.build, "bench/store_raw"), self.dir,
                                             str(self.args.seconds)], check=True, stdout=subprocess.PIPE, text=True)
        for line in out.stdout.splitlines():
            value = json.loads(line)
            self.raw[value["what"]] = value
            self.show(value["what"], f"{value['ops_s']:.0f}/s", f"p50 {value['p50_us']:.1f} us", "", "")

    def show(self, what, figure, more, target, met):
        print(f"{what:<44} {figure:>14}  {more:<44} {target:<28} {met}", flush=True)

    def load(self, server, *options):
        before = server.cpu_s()
        out = subprocess.run(self.one_pin + [self.whyio, "load", f"--server={server.address}", "--format=json",
                                             "-q", f"--duration={int(self.args.seconds * 1000)}ms", *options],
                             check=False, stdout=subprocess.PIPE, text=True)
        if not out.stdout:
            sys.exit(f"whyio load {' '.join(options)}: status {out.returncode}")
        result = json.loads(out.stdout)
        result["server_cpu_us"] = (server.cpu_s() - before) * 1e6 / max(1, result["ops"])
        return result

    def row(self, name, options, target, judge, targets=1, policy="wound-wait", base=None):
        """One line; `judge` says what of the result and its baseline the target is about."""
        if self.args.only not in name:
            return
        server = Server(self, targets, policy)
        try:
            result = self.load(server, *options)
        finally:
            server.end()
        raw = self.raw.get(base)
        ratio = result["p50_us"] / raw["p50_us"] if raw else None
        met = judge(result, ratio)
        more = (f"p50 {result['p50_us']:.1f} us, p99 {result['p99_us']:.0f} us, {result['aborts_per_commit']:.2f} aborts"
                + (f", {ratio:.2f} x {base}" if raw else ""))
        self.rows.append({"row": name, "policy": policy, "targets": targets, "result": result, "base": base,
                          "ratio": ratio, "target": target, "met": met})
        self.show(name, f"{result['ops_s']:.0f}/s", more, target, {True: "met", False: "missed", None: ""}[met])

    def table(self):
        small, large, sync, two_syncs = ("unix echo 4096", "unix echo 65536", "fdatasync 4096",
                                         "two fdatasyncs at once 4096")
        one = ["--clients=1"]
        two = ["--clients=2", "--transaction=2", "--objects=2"]
        self.row("1 client, 4 KiB write", one, ">= 70 k/s, p50 <= 14 us",
                 lambda r, _: r["ops_s"] >= 70e3 and r["p50_us"] <= 14, base=small)
        self.row("1 client, 4 KiB read", one + ["--reads=100"], "", lambda r, _: None, base=small)
        self.row("4 clients, 4 KiB disjoint writes", ["--clients=4"], ">= 90 k/s", lambda r, _: r["ops_s"] >= 90e3)
        self.row("8 clients, 4 KiB disjoint writes", ["--clients=8"], ">= 90 k/s", lambda r, _: r["ops_s"] >= 90e3)
        self.row("1 client, 64 KiB write", one + ["--size=64K"], ">= 1.5 GB/s", lambda r, _: r["bytes_s"] >= 1.5e9,
                 base=large)
        self.row("2 writes, 2 clients, same order", two + ["--pattern=same"], ">= 30 k txn/s",
                 lambda r, _: r["ops_s"] >= 30e3)
        self.row("2 writes, 2 clients, opposite order", two + ["--pattern=opposite"], ">= 10 k txn/s, p99 <= 5 ms",
                 lambda r, _: r["ops_s"] >= 10e3 and r["p99_us"] <= 5000)
        self.row("2 writes, 2 clients, opposite, time-out", two + ["--pattern=opposite"], "", lambda r, _: None,
                 policy="timeout")
        self.row("8 clients, random pairs of 16", ["--clients=8", "--transaction=2", "--pattern=random"],
                 ">= 20 k txn/s, <= 0.2 aborts",
                 lambda r, _: r["ops_s"] >= 20e3 and r["aborts_per_commit"] <= 0.2)
        self.row("8 clients, random pairs, time-out", ["--clients=8", "--transaction=2", "--pattern=random"], "",
                 lambda r, _: None, policy="timeout")
        if not self.can_serve:
            print("stable rows: this build has no whyio serve")
            return
        self.row("stable, 1 client", one + ["--stable"], "p50 <= 1.4 x fdatasync", lambda _, ratio: ratio <= 1.4,
                 base=sync)
        self.row("stable, 64 clients", ["--clients=64", "--stable"], ">= 30 k txn/s", lambda r, _: r["ops_s"] >= 30e3)
        self.row("stable, 2 targets, 1 client",
                 one + ["--stable", "--transaction=2", "--objects=2", "--pattern=same"], "p50 <= 1.6 x fdatasync",
                 lambda _, ratio: ratio <= 1.6, targets=2, base=sync)
        self.row("stable, 2 targets, 1 client, beside two", one + ["--stable", "--transaction=2", "--objects=2",
                                                                   "--pattern=same"], "", lambda *_: None, targets=2,
                 base=two_syncs)

    def scaling(self):
        for clients in CLIENTS:
            self.row(f"clients {clients}, 4 KiB writes", [f"--clients={clients}"], "", lambda r, _: None)
        for targets in TARGETS:
            self.row(f"targets {targets}, 8 clients, 16 KiB", ["--clients=8", "--size=16K"], "", lambda r, _: None,
                     targets=targets)
            if self.rows and self.args.only in f"targets {targets}, 8 clients, 16 KiB":
                print(f"{'':<44} server {self.rows[-1]['result']['server_cpu_us']:.1f} us of processor an operation")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--dir", default=tempfile.gettempdir(), help="where stores and the raw file are")
    parser.add_argument("--seconds", type=float, default=3)
    parser.add_argument("--only", default="", help="rows whose name has this text")
    parser.add_argument("--json", action="store_true", help="the rows as one JSON object at the end")
    args = parser.parse_args()
    bench = Bench(args)
    pins = "clients and servers on CPU 0" if bench.one_pin else "not pinned: no taskset here"
    print(f"{pins}; {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f}; store: "
          f"{'whyio serve' if bench.can_serve else 'in memory'}")
    bench.baselines()
    bench.table()
    bench.scaling()
    if args.json:
        print(json.dumps({"baselines": bench.raw, "rows": bench.rows}))


if __name__ == "__main__":
    main()
