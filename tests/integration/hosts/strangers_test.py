#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record --causal=throttle --hosts among strangers: a scanner, a false director, a man in the middle.
None of them changes what is found. And where it listens.

usage: strangers_test.py FLAG          the program of flag.c
       strangers_test.py launch FLAG   the launcher: ranks, and strangers beside them
"""
import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time

import hosts

RANKS, ROUNDS, AHEAD_S = 3, 2, 7
HERE = os.path.dirname(os.path.abspath(__file__))


# ---- the launcher ----


def begin(agent, host, *words, director=None):
    environment = dict(os.environ, **({"WHYIO_DIRECTOR": director} if director else {}))
    return subprocess.Popen([agent, host, *words], env=environment)  # pylint: disable=consider-using-with


def begin_stranger(agent, host, kind, *more):
    """And the port at which it listens, if it does."""
    ready = os.path.abspath(f"ready.{kind}")
    with contextlib.suppress(FileNotFoundError):
        os.unlink(ready)
    process = begin(agent, host, "exec", sys.executable, os.path.join(HERE, "strangers.py"), kind, ready, *more)
    while not os.path.exists(ready):
        if process.poll() is not None:
            sys.exit(f"{kind}: ended with {process.returncode}")
        time.sleep(0.01)
    with open(ready, encoding="ascii") as file:
        return process, int(file.read())


def with_socket(*sockets):
    """WHYIO_DIRECTOR with these sockets in place of its own."""
    fields = os.environ["WHYIO_DIRECTOR"].split("/")
    fields[4] = ",".join(f"{host}@{port}" if port else fields[4] for host, port in sockets)
    return "/".join(fields)


def listeners():
    """Addresses, as the kernel writes them, at which something listens in this network."""
    found = set()
    for name in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(name, encoding="ascii") as file:
            found |= {line.split()[1] for line in file.readlines()[1:] if line.split()[3] == "0A"}
    return found


def launch(flag):
    agent, address = os.environ["TEST_AGENT"], hosts.ADDRESSES
    with open("log.listeners", "w", encoding="ascii") as file:
        json.dump(sorted(listeners()), file)
    with contextlib.suppress(FileNotFoundError):
        os.unlink("flag")
    with contextlib.suppress(FileNotFoundError):
        os.unlink("log")
    directors = {}
    strangers = []
    if "TEST_STRANGERS" in os.environ:
        strangers.append(begin_stranger(agent, address[1], "scan")[0])
        process, false = begin_stranger(agent, address[1], "false", address[1])
        strangers.append(process)
        process, middle = begin_stranger(agent, address[1], "middle", address[1])
        strangers.append(process)
        directors = {0: with_socket((address[1], false), ("", 0)), 1: with_socket((address[1], middle))}
    ranks = []
    for rank in range(RANKS):
        command = f"PMI_RANK={rank} exec {os.environ['WHYIO']} record -- {flag} map . {RANKS} {ROUNDS}"
        ranks.append(begin(agent, address[rank % 2], command, director=directors.get(rank)))
    status = max(rank.wait() for rank in ranks)
    for process in strangers:
        process.kill()
        process.wait()
    return status


# ---- the test ----


class Stage:
    def __init__(self, enter, agent, flag):
        self.enter, self.agent, self.flag = enter, agent, flag
        self.faults = []

    def expect(self, is_so, text):
        if not is_so:
            self.faults.append(text)

    def record(self, *options, **environment):
        command = [*self.enter, os.environ["WHYIO"], "record", "--causal=throttle", *options, "--format=json",
                   "--force", "-o", "trace", "--", sys.executable, os.path.abspath(__file__), "launch", self.flag]
        return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False,
                              env=dict(os.environ, TEST_AGENT=self.agent, **environment))

    def held_turns(self):
        """Which write waits for which, as turns."""
        lines = []
        for args in (("dump", "--format=json", "--op=pwrite", "trace"), ("edges", "--raw", "trace")):
            answer = subprocess.run([os.environ["WHYIO"], *args], check=True, text=True,
                                    stdout=subprocess.PIPE, timeout=60)
            lines.append([json.loads(line) for line in answer.stdout.splitlines()])
        turn = {(line["pid"], line["tid"], line["seq"]): line["offset"] // line["size"]
                for line in lines[0] if "offset" in line}
        ends = [[(end["pid"], end["tid"], end["seq"]) for end in (edge["from"], edge["to"])]
                for edge in lines[1] if edge.get("evidence") == "held"]
        return {(turn.get(pair[0]), turn.get(pair[1])) for pair in ends}

    def is_proven(self, name, *options, **environment):
        answer = self.record(*options, **environment)
        if answer.returncode != 0:
            self.expect(False, f"{name}: {answer.returncode}: {answer.stderr}")
            return None
        end = json.loads(answer.stderr.splitlines()[-1])
        throttle = end["throttle"]
        self.expect(end["images"] == RANKS and throttle["end"] == "proven" and throttle["contradicted"] == 0,
                    f"{name}: {answer.stderr}")
        wanted = {(i, i + 1) for i in range(RANKS * ROUNDS - 1)}
        self.expect(wanted <= self.held_turns(), f"{name}: {sorted(self.held_turns(), key=str)}")
        with open("log.listeners", encoding="ascii") as file:
            return set(json.load(file))

    # ---- what is tried ----

    def strangers_change_nothing(self):
        self.is_proven("strangers", "--hosts", TEST_STRANGERS="1")

    def one_network_is_listened_at(self):
        """10.213.77.1 alone, where there are others: named by a host, by an interface, by an address."""
        own = "0A D5 4D 01".split()
        cable = "".join(reversed(own))
        for options, interface in ((("--hosts=" + hosts.ADDRESSES[1],), ""), (("--hosts",), "cable"),
                                   (("--hosts",), hosts.ADDRESSES[0])):
            found = self.is_proven(f"{options} {interface}", *options, WHYIO_INTERFACE=interface)
            if found is not None:
                self.expect({place.split(":")[0] for place in found} == {cable}, f"{options} {interface}: {found}")

    def several_networks_are_not_guessed(self):
        answer = self.record("--hosts")
        self.expect(answer.returncode == 2 and "WHYIO_INTERFACE" in answer.stderr and "other" in answer.stderr,
                    f"two networks: {answer.returncode}: {answer.stderr}")


def add_network(first):
    hosts.command("nsenter", "--target", first, "--net", "ip", "link", "add", "other", "type", "veth", "peer",
                  "name", "nowhere")
    hosts.command("nsenter", "--target", first, "--net", "ip", "address", "add", "10.99.0.1/24", "dev", "other")
    hosts.command("nsenter", "--target", first, "--net", "ip", "link", "set", "other", "up")


def main(flag):
    with tempfile.TemporaryDirectory(prefix="whyio-strangers.") as scratch:
        os.chdir(scratch)
        try:
            with hosts.two_hosts(scratch, AHEAD_S) as (enter, agent):
                stage = Stage(enter, agent, flag)
                stage.strangers_change_nothing()
                add_network(enter[enter.index("--target") + 1])
                stage.several_networks_are_not_guessed()
                stage.one_network_is_listened_at()
        except hosts.Missing as reason:
            print(f"skipped: {reason}", file=sys.stderr)
            return 77
        finally:
            os.chdir("/")
    for fault in stage.faults:
        print(fault)
    return 1 if stage.faults else 0


if __name__ == "__main__":
    if sys.argv[1] == "launch":
        sys.exit(launch(sys.argv[2]))
    sys.exit(main(os.path.abspath(sys.argv[1])))
