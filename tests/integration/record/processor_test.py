#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""processor_test.py: what a program used of the processors between its operations, and in long ones
(R-CPU-2). Without --causal a sleep is no operation."""
import json
import os
import subprocess
import sys
import tempfile

MS = 1000000
EDGE = MS // 2  # R-CPU-1: what is asked at the edges of a gap may lie up to 2^19 ticks to the side
PROGRAM = r"""
import os, time
file = os.open("out", os.O_WRONLY | os.O_CREAT)
end, begin = os.pipe()
os.write(file, b"a")
until = time.thread_time_ns() + 20000000
while time.thread_time_ns() < until:
    pass
os.write(file, b"b")
time.sleep(0.02)
os.write(file, b"c")
parent = os.getpid()
if os.fork() == 0:
    while open("/proc/%d/stat" % parent).read().rsplit(") ", 1)[1][0] != "S":
        time.sleep(0.001)  # on a busy machine it comes to its read only now
    time.sleep(0.02)
    os.write(begin, b"d")
    os._exit(0)
os.read(end, 1)
os.wait()
"""


def events(directory):
    whyio = os.environ["WHYIO"]
    trace = os.path.join(directory, "t.whyio")
    subprocess.run([whyio, "record", "-q", "--causal=off", "-o", trace, "--", sys.executable, "-c", PROGRAM], cwd=directory,
                   check=True)
    lines = subprocess.run([whyio, "dump", "-q", trace], check=True, stdout=subprocess.PIPE, text=True).stdout
    return [event for event in map(json.loads, lines.splitlines()) if "op" in event]


def main():
    with tempfile.TemporaryDirectory() as directory:
        found = events(directory)
    _, computed, slept = [event for event in found if event["op"] == "write"
                          and (event["path"] or "").endswith("/out")]
    assert computed["gap_cpu_ns"] >= 20 * MS - EDGE, computed
    assert slept["gap_slept"] is True and slept["gap_cpu_ns"] < 20 * MS, slept
    waited = [event for event in found if event["op"] == "read" and (event["path"] or "").startswith("pipe:")
              and event["dur_ns"] > 10 * MS]
    assert waited and waited[0]["dur_slept"] is True, waited
    assert waited[0]["dur_cpu_ns"] < waited[0]["dur_ns"], waited


main()
