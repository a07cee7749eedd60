#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traces that lie: nothing outside the target is touched, nothing hangs, nothing crashes."""
import os
import random
import stat

from replay_case import ReplayCase, main

AFAP = "--mode=afap"


class Escapes(ReplayCase):
    """The target lies in DIR/target; DIR/outside holds what must stay as it is."""

    def setUp(self):
        super().setUp()
        self.outside = os.path.join(self.dir, "outside")
        os.mkdir(self.outside)
        self.secret = os.path.join(self.outside, "secret")
        with open(self.secret, "w", encoding="ascii") as file:
            file.write("secret")
        os.chmod(self.secret, 0o600)
        os.utime(self.secret, (1000, 1000))
        os.mkdir(self.target)
        self.before = self.look()

    def look(self):
        found = {}
        for directory, below, names in os.walk(self.dir):
            if directory == self.dir:
                below.remove("target")
                if "trace" in below:
                    below.remove("trace")
            for name in below + names:
                path = os.path.join(directory, name)
                status = os.lstat(path)
                found[path] = (status.st_mode, status.st_size, status.st_mtime, status.st_uid, status.st_nlink)
        return found

    def assert_untouched(self):
        self.assertEqual(self.look(), self.before)
        with open(self.secret, encoding="ascii") as file:
            self.assertEqual(file.read(), "secret")

    def attack(self, *paths):
        """Everything that changes something, on each path."""
        lines = []
        for path in paths:
            lines += [f"open path={path} a0=0x242 a1=0666 res=3", f"write fd=3 path={path} off=0 size=100",
                      f"ftruncate fd=3 path={path} size=1 res=0", f"close fd=3 path={path}",
                      f"truncate path={path} size=0 res=0", f"chmod path={path} a0=0777 a1=0",
                      f"chown path={path} a0=1 a1=1 a2=0", f"utimens path={path} a0=5 a1=0 a2=5 a3=0",
                      f"setxattr path={path} path2=user.x size=3 res=0",
                      f"link path={path} path2={path}.hard", f"rename path={path} path2={path}.moved",
                      f"symlink path={path}.soft path2=x", f"unlink path={path}", f"rmdir path={path}",
                      f"mkdir path={path}", f"open path={path} a0=0x242 a1=0666 res=3"]
        return "\n".join(lines)

    def test_dots(self):
        self.script(self.attack("/../outside/secret", "/a/../../outside/secret", "/../../../.." + self.secret))
        self.run_replay(AFAP)
        self.assert_untouched()

    def test_links_of_the_files_table(self):
        self.script(f"file /up symlink target=../outside\nfile /abs symlink target={self.outside}\n" +
                    self.attack("/up/secret", "/abs/secret"))
        self.run_replay(AFAP)
        self.assert_untouched()

    def test_links_that_the_trace_makes(self):
        self.script(f"symlink path=/l path2={self.outside}\nsymlink path=/m path2=../outside/secret\n"
                    "mkdir path=/d\nsymlink path=/d/up path2=../../outside\n" +
                    self.attack("/l/secret", "/m", "/d/up/secret"))
        self.run_replay(AFAP)
        self.assert_untouched()

    def test_links_that_were_in_the_target(self):
        os.symlink(self.outside, self.path("/l"))
        os.symlink(self.secret, self.path("/m"))
        self.script(self.attack("/l/secret", "/m"))
        self.run_replay(AFAP)
        self.assert_untouched()

    def test_a_link_in_the_place_of_an_earlier_file(self):
        self.script("open path=/d/a res=3\npread fd=3 path=/d/a off=0 size=10")
        self.replay(AFAP)
        os.unlink(self.path("/d/a"))
        os.rmdir(self.path("/d"))
        os.symlink(self.outside, self.path("/d"))
        with open(os.path.join(self.outside, "a"), "w", encoding="ascii") as file:
            file.write("a")
        self.before = self.look()
        self.run_replay(AFAP)
        self.assert_untouched()

    def test_a_link_in_the_place_of_the_list(self):
        os.symlink(self.secret, self.path("/.whyio-replay"))
        self.script("mkdir path=/d")
        self.refused(AFAP)
        self.assert_untouched()

    def test_a_list_that_lies(self):
        with open(self.path("/.whyio-replay"), "wb") as file:
            file.write(b"whyio-replay 1\n" + b"\0".join([b"/../outside/secret", b"../outside", b"/", b"..",
                                                         b"/.whyio-replay", b"", b"/x" * 5000, b"/cut"]))
        self.script("mkdir path=/d")
        self.run_replay(AFAP)
        self.assert_untouched()

    def test_renames_while_names_are_looked_up(self):
        """Directories that change places while another thread walks through `..` of them."""
        lines = ["process 10", "process 20", "stream 0 10", "stream 1 20",
                 "mkdir stream=0 t=1 path=/a", "mkdir stream=0 t=2 path=/a/b", "mkdir stream=0 t=3 path=/c"]
        for i in range(500):
            t = 1000 + i * 100
            lines += [f"rename stream=0 t={t} path=/a/b path2=/c/b", f"rename stream=0 t={t + 50} path=/c/b path2=/a/b",
                      f"open stream=1 t={t} path=/a/b/../../../outside/secret a0=0x241 a1=0666 res=3"]
        self.script("\n".join(lines))
        self.run_replay(AFAP)
        self.assert_untouched()

    def test_directories_that_are_renamed_without_end(self):
        """Each rename moves all names below: some KiB would take minutes."""
        lines = ["mkdir path=/d"] + [f"open path=/d/f{i} a0=0x42 a1=0644 res=3" for i in range(6000)]
        for i in range(3000):
            lines += ["rename path=/d path2=/e", "rename path=/e path2=/d"]
        self.script("\n".join(lines))
        answer = self.run_replay(AFAP, "--dry-run")
        self.assertEqual(answer.returncode, 3, answer.stderr)
        self.assertRegex(answer.stderr, r"rename of '/[de]' at [0-9.]+ s by thread 100: expected fewer renames")

    def test_a_directory_under_two_names(self):
        """/k is a link to the root, and was taken for a directory before: prepare makes the link in /d, and puts an
        entry into /k/d, which is the same directory."""
        made = os.path.join(self.outside, "made")
        self.script(f"rmdir path=/k/d err=39\nreadlink path=/k path2=/ size=99 res=1\n"
                    f"stat path=/d a1=0040755\nreadlink path=/d/.whyio-entry path2={made} size=99 res={len(made)}")
        self.replay(AFAP)
        self.assertEqual(os.readlink(self.path("/d/.whyio-entry")), made)
        self.assert_untouched()


