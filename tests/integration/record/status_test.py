#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recorded command behaves as without whyio: status, streams, signals."""

import os
import pty
import signal
import subprocess
import sys
import unittest

import lacks
from record_case import WHYIO, RecordCase, main, stop_group, until


class Status(RecordCase):
    def test_exit_status_is_passed_through(self):
        for status in (0, 1, 2, 3, 77, 126, 127, 255):
            answer = self.record("sh", "-c", f"exit {status}", options=("-q", "--force"))
            self.assertEqual(answer.returncode, status)
            self.assertEqual(answer.stdout, "")
            self.assertEqual(answer.stderr, "")

    def test_true_and_false(self):
        self.assertEqual(self.record("true", trace="a").returncode, 0)
        self.assertEqual(self.record("false", trace="b").returncode, 1)
        self.assert_sealed("a")
        self.assertTrue(self.info("a")["complete"])

    def test_death_by_signal_is_128_and_its_number(self):
        for number in (signal.SIGTERM, signal.SIGSEGV, signal.SIGABRT, signal.SIGKILL):
            answer = self.record("sh", "-c", f"kill -{int(number)} $$", options=("-q", "--force"))
            self.assertEqual(answer.returncode, 128 + number)

    def test_dashes_belong_to_the_command(self):
        answer = self.whyio("record", "-q", "-o", "t", "sh", "-c", "echo $0 $1", "-x", "--force")
        self.assertEqual((answer.returncode, answer.stdout), (0, "-x --force\n"))

    def test_directory_has_the_name_of_the_program(self):
        answer = self.whyio("record", "-q", "--", "/bin/true")
        self.assertEqual(answer.returncode, 0)
        (name,) = os.listdir(".")
        self.assertRegex(name, r"^true-\d+\.whyio$")


class Streams(RecordCase):
    def test_output_and_errors_are_the_commands_own(self):
        answer = self.record("sh", "-c", "echo out; echo err >&2")
        self.assertEqual((answer.stdout, answer.stderr), ("out\n", "err\n"))

    def test_closing_line_goes_to_stderr(self):
        answer = self.record("echo", "out", options=())
        self.assertEqual(answer.stdout, "out\n")
        self.assertRegex(answer.stderr, r"^whyio: /.*/t: [\d,]+ events? of 1 program image, 0 dropped")
        self.assertEqual(answer.stderr.count("\n"), 1)

    def test_closing_line_as_json(self):
        answer = self.record("echo", "out", options=("--format=json",))
        self.assertEqual(answer.stderr.count("\n"), 1)
        value = self.assert_described(answer.stderr)
        self.assertEqual((value["exit_status"], value["sealed"], value["cut"]), (0, True, False))
        self.assertEqual(value["dir"], os.path.realpath("t"))

    def test_input_reaches_the_command(self):
        answer = self.record("cat", input="a\nb\n")
        self.assertEqual(answer.stdout, "a\nb\n")

    def test_input_is_not_read_by_the_recorder(self):
        script = f"{WHYIO} record -q -o t -- true; cat"
        answer = subprocess.run(
            ["sh", "-c", script], input="kept", capture_output=True, text=True, check=False
        )
        self.assertEqual(answer.stdout, "kept")

    def test_pipeline(self):
        script = f"seq 100000 | {WHYIO} record -q -o t -- sort -rn | head -1"
        answer = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False)
        self.assertEqual((answer.stdout, answer.stderr), ("100000\n", ""))

    def test_writer_gets_its_signal_when_the_command_stops_reading(self):
        """The recorder must not hold the read end of the pipe."""
        script = f"(yes; echo $? >&2) | {WHYIO} record -q -o t -- sh -c 'exec 0<&-; sleep 1'"
        answer = subprocess.run(
            ["bash", "-c", script], capture_output=True, text=True, timeout=30, check=False
        )
        self.assertIn("141", answer.stderr)

    def test_reader_sees_the_end_when_the_command_closes_its_output(self):
        """The recorder must not hold the write end: `cat` ends while the command runs on."""
        script = "exec >&- 2>&-; while [ ! -e go ]; do sleep 0.05; done"
        child = self.start("sh", "-c", script, stdout=subprocess.PIPE)
        self.assertEqual(child.stdout.read(), b"")
        self.assertIsNone(child.poll())
        open("go", "w", encoding="ascii").close()
        self.assertEqual(child.wait(20), 0)

    def test_inherited_descriptors_reach_the_command_only(self):
        reader, writer = os.pipe()
        script = f"echo hello >&{writer}; exec {writer}>&-; while [ ! -e go ]; do sleep 0.05; done"
        child = self.start("bash", "-c", script, pass_fds=(writer,))
        os.close(writer)
        with os.fdopen(reader, "rb") as pipe:
            self.assertEqual(pipe.read(), b"hello\n")
        open("go", "w", encoding="ascii").close()
        self.assertEqual(child.wait(20), 0)

    def test_closed_streams_stay_closed(self):
        script = "for f in 0 1 2 3 4; do [ -e /proc/self/fd/$f ] && echo $f; done >seen; true"
        for closed in ("<&-", "2>&-", "<&- 2>&-", "<&- >&- 2>&-"):
            with self.subTest(closed):
                subprocess.run(["bash", "-c", f"bash -c '{script}' {closed}"], check=True)
                with open("seen", encoding="ascii") as seen:
                    plain = seen.read()
                command = f"{WHYIO} record -o t --force -- bash -c '{script}' {closed}"
                subprocess.run(["bash", "-c", command], check=True)
                with open("seen", encoding="ascii") as seen:
                    self.assertEqual(seen.read(), plain)
                self.assert_sealed()
                self.check()

    def test_ignored_signals_stay_ignored_and_blocked_ones_blocked(self):
        probe = "grep -E '^Sig(Blk|Ign)' /proc/self/status"
        masks = dict(preexec_fn=set_masks, capture_output=True, text=True, check=False)
        plain = subprocess.run(["sh", "-c", probe], **masks)
        traced = subprocess.run([WHYIO, "record", "-q", "-o", "t", "--", "sh", "-c", probe], **masks)
        self.assertEqual(traced.stdout, plain.stdout)


