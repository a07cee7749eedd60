#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record --causal=throttle --hosts: holding on two hosts whose clocks differ.

usage: held_test.py EXAMPLES FLAG     the directory of the example programs, and flag.c
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import hosts
import mpi_environment  # noqa: F401

RANKS, ROUNDS, AHEAD_S = 4, 2, 7
EACH_RUN = 'rm -f log flag; exec "$@"'


class Stage:
    """Two hosts, and a program that is recorded on both."""

    def __init__(self, enter, agent, examples, flag):
        self.enter, self.agent, self.examples, self.flag = enter, agent, examples, flag
        self.faults = []

    def expect(self, is_so, text):
        if not is_so:
            self.faults.append(text)

    def command(self, *program, options=(), inner=("record", "--")):
        whyio = os.environ["WHYIO"]
        each = ",".join(f"{address}:{RANKS // 2}" for address in hosts.ADDRESSES)
        mca = {"plm_rsh_agent": self.agent, "btl": "tcp,self", "pml": "ob1",
               "btl_tcp_if_include": hosts.NETWORK, "oob_tcp_if_include": hosts.NETWORK,
               "plm_rsh_no_tree_spawn": "1"}
        words = [word for name, value in mca.items() for word in ("--mca", name, value)]
        passed = [word for name in (*os.environ, "WHYIO_DIRECTOR")
                  if name.startswith(("WHYIO", "OMPI_MCA_")) for word in ("-x", name)]
        return [*self.enter, whyio, "record", "--causal=throttle", "--hosts", "--format=json",
                "--force", "-o", "trace", *options, "--", "sh", "-c", EACH_RUN, "sh",
                "mpirun.openmpi", *words, *passed,
                "--map-by", "node", "-H", each, "-n", str(RANKS), whyio, *inner, *program]

    def record(self, *program, **how):
        return subprocess.run(self.command(*program, **how), capture_output=True, text=True,
                              timeout=100, check=False)

    def held_turns(self):
        """Which write waits for which, as turns."""
        lines = []
        for args in (("dump", "--format=json", "--op=pwrite", "trace"), ("edges", "trace")):
            answer = subprocess.run([os.environ["WHYIO"], *args], check=True, text=True,
                                    stdout=subprocess.PIPE, timeout=60)
            lines.append([json.loads(line) for line in answer.stdout.splitlines()])
        turn = {(line["pid"], line["tid"], line["seq"]): line["offset"] // line["size"]
                for line in lines[0] if "offset" in line}
        ends = [[(end["pid"], end["tid"], end["seq"]) for end in (edge["from"], edge["to"])]
                for edge in lines[1] if edge.get("evidence") == "held"]
        return {(turn.get(ends[0]), turn.get(ends[1])) for ends in ends}

    # ---- what is tried ----

    def flag_is_found(self, how):
        answer = self.record(self.flag, how, ".", str(RANKS), str(ROUNDS))
        if answer.returncode != 0:
            self.expect(False, f"flag {how}: {answer.returncode}: {answer.stderr}")
            return
        end = json.loads(answer.stderr.splitlines()[-1])["throttle"]
        self.expect(end["end"] == "proven" and end["contradicted"] == 0,
                    f"flag {how}: {answer.stderr}")
        self.expect(re.search(r"none for longer than [0-9.]+ (s|min)", answer.stderr),
                    f"flag {how}: no limit is told: {answer.stderr}")
        info = subprocess.run([os.environ["WHYIO"], "info", "--format=json", "trace"], check=True,
                              text=True, stdout=subprocess.PIPE, timeout=60).stdout
        self.expect(set(hosts.NAMES) <= set(json.loads(info.splitlines()[0])["hosts"]), info)
        wanted = {(i, i + 1) for i in range(RANKS * ROUNDS - 1)}
        self.expect(how != "map" or self.held_turns() == wanted,
                    f"flag {how}: {sorted(self.held_turns(), key=str)}")

    def messages_are_found_by_holding(self):
        """//TRACE uses nothing that was observed: the token's way shows by holding alone."""
        program = os.path.join(self.examples, "turns")
        answer = self.record(program, "-d", ".", "-n", str(ROUNDS), options=("--method=trace",))
        if answer.returncode != 0:
            self.expect(False, f"trace: {answer.returncode}: {answer.stderr}")
            return
        end = json.loads(answer.stderr.splitlines()[-1])["throttle"]
        self.expect(end["end"] == "merged" and end["edges"] >= RANKS * ROUNDS - 1,
                    f"trace: {answer.stderr}")

    def until_held(self):
        """All ranks of a run that holds are there, and the first turns are over: many are to come."""
        end = time.monotonic() + 30
        while time.monotonic() < end:
            if len(processes(self.flag)) == RANKS and os.path.exists("log") and os.path.getsize("log") > 0:
                return True
            time.sleep(0.02)
        return False

    def end_while_held(self, what, *, victim):
        """Somebody dies while others are held: it all ends soon, and is told."""
        with subprocess.Popen(self.command(self.flag, "map", ".", str(RANKS), "30"), text=True,
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as run:
            said = ""
            while "run 2 of" not in said:
                line = run.stderr.readline()
                if not line:
                    break
                said += line
            self.expect(self.until_held(), f"{what}: the ranks do not begin: {said}")
            began = time.monotonic()
            for pid in victim():
                os.kill(pid, signal.SIGKILL)
            said += run.communicate(timeout=60)[1]
        took = time.monotonic() - began
        self.expect(run.returncode != 0 and took < 20, f"{what}: {run.returncode} after {took:.1f} s")
        self.expect("run 2 ends holding" in said and '"failed"' in said, f"{what}: {said}")
        return said

    def rank_dies(self):
        said = self.end_while_held("rank", victim=lambda: processes(self.flag)[-1:])
        self.expect("was killed while others were held" in said, said)

    def recorder_dies(self):
        def victim():
            for pid in recorders():
                shared = sockets_of(pid) & set().union(*map(sockets_of, children_of(pid)))
                self.expect(not shared, f"its child keeps a recorder's connection: {shared}")
            return recorders()[-1:]

        said = self.end_while_held("recorder", victim=victim)
        self.expect("is gone before its command" in said, said)


def arguments_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8", errors="replace") as file:
            return file.read().split("\0")
    except OSError:
        return []


def processes(program):
    return [int(pid) for pid in os.listdir("/proc")
            if pid.isdigit() and arguments_of(pid)[:1] == [program]]


def parent_of(pid):
    """None where it has ended: any process of the machine may, while they are listed."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (FileNotFoundError, ProcessLookupError):
        return None


def children_of(parent):
    return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if parent_of(pid) == parent]


def link_of(path):
    """Nothing where it is gone: a process opens and closes files while they are listed."""
    try:
        return os.readlink(path)
    except (FileNotFoundError, ProcessLookupError):
        return ""


def sockets_of(pid):
    """But for standard input, output and error."""
    directory = f"/proc/{pid}/fd"
    links = {link_of(os.path.join(directory, fd)) for fd in os.listdir(directory) if int(fd) > 2}
    return {link for link in links if link.startswith("socket:")}


def recorders():
    """Those behind the launcher: parents of the parents of the program."""
    found = processes(sys.argv[2])
    return [parent_of(parent_of(pid)) for pid in found]


def main(examples, flag):
    if shutil.which("mpirun.openmpi") is None:
        print("skipped: Open MPI is not installed", file=sys.stderr)
        return 77
    with tempfile.TemporaryDirectory(prefix="whyio-held.") as scratch:
        os.chdir(scratch)
        try:
            with hosts.two_hosts(scratch, AHEAD_S) as (enter, agent):
                stage = Stage(enter, agent, examples, flag)
                stage.flag_is_found("map")
                stage.flag_is_found("read")
                stage.rank_dies()
                stage.recorder_dies()
                if os.path.exists(os.path.join(examples, "turns")):
                    stage.messages_are_found_by_holding()
        except hosts.Missing as reason:
            print(f"skipped: {reason}", file=sys.stderr)
            return 77
        finally:
            os.chdir("/")
    for fault in stage.faults:
        print(fault)
    return 1 if stage.faults else 0


if __name__ == "__main__":
    sys.argv[1:] = [os.path.abspath(name) for name in sys.argv[1:]]
    sys.exit(main(*sys.argv[1:]))