class Foreign(ReplayCase):
    """What somebody keeps in the target, reached by a name that the plan cannot know of."""

    def attack(self, *lines):
        os.mkdir(self.target)
        with open(self.path("/mine"), "w", encoding="ascii") as file:
            file.write("mine")
        self.script("\n".join(lines))
        self.run_replay(AFAP)
        with open(self.path("/mine"), encoding="ascii") as file:
            self.assertEqual(file.read(), "mine")

    def test_a_link_that_failed_in_the_trace(self):
        self.attack("symlink path=/l path2=/ err=5", "unlink path=/l/mine err=5")

    def test_a_rename_that_failed_in_the_trace(self):
        self.attack("mkdir path=/a", "mkdir path=/a/b", "symlink path=/a/b/l path2=..",
                    "rename path=/a/b path2=/c err=5", "unlink path=/c/l/mine err=5")

    def test_a_hard_link_that_failed_in_the_trace(self):
        self.attack("symlink path=/l path2=.", "mkdir path=/a", "rename path=/l path2=/a/l",
                    "link path=/a/l path2=/m err=5", "unlink path=/m/mine err=5")

    def test_a_link_that_the_table_knows_otherwise(self):
        self.attack("file /l symlink target=a", "symlink path=/l path2=/", "unlink path=/l/mine")


