#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whyio calibrate on real file systems: HOST.json is one, nothing stays behind, whatever happens.

Nothing here depends on how fast anything is. The limits that a calibration lowers are those of the whole
machine: another run of this test waits until this one has ended.
"""
import contextlib
import fcntl
import json
import os
import pathlib
import pwd
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.join(os.environ["WHYIO_SOURCE"], "tests", "cli"))
import schema  # noqa: E402  pylint: disable=wrong-import-position

WHYIO = os.environ["WHYIO"]
QUICK = ["--max-bytes=16M", "--budget=1s", "-q"]
LIMITS = [f"/proc/sys/vm/dirty_{name}" for name in ("background_bytes", "background_ratio", "bytes", "ratio")]
LEAST = {"bw_mem", "bw_ramdisk", "bw_reduced", "bw_dev", "bw_rdev", "sc_w", "sc_sw", "c_sk", "bs", "bf", "limit_bg",
         "limit_hard", "dirty_expire", "c_lib", "hz", "balance_step"}
LOWERED = str((1 << 20) + 12288)  # WIO_LIMITS_LOWERED
META = {"open", "create", "close", "stat", "unlink", "mkdir", "rmdir", "rename", "readdir", "truncate"}


def read_limits():
    return [pathlib.Path(name).read_text(encoding="ascii") for name in LIMITS]


def nobody():
    """Arguments of subprocess that run a command without root, {} where we are not."""
    if os.geteuid() != 0:
        return {}
    user = pwd.getpwnam("nobody")
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def is_reachable_by_all(path):
    parents = [path, *pathlib.Path(os.path.realpath(path)).parents]
    return all(os.stat(parent).st_mode & stat.S_IXOTH for parent in parents)


class Case(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp(prefix="whyio-calibrate-test."))
        self.addCleanup(shutil.rmtree, self.scratch, ignore_errors=True)
        self.dir = self.scratch / "dir"
        self.dir.mkdir()
        self.host = self.scratch / "host.json"
        self.limits = read_limits()

    def command(self, *options, directory=None):
        return [WHYIO, "calibrate", str(directory or self.dir), "-o", str(self.host), *options]

    def run_command(self, *options, directory=None, **kwargs):
        return subprocess.run(self.command(*options, directory=directory), check=False, text=True, timeout=150,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kwargs)

    def is_clean(self, directory=None):
        self.assertEqual(os.listdir(directory or self.dir), [])
        self.assertEqual(read_limits(), self.limits)

    def fails(self, status, *words, directory=None, options=(), **kwargs):
        done = self.run_command(*QUICK, *options, directory=directory, **kwargs)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertFalse(self.host.exists())


class Measures(Case):
    def check_host(self, directory):
        with open(self.host, encoding="utf-8") as file:
            host = json.load(file)
        self.assertEqual(list(schema.check(host, schema.load("host"))), [])
        self.assertLessEqual(LEAST, host.keys())
        self.assertLessEqual(META, host["meta"].keys())
        for name in LEAST - {"c_sk", "sc_w", "sc_sw"}:
            self.assertGreater(host[name], 0, name)
        self.assertLessEqual(host["bw_reduced"], host["bw_ramdisk"])
        self.assertLess(host["limit_bg"], host["limit_hard"])
        for table in ("dev_table", "sync_table", "append_table", "direct_nosync_table", "new_table", "clean_table",
                      "dirty_table", "hit_table"):
            self.assertEqual(host[table], sorted(host[table]))
            seconds = [row[1] for row in host[table]]
            self.assertEqual(seconds, sorted(seconds), table)
        self.assertEqual(host["bs"], os.statvfs(directory).f_frsize)
        self.assertLessEqual(set(host["assumed"]), host.keys())
        self.assertNotIn("bw_dev", host["assumed"])
        return host

    def predicts(self):
        ops = self.scratch / "ops.jsonl"
        methods = ("write", "direct", "sync", "fwrite", "fflush", "fsync", "read")
        ops.write_text("".join(json.dumps({"file": "a", "offset": 0, "size": 65536, "method": method}) + "\n"
                               for method in methods), encoding="ascii")
        done = subprocess.run([WHYIO, "predict", f"--ops={ops}", f"--host={self.host}", "--format=json"], check=False,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(json.loads(done.stdout)["total_s"], 0)

    def measure(self, directory, **kwargs):
        done = self.run_command(*QUICK, "--format=json", directory=directory, **kwargs)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        result = json.loads(done.stdout)
        self.assertEqual(list(schema.check(result, schema.load("calibrate"))), [])
        self.assertLessEqual(result["written_bytes"], 16 << 20)
        self.assertEqual(os.listdir(self.host.parent).count(self.host.name), 1)
        return self.check_host(directory)

    def test_disk(self):
        self.measure(self.dir)
        self.predicts()
        self.is_clean()

    def test_memory(self):
        kind = subprocess.run(["stat", "-f", "-c", "%T", "/dev/shm"], check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.strip()
        if not os.access("/dev/shm", os.W_OK) or kind != "tmpfs":
            self.skipTest(f"expected a tmpfs at /dev/shm, found {kind or 'nothing'}")
        with tempfile.TemporaryDirectory(dir="/dev/shm") as directory:
            host = self.measure(directory)
            self.predicts()
            self.is_clean(directory)
        self.assertEqual(host["filesystem"], "tmpfs")
        self.assertIsNone(host["device"])

    def test_without_root(self):
        if not is_reachable_by_all(WHYIO) or not is_reachable_by_all(tempfile.gettempdir()):
            self.skipTest("nobody cannot reach the program or the directory")
        for path in (self.scratch, self.dir):
            path.chmod(0o777)
        host = self.measure(self.dir, **nobody())
        self.assertIn("bw_reduced", host["better_with_root"])
        self.is_clean()

    def test_with_root_nothing_is_better(self):
        if os.geteuid() != 0 or not os.access(LIMITS[0], os.W_OK):
            self.skipTest("not root, or the limits cannot be set here")
        self.assertNotIn("bw_reduced", self.measure(self.dir)["better_with_root"])
        self.is_clean()

    def test_replaces_what_was_there(self):
        self.host.write_text("old", encoding="ascii")
        self.measure(self.dir)
        self.assertEqual(sorted(os.listdir(self.scratch)), ["dir", "host.json"])

    def test_text_has_units(self):
        done = self.run_command(*QUICK)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"(?m)^bw_dev +[0-9.]+ [KMGT]?i?B/s")
        self.assertRegex(done.stdout, r"(?m)^mkdir +[0-9.]+ (ns|us|ms|s) ")


SIGNALS = signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGABRT


def notice_signals():
    """Tests may run in the background or behind nohup, where some are ignored."""
    for number in set(SIGNALS) - {signal.SIGKILL}:
        signal.signal(number, signal.SIG_DFL)


class Ends(Case):
    def start(self):
        """The command, once it is at work: it has made its directory and written into it."""
        process = subprocess.Popen(self.command("--max-bytes=1G", "--budget=100s", "-q"), stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, start_new_session=True, preexec_fn=notice_signals)
        while process.poll() is None and not list(self.dir.glob("*/base")):
            time.sleep(0.001)
        self.assertIsNone(process.poll(), "it ended by itself")
        return process

    def ends_by(self, number, to_group):
        process = self.start()
        if to_group:
            os.killpg(process.pid, number)
        else:
            process.send_signal(number)
        # Whoever tidies up has our pipes: they end when that is done.
        out, err = process.communicate(timeout=150)
        self.assertEqual((process.returncode, out, err), (-number, b"", b""))
        self.assertFalse(self.host.exists())
        self.is_clean()

    def test_signals(self):
        for number in SIGNALS:
            for to_group in (False, True):
                with self.subTest(number=number, to_group=to_group):
                    self.ends_by(number, to_group)

    def test_ignored_signal(self):
        done = self.run_command(*QUICK, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        self.assertEqual(done.returncode, 0, done.stderr)
        process = subprocess.Popen(self.command(*QUICK), stdout=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
        process.send_signal(signal.SIGHUP)
        process.communicate(timeout=150)
        self.assertEqual(process.returncode, 0)
        self.is_clean()


class Refuses(Case):
    def test_missing_directory(self):
        self.fails(3, "'/nowhere/at/all'", "No such file or directory", directory="/nowhere/at/all")

    def test_file(self):
        path = self.scratch / "file"
        path.touch()
        self.fails(3, str(path), "Not a directory", directory=path)

    def test_no_permission(self):
        if not is_reachable_by_all(WHYIO) or not is_reachable_by_all(tempfile.gettempdir()):
            self.skipTest("nobody cannot reach the program or the directory")
        self.scratch.chmod(0o777)
        self.dir.chmod(0o555)
        self.fails(3, str(self.dir), "Permission denied", **nobody())
        self.is_clean()

    @contextlib.contextmanager
    def mounted(self, *args):
        if os.geteuid() != 0:
            self.skipTest("not root")
        done = subprocess.run(["mount", "-t", "tmpfs", *args, "whyio", self.dir], check=False, capture_output=True)
        if done.returncode != 0:
            self.skipTest("nothing can be mounted here")
        try:
            yield
        finally:
            subprocess.run(["umount", self.dir], check=True)

    def test_read_only(self):
        with self.mounted("-o", "size=1g,ro"):
            self.fails(3, str(self.dir), "Read-only file system")
            self.is_clean()

    def test_little_space(self):
        with self.mounted("-o", "size=20m"):
            self.fails(3, str(self.dir), "20.0 MiB are free")
            self.is_clean()

    def test_space_that_is_gone(self):
        """More is free at first than there is inodes: making the files fails."""
        with self.mounted("-o", "size=1g,nr_inodes=8"):
            self.fails(3, str(self.dir), "No space left on device")
            self.is_clean()

    def test_fuse(self):
        """Files cannot be mapped there, and what is removed while it is open stays under another name."""
        slowfs = pathlib.Path(os.environ["WHYIO_BUILD"]) / "bench" / "slowfs"
        if os.geteuid() != 0 or not os.path.exists("/dev/fuse") or not slowfs.exists():
            self.skipTest("no FUSE, or no right to use it")
        behind = self.scratch / "behind"
        behind.mkdir()
        with subprocess.Popen([slowfs, behind, "0", self.dir], stderr=subprocess.DEVNULL) as server:
            try:
                while not os.path.ismount(self.dir):
                    if server.poll() is not None:
                        self.skipTest("nothing can be mounted here")
                    time.sleep(0.01)
                done = self.run_command(*QUICK)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(os.listdir(self.dir), [])
            finally:
                subprocess.run(["umount", self.dir], check=False)

    def test_output_that_cannot_be(self):
        self.host = self.scratch / "no" / "such" / "host.json"
        self.fails(3, str(self.host), "No such file or directory")
        self.is_clean()
        self.host = self.dir
        done = self.run_command(*QUICK)
        self.assertEqual(done.returncode, 3)
        self.assertIn("Is a directory", done.stderr)
        self.is_clean()

    def test_too_little_to_write(self):
        done = self.run_command("--max-bytes=64K", "-q")
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("must be written to measure", done.stderr)
        self.is_clean()


# Seconds that others may take to end; with the test itself that is less than its time limit.
LOCK_PATIENCE = 90
LOWERED_PATIENCE = 60


def comes_true(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def is_locked(file):
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_as_before():
    """Not lowered by a calibration that runs, or by one that was killed together with its guard: that lasts."""
    return read_limits()[0].strip() != LOWERED


def main():
    with open(LIMITS[0], encoding="ascii") as limit:
        if not comes_true(lambda: is_locked(limit), LOCK_PATIENCE):
            print(f"skipped: another run of this test holds {LIMITS[0]} for more than {LOCK_PATIENCE} s",
                  file=sys.stderr)
            return 77
        if not comes_true(is_as_before, LOWERED_PATIENCE):
            print(f"{LIMITS[0]} is still {LOWERED} after {LOWERED_PATIENCE} s: a calibration lowered it and left it so",
                  file=sys.stderr)
            return 1
        return 0 if unittest.main(exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
