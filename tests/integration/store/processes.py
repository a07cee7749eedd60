# SPDX-License-Identifier: Apache-2.0
"""whyio serve and its clients as processes, for the tests of this directory."""
import json
import os
import signal
import subprocess
import time

WHYIO = os.path.abspath(os.environ["WHYIO"])
LOOP = os.path.abspath(os.environ["STORE_LOOP"])
WAIT = 60  # seconds, of anything: the machine may be slow


class Server:
    def __init__(self, *arguments, environment=None, inside=()):
        self.process = subprocess.Popen([*inside, WHYIO, "serve", "--format=json", *arguments], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"whyio serve {arguments} ended: {self.process.stderr.read()}")
        self.ready = json.loads(line)
        self.address = self.ready["address"]

    def kill(self):
        self.process.kill()
        self.process.wait(WAIT)

    def stop(self, by=signal.SIGTERM):
        self.process.send_signal(by)
        assert self.process.wait(WAIT) == 0, self.process.stderr.read()


def key_file(path):
    """A new key, for --key and --servers-key."""
    with open(path, "w", encoding="ascii") as file:
        file.write(os.urandom(32).hex() + "\n")
    os.chmod(path, 0o600)
    return path


def loop(*arguments, environment=None, inside=()):
    done = subprocess.run([*inside, LOOP, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=2 * WAIT,
                          env={**os.environ, **(environment or {})})
    assert done.returncode in (0, 1), done.stderr
    return done


def refused(*arguments, status, text):
    done = subprocess.run([WHYIO, "serve", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=WAIT)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    assert text in done.stderr, (arguments, done.stderr)
    assert done.stdout == "", done.stdout


class Writer:
    """Numbers that were acknowledged, from a client that goes on whatever happens to the servers."""

    def __init__(self, address, output, inside=(), environment=None):
        self.output = output
        self.file = open(output, "w")
        self.process = subprocess.Popen([*inside, LOOP, "write", address, "1"], stdout=self.file, stderr=subprocess.DEVNULL,
                                        env={**os.environ, **(environment or {})})

    def last(self):
        """Of the lines that are whole; 0: none yet."""
        with open(self.output) as numbers:
            lines = numbers.read().split("\n")[:-1]
        return int(lines[-1]) if lines else 0

    def wait_behind(self, number):
        end = time.monotonic() + WAIT
        while self.last() <= number:
            assert time.monotonic() < end, f"nothing was acknowledged behind {number}"
            assert self.process.poll() is None, "the client has ended"
            time.sleep(0.01)

    def stop(self):
        self.process.kill()
        self.process.wait(WAIT)
        return self.last()


def check(server, printed, **where):
    """`printed`: the last number, behind which none was left out, or the file of a writer that left some."""
    done = loop("check", server.address, str(printed), **where)
    assert done.returncode == 0, f"up to {printed}:\n{done.stdout}"


def whole(root):
    done = subprocess.run([WHYIO, "check", root], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=WAIT)
    assert done.returncode == 0, done.stdout + done.stderr
