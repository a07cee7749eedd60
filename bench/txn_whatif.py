#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes of transactions, predicted from a trace and really made: txn_whatif.py BUILD [--rounds=N] [NAME..]

For each change a run is recorded, `whyio explain` predicts it with the change, and the changed run is made: the two
alternate, and medians of their rounds are compared. Aborts are those of a transaction that commits, times those of the
run a transaction; `as it was` is the same simulation without a change against the recorded run itself. NAME: a part
of a change's name, to try these alone.
"""
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile

WAIT = 120


class Server:
    """A store; `ends` how it is asked to end: by a signal, or with its standard input."""

    def __init__(self, command, environment=None, ends=signal.SIGTERM):
        self.ends = ends
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        env={**os.environ, **(environment or {})})
        line = self.process.stdout.readline()
        self.address = json.loads(line)["address"] if line.startswith("{") else line.strip()

    def stop(self):
        self.process.stdin.close()
        if self.ends is not None:
            self.process.send_signal(self.ends)
        self.process.wait(WAIT)


def explain(whyio, trace):
    done = subprocess.run([whyio, "explain", "--format=json", trace], stdout=subprocess.PIPE, text=True, check=True,
                          timeout=WAIT)
    return json.loads(done.stdout)


def measured(build, client, trace, server):
    """Aborts and seconds of a transaction, and the explanation."""
    subprocess.run([part.replace("ADDRESS", server.address) for part in client], stdout=subprocess.DEVNULL,
                   check=True, timeout=WAIT)
    server.stop()
    answer = explain(os.path.join(build, "tools/whyio/whyio"), trace)
    totals = answer["transactions"]
    return totals["aborted"] / totals["committed"], answer["duration_s"] / totals["committed"], answer


def recorded(build, client, targets, environment=None, parent=None):
    whyio = os.path.join(build, "tools/whyio/whyio")
    with tempfile.TemporaryDirectory(prefix="wio", dir=parent) as directory:
        server = Server([whyio, "serve", "--format=json", f"--root={directory}/root", f"--targets={targets}",
                         f"--trace={directory}/trace", "--size=4G"], environment)
        return measured(build, client, f"{directory}/trace", server)


def by_policy(build, client, policy):
    """On the store in memory of the tests, which has policies of the lock manager: one target."""
    with tempfile.TemporaryDirectory(prefix="wio") as directory:
        server = Server([os.path.join(build, "tests/unit/store/api/store_served"), "1", policy, "0", "credit", "0",
                         "job", f"{directory}/trace"], ends=None)
        return measured(build, client, f"{directory}/trace", server)


def load(build, *options):
    return [os.path.join(build, "tools/whyio/whyio"), "load", "ADDRESS", "--format=json", "--duration=1s", *options]


def planted(build, *options):
    return [os.path.join(build, "tests/transactions/planted"), options[0], options[1], "ADDRESS", *options[2:]]


def changes(build):
    """Name, the change as explain calls it, how the recorded and the changed run are made."""
    opposite = ("--clients=2", "--transaction=2", "--objects=2")
    pairs = ("--clients=8", "--pattern=random", "--transaction=2", "--objects=16")
    yield ("order: 2 clients, opposite", "one order of locks",
           lambda: recorded(build, load(build, "--pattern=opposite", *opposite), 2),
           lambda: recorded(build, load(build, "--pattern=same", *opposite), 2))
    yield ("order: planted deadlock", "one order of locks",
           lambda: recorded(build, planted(build, "deadlock", "planted"), 1),
           lambda: recorded(build, planted(build, "deadlock", "mended"), 1))
    yield ("segments: 1 to 4, random pairs", "a segment on every server",
           lambda: recorded(build, load(build, "--segments=1", *pairs), 4),
           lambda: recorded(build, load(build, "--segments=4", *pairs), 4))
    yield ("stripe unit: 1 MiB to 4 KiB", "stripe units of 4 KiB",
           lambda: recorded(build, planted(build, "data", "planted", "2", "1048576"), 2),
           lambda: recorded(build, planted(build, "data", "planted", "2", "4096"), 2))
    yield ("granularity: touched bytes", "locks of touched bytes alone",
           lambda: recorded(build, planted(build, "false", "planted"), 1),
           lambda: recorded(build, planted(build, "false", "mended"), 1))
    yield ("granularity: bytes of its own", "bytes of its own for each client",
           lambda: recorded(build, planted(build, "data", "planted"), 1),
           lambda: recorded(build, planted(build, "data", "mended"), 1))
    yield ("granularity: commit first", "commit before computing",
           lambda: recorded(build, planted(build, "think", "planted"), 1),
           lambda: recorded(build, planted(build, "think", "mended"), 1))
    yield ("storage in no time", "log and storage in no time",
           lambda: recorded(build, planted(build, "slow_disk", "planted"), 1,
                            {"LD_PRELOAD": os.path.abspath(os.path.join(build, "tests/transactions/libslow_sync.so")),
                             "SLOW_SYNC_MS": "20", "SLOW_SYNC_NAME": "/target0/"}),
           lambda: recorded(build, planted(build, "slow_disk", "mended"), 1, parent="/dev/shm"))
    policies = load(build, "--pattern=random", "--clients=4", *pairs[1:])
    for number, policy in (("1", "time-out of 250 ms"), ("2", "no-wait"), ("3", "wait-die")):
        yield (f"policy: {policy}", policy,
               lambda: by_policy(build, policies, "0"),
               lambda number=number: by_policy(build, policies, number))


def percent(predicted, measured):
    return f"{100 * (predicted - measured) / measured:+.0f} %" if measured else "-"


def row_of(answer, change):
    row = next(row for row in answer["what_if"] if row["change"] == change)
    count = row["transactions"] or 1
    return row["aborts"] / count, row["time_s"] / count


def main():
    build = sys.argv[1]
    options = dict(part[2:].split("=") for part in sys.argv[2:] if part.startswith("--"))
    rounds = int(options.get("rounds", "3"))
    chosen = [part for part in sys.argv[2:] if not part.startswith("--")]
    print("| change | aborts: recorded, simulated | predicted, made | time: recorded, simulated | predicted, made | "
          "error: aborts, time |\n|---|---|---|---|---|---|")
    for name, change, before, after in changes(build):
        if chosen and not any(part in name for part in chosen):
            continue
        runs = []
        for _ in range(rounds):
            aborts, seconds, answer = before()
            runs.append((aborts, *row_of(answer, "as it was"), seconds, *row_of(answer, change), *after()[:2]))
        aborts, aborts_as, time_as, seconds, aborts_with, time_with, aborts_made, time_made = (
            statistics.median(column) for column in zip(*runs))
        print(f"| {name} | {aborts:.3f}, {aborts_as:.3f} | {aborts_with:.3f}, {aborts_made:.3f} | "
              f"{seconds * 1e6:.0f}, {time_as * 1e6:.0f} us | {time_with * 1e6:.0f}, {time_made * 1e6:.0f} us | "
              f"{percent(aborts_with, aborts_made)}, {percent(time_with, time_made)} |", flush=True)


if __name__ == "__main__":
    main()
