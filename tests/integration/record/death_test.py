#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Any kind of death: the operations up to then are in the trace."""

import os
import shutil
import signal
import sys
import time

from record_case import WHYIO, RecordCase, main, until

WRITER = os.path.abspath(sys.argv.pop(1))
STATIC = os.path.abspath(sys.argv.pop(1))
RECORD_BYTES = 8
LEAST = 0.999  # of the operations done must be in the trace


class DeathCase(RecordCase):
    def written(self, path="out"):
        try:
            return os.path.getsize(path) // RECORD_BYTES
        except FileNotFoundError:
            return 0

    def assert_recorded(self, trace="t", path="out"):
        """Every write but perhaps the last is an event, in order, none twice."""
        lines = self.dump("--op", "pwrite", trace=trace)
        offsets = [line["offset"] for line in lines if line["path"].endswith("/" + path)]
        done = self.written(path)
        self.assertEqual(offsets, [i * RECORD_BYTES for i in range(len(offsets))])
        self.assertGreaterEqual(len(offsets), LEAST * done - 1, "one may be in flight")
        self.assertLessEqual(len(offsets), done)
        self.assertTrue(all(line["result"] == RECORD_BYTES for line in lines))


class Suicide(DeathCase):
    COUNT = 5000

    def die(self, how, status, is_complete):
        answer = self.record(WRITER, "out", str(self.COUNT), how)
        self.assertEqual(answer.returncode, status, answer.stderr)
        self.assertEqual(self.written(), self.COUNT)
        self.assert_recorded()
        self.assertEqual(self.info()["complete"], is_complete)
        self.check()

    def test_exit(self):
        self.die("exit", 0, True)

    def test_underscore_exit(self):
        self.die("_exit", 7, True)

    def test_term(self):
        self.die("TERM", 128 + signal.SIGTERM, False)

    def test_segv(self):
        self.die("SEGV", 128 + signal.SIGSEGV, False)

    def test_abrt(self):
        self.die("ABRT", 128 + signal.SIGABRT, False)

    def test_kill(self):
        self.die("KILL", 128 + signal.SIGKILL, False)


