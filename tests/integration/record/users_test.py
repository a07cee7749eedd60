#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that give up root's rights (su, sudo -u, setpriv, daemons) are recorded, rings that a
neighbour puts there are not taken (R-RING-10), and what may not make a ring is counted and named."""

import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

from record_case import RecordCase, main, until

NOBODY, STRANGER = 65534, 4321
CAPTURE = os.environ.get("WHYIO_CAPTURE_LIB") or glob.glob(
    os.path.join(os.environ["WHYIO_BUILD"], "src", "capture", "libwhyio-capture.so"))[0]

if os.geteuid() != 0:
    print("skipped: only root has rights to give up", file=sys.stderr)
    sys.exit(77)


def can_be_read(path):
    """By every user: a build below /root is not."""
    command = ["setpriv", f"--reuid={NOBODY}", "--clear-groups", "cat", path]
    return shutil.which("setpriv") and subprocess.run(
        command, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


class UserCase(RecordCase):
    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o755)
        library = CAPTURE
        if not can_be_read(library):
            place = tempfile.mkdtemp(prefix="whyio-library-", dir="/tmp")
            self.addCleanup(shutil.rmtree, place, ignore_errors=True)
            os.chmod(place, 0o755)
            library = shutil.copy(library, place)
        self.environment = dict(os.environ, WHYIO_CAPTURE_LIB=library)
        with open("data", "w", encoding="ascii") as data:
            data.write("x" * 1000)
        os.mkdir("open")
        os.chmod("open", 0o777)

    def read_data(self, trace="t"):
        """Who has read the file, by program."""
        return sorted(os.path.basename(line["path"]) for line in self.dump("--op", "read", trace=trace)
                      if (line["path"] or "").endswith("/data") and line["result"] > 0)

    def assert_whole(self, reads=1):
        info = self.info()
        self.assertEqual((info["unseen"], info["dropped"], info["remarks"]), ({}, 0, []))
        self.assertTrue(info["complete"])
        self.assertEqual(len(self.read_data()), reads)
        self.assertFalse(os.path.exists("t/raw"))
        self.check()


class Users(UserCase):
    def recorded(self, *command, reads=1, **more):
        answer = self.record(*command, env=self.environment, **more)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assert_whole(reads)

    @unittest.skipUnless(shutil.which("setpriv"), "no setpriv here")
    def test_setpriv(self):
        self.recorded("setpriv", f"--reuid={NOBODY}", "--clear-groups", "cat", "data")

    @unittest.skipUnless(shutil.which("su"), "no su here")
    def test_su(self):
        self.recorded("su", "nobody", "-s", "/bin/sh", "-c", f"cat {self.dir}/data >/dev/null; :")

    @unittest.skipUnless(shutil.which("sudo"), "no sudo here")
    def test_sudo(self):
        self.recorded("sudo", "-n", "-u", "nobody", "sh", "-c", f"cat {self.dir}/data >/dev/null; :")

    def python(self, text, **more):
        self.recorded(sys.executable, "-c", text, **more)

    def test_fork_after_setuid(self):
        self.python(f"""
import os
os.setuid({NOBODY})
if os.fork() == 0:
    os.read(os.open("data", os.O_RDONLY), 2000)
    os._exit(0)
os.wait()""")

    def test_two_generations(self):
        self.python(f"""
import os
os.setuid({NOBODY})
for _ in range(2):
    if os.fork() != 0:
        os.wait()
        os._exit(0)
os.read(os.open("data", os.O_RDONLY), 2000)""")

    def test_system_and_spawn_after_setuid(self):
        self.python(f"""
