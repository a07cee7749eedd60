#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A trace directory that several commands, or several users, use at once; and sealing that fails
half way: events are there once, or the command says what is wrong."""

import fcntl
import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

HINDER = os.path.abspath(sys.argv.pop(1))
WHYIO = os.environ["WHYIO"]
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import seeds  # noqa: E402

SEEDS = seeds.Seeds()
STRANGER = 54321
COMMANDS = 6  # at once
ROUNDS = 8
ALLOCATIONS = 4000  # more than a command makes


def tearDownModule():
    SEEDS.close()


class Sharing(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="whyio-test-")
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)
        os.chmod(self.dir, 0o755)
        self.trace = os.path.join(self.dir, "t")
        self.copy("rings")
        self.events = SharedCount.of("rings")

    def copy(self, seed):
        shutil.rmtree(self.trace, ignore_errors=True)
        shutil.copytree(SEEDS.get(seed), self.trace, symlinks=True)

    def path(self, name):
        return os.path.join(self.dir, name)

    def start(self, *args, **settings):
        environment = dict(os.environ, **settings)
        if settings:
            environment["LD_PRELOAD"] = HINDER
        return subprocess.Popen([WHYIO, *args, self.trace], env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE)

    def end(self, child):
        out, err = child.communicate()
        return child.returncode, out, err

    def run_one(self, *args, **settings):
        return self.end(self.start(*args, **settings))

    def assert_events(self, answer):
        status, out, err = answer
        self.assertEqual(status, 0, err)
        self.assertEqual(json.loads(out)["events"], self.events)

    def info(self, **settings):
        return self.run_one("info", "--format=json", **settings)

    def segments(self):
        return [name for name in os.listdir(self.trace) if name.endswith(".seg")]

    def ring_directory(self):
        return next(entry.path for entry in os.scandir(os.path.join(self.trace, "raw")) if entry.is_dir())


class SharedCount:
    """How many events a seed has, by a command that is alone."""

    known = {}

    @classmethod
    def of(cls, seed):
        if seed not in cls.known:
            with tempfile.TemporaryDirectory() as place:
                trace = os.path.join(place, "t")
                shutil.copytree(SEEDS.get(seed), trace)
                out = subprocess.run([WHYIO, "info", "--format=json", trace], check=True,
                                     stdout=subprocess.PIPE).stdout
            cls.known[seed] = json.loads(out)["events"]
            assert cls.known[seed] > 0
        return cls.known[seed]


class AtOnce(Sharing):
    def test_commands_at_once(self):
        for _ in range(ROUNDS):
            self.copy("rings")
            children = [self.start("info", "--format=json") for _ in range(COMMANDS)]
            for answer in [self.end(child) for child in children]:
                self.assert_events(answer)
            self.assert_events(self.info())
            self.assertEqual(self.run_one("check")[0], 0)

    def without_edges(self):
        self.copy("sealed")
        os.unlink(os.path.join(self.trace, "trace.edges"))

    def left_over(self):
        return [name for name in os.listdir(self.trace) if name.endswith(".tmp")]

    def test_edges_are_derived_at_once(self):
        """Each command has all of them, and one file of them stays."""
        self.copy("sealed")
        wanted = self.run_one("edges")
        for _ in range(ROUNDS):
            self.without_edges()
            children = [self.start("edges") for _ in range(COMMANDS)]
            self.assertEqual([self.end(child) for child in children], [wanted] * COMMANDS)
            self.assertIn("trace.edges", os.listdir(self.trace))
            self.assertEqual(self.left_over(), [])
            self.assertEqual(self.run_one("check")[0], 0)

    def test_a_trace_is_read_while_edges_are_named(self):
        here, go = self.path("here"), self.path("go")
        self.without_edges()
        deriving = self.start("edges", HINDER_NAME=".tmp", HINDER_HERE=here, HINDER_GO=go)
        seeds.until(lambda: os.path.exists(here) or deriving.poll() is not None)
        self.assertIsNone(deriving.poll(), "the command came to the place where it is to wait")
        other = self.run_one("edges")
        open(go, "wb").close()
        self.assertEqual(self.end(deriving), other)
        self.assertEqual(self.left_over(), [])
        self.assertEqual(self.run_one("edges"), other)

    def test_edges_where_they_cannot_be_stored(self):
        """They are derived in memory, and nothing is left of the attempt."""
        self.copy("sealed")
        wanted = self.run_one("edges")
        for settings in ({"HINDER_WRITE": "trace.edges"}, {"HINDER_FLUSH": "1"}, {"HINDER_REMOVE": ".tmp"}):
            self.without_edges()
            self.assertEqual(self.run_one("edges", **settings), wanted, settings)
            self.assertNotIn("trace.edges", os.listdir(self.trace))
            self.assertEqual(self.run_one("edges"), wanted)
            self.assertEqual(self.left_over(), [])

    def paused(self, suffix):
        """A command that seals stops at the first removal or naming of a file that ends so."""
        here, go = self.path("here"), self.path("go")
        sealing = self.start("info", "--format=json", HINDER_WAIT=suffix, HINDER_HERE=here, HINDER_GO=go)
        seeds.until(lambda: os.path.exists(here) or sealing.poll() is not None)
        self.assertIsNone(sealing.poll(), "the command came to the place where it is to wait")
        other = self.info()
        open(go, "wb").close()
        self.assert_events(self.end(sealing))
        self.assert_events(other)
        self.assert_events(self.info())
        self.assertEqual(self.run_one("check")[0], 0)

    def test_before_the_segment_appears(self):
        self.paused(".seg.tmp")

    def test_before_the_rings_go(self):
        self.paused(".ring")

    def test_another_directory_gets_the_name(self):
        """The segment appears in the directory that was looked at, not in one of that name."""
        here, go, moved = self.path("here"), self.path("go"), self.path("moved")
        before = self.segments()
        sealing = self.start("info", HINDER_WAIT=".seg.tmp", HINDER_HERE=here, HINDER_GO=go)
        seeds.until(lambda: os.path.exists(here) or sealing.poll() is not None)
        os.rename(self.trace, moved)
        os.mkdir(self.trace)
        open(go, "wb").close()
        self.end(sealing)
        self.assertEqual(os.listdir(self.trace), [])
        os.rmdir(self.trace)
        os.rename(moved, self.trace)
        self.assertEqual(len(self.segments()), len(before) + 1)
        self.assertFalse(os.path.exists(os.path.join(self.trace, "raw")))
        self.assert_events(self.info())

    def test_a_recorder_ends_meanwhile(self):
        """Whenever its segment appears and its rings go: each event is there once."""
        self.info()
        sealed, stages = self.path("sealed"), 0
        os.rename(self.trace, sealed)
        for nth in range(1, 6):
            self.copy("rings")
            here, go = self.path(f"here{nth}"), self.path(f"go{nth}")
            rings = self.ring_directory()
            ring = max(name for name in os.listdir(rings) if name.endswith(".ring"))
            fd = os.open(rings, os.O_RDONLY)
            fcntl.flock(fd, fcntl.LOCK_SH)  # as the recorder does
            reading = self.start("info", "--format=json", HINDER_OPEN=ring, HINDER_NTH=str(nth),
                                 HINDER_HERE=here, HINDER_GO=go)
            seeds.until(lambda: os.path.exists(here) or reading.poll() is not None)
            stages += reading.poll() is None
            for name in os.listdir(sealed):
                shutil.copyfile(os.path.join(sealed, name), os.path.join(self.trace, name))
            shutil.rmtree(os.path.join(self.trace, "raw"))
            os.close(fd)
            open(go, "wb").close()
            self.assert_events(self.end(reading))
        self.assertGreater(stages, 2)

    def test_a_recorder_that_seems_to_work(self):
        """Another process holds the directory of rings for a moment: nothing is lost or doubled."""
        fd = os.open(self.ring_directory(), os.O_RDONLY)
        fcntl.flock(fd, fcntl.LOCK_SH)
        self.assert_events(self.info())
        os.close(fd)
        self.assert_events(self.info())
        self.assertFalse(os.path.exists(os.path.join(self.trace, "raw")))


class Stuck(Sharing):
    def test_rings_that_cannot_be_removed(self):
        for _ in range(3):
            self.assert_events(self.info(HINDER_REMOVE=".ring"))
        self.assertEqual(len(self.segments()), 2)  # that of the begin, and one for the rings
        self.assert_events(self.info())
        self.assertFalse(os.path.exists(os.path.join(self.trace, "raw")))
        self.assertEqual(self.run_one("check")[0], 0)

    def test_rings_that_cannot_be_removed_nor_marked(self):
        for _ in range(3):
            self.assert_events(self.info(HINDER_REMOVE=".ring", HINDER_WRITE="sealed-as"))
        self.assertEqual(len(self.segments()), 1)
        self.assert_events(self.info())
        self.assertEqual(self.run_one("check")[0], 0)

    def test_a_ring_that_cannot_be_removed_nor_marked(self):
        """The others have gone: what the segment has of them is all there is."""
        rings = sorted(name for name in os.listdir(self.ring_directory()) if name.endswith(".ring"))
        self.assertGreater(len(rings), 2)
        for stuck in (rings[0], rings[-1]):
            self.copy("rings")
            self.info(HINDER_REMOVE=stuck, HINDER_WRITE="sealed-as")
            status, out, err = self.info(HINDER_REMOVE=stuck, HINDER_WRITE="sealed-as")
            self.assertEqual(status, 0, err)
            self.assertGreaterEqual(json.loads(out)["events"], self.events)
            status, out, err = self.info()
            self.assertEqual(status, 0, err)
            self.assertGreaterEqual(json.loads(out)["events"], self.events)

    def test_marks_of_several_sealings(self):
        """Rings that stay are not sealed again when others come."""
        self.assert_events(self.info(HINDER_REMOVE=".ring"))
        ring = next(name for name in os.listdir(self.ring_directory()) if name.endswith(".ring"))
        before = self.events
        shutil.copyfile(os.path.join(self.ring_directory(), ring),
                        os.path.join(self.ring_directory(), "later.ring"))
        count = json.loads(self.info(HINDER_REMOVE=".ring")[1])["events"]
        for _ in range(2):
            self.assertEqual(json.loads(self.info(HINDER_REMOVE=".ring")[1])["events"], count)
        self.assertGreater(count, before)
        status, out, _ = self.run_one("check")  # the copied ring is the same image once more
        self.assertEqual(status, 1)
        self.assertIn(b"sealed twice", out)

    def test_out_of_memory(self):
        """At whichever allocation: an error with its status and text, or the whole answer."""
        number, failures = 1, 0
        while number < ALLOCATIONS:
            self.copy("rings")
            status, out, err = self.info(HINDER_ALLOC=str(number))
            self.assertNotIn(b"whyio: ok", err)
            if status == 0:
                self.assertEqual(json.loads(out)["events"], self.events, number)
            else:
                self.assertEqual(status, 4, (number, err))
                self.assertTrue(err.startswith(b"whyio: "), (number, err))
                failures += 1
            number += 1 + number // 32
        self.assertGreater(failures, 50)


class Elsewhere(Sharing):
    """R-RING-8: rings in a local directory, to which raw/ has a link."""

    def setUp(self):
        super().setUp()
        self.seeds = seeds.Seeds()
        self.addCleanup(self.seeds.close)
        self.recorded = self.seeds.get("linked")
        self.events = SharedCount.of("rings")

    def left(self):
        return [name for _, _, names in os.walk(self.seeds.elsewhere) for name in names]

    def test_links_of_the_recorder_are_followed(self):
        """Also where the trace has been moved."""
        shutil.rmtree(self.trace)
        os.rename(self.recorded, self.trace)
        self.assertIn("rings-of", self.left())
        self.assert_events(self.info())
        self.assertEqual(os.listdir(self.seeds.elsewhere), [])
        self.assertFalse(os.path.exists(os.path.join(self.trace, "raw")))
        self.assertEqual(self.run_one("check")[0], 0)

    def test_links_of_a_copy_are_not(self):
        shutil.rmtree(self.trace)
        shutil.copytree(self.recorded, self.trace, symlinks=True)
        before = sorted(self.left())
        status, out, _ = self.run_one("check")
        self.assertEqual(status, 1)
        self.assertIn(b"no recorder of this trace", out)
        subprocess.run([WHYIO, "record", "-q", "--force", "-o", self.trace, "true"], check=True)
        self.assertEqual(sorted(self.left()), before)

    def test_force_removes_them(self):
        subprocess.run([WHYIO, "record", "-q", "--force", "-o", self.recorded, "true"], check=True)
        self.assertEqual(os.listdir(self.seeds.elsewhere), [])


class Neighbours(Sharing):
    def setUp(self):
        super().setUp()
        if os.geteuid() != 0:
            self.skipTest("only root may become another user")

    def hold(self, path):
        """Another user holds a lock as long as the test runs; None: it may not."""
        script = ("import fcntl,os,sys\nos.setgroups([])\nos.setgid(%d)\nos.setuid(%d)\n"
                  "try:\n fd = os.open(sys.argv[1], os.O_RDONLY)\n"
                  "except PermissionError:\n sys.exit(13)\n"
                  "fcntl.flock(fd, fcntl.LOCK_EX)\nprint('held', flush=True)\nsys.stdin.read()\n"
                  % (STRANGER, STRANGER))
        child = subprocess.Popen([sys.executable, "-c", script, path], stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE)
        self.addCleanup(child.wait)
        self.addCleanup(child.stdin.close)
        self.addCleanup(child.stdout.close)
        return child.stdout.readline() == b"held\n"

    def test_what_a_recorder_makes_cannot_be_locked(self):
        for path in (os.path.join(self.trace, "raw"), self.ring_directory()):
            self.assertFalse(self.hold(path), path)
        self.assert_events(self.info())

    def test_locks_on_old_directories(self):
        """They are readable by all: the command goes on without the lock."""
        os.chmod(os.path.join(self.trace, "raw"), 0o755)
        os.chmod(self.ring_directory(), 0o755)
        self.assertTrue(self.hold(os.path.join(self.trace, "raw")))
        self.assertTrue(self.hold(self.ring_directory()))
        self.assert_events(self.info())

    def test_force_replaces_no_trace_of_others(self):
        for directory, below, names in os.walk(self.trace):
            for path in [directory] + [os.path.join(directory, name) for name in below + names]:
                os.chown(path, STRANGER, STRANGER)
        before = sorted(os.listdir(self.trace))
        answer = subprocess.run([WHYIO, "record", "-q", "--force", "-o", self.trace, "true"],
                                check=False, stderr=subprocess.PIPE)
        self.assertEqual(answer.returncode, 2)
        self.assertIn(b"is not replaced", answer.stderr)
        self.assertEqual(sorted(os.listdir(self.trace)), before)

    def test_modes(self):
        os.umask(0)
        self.addCleanup(os.umask, 0o022)
        for mode, wanted in ((0o700, 0o600), (0o750, 0o640), (0o755, 0o644), (0o711, 0o600), (0o777, 0o644)):
            self.copy("rings")
            os.chmod(self.trace, mode)
            old = self.segments()
            self.assert_events(self.info())
            self.run_one("edges")
            fresh = [name for name in self.segments() if name not in old] + ["trace.edges"]
            for name in fresh:
                found = stat.S_IMODE(os.stat(os.path.join(self.trace, name)).st_mode)
                self.assertEqual(oct(found), oct(wanted), (name, oct(mode)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
