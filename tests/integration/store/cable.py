# SPDX-License-Identifier: Apache-2.0
"""Two hosts on a cable that can be cut: this process in one network namespace, another one beside it. Any user may have
them where user namespaces are allowed; skip_unless_there ends the test where there can be none."""
import contextlib
import os
import subprocess
import sys

HERE, THERE = "10.213.78.1", "10.213.78.2"
INSIDE = "WHYIO_TEST_CABLE"
WAIT = 30


def skip(why):
    print(f"skipped: {why}", file=sys.stderr)
    sys.exit(77)


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True, timeout=WAIT)


def skip_unless_there():
    """This program again, in namespaces of its own."""
    if os.environ.get(INSIDE):
        return
    unshare = ["unshare", "--user", "--map-root-user", "--net", "--fork", "--kill-child"]
    try:
        done = subprocess.run([*unshare, "ip", "link", "add", "cable", "type", "veth", "peer", "name", "end"],
                              check=False, capture_output=True, text=True, timeout=WAIT)
    except FileNotFoundError:
        skip("unshare is not installed")
    if done.returncode != 0:
        skip(f"no network of its own: {done.stderr.strip()}")
    sys.exit(subprocess.run([*unshare, sys.executable, *sys.argv], check=False,
                            env={**os.environ, INSIDE: "1"}).returncode)


class Cable:
    def __init__(self, keeper):
        self.there = ("nsenter", "--target", str(keeper), "--net")
        run("ip", "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", str(keeper))
        for enter, address in (((), HERE), (self.there, THERE)):
            run(*enter, "ip", "address", "add", f"{address}/24", "dev", "cable")
            run(*enter, "ip", "link", "set", "cable", "up")
            run(*enter, "ip", "link", "set", "lo", "up")

    def cut(self):
        """Bytes on the way are lost; neither end hears of it."""
        run(*self.there, "ip", "link", "set", "cable", "down")

    def heal(self):
        run(*self.there, "ip", "link", "set", "cable", "up")


@contextlib.contextmanager
def cable():
    with subprocess.Popen(["unshare", "--net", "--fork", "--kill-child", "sh", "-c", "echo $$ && exec sleep 600"],
                          stdout=subprocess.PIPE, text=True) as keeper:
        try:
            yield Cable(int(keeper.stdout.readline()))
        finally:
            keeper.kill()
