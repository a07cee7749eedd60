#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Targets that cannot do what is asked, traces that cannot be replayed, deaths in the middle."""
import contextlib
import errno
import os
import re
import shutil
import signal
import subprocess
import time

from replay_case import TIMEOUT, WHYIO, ReplayCase, main

AFAP = "--mode=afap"
IS_ROOT = os.geteuid() == 0


def mounted(*arguments):
    return subprocess.run(["mount", *arguments], check=False, stderr=subprocess.DEVNULL).returncode == 0


class Targets(ReplayCase):
    @contextlib.contextmanager
    def mount(self, *arguments, at=None):
        at = at or self.target
        os.makedirs(at, exist_ok=True)
        if not IS_ROOT or not mounted(*arguments, at):
            self.skipTest("no right to mount here")
        try:
            yield
        finally:
            subprocess.run(["umount", at], check=True)

    def test_too_small(self):
        self.script("open path=/a res=3\nstat path=/a a1=0100644 a2=8388608\npread fd=3 path=/a off=0 size=8388608")
        with self.mount("-t", "tmpfs", "-o", "size=4m", "none"):
            self.assertRegex(self.refused(AFAP), r"too small: the replay needs 8\.0 MiB, free are \d\.\d MiB")

    def test_becomes_full(self):
        """What the plan cannot know: blocks that are allocated beyond what is written."""
        self.script("open path=/a a0=0x42 a1=0644 res=3\nftruncate fd=3 path=/a size=0 res=0\n" +
                    "".join(f"pwrite fd=3 path=/a off={i * 1000000} size=100\n" for i in range(2000)))
        with self.mount("-t", "tmpfs", "-o", "size=2m", "none"):
            message = self.refused(AFAP)
            self.assertIn("pwrite of '/a'", message)
            self.assertIn("No space left on device", message)

    def test_read_only(self):
        self.script("open path=/a res=3\npread fd=3 path=/a off=0 size=10")
        with self.mount("-t", "tmpfs", "-o", "size=1m,ro", "none"):
            message = self.refused(AFAP)
            self.assertIn(self.target, message)
            self.assertIn("Read-only file system", message)

    def test_no_right(self):
        self.script("mkdir path=/a")
        if IS_ROOT:
            with self.mount("-t", "proc", "none"):  # a directory in which even root can make nothing
                self.assertIn("cannot create", self.refused(AFAP))
            return
        os.mkdir(self.target, 0o500)
        self.assertIn("Permission denied", self.refused(AFAP))

    def test_no_direct_io(self):
        self.script("open path=/a a0=0x4042 a1=0644 res=3\npwrite fd=3 path=/a off=0 size=4096")
        with self.mount("-t", "ramfs", "none"):
            message = self.refused(AFAP)
            self.assertIn("open of '/a' with O_DIRECT", message)

    def test_no_such_place(self):
        self.script("mkdir path=/a")
        self.assertIn("/nowhere", self.refused(AFAP, target=os.path.join(self.dir, "nowhere/at/all")))
        with open(self.target, "w", encoding="ascii"):
            pass
        self.assertIn("Not a directory", self.refused(AFAP))
        self.refused(AFAP, target="/", status=2)

    def test_the_trace_itself(self):
        self.script("mkdir path=/a")
        before = os.listdir(self.trace)
        self.assertIn("the trace itself", self.refused(AFAP, target=self.trace, status=2))
        self.assertEqual(os.listdir(self.trace), before)
        inside = os.path.join(self.trace, "inside")
        self.replay(AFAP, target=inside)
        self.assertTrue(os.path.isdir(os.path.join(inside, "a")))
        self.replay(AFAP)

    def test_a_link_in_the_place_of_the_own_trace(self):
        self.script("mkdir path=/a\nsymlink path=/.whyio-replay.trace path2=/nowhere")
        self.replay(AFAP, "--compare")
        self.assertEqual(self.tree(), {"/a"})

    def replay_as_user(self, status=0):
        """A replay by somebody whom permissions hold up."""
        as_user = {"user": 65534, "group": 65534, "extra_groups": []} if IS_ROOT else {}
        os.chmod(self.dir, 0o755)
        program = shutil.copy(WHYIO, os.path.join(self.dir, "whyio"))
        if not os.path.isdir(self.target):
            os.mkdir(self.target)
            if IS_ROOT:
                os.chown(self.target, 65534, 65534)
        answer = subprocess.run([program, "replay", AFAP, "--format=json", "--root=" + self.target, self.trace],
                                capture_output=True, text=True, timeout=TIMEOUT, check=False, **as_user)
        self.assertEqual(answer.returncode, status, answer.stdout + answer.stderr)

    def test_closed_directories_of_an_earlier_replay(self):
        """What may not even be looked into is removed all the same, where a replay has made it."""
        self.script("""
            mkdir path=/mine/a a0=0700
            mkdir path=/mine/a/b a0=0700
            open path=/mine/a/b/f a0=0x42 a1=0600 res=3
            close fd=3 path=/mine/a/b/f
            chmod path=/mine/a/b a0=0
            chmod path=/mine/a a0=0""")
        os.makedirs(self.path("/mine"))
        os.chmod(self.path("/mine"), 0o777)
        if IS_ROOT:
            os.chown(self.target, 65534, 65534)
        for _ in range(3):
            self.replay_as_user()
            self.assertEqual(os.stat(self.path("/mine/a")).st_mode & 0o777, 0)
        os.chmod(self.path("/mine/a"), 0o700)
        with open(self.path("/mine/a/foreign"), "w", encoding="ascii"):
            os.chmod(self.path("/mine/a"), 0)  # stays for its sake, and can be written to
        self.replay_as_user(status=1)
        self.assertEqual(os.stat(self.path("/mine")).st_mode & 0o777, 0o777)
        os.chmod(self.path("/mine/a"), 0o700)

    def test_paths_that_are_too_long(self):
        """Of a program that went down step by step: nothing of that name was made, nothing is in the way of the next
        replay."""
        deep = "/d" + ("/" + "x" * 250) * 17
        self.script(f"mkdir path=/d\nmkdir path={deep}\nrmdir path={deep}\nrmdir path=/d")
        for _ in range(2):
            result = self.replay(AFAP, status=1)
            self.assertEqual({m["got"]["errno"] for m in result["mismatches"]}, {errno.ENAMETOOLONG})

    def test_somebody_elses_file(self):
        self.script("open path=/d/a res=3\npread fd=3 path=/d/a off=0 size=10")
        os.makedirs(self.path("/d"))
        with open(self.path("/d/a"), "w", encoding="ascii") as file:
            file.write("mine")
        self.assertIn("'/d/a'", self.refused(AFAP))
        with open(self.path("/d/a"), encoding="ascii") as file:
            self.assertEqual(file.read(), "mine")

    def test_somebody_elses_directory_is_not_removed(self):
        self.script("rmdir path=/d\nmkdir path=/e")
        os.makedirs(self.path("/d"))
        self.assertIn("'/d'", self.refused(AFAP))
        os.rmdir(self.path("/d"))
        os.mkdir(self.path("/e"))
        self.assertIn("'/e'", self.refused(AFAP))


