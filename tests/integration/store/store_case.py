# SPDX-License-Identifier: Apache-2.0
"""A store in memory for a test, and whyio as its client."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.environ["WHYIO_SOURCE"], "tests", "cli"))
import schema  # pylint: disable=wrong-import-position

WHYIO = os.environ["WHYIO"]


class Served:
    """store_served with some targets; ends with its standard input."""

    def __init__(self, targets=2, policy=0, capacity=0, admission="credit", work_us=0, tenants="job"):
        self.process = subprocess.Popen(
            [os.environ["STORE_SERVED"], str(targets), str(policy), str(capacity), admission, str(work_us),
             tenants],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def end(self):
        self.process.stdin.close()
        self.process.stdout.close()
        return self.process.wait(timeout=30)


class Serving:
    """whyio serve below a directory; `end` asks it to end. `file_bytes`: the longest file that it may have."""

    def __init__(self, root, targets, file_bytes=None):
        os.makedirs(root, exist_ok=True)
        self.root = os.path.join(root, "store")
        self.address = "unix:" + os.path.join(root, "socket")
        bound = [] if file_bytes is None else ["prlimit", f"--fsize={file_bytes}"]
        self.process = subprocess.Popen([*bound, WHYIO, "serve", self.address, f"--root={self.root}",
                                         f"--targets={targets}"],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True)
        # what it prints, it prints when it listens
        while not self.process.stdout.readline().startswith("address"):
            if self.process.poll() is not None:
                raise RuntimeError("whyio serve has ended")

    def end(self):
        self.process.terminate()
        self.process.stdout.close()
        return self.process.wait(timeout=60)


class StoreCase(unittest.TestCase):
    targets = 3
    policy = 0
    capacity = 0

    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="whyio-store.")
        self.work = self.scratch.name
        self.served = self.serve()

    def serve(self):
        return Served(self.targets, self.policy, self.capacity)

    def tearDown(self):
        self.assertEqual(self.served.end(), 0)
        self.scratch.cleanup()

    def whyio(self, *words, status=0, **more):
        result = subprocess.run([WHYIO, *words], cwd=self.work, text=True, check=False, timeout=120,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                env=dict(os.environ, WHYIO_SERVER=self.served.address), **more)
        self.assertEqual(result.returncode, status, f"{words}: {result.stdout}{result.stderr}")
        return result

    def json(self, *words, status=0):
        """The one object of the output, held against its schema."""
        result = self.whyio(*words, "--format=json", status=status)
        value = json.loads(result.stdout)
        self.assertEqual(list(schema.check(value, schema.load(value["schema"].split(".")[1].split("/")[0]))), [])
        return value

    def path(self, *parts):
        return os.path.join(self.work, *parts)

    def write(self, name, data):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "wb") as out:
            out.write(data)

    def read(self, name):
        with open(self.path(name), "rb") as file:
            return file.read()
