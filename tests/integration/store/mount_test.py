#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whyio mount over whyio serve: what programs write is what they read; errors, rights, the end of either process."""
import errno
import fcntl
import os
import random
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from store_case import Serving, WHYIO

WAIT = 60  # seconds, of anything: the machine may be slow


def lacks():
    """Why nothing can be mounted here; None where it can."""
    if not os.path.exists("/dev/fuse") or shutil.which("fusermount3") is None:
        return "no /dev/fuse or no fusermount3"
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as error:
        return f"/dev/fuse: {error.strerror}"
    with tempfile.TemporaryDirectory(prefix="whyio-mount.") as point:
        tried = subprocess.run([WHYIO, "mount", "--timeout=100ms", "unix:/nowhere", point], text=True, check=False, timeout=WAIT,
                               stderr=subprocess.PIPE).stderr
        return "whyio was built without libfuse3" if "libfuse3" in tried else None


def is_mounted(point):
    with open("/proc/self/mounts", encoding="utf-8") as mounts:
        return any(line.split()[1] == point for line in mounts)


def wait_unmounted(point):
    until = time.monotonic() + WAIT
    while is_mounted(point) and time.monotonic() < until:
        time.sleep(0.02)
    return not is_mounted(point)


class Mount(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory(prefix="whyio-mount.")
        self.work = os.path.realpath(self.scratch.name)
        self.point = os.path.join(self.work, "mnt")
        os.mkdir(self.point)
        self.server = Serving(self.work, 3)
        self.mount = self.begin()

    def begin(self, point=None, *options):
        point = point or self.point
        process = subprocess.Popen([WHYIO, "mount", *options, self.server.address, point], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        line = process.stdout.readline()
        if line != f"mounted  {point}\n":
            said = process.communicate(timeout=WAIT)[1]
            self.server.end()
            if "cannot be mounted" in said:
                print("skipped: FUSE is not allowed here:", said, file=sys.stderr)
                sys.exit(77)
            self.fail(said)
        return process

    def end(self, process, by=signal.SIGTERM):
        process.send_signal(by)
        said = process.communicate(timeout=WAIT)[1]
        return process.returncode, said

    def tearDown(self):
        if self.mount.poll() is None:
            self.assertEqual(self.end(self.mount), (0, ""))
        self.assertTrue(wait_unmounted(self.point))
        if self.server.process.poll() is None:
            self.assertEqual(self.server.end(), 0)
        self.server.process.stdout.close()
        self.scratch.cleanup()

    def path(self, *parts):
        return os.path.join(self.point, *parts)

    def run_in(self, *words, cwd=None):
        done = subprocess.run(words, cwd=cwd or self.point, text=True, check=False, timeout=WAIT,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, f"{words}: {done.stdout}")
        return done.stdout

    def refused(self, number, call, *arguments, **more):
        with self.assertRaises(OSError) as caught:
            call(*arguments, **more)
        self.assertEqual(caught.exception.errno, number, caught.exception)

    def tree(self):
        """Files of odd sizes, a link, rights, old times; below the scratch directory."""
        root = os.path.join(self.work, "tree")
        os.makedirs(os.path.join(root, "a", "b"))
        dice = random.Random(7)
        for name, size in (("empty", 0), ("one", 1), ("a/stripe", 1 << 20), ("a/b/odd", 3 * (1 << 20) + 4097)):
            with open(os.path.join(root, name), "wb") as out:
                out.write(dice.randbytes(size))
        os.chmod(os.path.join(root, "one"), 0o640)
        os.utime(os.path.join(root, "one"), ns=(10**18 + 1, 10**18 + 2))
        os.symlink("a/b/odd", os.path.join(root, "link"))
        return root

    def test_cp_and_tar(self):
        tree = self.tree()
        self.run_in("cp", "-a", tree, "copy")
        self.run_in("diff", "-r", "--no-dereference", tree, "copy")
        kept = os.stat(self.path("copy", "one"))
        self.assertEqual((kept.st_mode & 0o7777, kept.st_mtime_ns), (0o640, 10**18 + 2))
        self.run_in("tar", "-cf", "t.tar", "copy")
        os.mkdir(self.path("out"))
        self.run_in("tar", "-xf", "t.tar", "-C", "out")
        self.run_in("diff", "-r", "--no-dereference", tree, "out/copy")
        # another mount's view: the store itself
        back = os.path.join(self.work, "back")
        self.run_in(WHYIO, "store", "get", "-r", f"--server={self.server.address}", "/copy", back, cwd=self.work)
        self.run_in("diff", "-r", "--no-dereference", tree, back, cwd=self.work)

    def test_put_keeps_the_other_bits_of_directories(self):
        """Set-group-id and sticky of those in the store: neither copied nor cleared; new ones have the former of theirs."""
        root = os.path.join(self.work, "a")
        for name, mode in (("group/below", 0o750), ("group", 0o755), ("sticky", 0o777)):
            os.makedirs(os.path.join(root, name), exist_ok=True)
            os.chmod(os.path.join(root, name), mode)
        bits = (("a/group", 0o2775, 0o2755), ("a/sticky", 0o1777, 0o1777))
        for name, before, _ in bits:
            os.makedirs(self.path(name))
            os.chmod(self.path(name), before)
        self.run_in(WHYIO, "store", "put", "-r", f"--server={self.server.address}", root, "/", cwd=self.work)
        for name, _, after in (*bits, ("a/group/below", None, 0o2750)):
            self.assertEqual(os.stat(self.path(name)).st_mode & 0o7777, after, name)

    @unittest.skipIf(shutil.which("git") is None, "no git")
    def test_git(self):
        self.run_in("cp", "-a", self.tree(), "repository")
        where = self.path("repository")
        for words in (["init", "-q"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "x"],
                      ["gc", "-q"], ["fsck", "--strict"]):
            self.run_in("git", *words, cwd=where)
        self.assertEqual(self.run_in("git", "status", "--short", cwd=where), "")
        self.run_in("git", "clone", "-q", where, os.path.join(self.work, "clone"))
        self.run_in("diff", "-r", "-x", ".git", "--no-dereference", where, os.path.join(self.work, "clone"))

    def test_sqlite(self):
        name = self.path("t.db")
        for turn in range(3):
            base = sqlite3.connect(name)
            with base:
                base.execute("create table if not exists t (a integer, b blob)")
                base.executemany("insert into t values (?, ?)", [(i, bytes([turn]) * 999) for i in range(50)])
            base.close()
        base = sqlite3.connect(name)
        self.assertEqual(base.execute("select count(*), sum(a), sum(length(b)) from t").fetchone(), (150, 3675, 149850))
        self.assertEqual(base.execute("pragma integrity_check").fetchone(), ("ok",))
        # a lock of one connection is in the way of another one
        base.execute("begin exclusive")
        other = sqlite3.connect(name, timeout=0)
        with self.assertRaises(sqlite3.OperationalError):
            other.execute("insert into t values (1, 'x')")
        other.close()
        base.close()

    def test_errors(self):
        os.mkdir(self.path("d"))
        with open(self.path("d", "f"), "wb") as out:
            out.write(b"first")
        self.refused(errno.EEXIST, os.mkdir, self.path("d"))
        self.refused(errno.EEXIST, os.open, self.path("d", "f"), os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        self.refused(errno.ENOTEMPTY, os.rmdir, self.path("d"))
        self.refused(errno.ENOENT, os.stat, self.path("d", "g"))
        self.refused(errno.ENOTDIR, os.stat, self.path("d", "f", "x"))
        self.refused(errno.EISDIR, os.open, self.path("d"), os.O_WRONLY)
        self.refused(errno.EOPNOTSUPP, os.link, self.path("d", "f"), self.path("hard"))
        self.refused(errno.EOPNOTSUPP, os.mkfifo, self.path("fifo"))
        self.refused(errno.EOPNOTSUPP, os.setxattr, self.path("d", "f"), "user.x", b"1")
        self.refused(errno.ENAMETOOLONG, os.mkdir, self.path("n" * 300))
        self.assertEqual(os.listdir(self.path("d")), ["f"])

    def test_names(self):
        for name, text in (("a", b"new"), ("b", b"old")):
            with open(self.path(name), "wb") as out:
                out.write(text)
        held = open(self.path("b"), "rb")
        os.rename(self.path("a"), self.path("b"))
        with open(self.path("b"), "rb") as file:
            self.assertEqual(file.read(), b"new")
        self.assertEqual(held.read(), b"old")
        held.close()
        self.assertEqual(os.listdir(self.point), ["b"])
        held = open(self.path("b"), "rb")
        os.unlink(self.path("b"))
        self.refused(errno.ENOENT, os.stat, self.path("b"))
        self.assertEqual(held.read(), b"new")
        held.close()
        self.assertEqual(os.listdir(self.point), [])

    def test_bytes(self):
        name = self.path("f")
        with open(name, "wb") as out:
            out.seek(5 << 20)
            out.write(b"end")
        self.assertEqual(os.path.getsize(name), (5 << 20) + 3)
        os.truncate(name, 2)
        os.truncate(name, 4)
        with open(name, "rb") as file:
            self.assertEqual(file.read(), bytes(4))
        one = os.open(name, os.O_WRONLY | os.O_APPEND)
        two = os.open(name, os.O_WRONLY | os.O_APPEND)
        for turn in range(4):
            os.write(one if turn % 2 == 0 else two, b"%d" % turn)
        os.fsync(one)
        os.close(one)
        os.close(two)
        with open(name, "rb") as file:
            self.assertEqual(file.read(), bytes(4) + b"0123")

    @unittest.skipUnless(os.getuid() == 0, "needs another user")
    def test_another_user_is_kept_out(self):
        child = os.fork()
        if child == 0:
            try:
                os.setgid(65534)
                os.setuid(65534)
                os.listdir(self.point)
                os._exit(1)
            except OSError as error:
                os._exit(0 if error.errno == errno.EACCES else 2)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    @unittest.skipUnless(os.getuid() == 0, "needs other users")
    def test_all_users(self):
        os.chmod(self.work, 0o755)
        point = os.path.join(self.work, "mnt2")
        os.mkdir(point)
        other = self.begin(point, "--allow-other")
        os.chmod(point, 0o1777)
        open(os.path.join(point, "mine"), "w").close()
        os.chmod(os.path.join(point, "mine"), 0o600)

        def as_user():
            os.setgroups([])
            os.setgid(60001)
            os.setuid(60002)
            made = [os.path.join(point, name) for name in ("f", "d", "l")]
            os.close(os.open(made[0], os.O_CREAT | os.O_WRONLY, 0o4755))
            os.mkdir(made[1], 0o700)
            os.symlink("f", made[2])
            for name in made:
                found = os.lstat(name)
                assert (found.st_uid, found.st_gid) == (60002, 60001), (name, found)
            assert os.stat(made[0]).st_mode & 0o7777 == 0o4755
            for call in (lambda: open(os.path.join(point, "mine")), lambda: os.unlink(os.path.join(point, "mine")),
                         lambda: os.chmod(os.path.join(point, "mine"), 0o666), lambda: os.chown(made[0], 0, 0)):
                try:
                    call()
                except PermissionError:
                    continue
                raise AssertionError("allowed")
        child = os.fork()
        if child == 0:
            try:
                as_user()
                os._exit(0)
            except BaseException as error:  # pylint: disable=broad-except
                print(error, file=sys.stderr)
                os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        self.assertEqual(self.end(other), (0, ""))

    def test_a_killed_mount_leaves_nothing(self):
        with open(self.path("f"), "wb") as out:
            out.write(b"kept")
        self.mount.kill()
        self.mount.communicate(timeout=WAIT)
        self.assertTrue(wait_unmounted(self.point))
        self.assertEqual(os.listdir(self.point), [])
        self.mount = self.begin()
        with open(self.path("f"), "rb") as file:
            self.assertEqual(file.read(), b"kept")
        self.assertEqual(self.end(self.mount, signal.SIGINT), (0, ""))
        self.assertFalse(is_mounted(self.point))

    def test_a_mount_that_is_killed_with_its_files_open_leaves_nothing(self):
        file = os.open(self.path("f"), os.O_WRONLY | os.O_CREAT, 0o644)
        os.write(file, b"kept")
        os.killpg(self.mount.pid, signal.SIGKILL)  # all that the mount's process group has
        self.mount.communicate(timeout=WAIT)
        self.assertTrue(wait_unmounted(self.point))
        self.refused(errno.ENOTCONN, os.write, file, b"more")
        self.refused(errno.ENOTCONN, os.close, file)
        self.assertEqual(os.listdir(self.point), [])

    def test_a_mount_point_that_was_left_behind_is_used_again(self):
        guards = self.guards()
        self.assertEqual(len(guards), 1)
        for process in (*guards, self.mount.pid):
            os.kill(process, signal.SIGKILL)
        self.mount.communicate(timeout=WAIT)
        self.refused(errno.ENOTCONN, os.listdir, self.point)
        self.mount = self.begin()
        self.assertEqual(os.listdir(self.point), [])

    def guards(self):
        with open(f"/proc/{self.mount.pid}/task/{self.mount.pid}/children", encoding="ascii") as children:
            return [int(word) for word in children.read().split()]

    def test_a_mount_whose_guard_was_killed_ends_as_others(self):
        for process in self.guards():
            os.kill(process, signal.SIGKILL)
        self.assertEqual(self.end(self.mount), (0, ""))

    def test_a_mount_point_may_be_a_link(self):
        self.assertEqual(self.end(self.mount), (0, ""))
        link = os.path.join(self.work, "link")
        os.symlink(self.point, link)
        self.mount = self.begin(link)
        self.mount.kill()  # what is left is freed by the guard ..
        self.mount.communicate(timeout=WAIT)
        self.assertTrue(wait_unmounted(self.point))
        self.mount = self.begin(link + "/")
        for process in (*self.guards(), self.mount.pid):
            os.kill(process, signal.SIGKILL)
        self.mount.communicate(timeout=WAIT)
        self.refused(errno.ENOTCONN, os.listdir, self.point)
        self.mount = self.begin(link + "/")  # .. or by the next mount
        self.assertEqual(os.listdir(self.point), [])

    @unittest.skipIf(os.geteuid() != 0, "mounts without a file system's program")
    def test_what_another_file_system_left_is_not_freed(self):
        self.assertEqual(self.end(self.mount), (0, ""))
        device = os.open("/dev/fuse", os.O_RDWR)
        subprocess.run(["mount", "-i", "-t", "fuse.other", "-o", f"fd={device},rootmode=40000,user_id=0,group_id=0", "other", self.point],
                       pass_fds=[device], check=True, timeout=WAIT)
        os.close(device)
        try:
            self.refused(errno.ENOTCONN, os.listdir, self.point)
            tried = subprocess.run([WHYIO, "mount", self.server.address, self.point], text=True, check=False, timeout=WAIT,
                                   stderr=subprocess.PIPE)
            self.assertNotEqual(tried.returncode, 0)
            self.assertIn("no mount point", tried.stderr)
            self.assertTrue(is_mounted(self.point))
        finally:
            subprocess.run(["umount", "-l", self.point], check=True, timeout=WAIT)

    def test_an_ordinary_user(self):
        """The ends of a mount again, as another user than 0: fusermount3 treats both differently."""
        if os.geteuid() != 0:
            self.skipTest("this is an ordinary user")
        script = ("mknod -m 666 \"$1\" c 10 229 && mount --bind \"$1\" /dev/fuse || exit 77\n"
                  "shift; exec setpriv --reuid=nobody --regid=nogroup --clear-groups \"$@\"")
        inside = ["unshare", "-m", "sh", "-c", script, "sh", os.path.join(self.work, "fuse")]
        ends = ["Mount." + name for name in dir(self) if name.startswith("test_a_mount_") or name.startswith("test_a_killed")]
        program = os.path.abspath(WHYIO)
        tried = subprocess.run([*inside, "test", "-x", program], check=False, timeout=WAIT, stderr=subprocess.PIPE)
        if tried.returncode != 0:
            self.skipTest(f"no other user, or no namespace: {tried.stderr}")
        os.remove(os.path.join(self.work, "fuse"))
        done = subprocess.run([*inside, "python3", "-B", os.path.abspath(__file__), *ends], check=False, timeout=4 * WAIT,
                              cwd="/", text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              env={"WHYIO": program, "WHYIO_SOURCE": os.path.abspath(os.environ["WHYIO_SOURCE"]),
                                   "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"})
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, "Ran [3-9] tests")

    def test_the_store_is_gone(self):
        self.server.process.kill()
        self.server.process.wait(WAIT)
        said = self.mount.communicate(timeout=WAIT)[1]
        self.assertEqual(self.mount.returncode, 3)
        self.assertIn("does not answer any more", said)
        self.assertFalse(is_mounted(self.point))

    # ---- locks, of this mount's processes and another one's

    def second_mount(self):
        point = os.path.join(self.work, "mnt2")
        os.mkdir(point)
        return point, self.begin(point)

    def locked(self, name, how):
        """What another process is told that wants bytes 10 to 14 of the file, and does not wait."""
        program = ("import fcntl, sys\nfile = open(sys.argv[1], 'r+b')\n"
                   "try:\n    fcntl.lockf(file, getattr(fcntl, sys.argv[2]) | fcntl.LOCK_NB, 5, 10)\n    print('got')\n"
                   "except OSError as error:\n    print(error.errno)")
        done = subprocess.run([sys.executable, "-c", program, name, how], text=True, check=True, timeout=WAIT,
                              stdout=subprocess.PIPE)
        return done.stdout.strip()

    def test_locks(self):
        point, other = self.second_mount()
        here, there = self.path("f"), os.path.join(point, "f")
        busy = str(errno.EAGAIN)
        with open(here, "w+b") as file:
            fcntl.lockf(file, fcntl.LOCK_SH, 5, 10)
            self.assertEqual([self.locked(name, "LOCK_SH") for name in (here, there)], ["got", "got"])
            self.assertEqual([self.locked(name, "LOCK_EX") for name in (here, there)], [busy, busy])
            fcntl.lockf(file, fcntl.LOCK_EX, 5, 10)
            self.assertEqual([self.locked(name, "LOCK_SH") for name in (here, there)], [busy, busy])
            fcntl.lockf(file, fcntl.LOCK_UN, 1, 12)  # the middle: bytes of both ends stay
            self.assertEqual([self.locked(name, "LOCK_SH") for name in (here, there)], [busy, busy])
            fcntl.lockf(file, fcntl.LOCK_UN)
            self.assertEqual([self.locked(name, "LOCK_EX") for name in (here, there)], ["got", "got"])
            fcntl.lockf(file, fcntl.LOCK_EX)
        # closing it gave all back
        self.assertEqual([self.locked(name, "LOCK_EX") for name in (here, there)], ["got", "got"])
        self.assertEqual(self.end(other), (0, ""))

    def test_who_has_a_lock(self):
        point, other = self.second_mount()
        shape = "hhqqi"
        with open(self.path("f"), "w+b") as file:
            fcntl.lockf(file, fcntl.LOCK_EX, 5, 10)
            for name, pid in ((self.path("f"), os.getpid()), (os.path.join(point, "f"), 0)):
                child = os.fork()
                if child == 0:
                    asked = struct.pack(shape, fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)
                    with open(name, "r+b") as own:
                        told = struct.unpack(shape, fcntl.fcntl(own, fcntl.F_GETLK, asked))
                    os._exit(0 if (told[0], told[4]) == (fcntl.F_WRLCK, pid) else 1)
                self.assertEqual(os.waitpid(child, 0)[1], 0, name)
        self.assertEqual(self.end(other), (0, ""))

    def test_a_lock_is_waited_for(self):
        point, other = self.second_mount()
        holder = open(self.path("f"), "w+b")
        fcntl.flock(holder, fcntl.LOCK_EX)
        for name in (self.path("f"), os.path.join(point, "f")):
            waiting = subprocess.Popen([sys.executable, "-c", "import fcntl, sys\nfile = open(sys.argv[1], 'r+b')\n"
                                        "print('asks', flush=True)\nfcntl.flock(file, fcntl.LOCK_EX)\nprint('got')", name],
                                       stdout=subprocess.PIPE, text=True)
            self.assertEqual(waiting.stdout.readline(), "asks\n")
            self.assertEqual(self.locked(name, "LOCK_EX"), "got")  # the other kind of lock; and requests are served
            self.assertIsNone(waiting.poll())
            fcntl.flock(holder, fcntl.LOCK_UN)
            self.assertEqual(waiting.communicate(timeout=WAIT)[0], "got\n")
            fcntl.flock(holder, fcntl.LOCK_EX)
        # a process that waits can be killed, and the mount can end meanwhile
        killed = subprocess.Popen(["flock", self.path("f"), "true"])
        time.sleep(0.1)
        killed.kill()
        self.assertEqual(killed.wait(WAIT), -signal.SIGKILL)
        holder.close()
        self.assertEqual(self.end(other), (0, ""))

    def test_a_conversion_gives_the_shared_lock_up(self):
        """flock(2): "the existing lock is first removed": two that want more do not wait for each other."""
        one = open(self.path("f"), "w+b")
        fcntl.flock(one, fcntl.LOCK_SH)
        other = subprocess.Popen([sys.executable, "-c", "import fcntl, sys\nfile = open(sys.argv[1], 'r+b')\n"
                                  "fcntl.flock(file, fcntl.LOCK_SH)\nprint('shared', flush=True)\n"
                                  "fcntl.flock(file, fcntl.LOCK_EX)\nprint('got')", self.path("f")],
                                 stdout=subprocess.PIPE, text=True)
        self.assertEqual(other.stdout.readline(), "shared\n")
        fcntl.flock(one, fcntl.LOCK_EX)
        fcntl.flock(one, fcntl.LOCK_UN)
        self.assertEqual(other.communicate(timeout=WAIT)[0], "got\n")
        one.close()

    def test_flock_asks_for_no_right_to_write(self):
        """flock(2): "A shared or exclusive lock can be placed on a file regardless of the mode" it was opened in."""
        point, other = self.second_mount()
        with open(self.path("f"), "w+b"):
            pass
        for mode in (os.O_RDONLY, os.O_WRONLY):
            file = os.open(os.path.join(point, "f"), mode)  # this mount has no other right to the file at first
            for how in (fcntl.LOCK_EX, fcntl.LOCK_SH):
                fcntl.flock(file, how | fcntl.LOCK_NB)
                with open(self.path("f"), "rb") as there:
                    self.refused(errno.EAGAIN, fcntl.flock, there, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.close(file)
        with open(self.path("f"), "rb") as file:
            self.refused(errno.EBADF, fcntl.lockf, file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # fcntl(2) does
        self.assertEqual(self.end(other), (0, ""))

    def asking(self, name, call):
        """A process that has the file open, and makes the call when it is told to."""
        process = subprocess.Popen([sys.executable, "-c", "import fcntl, os, struct, sys\nfile = open(sys.argv[1], 'r+b')\n"
                                    "print('open', flush=True)\nsys.stdin.readline()\n" + call, name],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "open\n")
        return process

    def begin_call(self, process):
        """It is in another system call than the one in which it waited for this."""
        name = f"/proc/{process.pid}/syscall"
        with open(name, encoding="utf-8") as of:
            before = of.read().split()[0]
        process.stdin.write("\n")
        process.stdin.flush()
        until = time.monotonic() + WAIT
        now = before
        while now in (before, "running") and time.monotonic() < until:
            with open(name, encoding="utf-8") as of:
                now = of.read().split()[0]

    def test_a_store_that_is_silent_holds_up_what_asks_it_alone(self):
        for name in ("a", "b"):
            with open(self.path(name), "w+b"):
                pass
        held = open(self.path("b"), "r+b")
        fcntl.lockf(held, fcntl.LOCK_EX, 5, 10)
        asks = self.asking(self.path("a"), "fcntl.lockf(file, fcntl.LOCK_EX)\nprint('got')")
        known = self.asking(self.path("b"), "asked = struct.pack('hhqqi', fcntl.F_RDLCK, os.SEEK_SET, 0, 0, 0)\n"
                            "print(struct.unpack('hhqqi', fcntl.fcntl(file, fcntl.F_GETLK, asked))[4])")
        self.server.process.send_signal(signal.SIGSTOP)
        try:
            self.begin_call(asks)
            known.stdin.write("\n")
            self.assertEqual(known.communicate(timeout=WAIT)[0], f"{os.getpid()}\n")  # the mount knows by itself
            self.assertIsNone(asks.poll())
        finally:
            self.server.process.send_signal(signal.SIGCONT)
        self.assertEqual(asks.communicate(timeout=WAIT)[0], "got\n")
        held.close()

    def test_a_killed_mount_gives_its_locks_back(self):
        point, other = self.second_mount()
        with open(self.path("f"), "w+b"):
            pass
        held = open(os.path.join(point, "f"), "r+b")
        fcntl.lockf(held, fcntl.LOCK_EX)
        self.assertEqual(self.locked(self.path("f"), "LOCK_EX"), str(errno.EAGAIN))
        other.kill()
        other.communicate(timeout=WAIT)
        until = time.monotonic() + WAIT  # when its lease has ended
        while self.locked(self.path("f"), "LOCK_EX") != "got":
            self.assertLess(time.monotonic(), until)
        with self.assertRaises(OSError):
            held.close()
            os.stat(os.path.join(point, "f"))
        self.assertTrue(wait_unmounted(point))

    def test_usage(self):
        for words, status in (([], 2), (["a", "b", "c"], 2), ([self.server.address, self.path("none")], 3),
                              (["unix:" + self.path("none"), self.work], 3)):
            done = subprocess.run([WHYIO, "mount", "--timeout=500ms", *words], check=False, timeout=WAIT, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, status, done.stderr)


if __name__ == "__main__":
    if lacks() is not None:
        print("skipped:", lacks(), file=sys.stderr)
        sys.exit(77)
    unittest.main()
