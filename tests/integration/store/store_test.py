#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whyio store: what goes in comes out, what fails is named and the rest goes on."""
import filecmp
import os
import random
import subprocess
import time
import unittest

from store_case import Serving, StoreCase, WHYIO


def tree(root):
    """{path below root: bytes, link text or None of a directory}"""
    found = {}
    for folder, dirs, names in os.walk(root):
        for name in dirs + names:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                value = "-> " + os.readlink(path)
            elif os.path.isdir(path):
                value = None
            else:
                with open(path, "rb") as file:
                    value = file.read()
            found[os.path.relpath(path, root)] = value
    return found


class Store(StoreCase):
    def make_tree(self):
        source = random.Random(5)
        for i in range(60):
            self.write(f"tree/d{i % 7}/e{i % 3}/f{i}", source.randbytes(source.choice([0, 1, 700, 70000])))
        self.write("tree/large", source.randbytes(9 << 20))
        os.makedirs(self.path("tree/empty"))
        os.symlink("/etc/passwd", self.path("tree/d0/outside"))
        os.symlink("../large", self.path("tree/d1/inside"))
        os.symlink("..", self.path("tree/d2/loop"))
        os.utime(self.path("tree/large"), ns=(1, 1_234_567_890_123_456_789))
        os.chmod(self.path("tree/d1/e1/f1"), 0o600)

    def test_a_tree_comes_out_as_it_went_in(self):
        self.make_tree()
        put = self.json("store", "put", "-r", "tree", ":/copy")
        self.assertEqual((put["files"], put["links"], put["failed"]), (61, 3, 0))
        got = self.json("store", "get", "-r", "/copy", "back")
        self.assertEqual((got["files"], got["links"], got["bytes"]), (61, 3, put["bytes"]))
        self.assertEqual(tree(self.path("tree")), tree(self.path("back")))
        large = os.stat(self.path("back/large"))
        self.assertEqual(large.st_mtime_ns, 1_234_567_890_123_456_789)
        self.assertEqual(os.stat(self.path("back/d1/e1/f1")).st_mode & 0o777, 0o600)
        # into a directory that is there: below its own name
        self.whyio("store", "put", "-r", "tree/d1", "/copy/empty")
        self.whyio("store", "get", "-r", "/copy/empty/d1", ".")
        self.assertEqual(tree(self.path("tree/d1")), tree(self.path("d1")))
        removed = self.json("store", "rm", "-r", "/copy")
        self.assertEqual(removed["failed"], 0)
        self.assertEqual(self.json("store", "df")["used_bytes"], 0)
        self.assertEqual(self.json("store", "ls")["entries"], [])

    def test_directories_keep_rights_and_times(self):
        self.write("a/in/file", b"text")
        self.write("a/shut/file", b"text")
        os.symlink("in/file", self.path("a/link"))
        for name, mode, time_ns in (("a/in/file", 0o600, -5_000_000_001), ("a/shut", 0o555, 10**18 + 1),
                                    ("a/in", 0o750, 10**18 + 2), ("a", 0o711, -1)):
            os.chmod(self.path(name), mode)
            os.utime(self.path(name), ns=(0, time_ns))
        for _ in range(2):  # the second time, as after one that was interrupted, all is there already
            self.assertEqual(self.json("store", "put", "-r", "a", "/")["failed"], 0)
            os.makedirs(self.path("back"), exist_ok=True)
            self.assertEqual(self.json("store", "get", "-r", "/a", "back")["failed"], 0)
            for name in ("a", "a/in", "a/in/file", "a/shut"):
                was, found = os.stat(self.path(name)), os.stat(self.path("back", name))
                self.assertEqual((was.st_mode, was.st_mtime_ns), (found.st_mode, found.st_mtime_ns), name)
        self.assertIn(time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(-6)), self.whyio("store", "ls", "/a/in").stdout)
        # what is in a directory goes into one that is there, which keeps its own
        os.makedirs(self.path("into"))
        os.chmod(self.path("into"), 0o700)
        self.whyio("store", "get", "-r", "/", "into")
        self.assertEqual(os.stat(self.path("into")).st_mode & 0o777, 0o700)

    def test_directories_that_were_there_keep_their_other_bits(self):
        """Set-group-id and sticky of the destination: neither copied nor cleared; in one that has the former, new ones too."""
        for name, mode in (("a/group", 0o755), ("a/sticky", 0o777), ("a", 0o755)):
            os.makedirs(self.path(name), exist_ok=True)
            os.chmod(self.path(name), mode)
        self.write("a/group/below/file", b"")
        os.chmod(self.path("a/group/below"), 0o750)
        bits = (("back/a/group", 0o2775, 0o2755), ("back/a/sticky", 0o1777, 0o1777))
        for name, before, _ in bits:
            os.makedirs(self.path(name))
            os.chmod(self.path(name), before)
        self.whyio("store", "put", "-r", "a", "/")
        self.whyio("store", "get", "-r", "/a", "back")
        for name, _, after in (*bits, ("back/a/group/below", None, 0o2750)):
            self.assertEqual(os.stat(self.path(name)).st_mode & 0o7777, after, name)

    @unittest.skipIf(os.geteuid() != 0, "one user alone")
    def test_directories_of_another_user_are_used_as_they_are(self):
        self.write("a/d/file", b"text")
        os.makedirs(self.path("back/a/d"))
        self.whyio("store", "put", "-r", "a", "/")
        for name in ("a", "a/d", "back", "back/a", "back/a/d"):
            os.chmod(self.path(name), 0o777)
        self.whyio("store", "put", "-r", "a", "/")  # with these bits
        os.chmod(self.path("a"), 0o755)
        os.chmod(self.path("a/d"), 0o755)
        os.chmod(self.work, 0o755)
        inside = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups", WHYIO, "store"]
        if subprocess.run([*inside, "--help"], check=False, stdout=subprocess.DEVNULL).returncode != 0:
            self.skipTest("another user cannot execute the programs of the build")
        sockets = os.path.dirname(self.served.address.removeprefix("unix:"))
        for name in (".", *os.listdir(sockets)):
            os.chmod(os.path.join(sockets, name), 0o777)
        os.rename(self.path("a/d/file"), self.path("a/d/other"))
        for words in (["put", "-r", "a", "/"], ["get", "-r", "/a", "back"]):
            done = subprocess.run([*inside, *words, f"--server={self.served.address}"], cwd=self.work, check=False, timeout=120,
                                  text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(done.returncode, 0, done.stdout)
        self.assertEqual(self.read("back/a/d/other"), b"text")
        self.assertEqual(os.stat(self.path("back/a/d")).st_mode & 0o7777, 0o777)
        self.assertEqual(self.json("store", "stat", "/a/d")["entries"][0]["mode"], 0o777)

    def test_what_is_in_the_way_of_a_directory_is_not_changed(self):
        self.write("a/sub/file", b"new")
        os.makedirs(self.path("links"))
        os.symlink("/other", self.path("links/sub"))
        self.whyio("store", "mkdir", "/other", "/dest")
        self.whyio("store", "put", "-r", "links/.", "/dest")
        before = self.json("store", "stat", "/other")["entries"][0]
        os.chmod(self.path("a/sub"), 0o777)
        failed = self.json("store", "put", "-r", "a/.", "/dest", status=1)["failures"]
        self.assertEqual([(one["path"], "a symbolic link is there" in one["message"]) for one in failed], [("/dest/sub", True)])
        self.assertEqual(self.json("store", "ls", "/other")["entries"], [])
        self.assertEqual(self.json("store", "stat", "/other")["entries"][0], before)
        self.whyio("store", "rm", "/dest/sub")
        self.whyio("store", "put", "a/sub/file", "/dest/sub")
        self.assertIn("a file is there", self.whyio("store", "put", "-r", "a/.", "/dest", status=1).stderr)
        # one that is named is followed
        self.whyio("store", "put", "-r", "links/.", "/")
        self.assertEqual(self.json("store", "put", "-r", "a/sub/.", "/sub")["failed"], 0)
        self.assertEqual([one["path"] for one in self.json("store", "ls", "/other")["entries"]], ["file"])

    def test_the_content_of_a_directory_whatever_it_is_called(self):
        self.write("a/b/file", b"text")
        for source in ("a/.", "a/b/..", "a/b/../"):
            self.whyio("store", "put", "-r", source, "/")
            self.assertEqual([one["path"] for one in self.json("store", "ls", "/")["entries"]], ["b"], source)
            self.whyio("store", "rm", "-r", "/b")

    def test_files_of_proc_have_their_bytes(self):
        """Their size is 0, and there are no data to seek to."""
        for name in ("/proc/version", "/proc/filesystems"):
            with open(name, "rb") as file:
                text = file.read()
            self.assertEqual(os.stat(name).st_size, 0)
            self.assertEqual(self.json("store", "put", name, "/copy")["bytes"], len(text))
            self.whyio("store", "get", "/copy", "copy")
            self.assertEqual(self.read("copy"), text)

    def test_read_only_files_are_copied_again(self):
        """As user 0, who may write them anyway, again as another one."""
        self.write("a/file", b"old")
        for text in (b"old", b"new"):
            os.chmod(self.path("a/file"), 0o600)
            self.write("a/file", text)
            os.chmod(self.path("a/file"), 0o400)
            self.whyio("store", "put", "-r", "a", "/")
            self.whyio("store", "get", "-r", "/a/.", "back" if text == b"old" else "back/.")
            self.assertEqual(self.read("back/file"), text)
            self.assertEqual(os.stat(self.path("back/file")).st_mode & 0o777, 0o400)
        if os.geteuid() != 0:
            return
        inside = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
        known = {name: os.path.abspath(os.environ[name]) for name in ("WHYIO", "WHYIO_SOURCE", "STORE_SERVED")}
        if subprocess.run([*inside, "test", "-x", known["STORE_SERVED"]], check=False).returncode != 0:
            self.skipTest("another user cannot execute the programs of the build")
        done = subprocess.run([*inside, "python3", "-B", os.path.abspath(__file__),
                               "Store.test_read_only_files_are_copied_again"], check=False, timeout=120, cwd="/", text=True,
                              env={**known, "PATH": "/usr/bin:/bin"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_an_interrupted_copy_goes_on(self):
        self.make_tree()
        os.utime(self.path("tree/d0/e0/f0"), ns=(0, -5_000_000_001))
        put = ["store", "put", "-r", "tree", "/", "--update"]
        self.assertEqual(self.json(*put)["skipped"], 0)
        self.whyio("store", "truncate", "5", "/tree/large")  # as where a copy ended in the middle
        self.whyio("store", "rm", "/tree/d1/e1/f1")
        os.utime(self.path("tree/d3/e0/f3"), ns=(0, 7))
        again = self.json(*put)
        self.assertEqual((again["files"], again["skipped"], again["failed"]), (3, 58, 0))
        get = ["store", "get", "-r", "/tree", "back", "-u"]
        self.assertEqual(self.json(*get)["files"], 61)
        os.rename(self.path("back"), self.path("tree2"))
        os.truncate(self.path("tree2/large"), 1 << 20)
        os.remove(self.path("tree2/d1/e1/f1"))
        os.utime(self.path("tree2/d3/e0/f3"))
        os.makedirs(self.path("back"))
        os.rename(self.path("tree2"), self.path("back/tree"))
        again = self.json(*get)
        self.assertEqual((again["files"], again["skipped"], again["failed"]), (3, 58, 0))
        self.assertEqual(tree(self.path("tree")), tree(self.path("back/tree")))
        self.assertIn("; 61 were there", self.whyio(*get).stdout)

    def test_links_are_replaced_by_links_alone(self):
        self.write("a/other", b"")
        os.symlink("one", self.path("a/link"))
        self.whyio("store", "put", "-r", "a", "/")
        os.remove(self.path("a/link"))
        os.symlink("two", self.path("a/link"))
        self.assertEqual(self.json("store", "put", "-r", "a", "/")["failed"], 0)
        os.makedirs(self.path("back/a"))
        os.symlink("three", self.path("back/a/link"))
        self.assertEqual(self.json("store", "get", "-r", "/a", "back")["failed"], 0)
        self.assertEqual(os.readlink(self.path("back/a/link")), "two")
        os.remove(self.path("back/a/link"))
        self.write("back/a/link", b"a file")
        self.assertEqual(self.json("store", "get", "-r", "/a", "back", status=1)["failed"], 1)
        self.assertEqual(self.read("back/a/link"), b"a file")

    def test_what_fails_is_named(self):
        self.write("a/file", b"text")
        os.mkfifo(self.path("a/fifo"))
        result = self.whyio("store", "put", "-r", "a", "/a", status=1)
        self.assertIn("'a/fifo'", result.stderr)
        value = self.json("store", "get", "/a/file", "/a/none", ".", status=1)
        self.assertEqual((value["files"], value["failed"]), (1, 1))
        self.assertEqual(value["failures"][0]["path"], "/a/none")
        self.assertEqual(self.read("file"), b"text")
        self.assertIn("-r copies those", self.whyio("store", "get", "/a", "b", status=1).stderr)
        self.assertIn("-r removes those", self.whyio("store", "rm", "/a", status=1).stderr)

    def test_links_lead_nowhere(self):
        self.write("a/d/file", b"theirs")
        self.whyio("store", "put", "-r", "a", "/a")
        os.makedirs(self.path("b/a"))
        os.makedirs(self.path("outside"))
        os.symlink(self.path("outside"), self.path("b/a/d"))
        self.whyio("store", "get", "-r", "/a", "b", status=1)
        self.assertEqual(os.listdir(self.path("outside")), [])
        # a source is followed, what is below it is not
        os.symlink("a", self.path("link"))
        self.assertEqual(self.json("store", "put", "-r", "link", "/c")["files"], 1)

        # nor one that is in the store where a file of a tree is to be; one that is named is
        os.makedirs(self.path("e"))
        os.symlink("/a/d/file", self.path("e/name"))
        self.whyio("store", "put", "-r", "e", "/e")
        os.remove(self.path("e/name"))
        self.write("e/name", b"ours")
        self.assertEqual(self.json("store", "put", "-r", "e/.", "/e", status=1)["failed"], 1)
        self.whyio("store", "get", "/a/d/file", "kept")
        self.assertEqual(self.read("kept"), b"theirs")
        self.whyio("store", "put", "e/name", "/e/name")
        self.whyio("store", "get", "/a/d/file", "kept")
        self.assertEqual(self.read("kept"), b"ours")

    def test_access_bits_are_those_of_the_source(self):
        self.write("file", b"secret")
        os.chmod(self.path("file"), 0o644)
        self.whyio("store", "put", "file", "/file")
        os.chmod(self.path("file"), 0o600)
        self.whyio("store", "put", "file", "/file")
        self.assertEqual(self.json("store", "stat", "/file")["entries"][0]["mode"], 0o600)
        self.write("there", b"")
        os.chmod(self.path("there"), 0o666)
        self.whyio("store", "get", "/file", "there")
        self.assertEqual(os.stat(self.path("there")).st_mode & 0o7777, 0o600)

    def test_names(self):
        self.write("file", b"0123456789")
        self.whyio("store", "mkdir", "-p", "/x/y/z", "/x/y")
        self.whyio("store", "mkdir", "/x", status=1)
        self.whyio("store", "put", "--segments=2", "--stripe-unit=4K", "--stable", "file", "/x/y")
        self.whyio("store", "mv", "/x/y/file", "/x/moved")
        entry = self.json("store", "stat", "/x/moved")["entries"][0]
        self.assertEqual((entry["size"], entry["segments"], entry["stripe_unit"], entry["type"]),
                         (10, 2, 4096, "file"))
        self.whyio("store", "truncate", "4", "/x/moved")
        self.whyio("store", "get", "/x/moved", "cut")
        self.assertEqual(self.read("cut"), b"0123")
        listed = self.json("store", "ls", "/x")["entries"]
        self.assertEqual([entry["path"] for entry in listed], ["moved", "y"])
        self.assertIn("moved", self.whyio("store", "ls", "/x").stdout)
        self.assertRegex(self.whyio("store", "df").stdout, "^3 targets, 4 B used")

    def test_usage(self):
        for words in (["frob"], ["put", "a"], ["mv", "a"], ["mv", "a", "b", "c"], ["df", "x"],
                      ["truncate", "many", "/x"], ["ls", "--jobs=0"], ["ls", "--server=nonsense"], []):
            self.whyio("store", *words, status=2)

    def test_a_store_that_is_not_there(self):
        began = time.monotonic()
        result = self.whyio("store", "ls", "--server=unix:" + self.path("none"), "--timeout=300ms", status=3)
        self.assertIn("is not connected: no such file or directory", result.stderr)
        self.assertLess(time.monotonic() - began, 60)

    def test_an_address_that_nothing_can_be_at_fails_at_once(self):
        self.write("file", b"")
        address = "unix:" + self.path("file", "sock")
        for words in (["store", "ls", f"--server={address}"], ["jobstats", address], ["load", address]):
            result = self.whyio(*words, "--timeout=10m", status=3)  # longer than the test may last
            self.assertEqual(result.stderr, f"whyio: cannot connect to the store at {address}: not a directory\n")

    def test_waiting_for_a_store_is_told(self):
        address = "unix:" + self.path("none")
        for words in (["store", "ls", f"--server={address}"], ["jobstats", address], ["load", address]):
            said = self.whyio(*words, "--timeout=2500ms", status=3).stderr
            self.assertTrue(said.startswith(f"whyio: no answer yet from the store at {address}: trying for 2.5 s\n"), said)
            self.assertNotIn("no answer yet", self.whyio(*words, "-q", "--timeout=2500ms", status=3).stderr)


class Full(StoreCase):
    targets = 1
    capacity = 1 << 20

    def test_a_full_store_fails_the_file_that_does_not_fit(self):
        self.write("small", b"x" * 1000)
        self.write("large", b"x" * (2 << 20))
        value = self.json("store", "put", "large", "small", "/", status=1)
        self.assertEqual((value["files"], value["failed"]), (1, 1))
        self.assertEqual(value["failures"][0]["path"], "/large")
        self.assertIn("full", value["failures"][0]["message"])
        self.whyio("store", "get", "/small", "back")
        self.assertTrue(filecmp.cmp(self.path("small"), self.path("back"), shallow=False))


class Bounded(StoreCase):
    """whyio serve where no file may be longer than 1 GiB, as file systems have longest files, too."""
    targets = 2

    def serve(self):
        return Serving(self.path("served"), self.targets, file_bytes=1 << 30)

    def test_what_no_file_can_hold_is_refused_and_harms_nothing(self):
        self.write("small", b"x" * 1000)
        self.whyio("store", "put", "small", "/small")
        for size in ("100T", str((1 << 62) - 1)):
            value = self.json("store", "truncate", size, "/small", status=1)
            self.assertIn("more than a file", value["failures"][0]["message"])
        self.whyio("store", "truncate", "2G", "/small")  # 1 GiB at each target
        self.whyio("store", "truncate", "1000", "/small")
        self.whyio("store", "get", "/small", "back")
        self.assertEqual(self.read("back"), b"x" * 1000)
        self.whyio("store", "df")
        self.assertEqual(self.served.end(), 0)
        self.served = self.serve()
        self.whyio("store", "get", "/small", "again")
        self.assertEqual(self.read("again"), b"x" * 1000)


class Real(StoreCase):
    """whyio serve, with its log and segment files."""

    def serve(self):
        return Serving(self.path("served"), self.targets)

    def test_holes_stay_holes(self):
        with open(self.path("sparse"), "wb") as out:
            out.truncate(50 << 20)
            out.seek(20 << 20)
            out.write(b"between")
        with open(self.path("hole"), "wb") as out:
            out.truncate((5 << 20) + 1)
        moved = self.json("store", "put", "sparse", "hole", "/")["bytes"]
        has_holes = os.stat(self.path("hole")).st_blocks == 0  # else all is copied
        if has_holes:
            self.assertLess(moved, 8 << 20)
            self.assertLess(self.json("store", "df")["used_bytes"], 8 << 20)
        for name in ("sparse", "hole"):
            self.whyio("store", "get", f"/{name}", f"{name}.back")
            self.assertTrue(filecmp.cmp(self.path(name), self.path(f"{name}.back"), shallow=False))
            if has_holes:
                self.assertLess(os.stat(self.path(f"{name}.back")).st_blocks * 512, 8 << 20)

    def test_what_is_stable_is_there_after_a_restart(self):
        source = random.Random(7)
        for i in range(10):
            self.write(f"tree/d{i % 3}/f{i}", source.randbytes(source.choice([1, 5000, 3 << 20])))
        os.symlink("d0", self.path("tree/link"))
        self.assertEqual(self.json("store", "put", "-r", "--stable", "tree", "/tree")["failed"], 0)
        load = self.json("load", "--duration=200ms", "--clients=2", "--transaction=2", "--pattern=opposite", "--objects=2",
                         "--stable")
        self.assertEqual(load["failed"], 0)
        root = self.served.root
        self.assertEqual(self.served.end(), 0)
        self.whyio("check", root)
        self.served = self.serve()
        self.whyio("store", "get", "-r", "/tree", "back")
        self.assertEqual(tree(self.path("tree")), tree(self.path("back")))


if __name__ == "__main__":
    unittest.main()