class Devices(ReplayCase):
    def test_no_device_no_fifo_no_set_user_id(self):
        self.script("mknod path=/sda a0=0060660 a1=0x800\nmknod path=/null a0=0020666 a1=0x103\n"
                    "mkfifo path=/f a0=0666\nmknod path=/g a0=0010666 a1=0\n"
                    "open path=/s a0=0x42 a1=06777 res=3\nfchmod fd=3 path=/s a0=06777\n"
                    "file /t regular mode=6755 size=5\nopen path=/t res=4")
        self.replay(AFAP)
        for name in self.tree():
            mode = os.lstat(self.path(name)).st_mode
            self.assertTrue(stat.S_ISREG(mode), name)
            self.assertEqual(mode & 0o6000, 0, name)

    def test_a_fifo_in_the_target_does_not_hang(self):
        os.mkdir(self.target)
        os.mkfifo(self.path("/f"))
        self.script("open path=/f res=3\nread fd=3 path=/f off=0 size=10")
        self.assertIn("/f", self.refused(AFAP))

    def test_a_fifo_behind_a_new_name_does_not_hang(self):
        self.script("mkfifo path=/f a0=0666\nrename path=/f path2=/g\nopen path=/g res=3\n"
                    "read fd=3 path=/g off=0 size=10")
        self.run_replay(AFAP)


