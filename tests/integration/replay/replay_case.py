# SPDX-License-Identifier: Apache-2.0
"""What the tests of replay share: traces made by hand or recorded, a target, the result."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.environ["WHYIO_SOURCE"], "tests", "cli"))
import schema  # noqa: E402

WHYIO = os.environ["WHYIO"]
SCRIPT = os.environ.get("REPLAY_SCRIPT", "")
TIMEOUT = 60


def remove_tree(path):
    """Also what a replay has closed, which stops everybody but root."""
    for directory, below, _ in os.walk(path):
        for name in below:
            if not os.path.islink(os.path.join(directory, name)):
                os.chmod(os.path.join(directory, name), 0o700)
    shutil.rmtree(path, ignore_errors=True)


class ReplayCase(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="whyio-replay-")
        self.addCleanup(remove_tree, self.dir)
        self.target = os.path.join(self.dir, "target")
        self.trace = os.path.join(self.dir, "trace")

    def script(self, text, name="trace"):
        """A trace made by hand (tests/support/script.h)."""
        path = os.path.join(self.dir, name)
        os.mkdir(path)
        subprocess.run([SCRIPT, path], input=text.encode(), check=True, timeout=TIMEOUT)
        return path

    def record(self, *command, name="trace", cwd=None, env=None):
        path = os.path.join(self.dir, name)
        subprocess.run([WHYIO, "record", "-q", "-o", path, "--", *command], check=True, cwd=cwd or self.dir,
                       env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, timeout=TIMEOUT)
        return path

    def run_replay(self, *options, trace=None, target=None, **more):
        return subprocess.run([WHYIO, "replay", trace or self.trace, "--root=" + (target or self.target),
                               "--format=json", *options],
                              capture_output=True, text=True, timeout=TIMEOUT, check=False, **more)

    def replay(self, *options, status=0, **more):
        """The result as a dictionary."""
        answer = self.run_replay(*options, **more)
        self.assertEqual(answer.returncode, status, answer.stdout + answer.stderr)
        result = json.loads(answer.stdout.splitlines()[0])
        self.assertEqual([], list(schema.check(result, schema.load("replay"))))
        return result

    def replay_within(self, most_s, *options, **more):
        """The result of a replay that takes less. Others may keep the machine busy, but hardly each time."""
        for _ in range(8):
            result = self.replay(*options, **more)
            if result["time_s"] < most_s:
                return result
        self.fail(f"took {result['time_s']} s, never less than {most_s} s")

    def refused(self, *options, status=3, **more):
        """The message."""
        answer = self.run_replay(*options, **more)
        self.assertEqual(answer.returncode, status, answer.stdout + answer.stderr)
        self.assertEqual(answer.stdout, "")
        self.assertEqual(len(answer.stderr.splitlines()), 1, answer.stderr)
        return answer.stderr

    def path(self, recorded, target=None):
        return os.path.join(target or self.target, recorded.lstrip("/"))

    def tree(self, target=None):
        """All names below the target but the list of the replay."""
        top = target or self.target
        found = set()
        for directory, below, names in os.walk(top):
            found |= {"/" + os.path.relpath(os.path.join(directory, name), top) for name in below + names}
        return found - {"/.whyio-replay"}


def main():
    unittest.main(verbosity=2)
