#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ends_test.py EARLY_END STATIC: how processes ended that their own run kills or waits for (R-END-1), children
that were killed before they had a ring (R-END-2), and that a trace with anything unseen is not
called complete."""

import json
import os
import shutil
import signal
import sys
import tempfile
import unittest

import lacks
from record_case import RecordCase, main, until

EARLY_END = os.path.abspath(sys.argv.pop(1))
STATIC = os.path.abspath(sys.argv.pop(1))


class Ends(RecordCase):
    def killed_by_its_own(self, *command, status=0, killed=1):
        """The run ends processes of its own: their ends are known, nothing is missing."""
        answer = self.record(*command)
        self.assertEqual(answer.returncode, status, answer.stderr)
        info = self.info()
        self.assertEqual((info["killed"], info["open"], info["unseen"]), (killed, 0, {}))
        self.assertTrue(info["complete"])
        self.assertIn("a complete trace", self.whyio("info", "t").stdout)
        self.check()

    def python(self, text, **more):
        self.killed_by_its_own(sys.executable, "-c", text, **more)

    FORK = """
import os, signal
reader, writer = os.pipe()
child = os.fork()
if child == 0:
    os.write(writer, b"x")
    while True:
        signal.pause()
os.read(reader, 1)
"""

    def test_killed_and_awaited(self):
        self.python(self.FORK + "os.kill(child, signal.SIGKILL); os.waitpid(child, 0)")

    def test_awaited_with_waitid(self):
        self.python(self.FORK + "os.kill(child, signal.SIGTERM); os.waitid(os.P_PID, child, os.WEXITED)")

    def test_killed_and_left_to_the_recorder(self):
        self.python(self.FORK + "os.kill(child, signal.SIGKILL)")

    def test_killed_with_the_group(self):
        self.python("import os; os.setpgid(0, 0)\n" + self.FORK +
                    "signal.signal(15, signal.SIG_IGN); os.kill(0, 15)")

    def test_awaited_by_a_later_image(self):
        """The ring of the program that waits is sealed behind that of the child."""
        later = "import os, sys; child = int(sys.argv[1]); os.kill(child, 9); os.waitpid(child, 0)"
        self.python(self.FORK + f"os.execv({sys.executable!r}, [{sys.executable!r}, '-c', {later!r}, str(child)])")

    def test_stopped_is_not_ended(self):
        self.python(self.FORK + "os.kill(child, 19); os.waitpid(child, os.WUNTRACED); os.kill(child, 9); os.wait()")

    @unittest.skipIf(lacks.shared_memory(), lacks.shared_memory())
    def test_pool_of_processes(self):
        # Each has a task: one that has done nothing when the pool ends is killed before it has a ring.
        text = ("import multiprocessing as m\nbarrier = m.get_context('fork').Barrier(3)\n"
                "def work(number):\n    barrier.wait()\n"
                "if __name__ == '__main__':\n"
                "    with m.get_context('fork').Pool(3) as pool:\n        pool.map(work, range(3), chunksize=1)\n")
        answer = self.record(sys.executable, "-c", text)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual((self.info()["open"], self.info()["complete"]), (0, True))

    @unittest.skipUnless(shutil.which("timeout"), "no timeout here")
    def test_timeout(self):
        answer = self.record("sh", "-c", "timeout 0.5 sh -c 'echo x > out; while :; do :; done'")
        self.assertEqual(answer.returncode, 124, answer.stderr)
        info = self.info()
        self.assertEqual((info["open"], info["unseen"], info["complete"]), (0, {}, True))

    def test_exit_past_libc(self):
        """A status that only the parent knows: exit, not a signal."""
        text = ("import ctypes, os\nchild = os.fork()\nif child == 0:\n    os.close(0)\n"
                "    ctypes.CDLL(None).syscall(60 if os.uname().machine == 'x86_64' else 93, 3)\nos.wait()")
        self.killed_by_its_own(sys.executable, "-c", text, killed=0)

    def test_killed_from_outside(self):
        """Somebody else cut the run short, or the program itself."""
        for i, script in enumerate(("kill -9 $$", "kill -TERM $$")):
            with self.subTest(script):
                self.assertGreater(self.record("sh", "-c", script, trace=f"t{i}").returncode, 128)
                self.assertFalse(self.info(f"t{i}")["complete"])

    def test_child_that_left_no_ring(self):
        """It was killed before it did anything that could be recorded."""
        answer = self.record(EARLY_END)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        info = self.info()
        self.assertEqual(info["unseen"], {"killed_early": 1})
        self.assertFalse(info["complete"])
        self.assertIn("1 time: a child was killed before it could record anything", self.whyio("info", "t").stdout)

    def interrupted(self, form):
        """The recorder's last words: it is interrupted while a daemon of the run goes on."""
        daemon = "for i in 1 2 3 4 5; do echo $i >> out; done; echo $$ > ready; while [ ! -e go ]; do :; done"
        with open("words", "wb") as words:
            recorder = self.start("sh", "-c", f"sh -c '{daemon}' & exit 0", options=(f"--format={form}",),
                                  stderr=words)
        self.assertTrue(until(lambda: os.path.exists("ready") and os.path.getsize("ready") > 0))
        children = f"/proc/{recorder.pid}/task/{recorder.pid}/children"
        self.assertTrue(until(lambda: is_alone(children, "ready")), "the shell has not ended")
        os.kill(recorder.pid, signal.SIGINT)
        self.assertEqual(recorder.wait(30), 0)
        with open("words", encoding="utf-8") as words:
            return words.read()

    def end_daemon(self, events):
        open("go", "w", encoding="ascii").close()
        self.assertTrue(until(lambda: not self.info()["live"]))
        self.assertGreaterEqual(self.info()["events"], events)

    def test_interrupted_while_a_daemon_runs(self):
        words = json.loads(self.interrupted("json").splitlines()[-1])
        self.assertEqual((words["cut"], words["live_images"]), (True, 1))
        self.assertGreaterEqual(words["live_events"], 5)
        self.assert_described(json.dumps(words))
        self.end_daemon(words["events"] + words["live_events"])

    def test_interrupted_in_words(self):
        words = self.interrupted("text")
        self.assertRegex(words, r"\d+ more events so far of 1 program image that still runs")
        self.end_daemon(5)

    def test_static_program_is_unseen(self):
        answer = self.record("sh", "-c", f"{STATIC}; :")
        self.assertEqual(answer.returncode, 0, answer.stderr)
        info = self.info()
        self.assertEqual(info["unseen"], {"static_exec": 1})
        self.assertFalse(info["complete"])
        text = self.whyio("info", "t").stdout
        self.assertIn("an incomplete trace", text)
        self.assertNotIn("the recorder did not see", text)

    def test_a_program_of_another_c_library_is_unseen(self):
        """As those of musl are: their loader could not load the library. This one only has another name."""
        loader = b"/lib64/ld-linux-x86-64.so.2"
        place = tempfile.mkdtemp(prefix="o", dir="/tmp")
        self.addCleanup(shutil.rmtree, place)
        with open(shutil.which("echo"), "rb") as file:
            program = file.read()
        if loader not in program:
            self.skipTest("no x86-64")
        os.symlink(loader, place + "/ld-x.so")
        other = os.path.join(self.dir, "other")
        with open(other, "wb") as file:
            file.write(program.replace(loader, (place + "/ld-x.so").encode().ljust(len(loader), b"\0")))
        os.chmod(other, 0o755)
        answer = self.record("sh", "-c", f"{other} said; exit 7")
        self.assertEqual((answer.returncode, answer.stdout), (7, "said\n"), answer.stderr)
        self.assertEqual(self.info()["unseen"], {"foreign_exec": 1})
        self.assertIn("a program of another word size, C library or root was executed", self.whyio("info", "t").stdout)


def is_alone(path, name):
    """Of the recorder's children only that one is left whose pid stands in the file."""
    with open(path, encoding="ascii") as children, open(name, encoding="ascii") as pid:
        return children.read().split() == pid.read().split()


if __name__ == "__main__":
    main()
