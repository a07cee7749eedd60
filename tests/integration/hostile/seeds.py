# SPDX-License-Identifier: Apache-2.0
"""Traces that cases begin with, recorded once: sealed, held, rings, linked, hidden."""

import os
import shutil
import subprocess
import tempfile
import time

WHYIO = os.environ["WHYIO"]
PROGRAM = "echo first > a; cat a | tr f F > b; mv b c; ln -s c d; cat d a > e; rm a"
AGAIN = "echo first > a; cat a | tr f F > b; rm a"  # several times
KILL = "kill -9 $PPID; " + PROGRAM + "; echo $$ > done"


def until(condition):
    while not condition():
        time.sleep(0.01)


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return ") Z" not in file.read()
    except FileNotFoundError:
        return False


class Seeds:
    """sealed: a whole trace with edges. held: one with edges found by holding. rings: its recorder was killed, raw/ holds rings. linked: the
    same with rings elsewhere, raw/ holds a link. hidden: rings and a key that hides names."""

    HOLD = ("--causal=throttle", "--method=trace", "--runs=2")
    OPTIONS = {"sealed": (), "held": HOLD, "rings": (), "linked": (), "hidden": ("--anonymize",)}
    WHOLE = ("sealed", "held")

    def __init__(self):
        self.base = tempfile.mkdtemp(prefix="whyio-seeds-")
        self.elsewhere = os.path.join(self.base, "elsewhere")
        os.mkdir(self.elsewhere)
        self.made = {}

    def get(self, name):
        if name not in self.made:
            self.made[name] = self.record(name)
        return self.made[name]

    def record(self, name):
        place = os.path.join(self.base, name)
        os.mkdir(place)
        environment = dict(os.environ)
        if name == "linked":
            environment["WHYIO_RING_DIR"] = self.elsewhere
        script = {"sealed": PROGRAM, "held": AGAIN}.get(name, KILL)
        subprocess.run([WHYIO, "record", "-q", "-o", "t", *self.OPTIONS[name], "--", "sh", "-c", script],
                       cwd=place, env=environment, check=name in self.WHOLE, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        if name not in self.WHOLE:
            done = os.path.join(place, "done")
            until(lambda: os.path.exists(done) and os.path.getsize(done) > 0)
            with open(done, encoding="ascii") as file:
                pid = int(file.read())
            until(lambda: not is_running(pid))
        else:
            subprocess.run([WHYIO, "edges", "-q", "t"], cwd=place, check=True,
                           stdout=subprocess.DEVNULL)
        return os.path.join(place, "t")

    def ring_directory(self):
        """A directory with rings of a trace that is not sealed."""
        raw = os.path.join(self.get("rings"), "raw")
        return next(entry.path for entry in os.scandir(raw) if entry.is_dir())

    def close(self):
        shutil.rmtree(self.base)