import os
os.setuid({NOBODY})
os.system("cat data > /dev/null")
child = os.posix_spawn("/bin/cat", ["cat", "data"], dict(os.environ))
os.waitpid(child, 0)""", reads=2)

    def test_daemon(self):
        """Leaves its parent, then root's rights, as servers do."""
        self.python(f"""
import os
if os.fork() == 0:
    os.setsid()
    if os.fork() != 0:
        os._exit(0)
    os.setuid({NOBODY})
    os.execv("/bin/cat", ["cat", "{self.dir}/data"])
os.wait()""")

    def test_own_directory_of_rings(self):
        os.mkdir("rings")
        os.chmod("rings", 0o755)
        os.mkdir("closed", 0o700)
        os.chdir("closed")
        self.environment["WHYIO_RING_DIR"] = os.path.join(self.dir, "rings")
        answer = self.record("setpriv", f"--reuid={NOBODY}", "--clear-groups", "cat", f"{self.dir}/data",
                             env=self.environment)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assert_whole()
        self.assertEqual(os.listdir("../rings"), [])

    def test_sealed_by_a_later_command(self):
        """The recorder is killed: the rings themselves say whose they are."""
        script = f"import os; os.setuid({NOBODY}); os.execv('/bin/sh', ['sh', '-c', 'cat data; echo > open/ready; " \
                 "while [ ! -e go ]; do :; done'])"
        recorder = self.start(sys.executable, "-c", script, env=self.environment, stdout=subprocess.DEVNULL)
        self.assertTrue(until(lambda: os.path.exists("open/ready")))
        os.kill(recorder.pid, signal.SIGKILL)
        recorder.wait(30)
        open("go", "w", encoding="ascii").close()
        self.assertTrue(until(lambda: not self.info()["live"]))
        self.assertEqual(len(self.read_data()), 1)
        self.assertFalse(os.path.exists("t/raw"))

    def test_daemon_that_outlives_the_recorder(self):
        """What its ring is judged by is sealed before it."""
        script = f"""
import os
if os.fork() == 0:
    os.setuid({NOBODY})
    os.execv('/bin/sh', ['sh', '-c', 'cat data; echo > open/ready; while [ ! -e go ]; do :; done; cat data'])"""
        recorder = self.start(sys.executable, "-c", script, env=self.environment, stdout=subprocess.DEVNULL)
        self.assertTrue(until(lambda: os.path.exists("open/ready")))
        command = f"/proc/{recorder.pid}/task/{recorder.pid}/children"
        self.assertTrue(until(lambda: any_is(command, b"sh")))
        os.kill(recorder.pid, signal.SIGINT)
        recorder.wait(30)
        open("go", "w", encoding="ascii").close()
        self.assertTrue(until(lambda: not self.info()["live"]))
        self.assertEqual(len(self.read_data()), 2)
        self.assertEqual(self.info()["remarks"], [])


def any_is(path, name):
    """Only the daemon is left of the recorder's children."""
    with open(path, encoding="ascii") as children:
        pids = children.read().split()
    if len(pids) != 1:
        return False
    with open(f"/proc/{pids[0]}/comm", "rb") as comm:
        return comm.read().strip() == name


