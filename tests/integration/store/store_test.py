#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whyio store: what goes in comes out, what fails is named and the rest goes on."""
import filecmp
import os
import random
import time
import unittest

from store_case import Serving, StoreCase


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