def set_masks():
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGTERM})


class Anonymous(RecordCase):
    def test_names_are_hidden_everywhere(self):
        os.mkdir("harvest")
        script = "echo x > harvest/figures.txt; cat harvest/figures.txt harvest/none"
        answer = self.record("sh", "-c", script, options=("-q", "--anonymize"))
        self.assertEqual(answer.stdout, "x\n")
        for command in (["info"], ["info", "--format=json"], ["dump"]):
            text = self.whyio(*command, "t").stdout
            self.assertNotRegex(text, "harvest|figures|none|whyio-test")
        paths = {line["path"] for line in self.dump("--op", "open")}
        hidden = [path for path in paths if path.endswith(".txt")]
        self.assertEqual(len(hidden), 1, "one name for one file, its extension kept")
        self.assertEqual(hidden[0].count("/"), os.path.realpath("harvest/figures.txt").count("/"))
        for name in self.segments():
            with open(os.path.join("t", name), "rb") as segment:
                self.assertNotRegex(segment.read(), b"harvest|figures")


    def test_names_stay_hidden_when_the_recorder_is_killed(self):
        script = "echo x > harvest.txt; echo ready; sleep 100"
        child = self.start("sh", "-c", script, options=("--anonymize",), stdout=subprocess.PIPE)
        self.assertEqual(child.stdout.readline(), b"ready\n")
        self.assertNotRegex(self.whyio("dump", "t").stdout, "harvest", "while it is recorded")
        os.killpg(child.pid, signal.SIGKILL)
        child.wait()
        self.assertTrue(until(lambda: not self.info()["live"]))
        paths = {line["path"] for line in self.dump("--op", "open")}
        self.assertEqual(1, len([path for path in paths if path.endswith(".txt")]))
        self.assertNotRegex(" ".join(filter(None, paths)), "harvest")
        self.assertNotIn("raw", os.listdir("t"), "the key goes with the rings")