class Nonsense(ReplayCase):
    def test_extreme_numbers(self):
        big = 9223372036854775807
        self.script(f"""
            open path=/a a0=0x42 res=2147483647
            open path=/a a0={big} a1={big} res=3
            open path=/a a0=-1 res=4
            pread fd=3 path=/a off={big} size={big} res={big}
            pread fd=3 path=/a off=-5 size=10
            read fd=2147483647 path=/a off=0 size=10
            readv fd=3 path=/a off=0 size=10 a1={big}
            preadv2 fd=3 path=/a off=0 size=10 a0={big} a1=-4
            lseek fd=3 path=/a off={big} a0=77 res=0
            ftruncate fd=3 path=/a size={big} res=0
            fallocate fd=3 path=/a off={big} size={big} a0={big} res=0
            posix_fadvise fd=3 path=/a off={big} size={big} a0={big} res=0
            mmap fd=3 path=/a off={big} size={big} a0=7 a1=0x132 res={big}
            munmap size={big} a2={big} res=0
            fcntl fd=3 path=/a a0={big} a1={big} res=0
            dup2 fd=3 path=/a a0={big} res={big}
            close_range a0=-5 a1={big} a2=0
            readlink path=/a size={big} res=1
            getxattr path=/a path2=user.x size={big} res=0
            uring_read fd=3 path=/a off={big} size={big} async
            aio_write fd=3 path=/a off=-7 size={big} async err=22
            copy_file_range fd=3 path=/a off={big} fd2=3 path2=/a off2=-1 size={big} res=0
            utimens path=/a a0={big} a1={big} a2=-1 a3=-1
            umask a0={big} res=0
            chown path=/a a0=-1 a1=-1 a2=0""")
        self.assertIn(self.run_replay(AFAP).returncode, (0, 1, 3))

    def test_circles_of_processes(self):
        self.script("""
            process 10 parent=1
            process 11 parent=0
            process 12 parent=2
            stream 0 10
            stream 1 11
            stream 2 12
            fork stream=0 t=1000 res=11
            fork stream=1 t=1000 res=10
            fork stream=2 t=1000 res=12
            wait stream=0 t=2000 dur=5000 res=11
            wait stream=1 t=2000 dur=5000 res=10
            wait stream=2 t=2000 dur=5000 res=12
            mkdir stream=0 t=3000 path=/a
            mkdir stream=1 t=3000 path=/b""")
        result = self.replay(AFAP)
        self.assertEqual(self.tree(), {"/a", "/b"})
        self.assertEqual(result["mismatch_count"], 0)

    def test_circles_of_threads(self):
        self.script("""
            process 10
            stream 0 10
            stream 0 11 token=1
            stream 0 12 token=2
            pthread_create stream=1 t=1000 a0=2
            pthread_create stream=2 t=1000 a0=1
            pthread_join stream=1 t=2000 dur=9000 a0=2
            pthread_join stream=2 t=2000 dur=9000 a0=1
            mkdir stream=1 t=3000 path=/a
            mkdir stream=2 t=3000 path=/b
            close stream=0 t=50 fd=3 path=/x""")
        self.replay(AFAP)
        self.assertEqual(self.tree(), {"/a", "/b"})

    def test_waits_that_nobody_ends(self):
        """A child that is waited for before it is made."""
        self.script("""
            process 10
            process 11 parent=0 start=50
            stream 0 10
            stream 1 11
            wait stream=0 t=1000 dur=100 res=11
            fork stream=0 t=2000 res=11
            mkdir stream=1 t=100 path=/b
            mkdir stream=0 t=3000 path=/a""")
        self.replay(AFAP)
        self.assertEqual(self.tree(), {"/a", "/b"})

    def test_descriptors_of_threads_that_never_start(self):
        """The thread that opens is made by the one that waits for the descriptor, again and again."""
        lines = ["process 10", "stream 0 10", "stream 0 11 token=7", "stream 0 12 token=8"]
        for i in range(100):
            t = 1000 + i * 100
            lines += [f"open stream=1 t={t} path=/a a0=0x42 a1=0644 res=3",
                      f"write stream=2 t={t + 20} fd=3 path=/a size=10 off=0",
                      f"close stream=1 t={t + 40} fd=3 path=/a"]
        self.script("\n".join(lines + ["pthread_create stream=2 t=50000 a0=7"]))
        self.replay(AFAP, status=1)
        self.assertEqual(self.tree(), {"/a"})

    def test_anything(self):
        """Random operations on a few names and descriptors."""
        seed = random.Random(4)
        names = ["/a", "/b", "/a/c", "/b/../a", "/l", "/l/x", "/..", "/", "/a/b/c/d", "pipe:[1]", "/dev/null"]
        two = ["rename", "link", "symlink"]
        one = ["open", "mkdir", "rmdir", "unlink", "stat", "lstat", "access", "truncate", "opendir", "chdir", "creat",
               "readlink", "scandir", "chmod", "utimens"]
        by_fd = ["read", "write", "pread", "pwrite", "close", "fsync", "fstat", "readdir", "lseek", "dup", "ftruncate",
                 "uring_read", "uring_write", "aio_write", "getdents", "mmap"]
        for round_number in range(8):
            lines = ["process 10", "process 11 parent=0 start=500", "stream 0 10", "stream 1 11", "stream 0 12 token=3",
                     "fork stream=0 t=100 res=11", "pthread_create stream=0 t=200 a0=3"]
            for i in range(400):
                op = seed.choice(two + one + by_fd * 2)
                line = f"{op} stream={seed.randrange(3)} t={1000 + i * 10} dur={seed.randrange(50)}"
                line += f" path={seed.choice(names)}"
                if op in two:
                    line += f" path2={seed.choice(names)}"
                if op in by_fd:
                    line += f" fd={seed.randrange(6)} off={seed.randrange(5000)} size={seed.randrange(5000)}"
                else:
                    line += f" a0={seed.choice([0, 2, 0x42, 0x241, 0xc1, 0x410000, 0o755])} a1=0644"
                line += f" res={seed.randrange(6)}" if seed.random() < 0.7 else f" err={seed.choice([2, 9, 13, 17, 20, 22])}"
                lines.append(line)
            trace = self.script("\n".join(lines), name=f"random{round_number}")
            target = self.target + str(round_number)
            answer = self.run_replay(AFAP, trace=trace, target=target)
            self.assertIn(answer.returncode, (0, 1), answer.stderr)
            os.chmod(target, 0o755)  # it stands for "/", which the trace may close for its user
            again = self.run_replay(AFAP, trace=trace, target=target)
            self.assertIn(again.returncode, (0, 1), again.stderr)


if __name__ == "__main__":
    main()
