#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A real store, real sockets, one planted cause: is it the first finding, with the line on both sides, and is it gone
when the change that the finding names is made?

usage: planted_test.py WHYIO PLANTED SLOW_SYNC KIND [--keep=DIR]

What is compared are counts of aborts, waits and refusals. Which finding is the first one is a matter of seconds:
where another load of the machine has come between, the run is made again, three times at most.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

WAIT = 120  # seconds, of anything: the machine may be slow
TRIES = 3
HERE = os.path.dirname(os.path.abspath(__file__))

# kind -> its finding, lines of victim and blocker (functions of planted.c), targets of the mended run
KINDS = {
    "data": ("data_conflict", {"data"}, {"data"}, 1),
    "false": ("false_conflict", {"append"}, {"read_tail"}, 1),
    "queue": ("queued_behind", {"queue"}, {"queue"}, 1),
    "deadlock": ("deadlock", {"deadlock"}, {"deadlock"}, 1),
    "contention": ("server_busy", {"contention"}, {"contention"}, 4),
    "slow_disk": ("slow_storage", {"slow_disk"}, {"slow_disk"}, 1),
    "think": ("think_time", {"think"}, {"think"}, 1),
}


def lines_of(names):
    """Lines at which the functions name their call sites."""
    lines = set()
    with open(os.path.join(HERE, "planted.c")) as source:
        for number, text in enumerate(source, 1):
            found = re.search(r'HERE\("(\w+)"\)', text)
            if found and found.group(1) in names:
                lines.add(number)
    assert lines, names
    return lines


# Without admission: its clients wait for a busy server instead of being turned away.
OPTIONS = {"contention": ["--policy=fifo"]}


def run(whyio, planted, directory, kind, variant, targets, environment):
    """The explanation of a run."""
    trace = os.path.join(directory, "trace")
    server = subprocess.Popen([whyio, "serve", "--format=json", f"--root={os.path.join(directory, 'root')}",
                               f"--targets={targets}", f"--trace={trace}", "--size=4G",
                               *OPTIONS.get(kind, [])], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
    line = server.stdout.readline()
    assert line, server.stderr.read()
    subprocess.run([planted, kind, variant, json.loads(line)["address"]], check=True, timeout=WAIT,
                   stdout=subprocess.DEVNULL)
    server.send_signal(signal.SIGTERM)
    assert server.wait(WAIT) == 0, server.stderr.read()
    done = subprocess.run([whyio, "explain", "--format=json", "--all", trace], stdout=subprocess.PIPE, text=True,
                          check=True, timeout=WAIT)
    return json.loads(done.stdout)


def causes(answer):
    return [finding for finding in answer["findings"] if not finding["general"]]


def weight(answer, finding):
    """Aborts and waits, or requests that were turned away, of a kind of finding."""
    if finding == "slow_storage":
        return sum(found["evidence"]["wait_s"]["value"] for found in causes(answer) if found["kind"] == finding)
    if finding == "server_busy":
        return answer["transactions"]["busy"]
    if finding == "deadlock":
        return answer["transactions"]["deadlocks"]
    return sum(pair["aborts"] + pair["waits"] for pair in answer["aborts"])


def check(answer, kind):
    """None: the planted cause is the first finding."""
    finding, victims, blockers, _ = KINDS[kind]
    found = causes(answer)
    if not found or found[0]["kind"] != finding:
        return f"first is {[(one['kind'], round(one['share'], 3), one['detail']) for one in found[:4]]}"
    first = found[0]
    assert first["account"] == "transactions" and first["share"] > 0.01, first
    assert os.path.basename(first["file"]) == "planted.c" and first["line"] in lines_of(victims), first
    assert first["blocker"]["file"] == "planted.c" and first["blocker"]["line"] in lines_of(blockers), first
    assert first["change"]["text"], first
    return None


def try_once(whyio, planted, slow_sync, kind, directory):
    slow = {"LD_PRELOAD": slow_sync, "SLOW_SYNC_MS": "20"} if kind == "slow_disk" else {}
    planted_run, mended_run = os.path.join(directory, "planted"), os.path.join(directory, "mended")
    os.mkdir(planted_run)
    os.mkdir(mended_run)
    answer = run(whyio, planted, planted_run, kind, "planted", 1, slow)
    wrong = check(answer, kind)
    if wrong is not None:
        return wrong
    finding = KINDS[kind][0]
    mended = run(whyio, planted, mended_run, kind, "mended", KINDS[kind][3], {})
    before, after = weight(answer, finding), weight(mended, finding)
    if kind == "think":  # the locks are still taken, and no longer held while nothing is asked for
        left = [found for found in causes(mended) if found["kind"] == "think_time"]
        return None if not left or left[0]["seconds"] < 0.5 * causes(answer)[0]["seconds"] else f"mended: {left[0]}"
    print(f"{kind}: {before} before, {after} when mended")
    return None if after * 10 <= before else f"mended: {after} of {before} are left"


def main():
    whyio, planted, slow_sync, kind = sys.argv[1:5]
    keep = sys.argv[5].split("=", 1)[1] if len(sys.argv) > 5 else None
    wrong = None
    for attempt in range(TRIES):
        with tempfile.TemporaryDirectory(prefix="wio") as scratch:
            directory = scratch if keep is None else os.path.join(keep, f"{kind}{attempt}")
            os.makedirs(directory, exist_ok=True)
            wrong = try_once(os.path.abspath(whyio), os.path.abspath(planted), os.path.abspath(slow_sync), kind,
                             directory)
        if wrong is None:
            return
        print(f"{kind}, attempt {attempt + 1}: {wrong}")
    raise SystemExit(f"{kind}: {wrong}")


if __name__ == "__main__":
    main()
