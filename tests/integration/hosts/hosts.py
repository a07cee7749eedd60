# SPDX-License-Identifier: Apache-2.0
"""Two hosts in one: namespaces with a network, a name and a clock of their own, joined by a cable.
Missing says why there can be none."""
import contextlib
import os
import subprocess

NAMES = ("whyio-a", "whyio-b")
ADDRESSES = ("10.213.77.1", "10.213.77.2")
ADDRESSES_6 = ("fd77::1", "fd77::2")
NETWORK = "10.213.77.0/24"
AGENT = """#!/bin/sh
# What Open MPI calls in place of ssh: the host's address, then a command.
host=$1
shift
case $host in
{cases}
*) exit 255 ;;
esac
exec nsenter --target "$pid" --net --uts --time sh -c "$*"
"""


class Missing(Exception):
    pass


def command(*args):
    try:
        done = subprocess.run(args, check=False, capture_output=True, text=True)
    except FileNotFoundError as error:
        raise Missing(f"{args[0]} is not installed") from error
    if done.returncode != 0:
        raise Missing(f"{' '.join(args)}: {done.stderr.strip()}")


@contextlib.contextmanager
def namespaces(name, ahead_s):
    """The process that keeps them: its CLOCK_MONOTONIC is ahead by so many seconds."""
    with subprocess.Popen(["unshare", "--net", "--uts", "--time", "--monotonic", str(ahead_s), "--fork",
                           "--kill-child", "sh", "-c", f"hostname {name} && echo $$ && exec sleep 600"],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as keeper:
        try:
            said = keeper.stdout.readline().strip()
            if not said:
                raise Missing("unshare: " + keeper.stderr.read().strip())
            yield said
        finally:
            keeper.kill()


@contextlib.contextmanager
def two_hosts(scratch, ahead_s, addresses=ADDRESSES):
    """What begins a command on the first host, and the agent that reaches both; the second host's
    clock is ahead."""
    if os.geteuid() != 0:
        raise Missing("namespaces need root")
    with namespaces(NAMES[0], 0) as first, namespaces(NAMES[1], ahead_s) as second:
        command("ip", "link", "add", "cable", "netns", first, "type", "veth", "peer", "name", "cable",
                "netns", second)
        for pid, address in zip((first, second), addresses):
            enter = ("nsenter", "--target", pid, "--net", "ip")
            how = ("/64", "nodad") if ":" in address else ("/24",)
            command(*enter, "address", "add", address + how[0], "dev", "cable", *how[1:])
            command(*enter, "link", "set", "cable", "up")
            command(*enter, "link", "set", "lo", "up")
        agent = os.path.join(scratch, "agent")
        cases = "\n".join(f"{address}) pid={pid} ;;"
                          for pid, address in zip((first, second), addresses))
        with open(agent, "w", encoding="ascii") as file:
            file.write(AGENT.format(cases=cases))
        os.chmod(agent, 0o755)
        yield ["nsenter", "--target", first, "--net", "--uts", "--time"], agent
