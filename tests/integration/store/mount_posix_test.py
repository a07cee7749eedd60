#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names, rights and times through a mount, as POSIX has them: error numbers, what changes which time, modes."""
import errno
import os
import stat
import sys
import time
import unittest

import mount_test

E = errno


class Posix(unittest.TestCase):
    """One mount for all: each test has a directory of its own."""

    @classmethod
    def setUpClass(cls):
        cls.case = mount_test.Mount("test_usage")
        cls.case.setUp()

    @classmethod
    def tearDownClass(cls):
        cls.case.tearDown()

    def setUp(self):
        self.dir = self.case.path(self.id().rsplit(".", 1)[1])
        os.mkdir(self.dir)

    def p(self, *parts):
        return os.path.join(self.dir, *parts)

    def make(self, name, data=b"", mode=0o644):
        file = os.open(self.p(name), os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode)
        os.write(file, data)
        os.close(file)
        return self.p(name)

    @staticmethod
    def read(name):
        with open(name, "rb") as file:
            return file.read()

    def fails(self, number, call, *arguments, **more):
        with self.assertRaises(OSError) as caught:
            call(*arguments, **more)
        self.assertEqual(caught.exception.errno, number, f"{call} {arguments}: {caught.exception}")

    # ---- names

    def test_open(self):
        self.fails(E.ENOENT, os.open, self.p("f"), os.O_RDONLY)
        self.fails(E.ENOENT, os.open, self.p("d", "f"), os.O_CREAT | os.O_WRONLY)
        name = self.make("f", b"data")
        self.fails(E.EEXIST, os.open, name, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        self.fails(E.ENOTDIR, os.open, self.p("f", "g"), os.O_RDONLY)
        self.fails(E.ENOTDIR, os.open, name, os.O_RDONLY | os.O_DIRECTORY)
        self.fails(E.EISDIR, os.open, self.dir, os.O_WRONLY)
        os.close(os.open(name, os.O_WRONLY | os.O_TRUNC))
        self.assertEqual(os.stat(name).st_size, 0)
        os.symlink("f", self.p("l"))
        self.fails(E.ELOOP, os.open, self.p("l"), os.O_RDONLY | os.O_NOFOLLOW)
        self.fails(E.EEXIST, os.open, self.p("l"), os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        os.symlink("none", self.p("dangling"))
        self.fails(E.ENOENT, os.open, self.p("dangling"), os.O_RDONLY)
        os.close(os.open(self.p("dangling"), os.O_CREAT | os.O_WRONLY))
        self.assertTrue(stat.S_ISREG(os.lstat(self.p("none")).st_mode))

    def test_rights_of_descriptors(self):
        name = self.make("f", b"data")
        reading, writing = os.open(name, os.O_RDONLY), os.open(name, os.O_WRONLY)
        self.fails(E.EBADF, os.write, reading, b"x")
        self.fails(E.EBADF, os.read, writing, 1)
        self.fails(E.EINVAL, os.ftruncate, reading, 0)
        os.close(reading)
        os.close(writing)

    def test_long_names_and_loops(self):
        self.make("n" * 255)
        self.fails(E.ENAMETOOLONG, os.open, self.p("n" * 256), os.O_CREAT | os.O_WRONLY)
        self.fails(E.ENAMETOOLONG, os.stat, self.p(*["d" * 200] * 21))
        os.symlink("two", self.p("one"))
        os.symlink("one", self.p("two"))
        self.fails(E.ELOOP, os.stat, self.p("one"))
        self.fails(E.ELOOP, os.open, self.p("two", "x"), os.O_RDONLY)
        self.assertEqual(os.readlink(self.p("one")), "two")
        self.fails(E.EINVAL, os.readlink, self.p("n" * 255))
        for odd in ("a b", "tab\there", "line\nend", "quote\"'", "é中", "-rf", "*", "a:b"):
            self.make(odd, odd.encode())
            self.assertEqual(self.read(self.p(odd)), odd.encode())
            self.assertIn(odd, os.listdir(self.dir))

    def test_directories(self):
        os.mkdir(self.p("d"))
        self.make("d/f")
        self.fails(E.EEXIST, os.mkdir, self.p("d"))
        self.fails(E.EEXIST, os.mkdir, self.p("d", "f"))
        self.fails(E.ENOENT, os.mkdir, self.p("none", "d"))
        self.fails(E.ENOTDIR, os.mkdir, self.p("d", "f", "x"))
        self.fails(E.ENOTEMPTY, os.rmdir, self.p("d"))
        self.fails(E.ENOTDIR, os.rmdir, self.p("d", "f"))
        self.fails(E.ENOENT, os.rmdir, self.p("none"))
        self.fails(E.EINVAL, os.rmdir, self.p("d", "."))
        self.fails(E.EISDIR, os.unlink, self.p("d"))
        os.unlink(self.p("d", "f"))
        os.rmdir(self.p("d"))
        self.assertEqual(os.listdir(self.dir), [])

    def test_rename(self):
        self.make("a", b"a")
        self.make("b", b"bb")
        os.mkdir(self.p("d"))
        os.mkdir(self.p("e"))
        os.rename(self.p("a"), self.p("a"))
        os.rename(self.p("a"), self.p("b"))
        self.assertEqual(self.read(self.p("b")), b"a")
        self.fails(E.ENOENT, os.rename, self.p("a"), self.p("b"))
        self.fails(E.EISDIR, os.rename, self.p("b"), self.p("d"))
        self.fails(E.ENOTDIR, os.rename, self.p("d"), self.p("b"))
        self.fails(E.EINVAL, os.rename, self.p("d"), self.p("d", "inside"))
        os.rename(self.p("d"), self.p("e"))
        self.make("e/f")
        os.mkdir(self.p("d"))
        self.fails(E.ENOTEMPTY, os.rename, self.p("d"), self.p("e"))
        self.fails(E.ENOTEMPTY, os.rename, self.p("d"), self.p("e", "..", "e"))
        os.rename(self.p("e", "f"), self.p("d", "g"))
        self.assertEqual((os.listdir(self.p("e")), os.listdir(self.p("d"))), ([], ["g"]))
        os.symlink("b", self.p("l"))
        os.rename(self.p("l"), self.p("m"))
        self.assertEqual(os.readlink(self.p("m")), "b")

    def test_truncate(self):
        name = self.make("f", b"0123456789")
        os.truncate(name, 4)
        os.truncate(name, 8)
        self.assertEqual(self.read(name), b"0123\0\0\0\0")
        self.fails(E.EINVAL, os.truncate, name, -1)
        self.fails(E.EISDIR, os.truncate, self.dir, 0)
        self.fails(E.ENOENT, os.truncate, self.p("none"), 0)

    # ---- modes and owners

    def mode(self, name):
        return os.lstat(self.p(name)).st_mode & 0o7777

    def test_modes(self):
        before = os.umask(0o027)
        try:
            self.make("f", mode=0o666)
            os.mkdir(self.p("d"), 0o777)
        finally:
            os.umask(before)
        self.assertEqual((self.mode("f"), self.mode("d")), (0o640, 0o750))
        for mode in (0, 0o777, 0o4755, 0o2755, 0o1777, 0o644):
            os.chmod(self.p("f"), mode)
            self.assertEqual(self.mode("f"), mode)
        self.fails(E.ENOENT, os.chmod, self.p("none"), 0o600)
        os.symlink("f", self.p("l"))
        os.chmod(self.p("l"), 0o600)
        self.assertEqual((self.mode("f"), self.mode("l")), (0o600, 0o777))

    @unittest.skipUnless(os.getuid() == 0, "only user 0 gives files away")
    def test_owners(self):
        self.make("f")
        os.symlink("f", self.p("l"))
        os.chown(self.p("f"), 12, 34)
        os.chown(self.p("f"), -1, 56)
        os.chown(self.p("l"), 78, -1, follow_symlinks=False)
        file, link = os.stat(self.p("f")), os.lstat(self.p("l"))
        self.assertEqual((file.st_uid, file.st_gid, link.st_uid), (12, 56, 78))

    def test_types(self):
        self.make("f", b"123")
        os.symlink("f" * 7, self.p("l"))
        found = os.lstat(self.p("l"))
        self.assertTrue(stat.S_ISLNK(found.st_mode))
        self.assertEqual(found.st_size, 7)
        self.assertEqual(os.stat(self.p("f")).st_nlink, 1)
        self.assertEqual({entry.name: entry.is_symlink() for entry in os.scandir(self.dir)}, {"f": False, "l": True})
        for kind in (stat.S_IFIFO, stat.S_IFSOCK):
            self.fails(E.EOPNOTSUPP, os.mknod, self.p("n"), kind | 0o600)

    # ---- times

    def times(self, name):
        found = os.lstat(self.p(name) if name else self.dir)
        return found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns

    def changes(self, name, call, *which):
        """`which` of atime, mtime, ctime become later by `call`, the others stay."""
        before = self.times(name)
        time.sleep(0.02)
        call()
        after = self.times(name)
        later = tuple(b > a for a, b in zip(before, after))
        self.assertEqual(later, tuple(word in which for word in ("atime", "mtime", "ctime")), (before, after))

    def test_times_that_are_set(self):
        name = self.make("f")
        os.utime(name, ns=(10**18 + 1, 10**18 + 2))
        self.assertEqual(self.times("f")[:2], (10**18 + 1, 10**18 + 2))
        os.utime(name, ns=(-5, -999999999))
        self.assertEqual(self.times("f")[:2], (-5, -999999999))
        self.changes("f", lambda: os.utime(name), "atime", "mtime", "ctime")
        os.symlink("f", self.p("l"))
        os.utime(self.p("l"), ns=(7, 8), follow_symlinks=False)
        self.assertEqual(self.times("l")[:2], (7, 8))
        self.assertNotEqual(self.times("f")[:2], (7, 8))
        self.fails(E.ENOENT, os.utime, self.p("none"))

    def test_times_that_change(self):
        name = self.make("f", b"data")

        def write():
            with open(name, "r+b") as file:
                file.write(b"x")
        self.changes("f", write, "mtime", "ctime")
        self.changes("f", lambda: os.chmod(name, 0o600), "ctime")
        self.changes("f", lambda: os.truncate(name, 1), "mtime", "ctime")
        self.changes("", lambda: self.make("g"), "mtime", "ctime")
        self.changes("", lambda: os.rename(self.p("g"), self.p("h")), "mtime", "ctime")
        self.changes("", lambda: os.unlink(self.p("h")), "mtime", "ctime")
        self.changes("", lambda: os.mkdir(self.p("d")), "mtime", "ctime")
        self.changes("", lambda: os.rmdir(self.p("d")), "mtime", "ctime")
        self.changes("", write)


if __name__ == "__main__":
    if mount_test.lacks() is not None:
        print("skipped:", mount_test.lacks(), file=sys.stderr)
        sys.exit(77)
    unittest.main()
