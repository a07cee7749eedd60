#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Real faults below and between the processes of a store: faults_test.py CASE

What was acknowledged as stable is there afterwards, nothing is there by half, and no client waits beyond its time-out.
"""
import os
import signal
import subprocess
import sys
import tempfile
import time

import cable
import disks
from processes import WAIT, WHYIO, Server, Writer, check, key_file, refused, whole

CASE = sys.argv[1]
LEASE_S = 2


def fails_in_time(*words, inside=(), environment=None):
    """A client with a time-out of 300 ms ends, with an error."""
    done = subprocess.run([*inside, WHYIO, *words, "--timeout=300ms"], check=False, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=WAIT, env={**os.environ, **(environment or {})})
    assert done.returncode in (1, 3) and done.stderr, done


# ---- disks ------------------------------------------------------------------------------------


def ended_by_its_disk(server):
    assert server.process.wait(WAIT) == 3
    said = server.process.stderr.read()
    # a file system whose journal could not be written lets nothing be written any more
    assert "nput/output error" in said or "Read-only file system" in said, said


def case_eio(directory, log):
    """Writes that fail end the servers, with an error; what was acknowledged before is on the disk."""
    with disks.disk(os.path.join(directory, "disk")) as disk:
        arguments = (f"unix:{directory}/s", f"--root={disk.mount}/root", "--size=32M", "--targets=2", f"--log={log}")
        server = Server(*arguments)
        writer = Writer(server.address, os.path.join(directory, "numbers"))
        for _ in range(3):
            writer.wait_behind(writer.last() + 30)
            disk.fail("writes")
            ended_by_its_disk(server)
            disk.attach_again()
            server = Server(*arguments)
        writer.wait_behind(writer.last() + 30)
        writer.stop()
        check(server, writer.output)
        server.stop()
        disk.attach_again()
        disk.fail("reads")
        done = subprocess.run([WHYIO, "serve", *arguments], check=False, capture_output=True, text=True, timeout=WAIT)
        assert done.returncode == 3 and "nput/output error" in done.stderr, done
        disk.attach_again()
        whole(f"{disk.mount}/root")
        server = Server(*arguments)
        check(server, writer.output)
        server.stop()


def case_slow(directory):
    """A disk of 10 ms a write, servers that are killed on it, and one that stands still."""
    with disks.disk(os.path.join(directory, "disk"), delay_ms=10) as disk:
        arguments = (f"unix:{directory}/s", f"--root={disk.mount}/root", "--size=32M", "--targets=2")
        server = Server(*arguments)
        writer = Writer(server.address, os.path.join(directory, "numbers"))
        for _ in range(3):
            writer.wait_behind(writer.last() + 5)
            server.kill()
            server = Server(*arguments)
        writer.wait_behind(writer.last() + 5)
        server.process.send_signal(signal.SIGSTOP)
        fails_in_time("store", "ls", f"--server={server.address}")
        server.process.send_signal(signal.SIGCONT)
        writer.wait_behind(writer.last() + 5)
        writer.stop()
        check(server, writer.output)
        server.stop()
        whole(f"{disk.mount}/root")


# ---- cables -----------------------------------------------------------------------------------


def case_cut(directory):
    """Clients are cut off from their servers, for longer than a lease; then they go on."""
    cable.skip_unless_there()
    key = {"WHYIO_STORE_KEY": key_file(os.path.join(directory, "key"))}
    with cable.cable() as wire:
        far = {"inside": wire.there, "environment": key}
        server = Server(f"{cable.HERE}:7000", f"--root={directory}/root", "--targets=2", environment=key)
        writer = Writer(server.address, os.path.join(directory, "numbers"), **far)
        for _ in range(2):
            writer.wait_behind(writer.last() + 20)
            wire.cut()
            fails_in_time("store", "ls", f"--server={server.address}", **far)
            time.sleep(LEASE_S)
            check(server, writer.output, environment=key)  # it waits for no lock of what is cut off
            wire.heal()
        writer.wait_behind(writer.last() + 20)
        writer.stop()
        check(server, writer.output, **far)
        server.stop()
        whole(f"{directory}/root")


# ---- processes of their own -------------------------------------------------------------------


class Parts:
    """A catalogue and two targets, each a process; `inside` those of the second target."""

    def __init__(self, directory, addresses, inside=()):
        self.directory = directory
        self.environment = {"WHYIO_STORE_KEY": key_file(os.path.join(directory, "key"))}
        self.common = (f"--targets={','.join(addresses[1:])}", f"--servers-key={key_file(os.path.join(directory, 'servers'))}")
        self.addresses = addresses
        self.inside = ((), (), inside)
        self.processes = [self.start(part) for part in range(3)]
        self.address = self.processes[0].address

    def root(self, part):
        return os.path.join(self.directory, f"root{part}")

    def start(self, part):
        role = "target" if part > 0 else "catalogue"
        server = Server(self.addresses[part], f"--role={role}", f"--root={self.root(part)}", *self.common,
                        environment=self.environment, inside=self.inside[part])
        assert (server.ready["role"], server.ready["targets"]) == (role, self.addresses[1:]), server.ready
        return server

    def kill(self, part):
        self.processes[part].kill()

    def start_again(self, part):
        self.processes[part] = self.start(part)
        assert not self.processes[part].ready["new"]

    def stop(self):
        for process in self.processes:
            process.stop()
        for part in range(3):
            whole(self.root(part))


def case_parts(directory):
    """kill -9 of one process of three, under load: the others go on, and all is there when it comes back."""
    parts = Parts(directory, [f"unix:{directory}/{name}" for name in ("names", "a", "b")])
    writer = Writer(parts.address, os.path.join(directory, "numbers"), environment=parts.environment)
    for part in (1, 2, 1, 2):
        writer.wait_behind(writer.last() + 20)
        parts.kill(part)
        parts.start_again(part)
    writer.wait_behind(writer.last() + 20)
    parts.kill(0)
    writer.wait_behind(writer.last() + 20)  # the catalogue is not on the way of data
    parts.start_again(0)
    writer.stop()
    check(parts, writer.output, environment=parts.environment)
    parts.stop()
    roles = [f"--root={parts.root(1)}", "--role=target"]
    refused(parts.addresses[2], *roles, *parts.common, status=2, text="here is target 0 of a store of 2 targets")
    refused(f"--root={parts.root(1)}", status=2, text="here is target 0 of a store of 2 targets")
    other = key_file(os.path.join(directory, "other"))
    refused(parts.addresses[1], *roles, parts.common[0], f"--servers-key={other}", status=2, text="another --servers-key")


def case_parts_cut(directory):
    """Two targets that do not reach each other; a client that dies meanwhile leaves no half of a transaction."""
    cable.skip_unless_there()
    with cable.cable() as wire:
        addresses = [f"{cable.HERE}:7000", f"{cable.HERE}:7001", f"{cable.THERE}:7002"]
        parts = Parts(directory, addresses, inside=wire.there)
        for name in ("first", "second"):
            writer = Writer(parts.address, os.path.join(directory, name), environment=parts.environment)
            writer.wait_behind(20)
            wire.cut()
            time.sleep(LEASE_S / 2)
            writer.stop()
            fails_in_time("store", "df", f"--server={parts.address}", environment=parts.environment)
            wire.heal()
            check(parts, writer.output, environment=parts.environment)
        parts.stop()


def main():
    with tempfile.TemporaryDirectory(prefix="wio") as directory:
        cases = {"eio": lambda: case_eio(directory, "own"), "eio-sqlite": lambda: case_eio(directory, "sqlite"),
                 "slow": lambda: case_slow(directory), "cut": lambda: case_cut(directory),
                 "parts": lambda: case_parts(directory), "parts_cut": lambda: case_parts_cut(directory)}
        try:
            cases[CASE]()
        except disks.Missing as reason:
            print(f"skipped: {reason}", file=sys.stderr)
            sys.exit(77)


if __name__ == "__main__":
    main()