class Traces(ReplayCase):
    def test_nobody_waits_for_anybody(self):
        self.script("mkdir path=/a")
        self.assertEqual(self.replay()["mode"], "think")
        self.assertEqual(self.replay("--mode=causal")["mode"], "causal")

    def test_usage(self):
        self.script("mkdir path=/a")
        for options in (["--mode=fast"], ["--scale-compute=x"], ["--scale-compute=-1"], ["--cache=none"],
                        ["--mode=afap", "--scale-compute=2"], ["more"]):
            answer = self.run_replay(*options)
            self.assertEqual((answer.returncode, answer.stdout), (2, ""), options)
        answer = subprocess.run([WHYIO, "replay", self.trace], capture_output=True, check=False)
        self.assertEqual(answer.returncode, 2)
        self.assertFalse(os.path.exists(self.target))

    def test_no_trace(self):
        os.mkdir(self.trace)
        self.refused(AFAP)
        self.refused(AFAP, trace=os.path.join(self.dir, "nothing"))

    def test_a_damaged_block_ends_the_replay(self):
        self.script("\n".join(f"mkdir path=/d{i}" for i in range(200)))
        path = os.path.join(self.trace, "script.seg")
        with open(path, "rb") as file:
            data = bytearray(file.read())
        for at in range(100, len(data), max(1, len(data) // 60)):
            damaged = bytes(data[:at]) + bytes([data[at] ^ 0x40]) + bytes(data[at + 1:])
            with open(path, "wb") as file:
                file.write(damaged)
            answer = self.run_replay(AFAP)
            self.assertIn(answer.returncode, (0, 1, 3), answer.stderr)
            if answer.returncode == 3:
                self.assertRegex(answer.stderr, r"at byte \d+|expected")


class Deaths(ReplayCase):
    LONG = """
        process 10
        process 20
        process 21 parent=0 start=1500
        stream 0 10
        stream 1 20
        stream 2 21
        fork stream=0 t=1000 res=21
        open stream=0 t=2000 path=/a a0=0x42 a1=0644 res=3
        close stream=0 t=60000000000 fd=3 path=/a
        mkdir stream=1 t=2000 path=/b
        mkdir stream=2 t=2000 path=/c
        rmdir stream=2 t=60000000000 path=/c"""

    def start(self):
        self.script(self.LONG)
        process = subprocess.Popen([WHYIO, "replay", self.trace, "--root=" + self.target], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        end = time.monotonic() + TIMEOUT
        while not all(os.path.exists(self.path(name)) for name in ("/a", "/b", "/c")):
            self.assertLess(time.monotonic(), end)
            self.assertIsNone(process.poll())
            time.sleep(0.01)
        return process

    @staticmethod
    def children(pid):
        found = []
        for entry in filter(str.isdigit, os.listdir("/proc")):
            with contextlib.suppress(OSError), open(f"/proc/{entry}/stat", encoding="ascii") as file:
                if int(file.read().rsplit(")", 1)[1].split()[1]) == pid:
                    found.append(int(entry))
        return found

    def assert_gone(self, pids):
        end = time.monotonic() + TIMEOUT
        while any(os.path.exists(f"/proc/{pid}") for pid in pids):
            self.assertLess(time.monotonic(), end, "processes of the replay are left")
            time.sleep(0.01)

    def test_a_replay_process_is_killed(self):
        process = self.start()
        children = self.children(process.pid)
        self.assertGreaterEqual(len(children), 2)
        os.kill(children[0], signal.SIGKILL)
        _, errors = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 3)
        self.assertIn("was killed by signal 9", errors)
        self.assert_gone(children)

    def test_interrupt(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                process = self.start()
                children = self.children(process.pid)
                process.send_signal(number)
                _, errors = process.communicate(timeout=TIMEOUT)
                self.assertEqual(process.returncode, -number)
                self.assertIn("interrupted", errors)
                self.assert_gone(children)
            subprocess.run(["rm", "-r", self.trace, self.target], check=True)

    def test_the_coordinator_is_killed(self):
        process = self.start()
        children = self.children(process.pid)
        process.kill()
        process.wait()
        self.assert_gone(children)
        result = self.replay(AFAP)  # what was left behind is reset
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])

    def test_two_replays_in_one_target(self):
        process = self.start()
        self.assertTrue(re.search("another replay", self.refused(AFAP)))
        process.terminate()
        process.communicate(timeout=TIMEOUT)


if __name__ == "__main__":
    main()