class Murder(DeathCase):
    """At any moment: the writer is killed from outside while it writes."""

    def pid_of_writer(self, recorder):
        path = f"/proc/{recorder.pid}/task/{recorder.pid}/children"
        with open(path, encoding="ascii") as children:
            pids = children.read().split()
        return int(pids[0]) if pids else 0

    def test_program_is_killed(self):
        for i, number in enumerate((signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT)):
            with self.subTest(number.name):
                trace, out = f"t{i}", f"out{i}"
                recorder = self.start(WRITER, out, "1", "on", trace=trace)
                self.assertTrue(until(lambda name=out: self.written(name) > 1000))
                time.sleep(0.01 * i)
                os.kill(self.pid_of_writer(recorder), number)
                self.assertEqual(recorder.wait(30), 128 + number)
                self.assert_recorded(trace, out)
                self.assertFalse(self.info(trace)["complete"])

    def test_any_moment_of_a_short_life(self):
        """Also before the first instruction of main, and while the recorder prepares."""
        for i in range(16):
            with self.subTest(delay_ms=2 * i):
                trace, out = f"t{i}", f"out{i}"
                recorder = self.start(WRITER, out, "1", "on", trace=trace)
                time.sleep(0.002 * i)
                os.killpg(recorder.pid, signal.SIGKILL)
                recorder.wait(30)
                self.assertTrue(until(lambda name=out: not any_process_writes(name, self.dir)))
                answer = self.whyio("check", trace)
                if not os.path.exists(trace) or not self.segments(trace):
                    self.assertEqual(answer.returncode, 3, "nothing was there yet")
                    continue
                self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
                if self.written(out) > 0:
                    self.assert_recorded(trace, out)

    def test_recorder_and_program_are_killed(self):
        recorder = self.start(WRITER, "out", "1", "on")
        self.assertTrue(until(lambda: self.written() > 20000))
        os.killpg(recorder.pid, signal.SIGKILL)
        recorder.wait(30)
        self.assertTrue(until(lambda: not any_process_writes("out", self.dir)))
        info = self.info()
        self.assertFalse(info["complete"])
        self.assert_recorded()
        self.check()
        self.assertFalse(os.path.exists("t/raw"), "the first look seals the rings")

    def test_why_a_trace_without_its_recorder_is_incomplete(self):
        """Each process ended by itself: only the recorder tells that there were no others."""
        recorder = self.start("sh", "-c", f"{WRITER} out 3000 exit; while [ ! -e go ]; do :; done")
        self.assertTrue(until(lambda: self.written() == 3000))
        os.kill(recorder.pid, signal.SIGKILL)
        recorder.wait(30)
        open("go", "w", encoding="ascii").close()
        self.assertTrue(until(lambda: not self.info()["live"]))
        self.assertEqual((self.info()["killed"], self.info()["open"]), (0, 0))
        text = self.whyio("info", "t").stdout
        self.assertIn("an incomplete trace", text)
        self.assertIn("the recorder did not see the end", text)

    def test_why_a_trace_whose_recorder_left_first_is_incomplete(self):
        """It saw the end of the command, but not of what goes on unseen."""
        recorder = self.start("sh", "-c", f"{STATIC} stay & echo $$ > shell; exit 0")
        self.assertTrue(until(lambda: os.path.exists("shell") and os.path.getsize("shell") > 0))
        with open("shell", encoding="ascii") as shell:
            process = "/proc/" + shell.read().strip()
        self.assertTrue(until(lambda: not os.path.exists(process)))
        os.kill(recorder.pid, signal.SIGINT)
        recorder.wait(30)
        self.assertEqual((self.info()["killed"], self.info()["open"]), (0, 0))
        text = self.whyio("info", "t").stdout
        self.assertIn("an incomplete trace", text)
        self.assertIn("the recorder did not see the end of all that the command started\n", text)

    def test_rings_elsewhere_are_found_after_a_kill(self):
        os.mkdir("local")
        environment = dict(os.environ, WHYIO_RING_DIR=os.path.join(self.dir, "local"))
        recorder = self.start(WRITER, "out", "1", "on", env=environment)
        self.assertTrue(until(lambda: self.written() > 1000))
        os.killpg(recorder.pid, signal.SIGKILL)
        recorder.wait(30)
        self.assertTrue(until(lambda: not any_process_writes("out", self.dir)))
        self.assertEqual(len(os.listdir("local")), 1)
        self.assert_recorded()
        self.assertEqual(os.listdir("local"), [])
        self.assertFalse(os.path.exists("t/raw"))

    def test_recorder_is_killed_while_it_seals(self):
        count = 100000
        for i in range(8):
            with self.subTest(delay_ms=15 * i):
                trace, out = f"t{i}", f"out{i}"
                recorder = self.start(WRITER, out, str(count), "exit", trace=trace)
                self.assertTrue(until(lambda name=out: self.written(name) == count))
                time.sleep(0.015 * i)
                os.kill(recorder.pid, signal.SIGKILL)
                recorder.wait(30)
                self.assertTrue(until(lambda name=out: not any_process_writes(name, self.dir)))
                self.assertEqual(self.info(trace)["ops"]["pwrite"]["count"], count)
                self.check(trace)

    def test_death_between_sealing_and_clearing_up(self):
        """R-RING-6: rings whose segment is there are not taken a second time."""
        recorder = self.start(WRITER, "out", "1", "on")
        self.assertTrue(until(lambda: self.written() > 3000))
        os.killpg(recorder.pid, signal.SIGKILL)
        recorder.wait(30)
        self.assertTrue(until(lambda: not any_process_writes("out", self.dir)))
        shutil.copytree("t/raw", "raw")
        events = self.info()["events"]
        (sealed,) = [name for name in self.segments() if not name.endswith(".begin.seg")]
        shutil.copytree("raw", "t/raw")
        for directory, _, names in list(os.walk("t/raw")):
            rings = [name for name in names if name.endswith(".ring")]
            if rings:
                with open(os.path.join(directory, "sealed-as"), "w", encoding="ascii") as mark:
                    mark.write("".join(f"{name}\n" for name in [sealed] + rings))
        self.assertEqual(self.info()["events"], events)
        self.assert_recorded()
        self.assertFalse(os.path.exists("t/raw"), "what was sealed is left for ever")
        shutil.copytree("raw", "t/raw")
        self.assertEqual(self.info()["events"], 2 * events, "the mark alone makes the difference")

    def test_a_look_at_a_running_recording(self):
        """Neither takes away rings nor shows anything twice, also between two processes."""
        script = f"{WRITER} out 2000 exit; while [ ! -e go ]; do :; done; {WRITER} out2 2000 exit"
        recorder = self.start("bash", "-c", script)
        self.assertTrue(until(lambda: self.written() == 2000))
        for _ in range(3):
            info = self.info()
            self.assertEqual(info["ops"]["pwrite"]["count"], 2000)
            self.assertFalse(info["complete"])
            self.assertTrue(info["live"])
            self.assertEqual(info["dropped"], 0)
        self.assertIn("a trace that is being recorded", self.whyio("info", "t").stdout)
        refused = self.record("true", options=("-q", "--force"))
        self.assertEqual(refused.returncode, 2)
        self.assertIn("is being recorded at this moment", refused.stderr)
        self.assertEqual(len(self.segments()), 1)
        open("go", "w", encoding="ascii").close()
        self.assertEqual(recorder.wait(30), 0)
        self.assert_recorded()
        self.assert_recorded(path="out2")
        self.assert_sealed()
        self.assertTrue(self.info()["complete"])
        self.assertFalse(self.info()["live"])

    def test_a_look_at_a_busy_program_reports_no_loss(self):
        """Its chunks are written and used again while they are read."""
        recorder = self.start(WRITER, "out", "1", "on")
        self.assertTrue(until(lambda: self.written() > 5000))
        for _ in range(20):
            self.assertEqual(self.info()["dropped"], 0)
        os.killpg(recorder.pid, signal.SIGKILL)

    def test_recorder_alone_is_killed(self):
        """The program goes on; a look at the live trace does not take its rings away."""
        recorder = self.start(WRITER, "out", "1", "on")
        self.assertTrue(until(lambda: self.written() > 1000))
        writer = self.pid_of_writer(recorder)
        os.kill(recorder.pid, signal.SIGKILL)
        recorder.wait(30)
        first = self.info()["ops"]["pwrite"]["count"]
        mark = self.written()
        self.assertTrue(until(lambda: self.written() > mark + 5000), "the program was disturbed")
        self.assertGreater(self.info()["ops"]["pwrite"]["count"], first)
        os.kill(writer, signal.SIGKILL)
        self.assertTrue(until(lambda: not any_process_writes("out", self.dir)))
        self.assert_recorded()
        self.assertFalse(self.info()["complete"])

    def test_one_process_of_a_shell_dies(self):
        script = f"{WRITER} out 3000 KILL; echo $? > status; {WRITER} second 100 exit"
        self.assertEqual(self.record("bash", "-c", script).returncode, 0)
        with open("status", encoding="ascii") as status:
            self.assertEqual(status.read(), "137\n")
        self.assert_recorded()
        self.assert_recorded(path="second")
        self.assertTrue(self.info()["complete"], "the shell waited for it: the run was not cut short")

    def test_forced_recording_over_a_killed_one(self):
        recorder = self.start(WRITER, "out", "1", "on")
        self.assertTrue(until(lambda: self.written() > 100))
        os.killpg(recorder.pid, signal.SIGKILL)
        recorder.wait(30)
        self.assertEqual(self.record("true").returncode, 2)
        self.assertEqual(self.record("true", options=("-q", "--force")).returncode, 0)
        self.assert_sealed()
        self.assertTrue(self.info()["complete"])


def any_process_writes(name, directory):
    """True while a process has directory/name open."""
    path = os.path.join(os.path.realpath(directory), name)
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            for fd in os.listdir(f"/proc/{pid}/fd"):
                if os.readlink(f"/proc/{pid}/fd/{fd}") == path:
                    return True
        except OSError:
            continue
    return False


if __name__ == "__main__":
    if not os.access(WHYIO, os.X_OK):
        sys.exit(f"{WHYIO} is not there")
    main()
