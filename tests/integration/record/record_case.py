# SPDX-License-Identifier: Apache-2.0
"""What the tests of `whyio record` share: a directory of their own, running whyio, reading traces."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

WHYIO = os.environ["WHYIO"]
sys.path.append(os.path.join(os.environ["WHYIO_SOURCE"], "tests", "cli"))
SKIPPED = 77

import mpi_environment  # noqa: E402,F401
import schema  # noqa: E402 (of tests/cli)

# What runs the tests may ignore signals (nohup, a job in the background of a script), which every
# child would inherit: then nothing that the tests send would have an effect.
for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1):
    signal.signal(number, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)


def need(program, reason):
    """Skip the whole script where `program` is not there."""
    if program == "" or shutil.which(program) is None:
        print(f"skipped: {reason}", file=sys.stderr)
        sys.exit(SKIPPED)


def until(condition, seconds=20):
    """Wait for `condition()` to be true; its last answer."""
    end = time.monotonic() + seconds
    answer = condition()
    while not answer and time.monotonic() < end:
        time.sleep(0.02)
        answer = condition()
    return answer


class RecordCase(unittest.TestCase):
    """Each test runs in a fresh directory, which is the working directory."""

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="whyio-test-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(self.dir)

    def whyio(self, *args, **options):
        options.setdefault("capture_output", True)
        options.setdefault("text", True)
        options.setdefault("timeout", 60)
        return subprocess.run([WHYIO, *args], check=False, **options)

    def record(self, *command, options=("-q",), trace="t", **more):
        return self.whyio("record", "-o", trace, *options, "--", *command, **more)

    def start(self, *command, options=("-q",), trace="t", **more):
        """A recorder that runs on; killed with its group when the test ends."""
        child = subprocess.Popen(
            [WHYIO, "record", "-o", trace, *options, "--", *command], start_new_session=True, **more
        )
        self.addCleanup(stop_group, child)
        return child

    def info(self, trace="t"):
        answer = self.whyio("info", "--format=json", trace)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        return json.loads(answer.stdout)

    def dump(self, *options, trace="t"):
        """The operations of a trace, without the closing summary."""
        answer = self.whyio("dump", *options, trace)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        lines = [json.loads(line) for line in answer.stdout.splitlines()]
        return [line for line in lines if "op" in line]

    def assert_described(self, line):
        """A line of JSON is what docs/schema/ says of it; the parsed line."""
        value = json.loads(line)
        name = value["schema"].split(".")[1].split("/")[0]
        self.assertEqual([], list(schema.check(value, schema.load(name))))
        return value

    def check(self, trace="t"):
        answer = self.whyio("check", trace)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)

    def segments(self, trace="t"):
        return sorted(name for name in os.listdir(trace) if name.endswith(".seg"))

    def assert_sealed(self, trace="t"):
        """Segments, and nothing that is left over."""
        self.assertTrue(self.segments(trace))
        self.assertEqual([], [n for n in os.listdir(trace) if not n.endswith(".seg") and n not in ("trace.edges", "trace.held")])
        self.assertEqual([], [n for n in self.segments(trace) if n.endswith(".begin.seg")])


def stop_group(child):
    try:
        os.killpg(child.pid, 9)
    except ProcessLookupError:
        pass
    child.wait()
    for stream in (child.stdin, child.stdout, child.stderr):
        if stream is not None:
            stream.close()


def main():
    unittest.main(verbosity=2)