class Signals(RecordCase):
    TRAP = "trap 'echo got; exit 9' {0}; echo ready; while :; do sleep 0.05; done"

    def test_signals_sent_to_the_recorder_are_passed_on(self):
        for name in ("TERM", "INT", "HUP", "USR1", "QUIT"):
            with self.subTest(name):
                child = self.start(
                    "bash", "-c", self.TRAP.format(name), trace=name, stdout=subprocess.PIPE
                )
                self.assertEqual(child.stdout.readline(), b"ready\n")
                child.send_signal(getattr(signal, "SIG" + name))
                self.assertEqual(child.stdout.readline(), b"got\n")
                self.assertEqual(child.wait(20), 9)

    @unittest.skipIf(lacks.terminal(), lacks.terminal())
    def test_keyboard_interrupt_arrives_once(self):
        """A terminal interrupts the whole group: the command must not get a second one."""
        script = ("n=0; trap 'n=$((n+1))' INT; echo ready; for i in {1..200}; do [ $n -gt 0 ] && break; sleep 0.1; done; "
                  "for i in {1..5}; do sleep 0.1; done; echo n=$n")
        pid, screen = pty.fork()
        if pid == 0:
            os.execv(WHYIO, [WHYIO, "record", "-q", "-o", "t", "--", "bash", "-c", script])
        text = read_until(screen, b"ready")
        os.write(screen, b"\x03")
        text += read_until(screen, b"n=")
        _, status = os.waitpid(pid, 0)
        os.close(screen)
        self.assertIn(b"n=1", text)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)

    @unittest.skipIf(lacks.terminal(), lacks.terminal())
    def test_interrupted_command(self):
        pid, screen = pty.fork()
        if pid == 0:
            os.execv(WHYIO, [WHYIO, "record", "-q", "-o", "t", "--", "sh", "-c", "echo ready; exec sleep 30"])
        read_until(screen, b"ready")
        os.write(screen, b"\x03")
        _, status = os.waitpid(pid, 0)
        os.close(screen)
        self.assertEqual(os.waitstatus_to_exitcode(status), 130)
        self.assert_sealed()


def read_until(terminal, mark):
    text = b""
    while mark not in text.replace(b"^C", b""):
        try:
            text += os.read(terminal, 4096)
        except OSError:
            break
    return text


class Stacks(RecordCase):
    def test_whole_stacks_beside_waits(self):
        """The unwinder initialises itself by pthread_once, which is recorded with the waits."""
        self.assertEqual(self.start("sh", "-c", "echo x > out", options=("-q", "--stacks")).wait(30), 0)
        (event,) = [line for line in self.dump("--op", "open") if line["path"].endswith("/out")]
        self.assertGreaterEqual(len(event["stack"]), 2)


class Daemons(RecordCase):
    def test_waits_for_what_the_command_left_behind(self):
        script = "(sleep 0.7; echo late > late) & echo early"
        answer = self.record("sh", "-c", script)
        self.assertEqual(answer.returncode, 0)
        self.assertTrue(os.path.exists("late"))
        late = [line for line in self.dump("--op", "open") if line["path"].endswith("/late")]
        self.assertEqual(len(late), 1)
        self.assertTrue(self.info()["complete"])

    def test_waits_for_a_daemon_in_a_session_of_its_own(self):
        script = "setsid -f sh -c 'sleep 0.7; echo late > late' >/dev/null 2>&1"
        self.assertEqual(self.record("sh", "-c", script).returncode, 0)
        self.assertTrue(os.path.exists("late"))

    def test_a_signal_ends_the_wait_and_the_trace_is_sealed(self):
        script = "sleep 60 2>/dev/null & echo x > first; exit 5"
        child = self.start("sh", "-c", script, options=(), stderr=subprocess.PIPE)
        self.assertIn(b"1 of its processes runs on", child.stderr.readline())
        child.send_signal(signal.SIGINT)
        self.assertEqual(child.wait(20), 5)
        self.assertIn(b"cut short", child.stderr.read())
        info = self.info()
        self.assertFalse(info["complete"])
        self.assertGreater(info["events"], 0)

    def test_children_from_before_are_not_waited_for(self):
        """A script that starts something and then becomes the recorder by exec."""
        script = f"sleep 60 >/dev/null 2>&1 & exec {WHYIO} record -q -o t -- sh -c 'exit 3'"
        child = subprocess.Popen(["sh", "-c", script], start_new_session=True)
        self.addCleanup(stop_group, child)
        self.assertEqual(child.wait(20), 3)

    def test_orphans_are_waited_for_by_wait(self):
        """Being the reaper must not take children away from the command."""
        script = "sh -c 'exit 4' & wait $!; echo $?"
        self.assertEqual(self.record("sh", "-c", script).stdout, "4\n")


if __name__ == "__main__":
    if not until(lambda: os.access(WHYIO, os.X_OK), 1):
        sys.exit(f"{WHYIO} is not there")
    main()