class Neighbours(UserCase):
    def while_running(self, act):
        """Let `act` work in the directory of the rings while a shell is recorded."""
        recorder = self.start("sh", "-c", "cat data >/dev/null; echo > ready; while [ ! -e go ]; do :; done",
                              env=self.environment)
        self.assertTrue(until(lambda: os.path.exists("ready")))
        (rings,) = glob.glob("t/raw/*")
        act(rings)
        open("go", "w", encoding="ascii").close()
        self.assertEqual(recorder.wait(30), 0)

    def test_directory_lets_everybody_in_and_shows_nothing(self):
        modes = []
        self.while_running(lambda rings: modes.append(os.stat(rings).st_mode & 0o7777))
        self.assertEqual(modes, [0o1733])

    def test_forged_ring(self):
        """A copy of a true ring, of a user as whom the run had no process."""
        def forge(rings):
            for i, ring in enumerate(glob.glob(f"{rings}/*.ring")):
                host, pid, _ = os.path.basename(ring)[:-5].rsplit(".", 2)
                copy = f"{rings}/{host}.{pid}.{i + 1}.ring"
                shutil.copy(ring, copy)
                os.chown(copy, STRANGER, STRANGER)
        self.while_running(forge)
        info = self.info()
        self.assertEqual(len(self.read_data()), 1)
        self.assertTrue(info["remarks"])
        self.assertIn(f"of user {STRANGER} is no ring of this run", info["remarks"][0])
        self.assertFalse(os.path.exists("t/raw"))

    def test_forged_mark(self):
        """It says that all rings are sealed already."""
        def forge(rings):
            (segment,) = glob.glob("t/*.begin.seg")
            with open(f"{rings}/sealed-as", "w", encoding="ascii") as mark:
                mark.write("\n".join([os.path.basename(segment)] + [
                    os.path.basename(name) for name in glob.glob(f"{rings}/*.ring")]) + "\n")
            os.chown(f"{rings}/sealed-as", STRANGER, STRANGER)
        self.while_running(forge)
        self.assertEqual(len(self.read_data()), 1)
        self.assertFalse(os.path.exists("t/raw"))

    def test_file_that_is_no_ring(self):
        """Neither damage of the trace, nor in the way of sealing it."""
        def forge(rings):
            (ring,) = glob.glob(f"{rings}/*.ring")[:1]
            with open(ring, "rb") as file:
                head = bytearray(file.read(4096))
            head[8] = 99  # another version
            for name, data in (("vm.1.1.ring", b"nonsense" * 600), ("vm.1.2.ring", bytes(head))):
                with open(f"{rings}/{name}", "wb") as file:
                    file.write(data)
                os.chown(f"{rings}/{name}", STRANGER, STRANGER)
        self.while_running(forge)
        self.assertEqual(len(self.read_data()), 1)
        self.assertEqual(len(self.info()["remarks"]), 2)
        self.check()
        self.assertFalse(os.path.exists("t/raw"))

    def test_what_has_no_header(self):
        """Nor by other kinds of files: they are gone when the recorder is."""
        def forge(rings):
            open(f"{rings}/odd.ring", "wb").close()
            os.mkfifo(f"{rings}/fifo.ring")
            os.mkdir(f"{rings}/directory.ring")
            for name in ("odd", "fifo", "directory"):
                os.chown(f"{rings}/{name}.ring", STRANGER, STRANGER)
        self.while_running(forge)
        info = self.info()
        self.assertEqual((info["unseen"], len(info["remarks"]), len(self.read_data())), ({}, 3, 1))
        self.check()
        self.assertFalse(os.path.exists("t/raw"))

    def test_ring_that_is_put_there_later(self):
        """After the recorder has sealed: the next command removes it."""
        self.while_running(lambda rings: open(f"{rings}/junk", "wb").close())
        (rings,) = glob.glob("t/raw/*")
        os.unlink(f"{rings}/junk")
        open(f"{rings}/odd.ring", "wb").close()
        os.chown(f"{rings}/odd.ring", STRANGER, STRANGER)
        self.assertEqual(len(self.read_data()), 1)
        self.assertFalse(os.path.exists("t/raw"))

    def test_local_directory(self):
        """A link leads to it: what is in there is judged alike."""
        os.mkdir("rings")
        self.environment["WHYIO_RING_DIR"] = os.path.join(self.dir, "rings")

        def forge(rings):
            self.assertTrue(os.path.islink(rings))
            open(f"{rings}/odd.ring", "wb").close()
            os.chown(f"{rings}/odd.ring", STRANGER, STRANGER)
        self.while_running(forge)
        self.assertEqual((len(self.info()["remarks"]), len(self.read_data())), (1, 1))
        self.assertEqual((os.listdir("rings"), os.path.exists("t/raw")), ([], False))

    def test_link_instead_of_a_ring(self):
        """Root neither reads nor removes what it leads to."""
        def forge(rings):
            (ring,) = glob.glob(f"{rings}/*.ring")[:1]
            shutil.copy(ring, "target")
            os.symlink(os.path.abspath("target"), f"{rings}/vm.1.1.ring")
            os.lchown(f"{rings}/vm.1.1.ring", STRANGER, STRANGER)
        self.while_running(forge)
        self.assertTrue(os.path.exists("target"))
        self.assertEqual(len(self.read_data()), 1)


class Refused(UserCase):
    def test_directory_that_the_user_cannot_reach(self):
        os.mkdir("closed", 0o700)
        answer = self.record("setpriv", f"--reuid={NOBODY}", "--clear-groups", "cat", "data",
                             trace="closed/t", options=(), env=self.environment)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertIn("may not make rings in", answer.stderr)
        info = self.info("closed/t")
        self.assertEqual(info["unseen"], {"no_ring": 1})
        self.assertFalse(info["complete"])
        (remark,) = info["remarks"]
        for part in ("nobody", str(NOBODY), "closed/t/raw", "Permission denied", "setpriv"):
            self.assertIn(part, remark)
        self.assertIn(remark, self.whyio("info", "closed/t").stdout)
        self.assert_described(self.whyio("info", "--format=json", "closed/t").stdout)

    def test_names_are_hidden(self):
        os.mkdir("closed", 0o700)
        self.record("setpriv", f"--reuid={NOBODY}", "--clear-groups", "cat", "data", trace="closed/t",
                    options=("-q", "--anonymize"), env=self.environment)
        (remark,) = self.info("closed/t")["remarks"]
        self.assertNotIn("closed", remark)
        self.assertNotIn("setpriv", remark)


if __name__ == "__main__":
    main()
