#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each class of operation, from traces made by hand: the tree, the counts, what differs."""
import os
import stat
import sys

from replay_case import ReplayCase, main

AFAP = "--mode=afap"
RDWR_CREAT = "0x42"


class Files(ReplayCase):
    def test_reading_and_writing(self):
        self.script("""
            open path=/in/a res=3
            read fd=3 path=/in/a off=0 size=4096
            pread fd=3 path=/in/a off=10000 size=100
            readv fd=3 path=/in/a off=4096 size=1000 a1=3
            preadv fd=3 path=/in/a off=0 size=8192 a1=2
            read fd=3 path=/in/a off=5096 size=100000 res=5004
            close fd=3 path=/in/a
            open path=/out/b a0=0x241 a1=0640 res=3
            write fd=3 path=/out/b off=0 size=1000
            writev fd=3 path=/out/b off=1000 size=1000 a1=4
            pwrite fd=3 path=/out/b off=5000 size=10
            pwritev fd=3 path=/out/b off=6000 size=20 a1=2
            lseek fd=3 path=/out/b off=0 a0=2 res=6020
            fsync fd=3 path=/out/b
            fdatasync fd=3 path=/out/b
            close fd=3 path=/out/b""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(result["ops"], 16)
        self.assertEqual(result["bytes_read"], 4096 + 100 + 1000 + 8192 + 5004)
        self.assertEqual(result["bytes_written"], 2030)
        self.assertEqual(result["skipped"], {})
        self.assertEqual(self.tree(), {"/in", "/in/a", "/out", "/out/b"})
        self.assertEqual(os.path.getsize(self.path("/in/a")), 10100)
        self.assertEqual(os.path.getsize(self.path("/out/b")), 6020)

    def test_what_is_read_is_real_and_the_rest_sparse(self):
        self.script("""
            open path=/a res=3
            stat path=/a a1=0100644 a2=104857600
            pread fd=3 path=/a off=52428800 size=65536""")
        self.replay(AFAP)
        status = os.stat(self.path("/a"))
        self.assertEqual(status.st_size, 104857600)
        self.assertLess(status.st_blocks * 512, 1 << 20)
        with open(self.path("/a"), "rb") as file:
            self.assertEqual(file.read(4096), bytes(4096))
            file.seek(52428800)
            data = file.read(65536)
        self.assertEqual(len({data[i:i + 16] for i in range(0, len(data), 16)}), 4096, "nothing repeats")

    def test_a_mismatch_is_size_success_or_errno(self):
        self.script("""
            open path=/a a0=0x241 a1=0644 res=3
            write fd=3 path=/a off=0 size=10
            pread fd=3 path=/a off=0 size=100 res=50
            open path=/there res=4
            rmdir path=/there err=39
            stat path=/a a1=0100644 a2=11
            close fd=77 path=/x err=9
            mkdir path=/d a0=0755
            mkdir path=/d a0=0755""")
        result = self.replay(AFAP, status=1)
        ops = [(m["op"], m["seq"], m["expected"], m["got"]) for m in result["mismatches"]]
        self.assertEqual(result["mismatch_count"], len(ops))
        self.assertIn(("pread", 2, {"result": 50, "errno": 0}, {"result": -1, "errno": 9}), ops)
        self.assertIn(("mkdir", 8, {"result": 0, "errno": 0}, {"result": -1, "errno": 17}), ops)
        self.assertIn(("stat", 5, {"result": 11, "errno": 0}, {"result": 10, "errno": 0}), ops)

    def test_a_look_that_fails_on_one_side_has_no_size(self):
        self.script("""
            open path=/a a0=0x241 a1=0644 res=3
            stat path=/a err=2
            unlink path=/a res=0
            stat path=/a a1=0100644 a2=11""")
        said = self.run_replay(AFAP, "--format=text").stdout
        self.assertIn("stat: expected ENOENT, got success: /a", said)
        self.assertIn("stat: expected success, got ENOENT: /a", said)

    def test_an_empty_file_has_another_size_than_a_full_one(self):
        self.script("open path=/a a0=0x242 a1=0644 res=3\nfstat fd=3 path=/a a1=0100644 a2=5\n"
                    "ftruncate fd=3 path=/a size=5 res=0\nfstat fd=3 path=/a a1=0100644 a2=0")
        ops = [(m["op"], m["expected"]["result"], m["got"]["result"], m["race"])
               for m in self.replay(AFAP, status=1)["mismatches"]]
        self.assertEqual(ops, [("fstat", 5, 0, None), ("fstat", 0, 5, None)])

    def test_a_mismatch_names_who_changes_the_file_at_that_time(self):
        """The second process comes too late in mode timed: its look waits for nobody. The first one has
        time enough on a busy machine."""
        self.script("""
            process 10
            process 20
            stream 0 10
            stream 1 20
            open stream=0 t=1000000 path=/a a0=0x42 a1=0644 res=3
            fstat stream=1 t=801500000 fd=4 path=/a a1=0100644 a2=0
            pwrite stream=0 t=1500000 fd=3 path=/a off=0 size=100
            pwrite stream=0 t=1800000000 fd=3 path=/a off=100 size=100""")
        result = self.replay("--mode=timed", status=1)
        self.assertEqual([(m["pid"], m["op"], m["race"]) for m in result["mismatches"]],
                         [(20, "fstat", {"pid": 10, "tid": 10, "seq": 1, "op": "pwrite", "after_s": -0.8})])
        answer = self.run_replay("--mode=timed", "--format=text")
        self.assertRegex(answer.stdout, r"fstat: expected 0 B, got [12]00 B: /a, which tid 10 changed 800 ms "
                                        r"before in the trace \(pwrite, seq 1\)")

    def test_the_first_thousand_are_listed(self):
        self.script("open path=/a a0=0x42 res=3\n" +
                    "".join("pwrite fd=3 path=/a off=0 size=10 res=11\n" for _ in range(1500)))
        result = self.replay(AFAP, status=1)
        self.assertEqual(result["mismatch_count"], 1500)
        self.assertEqual(len(result["mismatches"]), 1000)

    def test_descriptors(self):
        self.script("""
            open path=/a a0=0x42 a1=0644 res=5
            dup2 fd=5 path=/a a0=9 res=9
            write fd=5 path=/a off=0 size=10
            write fd=9 path=/a off=10 size=10
            close fd=5 path=/a
            fcntl fd=9 path=/a a0=0 a1=20 res=20
            write fd=20 path=/a off=20 size=10
            open path=/b a0=0x42 a1=0644 res=5
            dup2 fd=20 path=/a a0=5 res=5
            write fd=5 path=/a off=30 size=10
            close_range a0=0 a1=100 a2=0
            write fd=5 path=/a off=0 size=10 err=9""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(os.path.getsize(self.path("/a")), 40)
        self.assertEqual(os.path.getsize(self.path("/b")), 0)

    def test_sizes_and_space(self):
        self.script("""
            open path=/a a0=0x42 a1=0644 res=3
            ftruncate fd=3 path=/a size=5000
            posix_fallocate fd=3 path=/a off=0 size=8192 res=0
            fallocate fd=3 path=/a off=8192 size=4096 a0=0 res=0
            truncate path=/a size=9000 res=0
            posix_fadvise fd=3 path=/a off=0 size=0 a0=4 res=0
            sync_file_range fd=3 path=/a off=0 size=4096 a0=2 res=0
            syncfs fd=3 path=/a
            sync""".replace("size=5000", "size=5000 res=0"))
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(result["ops"], 9)
        self.assertEqual(os.path.getsize(self.path("/a")), 9000)

    def test_holes_take_no_room(self):
        """To give back more than any target has is no reason to refuse it."""
        self.script(f"open path=/a a0=2 res=3\nfallocate fd=3 path=/a off=0 size={1 << 42} a0=3 res=0")
        self.assertEqual(self.replay(AFAP)["mismatches"], [])

    def test_copies(self):
        self.script("""
            open path=/a res=3
            open path=/b a0=0x42 a1=0644 res=4
            sendfile fd=4 path=/b off=0 fd2=3 path2=/a off2=100 size=5000
            copy_file_range fd=4 path=/b off=5000 fd2=3 path2=/a off2=0 size=3000
            ioctl fd=4 path=/b a0=0x5401 err=25
            splice fd=4 path=/b fd2=6 path2=pipe:[1] size=10""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(os.path.getsize(self.path("/b")), 8010)
        self.assertEqual(result["skipped"], {"recorded_error": 1})

    def test_copies_to_sockets_and_pipes(self):
        """What a web server does: its file is read, and only that is counted."""
        self.script(f"""
            open path=/a res=3
            sendfile fd=4 path=socket:[8] fd2=3 path2=/a off2=100 size={9 << 20}
            sendfile fd=4 path=socket:[8] fd2=3 path2=/a size=5000
            sendfile fd=4 path=socket:[8] fd2=3 path2=/a size=8000 res=2000
            sendfile fd=4 path=socket:[8] fd2=3 path2=/a size=8000 err=32
            sendfile fd=4 path=socket:[8] fd2=3 path2=/a size=0
            splice fd=5 path=pipe:[1] fd2=3 path2=/a off2=50 size=70
            splice fd=5 path=pipe:[1] fd2=4 path2=socket:[8] size=70
            tee fd=5 path=pipe:[1] fd2=6 path2=pipe:[2] size=70
            open path=/b a0=0x42 a1=0644 res=7
            splice fd=7 path=/b off=0 fd2=6 path2=pipe:[2] size=70000
            splice fd=7 path=/b off=70000 fd2=6 path2=pipe:[2] size=80000 res=500
            splice fd=7 path=/b off=90000 fd2=6 path2=pipe:[2] size=10
            write fd=7 path=/b off=70500 size=1""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(result["bytes_read"], (9 << 20) + 5000 + 2000 + 70)
        self.assertEqual(result["bytes_written"], 70000 + 500 + 10 + 1)
        self.assertEqual(os.path.getsize(self.path("/a")), (9 << 20) + 100)
        self.assertEqual(os.path.getsize(self.path("/b")), 90010)
        self.assertEqual(result["skipped"], {"pipe": 2, "socket": 1})
        dry = self.replay(AFAP, "--dry-run")
        self.assertEqual((dry["bytes_read"], dry["bytes_written"], dry["skipped"]),
                         (result["bytes_read"], result["bytes_written"], result["skipped"]))

    def test_what_failed_by_the_recorded_machine_is_not_done(self):
        """Here, as root, on one file system and with room, each of them would succeed."""
        lines = ["mkdir path=/d", "open path=/d/a a0=0x42 a1=0644 res=3", "write fd=3 path=/d/a off=0 size=100",
                 "open path=/d/b a0=0x42 a1=0644 res=4", "setxattr path=/d/a path2=user.x size=3 res=0"]
        failed = ["rename path=/d/a path2=/d/c", "link path=/d/a path2=/d/c", "unlink path=/d/a",
                  "copy_file_range fd=4 path=/d/b off=0 fd2=3 path2=/d/a off2=0 size=100",
                  "sendfile fd=4 path=/d/b off=0 fd2=3 path2=/d/a off2=0 size=100",
                  "ftruncate fd=3 path=/d/a size=1", "ftruncate fd=3 path=/d/a", "truncate path=/d/a",
                  "write fd=3 path=/d/a off=100 size=7", "pwrite fd=3 path=/d/a off=300 size=7",
                  "fallocate fd=3 path=/d/a off=0 size=9000", "chmod path=/d/a a0=0", "fchmod fd=3 path=/d/a a0=0",
                  "chown path=/d/a a0=1 a1=1 a2=0", "utimens path=/d/a a0=5 a1=0 a2=5 a3=0",
                  "removexattr path=/d/a path2=user.x", "mkdir path=/d/m a0=0777", "symlink path=/d/s path2=a",
                  "mknod path=/d/n a0=0100644", "open path=/d/o a0=0x242 a1=0644", "open path=/d/a a0=0x201 a1=0",
                  "aio_write fd=3 path=/d/a off=100 size=9 async", "uring_write fd=3 path=/d/a off=100 size=9 async",
                  "uring_unlink path=/d/a", "flock fd=3 path=/d/a a0=6"]
        errors = [18, 28, 122, 1, 13, 30, 5, 24, 23, 12, 22, 38, 95, 26, 14, 4, 11]
        for at, line in enumerate(failed * len(errors)):
            lines.append(f"{line} err={errors[(at + at // len(failed)) % len(errors)]}")
        lines += ["stat path=/d/a a1=0100644 a2=100", "stat path=/d/b a1=0100644 a2=0",
                  "getxattr path=/d/a path2=user.x size=10 res=3"]
        self.script("\n".join(lines))
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(result["skipped"], {"recorded_error": len(failed) * len(errors)})
        self.assertEqual(self.tree(), {"/d", "/d/a", "/d/b"})
        status = os.stat(self.path("/d/a"))
        self.assertEqual((stat.S_IMODE(status.st_mode), status.st_size, status.st_nlink), (0o644, 100, 1))
        self.assertEqual(self.replay(AFAP, "--dry-run")["skipped"], result["skipped"])

    def test_of_a_write_that_was_cut_short_no_more_is_done(self):
        """The recorded disk was full, or the file at its limit: here there is room."""
        self.script("""
            mkdir path=/d
            open path=/d/a a0=0x42 a1=0644 res=3
            write fd=3 path=/d/a off=0 size=4000 res=1000
            writev fd=3 path=/d/a off=1000 size=4000 a1=2 res=500
            pwrite fd=3 path=/d/a off=1500 size=4000 res=7
            pwritev fd=3 path=/d/a off=1507 size=4000 a1=3 res=1
            pwrite fd=3 path=/d/a off=1508 size=4000 res=0
            aio_write fd=3 path=/d/a off=1508 size=4000 res=2 async
            stat path=/d/a a1=0100644 a2=1510""")
        result = self.replay(AFAP)
        self.assertEqual((result["mismatch_count"], result["skipped"]), (0, {}), result["mismatches"])
        self.assertEqual((result["bytes_written"], os.stat(self.path("/d/a")).st_size), (1510, 1510))

    def test_what_failed_by_its_names_is_done(self):
        self.script("""
            mkdir path=/d
            open path=/d/a a0=0x42 a1=0644 res=3
            mkdir path=/d err=17
            mkdir path=/n/m err=2
            mkdir path=/d/a/m err=20
            unlink path=/d err=21
            rmdir path=/d err=39
            rmdir path=/d/a err=20
            open path=/d/a a0=0xc2 a1=0644 err=17
            open path=/n/o a0=0x42 a1=0644 err=2
            open path=/d a0=1 err=21
            rename path=/n path2=/d/r err=2
            symlink path=/d/l path2=l
            stat path=/d/l/x err=40
            unlink path=/d/l
            getxattr path=/d/a path2=user.x size=3 err=61
            write fd=9 size=3 err=9
            dup fd=9 err=9""")
        result = self.replay(AFAP)
        self.assertEqual((result["mismatch_count"], result["skipped"], result["ops"]), (0, {}, 18))

    def test_a_refused_call_does_not_say_that_the_name_is_there(self):
        """EACCES may be about a directory above, EPERM of a call that makes a file about the one that it would be in."""
        self.script("""
            mkdir path=/d
            open path=/d/a a0=0x42 a1=0644 err=13
            open path=/d/a err=2
            unlink path=/d/a err=2
            mkdir path=/e/b err=1
            rmdir path=/e/b err=2
            link path=/other/x path2=/d/l err=13
            link path=/other/x path2=/d/l err=2
            chmod path=/f/immutable err=1
            access path=/f/immutable""")
        result = self.replay(AFAP)
        self.assertEqual((result["mismatch_count"], result["skipped"]), (0, {"recorded_error": 4}),
                         result["mismatches"])

    def test_a_file_where_a_directory_was_needed(self):
        """Nothing else tells of it. A path that begins at the descriptor of a removed file cannot be had here."""
        self.script("""
            access path=/d/file/x/y err=20
            stat path=/d/slash err=20
            open path=/d/slash
            rmdir path=/d/other err=20
            open path=/d/gone a0=0x42 a1=0644 res=3
            unlink path=/d/gone
            access path=/d/gone err=20
            stat path=/d/gone/x err=20
            close fd=3 path=/d/gone""")
        result = self.replay(AFAP)
        self.assertEqual((result["mismatch_count"], result["skipped"]), (0, {"recorded_error": 2}),
                         result["mismatches"])
        self.assertTrue(os.path.isfile(self.path("/d/file")))

    def test_errors_of_renames_are_about_the_one_name_or_the_other(self):
        self.script("""
            open path=/w/a res=3
            rename path=/w/a path2=/w/d err=21
            rename path=/w/a path2=/w/x err=20
            rename path=/w/e path2=/w/d err=39
            rename path=/w/d path2=/w/d/f/x err=22
            rename path=/w/b path2=/w/none/b err=2
            rename path=/w/b path2=/w/c
            rmdir path=/w/a/x err=20
            rmdir path=/w/d err=39
            rename path=/w/a path2=/w/free""")
        result = self.replay(AFAP)
        self.assertEqual((result["mismatch_count"], result["skipped"]), (0, {"recorded_error": 1}),
                         result["mismatches"])
        self.assertTrue(os.path.isfile(self.path("/w/free")) and os.path.isdir(self.path("/w/d")))

    def test_a_slash_behind_a_name_that_is_not_kept(self):
        """link("a/", "x"), link("a", "x/"), symlink("t", "x/"), mknod("x/"), and what fails by its names."""
        self.script("""
            open path=/d/a a0=0x42 a1=0644 res=3
            link path=/d/a path2=/d/x err=20
            link path=/d/a path2=/d/x err=2
            symlink path=/d/x path2=t err=2
            symlink path=/d/x err=2
            mknod path=/d/x a0=0100644 err=2
            link path=/d/a path2=/none/x err=2
            link path=/d/none path2=/d/x err=2
            link path=/d/a path2=/d/x""")
        result = self.replay(AFAP)
        self.assertEqual((result["mismatch_count"], result["skipped"]), (0, {"recorded_error": 3}),
                         result["mismatches"])

    def test_a_file_without_a_name_is_not_its_directory(self):
        """O_TMPFILE: the path of the descriptor is the directory."""
        self.script("""
            open path=/t a0=0x410002 a1=0600 res=3
            fstat fd=3 path=/t a1=0100600 a2=0
            write fd=3 path=/t off=0 size=100
            fstat fd=3 path=/t a1=0100600 a2=100
            close fd=3 path=/t
            open path=/t/a/b a0=0x42 a1=0644 res=3
            fstat fd=3 path=/t/a/b a1=0100644 a2=0""")
        result = self.replay(AFAP)
        self.assertEqual((result["mismatch_count"], result["skipped"]), (0, {}), result["mismatches"])
        self.assertTrue(os.path.isdir(self.path("/t")))

    def test_descriptors_that_were_none(self):
        """A directory to begin at that is not open, and one of O_PATH, whose file could be reached by /proc."""
        self.script("""
            mkdir path=/d
            open path=/d a0=0x200000 res=3
            futimes fd=3 path=/d a0=5 a1=0 a2=5 a3=0 err=9
            fchmod fd=3 path=/d a0=0 err=9
            fsetxattr fd=3 path=/d path2=user.x size=1 err=9
            futimens fd=-5 err=9
            chmod path=/d a0=0 err=9
            stat path=/d/f/x err=20""")
        result = self.replay(AFAP)
        self.assertEqual((result["mismatch_count"], result["skipped"]), (0, {"recorded_error": 1}),
                         result["mismatches"])
        status = os.stat(self.path("/d"))
        self.assertNotEqual((status.st_mtime, stat.S_IMODE(status.st_mode)), (5, 0))

    def test_entries_that_are_no_files(self):
        """No directory of the target lists devices, FIFOs and sockets, by their place or by their type (d_type)."""
        self.script("""
            opendir path=/dev a0=0x90800 res=3
            readdir fd=3 path=/dev path2=. a0=4 res=1
            readdir fd=3 path=/dev path2=.. a0=4 res=1
            readdir fd=3 path=/dev path2=sda res=1
            readdir fd=3 path=/dev path2=shm a0=4 res=1
            readdir fd=3 path=/dev path2=null a0=2 res=1
            readdir fd=3 path=/dev
            opendir path=/d a0=0x90800 res=4
            readdir fd=4 path=/d path2=. a0=4 res=1
            readdir fd=4 path=/d path2=.. a0=4 res=1
            readdir fd=4 path=/d path2=fifo a0=1 res=1
            readdir fd=4 path=/d path2=socket a0=12 res=1
            readdir fd=4 path=/d path2=file a0=8 res=1
            readdir fd=4 path=/d""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(result["skipped"], {"device": 2, "pipe": 1, "socket": 1})

    def test_a_path_that_was_empty_is_empty(self):
        names = ["open a0=0x242 a1=0600", "creat a1=0600", "chmod a0=0", "chown a0=1 a1=1 a2=0", "truncate size=0",
                 "unlink", "rmdir", "mkdir", "stat", "lstat", "access", "readlink size=9", "statfs",
                 "utimens a0=5 a1=0 a2=5 a3=0", "setxattr path2=user.x size=1", "symlink path2=x", "opendir",
                 "rename path2=/d/x", "rename path=/d", "link path2=/d/x", "link path=/d/a"]
        self.script("mkdir path=/d\nopen path=/d/a a0=0x42 a1=0644 res=3\n" +
                    "\n".join(f"{name} err=2" for name in names))
        os.mkdir(self.target, 0o750)
        result = self.replay(AFAP)
        self.assertEqual((result["mismatch_count"], result["skipped"]), (0, {}), result["mismatches"])
        self.assertEqual(self.tree(), {"/d", "/d/a"})
        self.assertEqual(stat.S_IMODE(os.stat(self.target).st_mode), 0o750)

    def test_where_a_name_is_found_that_was_missing_nothing_is_changed(self):
        """Recordings from before empty paths were kept say the working directory."""
        self.script("\n".join(["mkdir path=/d", "open path=/d/a a0=0x42 a1=0644 res=3",
                               "write fd=3 path=/d/a off=0 size=100"] +
                              [f"{name} err=2" for name in
                               ("chmod path=/d a0=0", "unlink path=/d/a", "truncate path=/d/a size=0",
                                "open path=/d/a a0=0x201", "rename path=/d/a path2=/d/b", "link path=/d/a path2=/d/b",
                                "symlink path=/d/s path2=x", "mkdir path=/d/m", "mknod path=/d/n a0=0100644",
                                "utimens path=/d/a a0=5 a1=0 a2=5 a3=0")] + ["rmdir path=/d/e err=2"]))
        result = self.replay(AFAP, status=1)
        self.assertEqual((result["mismatch_count"], result["skipped"]), (7, {"recorded_error": 3}),
                         result["mismatches"])
        self.assertEqual(self.tree(), {"/d", "/d/a"})
        self.assertEqual(os.path.getsize(self.path("/d/a")), 100)
        self.assertNotEqual(os.stat(self.path("/d/a")).st_mtime, 5)

    def test_mappings(self):
        self.script("""
            open path=/a res=3
            stat path=/a a1=0100644 a2=65536
            mmap fd=3 path=/a off=0 size=65536 a0=1 a1=1 res=139637976727552
            close fd=3 path=/a
            msync path=/a size=65536 a2=139637976727552 a0=4 res=0
            munmap size=65536 a2=139637976727552 res=0
            munmap size=4096 a2=4096 res=0""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(result["skipped"], {"memory": 1})
        self.assertGreaterEqual(os.stat(self.path("/a")).st_blocks * 512, 65536, "what is mapped is real")

    def test_parts_of_a_mapping(self):
        at = 139637976727552
        self.script(f"""
            open path=/a a0=0x42 a1=0644 res=3
            ftruncate fd=3 path=/a size=65536
            mmap fd=3 path=/a off=0 size=65536 a0=3 a1=1 res={at}
            msync path=/a size=4096 a0=4 a2={at + 8192} a3={at} res=0
            munmap size=4096 a2={at + 4096} a3={at} res=0
            msync path=/a size=4096 a0=4 a2={at + 8192} a3={at} res=0
            munmap size=73728 a2={at - 8192} a3={at} res=0""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(result["skipped"], {})

    def test_many_mappings(self):
        """More than a process may have at once: those at one address follow each other."""
        self.script("open path=/a res=3\n" + "mmap fd=3 path=/a off=0 size=4096 a0=1 a1=1 res=4096\n" * 70000 +
                    "munmap size=4096 a2=4096 res=0\n" +
                    "mmap fd=3 path=/a off=0 size=4096 a0=1 a1=1 res=8192\nmunmap size=4096 a2=8192 res=0\n" * 1000)
        self.assertEqual(self.replay(AFAP)["mismatch_count"], 0)

    def test_asynchronous_requests(self):
        lines = ["open path=/a a0=0x42 a1=0644 res=3"]
        for i in range(64):  # all in flight, collected from 200000 on
            lines.append(f"uring_write t={2000 + i} dur={200000} fd=3 path=/a off={i * 4096} size=4096 async")
        lines.append("uring_fsync t=300000 dur=100 fd=3 path=/a async res=0")
        for i in range(64):
            lines.append(f"aio_read t={400000 + i} dur={100000 - i * 10} fd=3 path=/a off={i * 4096} size=4096 async")
        lines.append("aio_read t=600000 fd=3 path=/a off=0 size=10 async pending")
        lines.append("aio_read t=700000 fd=99 path= off=0 size=10 async err=9")
        self.script("\n".join(lines))
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(result["ops"] + result["skipped"].get("unknown_file", 0), 1 + 64 + 1 + 64 + 1 + 1)
        self.assertEqual(result["bytes_written"], 64 * 4096)
        self.assertEqual(os.path.getsize(self.path("/a")), 64 * 4096)

    def test_requests_about_names(self):
        """Their arguments are those of the ring (a0), the program's tag (a1), the flags (a2) and the opcode (a3)."""
        self.script("""
            uring_mkdir path=/d a0=3 a1=7 a3=37 off2=488 async
            uring_open path=/d/f a0=3 a1=7 a2=0x42 a3=18 off2=416 res=5 async
            pwrite fd=5 path=/d/f off=0 size=10
            uring_stat path=/d/f a0=3 a1=7 a3=21 async
            uring_stat path=/d/f/x a0=3 a1=7 a3=21 err=20 async
            uring_other path=/d/l path2=f a0=3 a1=7 a3=38 async
            uring_other path=/d/f path2=/h a0=3 a1=7 a3=39 async
            uring_other path=/d/f path2=/h a0=3 a1=7 a3=39 err=17 async
            uring_rename path=/h path2=/i a0=3 a1=7 a3=35 async
            uring_rename path=/i path2=/d a0=3 a1=7 a3=35 err=21 async
            uring_unlink path=/d a0=3 a1=7 a2=0x200 a3=36 err=39 async
            unlink path=/d/f
            uring_stat fd=5 path=/d/f a0=3 a1=7 a2=0x1000 a3=21 async
            uring_other fd=5 path=/d/f size=4 res=0 a0=3 a1=7 a3=55 async
            uring_other fd=5 path=/d/f a0=3 a1=7 a3=24 async
            uring_close fd=5 path=/d/f a0=3 a1=7 a3=19 async""")
        result = self.replay(AFAP)
        self.assertEqual((result["mismatch_count"], result["skipped"]), (0, {"request": 1}), result["mismatches"])
        self.assertEqual(self.tree(), {"/d", "/d/l", "/i"})
        self.assertEqual(os.readlink(self.path("/d/l")), "f")
        self.assertEqual(os.stat(self.path("/i")).st_size, 4)
        self.assertEqual([stat.S_IMODE(os.stat(self.path(p)).st_mode) for p in ("/d", "/i")], [0o750, 0o640])

    def test_stdio_is_what_it_caused(self):
        self.script("""
            fopen path=/a a0=0x241 a1=0666 res=3
            open path=/a a0=0x241 a1=0666 res=3 caused
            fwrite fd=3 path=/a off=0 size=10
            fwrite fd=3 path=/a off=10 size=5000
            write fd=3 path=/a off=0 size=4096 caused
            fclose fd=3 path=/a
            write fd=3 path=/a off=4096 size=914 caused
            close fd=3 path=/a caused""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual((result["ops"], result["stdio_calls"]), (4, 4))
        self.assertEqual(os.path.getsize(self.path("/a")), 5010)

    def test_stdio_without_what_it_caused(self):
        self.script("""
            fopen path=/a a0=0x241 a1=0666 res=3
            fclose fd=3 path=/a
            fopen path=/b err=2""")
        result = self.replay(AFAP)
        self.assertEqual((result["ops"], result["mismatch_count"]), (3, 0))

    def test_descriptors_from_before(self):
        """Standard output in a file that was there and is appended to, shared with somebody else."""
        self.script("""
            write fd=1 path=/log off=100 size=10
            write fd=1 path=/log off=150 size=10
            fstat fd=1 path=/log a1=0100644 a2=160""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(os.path.getsize(self.path("/log")), 160)

    def test_copies_of_descriptors_from_before(self):
        """What a shell does around `command 2>/dev/null`: the copy is where the original was."""
        self.script("""
            fcntl fd=2 path=/log a0=0 a1=10 res=11
            close fd=2 path=/log
            dup2 fd=11 path=/log a0=2 res=2
            close fd=11 path=/log
            lseek fd=2 path=/log off=0 a0=1 res=6
            write fd=2 path=/log off=6 size=2
            lseek fd=2 path=/log off=0 a0=1 res=8
            fstat fd=2 path=/log a1=0100644 a2=8""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatches"], [])
        self.assertEqual(os.path.getsize(self.path("/log")), 8)

    def test_a_program_from_before(self):
        """That it may be executed is all that is known of its mode."""
        self.script("""
            access path=/bin/tool a0=1
            open path=/bin/tool a0=0 res=3
            access path=/plain a0=4""")
        self.assertEqual(self.replay(AFAP)["mismatches"], [])
        self.assertEqual(stat.S_IMODE(os.stat(self.path("/bin/tool")).st_mode), 0o777)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("/plain")).st_mode), 0o666)

    def test_attributes_from_before(self):
        self.script("""
            getxattr path=/a path2=user.seen size=100 res=40
            getxattr path=/a path2=user.large size=10 err=34
            getxattr path=/a path2=user.none size=100 err=61
            setxattr path=/a path2=user.new size=5 a0=1 res=0
            getxattr path=/a path2=user.new size=100 res=5
            removexattr path=/a path2=user.old
            mkdir path=/fresh a0=0755
            setxattr path=/fresh path2=user.x size=3 a0=1 res=0
            open path=/d a0=0x10000 res=3
            fgetxattr fd=3 path=/d path2=user.seen size=0 res=7
            getxattr path=/d path2=security.capability size=100 res=20""")
        probe = os.path.join(self.dir, "probe")
        with open(probe, "wb"):
            pass
        try:
            os.setxattr(probe, "user.probe", b"x")
        except OSError:
            self.skipTest("no extended attributes here")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatches"], [])
        self.assertEqual(os.listxattr(self.path("/d")), ["user.seen"])


class Names(ReplayCase):
    def test_the_life_of_a_tree(self):
        self.script("""
            file /old directory mode=0750
            file /lib symlink target=usr/lib
            mkdir path=/d a0=0700
            open path=/d/f a0=0xc1 a1=0600 res=3
            close fd=3 path=/d/f
            link path=/d/f path2=/d/hard
            symlink path=/d/soft path2=f
            readlink path=/d/soft path2=f size=100 res=1
            stat path=/d/soft a1=0100600 a2=0
            lstat path=/d/soft a1=0120777 a2=1
            rename path=/d path2=/e
            stat path=/d err=2
            stat path=/e/f a1=0100600 a2=0
            unlink path=/e/hard
            chmod path=/e/f a0=0644 a1=0
            utimens path=/e/f a0=1000 a1=0 a2=2000 a3=0
            access path=/e/f a0=4
            mknod path=/e/n a0=0100644 a1=0
            rmdir path=/e err=39
            stat path=/old a1=0040750 a2=4096
            open path=/lib/so res=4
            statfs path=/e
            remove path=/e/n
            realpath path=/e/soft path2=/e/f
            mkfifo path=/e/fifo a0=0600""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(result["skipped"], {"pipe": 1})
        self.assertEqual(self.tree(), {"/e", "/e/f", "/e/soft", "/old", "/lib", "/usr", "/usr/lib", "/usr/lib/so"})
        self.assertEqual(os.readlink(self.path("/lib")), "usr/lib")
        self.assertEqual(stat.S_IMODE(os.stat(self.path("/old")).st_mode), 0o750)
        self.assertEqual(os.stat(self.path("/e/f")).st_mtime, 2000)

    def test_what_acts_on_a_link_leaves_its_target_alone(self):
        """Links to where nothing is, and a file whose times only the operations that follow change."""
        self.script("""
            file /gone symlink target=/far/gone
            file /link symlink target=there
            utimens path=/gone a0=1000 a1=0 a2=2000 a3=0 size=256 res=0
            lutimes path=/gone a0=1000 a1=0 a2=3000 a3=0
            access path=/gone a0=0 a1=256
            lchmod path=/gone a0=0600 err=95
            chmod path=/gone a0=0600 a1=256 err=95
            stat path=/gone err=2
            access path=/gone a0=0 a1=0 err=2
            utimens path=/link a0=1000 a1=0 a2=4000 a3=0 size=0 res=0
            utimens path=/link a0=1000 a1=0 a2=5000 a3=0 size=256 res=0""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(self.tree(), {"/gone", "/link", "/there"})
        self.assertEqual(os.lstat(self.path("/gone")).st_mtime, 3000)
        self.assertEqual(os.lstat(self.path("/link")).st_mtime, 5000)
        self.assertEqual(os.stat(self.path("/link")).st_mtime, 4000)

    def test_made_files(self):
        """Without a type mknod makes a regular file, which is written and removed."""
        self.script("""
            mknod path=/n a0=0600 a1=0
            open path=/n a0=0x1 res=3
            write fd=3 path=/n off=0 size=5
            close fd=3 path=/n
            stat path=/n a1=0100600 a2=5
            mknod path=/s a0=0140777 a1=0
            unlink path=/s
            mknod path=/f a0=0010600 a1=0
            unlink path=/f""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(result["skipped"], {"socket": 2, "pipe": 2})
        self.assertEqual(os.stat(self.path("/n")).st_size, 5)

    def test_socket_with_a_name(self):
        """R-CHAN-7: its file is no longer missed when it is removed."""
        program = ("import os, socket\n"
                   "with socket.socket(socket.AF_UNIX) as s:\n"
                   "    s.bind('name')\n"
                   "os.unlink('name')\n")
        self.record(sys.executable, "-c", program)
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])

    def test_directories(self):
        self.script("""
            opendir path=/d res=3
            readdir fd=3 path=/d path2=. a0=4 res=1
            readdir fd=3 path=/d path2=.. a0=4 res=1
            readdir fd=3 path=/d path2=x a0=8 res=1
            readdir fd=3 path=/d path2=y a0=4 res=1
            readdir fd=3 path=/d res=0
            rewinddir fd=3 path=/d
            closedir fd=3 path=/d
            opendir path=/nowhere err=2
            scandir path=/d res=2""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(self.tree(), {"/d", "/d/x", "/d/y"})

    def test_attributes(self):
        self.script("""
            open path=/a a0=0x42 a1=0644 res=3
            setxattr path=/a path2=user.key size=5 res=0
            getxattr path=/a path2=user.key size=100 res=5
            fgetxattr fd=3 path=/a path2=user.none size=100 err=61
            getxattr path=/a path2=security.capability size=100 err=61
            fchmod fd=3 path=/a a0=06755
            flock fd=3 path=/a a0=2
            fcntl fd=3 path=/a a0=6 a2=1 a3=0 off=0 size=0
            umask a0=022 res=0
            chdir path=/d""")
        result = self.run_replay(AFAP)
        if "Operation not supported" in result.stdout or '"errno": 95' in result.stdout:
            self.skipTest("no user attributes here")
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertEqual(stat.S_IMODE(os.stat(self.path("/a")).st_mode), 0o755, "no set-user-id")

    def test_what_is_not_replayed_is_counted(self):
        self.script("""
            read fd=0 path=/dev/pts/0 size=10
            read fd=4 path=pipe:[7] size=10
            write fd=5 path=socket:[8] size=10
            open path=/proc/self/maps res=6
            read fd=6 path=/proc/self/maps off=0 size=10
            close fd=6 path=/proc/self/maps
            open path=/sys/x err=2
            open path=/dev/sda res=7
            pipe a0=3 a1=4
            socket res=5
            eventfd res=8
            read fd=9 size=10
            open path=/dev/null a0=2 res=9
            write fd=9 path=/dev/null size=100000
            read fd=9 path=/dev/null size=10 res=0
            open path=/dev/zero res=10
            read fd=10 path=/dev/zero size=100000
            open path=/dev/urandom res=11
            read fd=11 path=/dev/urandom size=10""")
        result = self.replay(AFAP)
        self.assertEqual(result["skipped"], {"tty": 1, "pipe": 2, "socket": 2, "proc": 3, "sys": 1, "device": 1,
                                             "anonymous": 1, "unknown_file": 1})
        self.assertEqual((result["ops"], result["mismatch_count"]), (7, 0))
        self.assertEqual(result["bytes_read"], 100010)
        self.assertEqual(self.tree(), set())


    def test_a_file_first_and_a_fifo_later(self):
        """What was sealed, the fifo, says nothing of the file that had the name before."""
        self.script("""
            file /x fifo
            open path=/x a0=0x42 a1=0644 res=3
            pread fd=3 path=/x off=0 size=30
            write fd=3 path=/x off=0 size=100
            close fd=3 path=/x
            unlink path=/x
            mkfifo path=/x a0=0600
            open path=/x a0=0x2 res=4
            write fd=4 path=/x size=50
            close fd=4 path=/x""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual((result["bytes_read"], result["bytes_written"]), (30, 100))
        self.assertEqual(result["skipped"], {"pipe": 4})
        self.assertEqual(self.tree(), set())

    def test_a_fifo_first_and_a_file_later(self):
        self.script("""
            file /old fifo
            mkfifo path=/x a0=0600
            open path=/x a0=0x2 res=3
            unlink path=/x
            write fd=3 path=/x size=50
            close fd=3 path=/x
            open path=/x a0=0xc1 a1=0644 res=3
            write fd=3 path=/x off=0 size=100
            close fd=3 path=/x
            mkfifo path=/f a0=0600
            rename path=/x path2=/f
            stat path=/f a1=0100644 a2=100
            unlink path=/old
            mkdir path=/old a0=0755
            rmdir path=/old
            unlink path=/f""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(result["bytes_written"], 100)
        self.assertEqual(result["skipped"], {"pipe": 7})
        self.assertEqual(self.tree(), set())

    def test_a_directory_that_is_emptied_in_the_run_can_be_removed(self):
        self.script("""
            open path=/d/a res=3
            rmdir path=/d err=39
            unlink path=/d/a
            rmdir path=/d""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])


class Processes(ReplayCase):
    HEAD = """
        process 10
        process 11 parent=0 start=3000
        stream 0 10
        stream 1 11
        """

    def test_a_child_has_its_parents_descriptors(self):
        self.script(self.HEAD + """
            open stream=0 t=1000 path=/a a0=0x42 a1=0644 res=3
            open stream=0 t=1500 path=/b a0=0x80042 a1=0644 res=4
            write stream=0 t=1800 fd=3 path=/a off=0 size=10
            fork stream=0 t=2000 res=11
            write stream=1 t=4000 fd=3 path=/a off=10 size=10
            write stream=1 t=5000 fd=4 path=/b off=0 size=7
            exit stream=1 t=6000
            wait stream=0 t=3000 dur=9000 res=11
            write stream=0 t=13000 fd=3 path=/a off=20 size=10""")
        for mode in ("afap", "think", "timed"):
            result = self.replay("--mode=" + mode)
            self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
            self.assertEqual(os.path.getsize(self.path("/a")), 30, "one position, in order")
            self.assertEqual(os.path.getsize(self.path("/b")), 7)

    def test_a_child_of_a_process_that_has_done_much(self):
        """What is read ahead is in no child's memory."""
        many = "\n".join(f"access stream=0 t={t} path=/a err=2" for t in range(1, 2000))
        self.script(self.HEAD + many + """
            fork stream=0 t=2000 res=11
            access stream=1 t=4000 path=/a err=2""")
        self.assertEqual(self.replay("--mode=afap")["mismatch_count"], 0)

    def test_threads_that_have_ended_cost_nothing(self):
        """More of them, one after the other, than there may be stacks at one time."""
        count = 40000
        lines = ["process 10", "stream 0 10"] + [f"stream 0 {11 + i} token=7" for i in range(count)]
        lines += ["open stream=0 t=1 path=/a a0=0x42 a1=0644 res=3"]
        for i in range(count):
            t = 1000 + 100 * i
            lines += [f"pthread_create stream=0 t={t} dur=10 a0=7",
                      f"access stream={i + 1} t={t + 20} dur=10 path=/a a0=4",
                      f"pthread_join stream=0 t={t + 40} dur=10 a0=7"]
        self.script("\n".join(lines))
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(result["ops"], count + 1)

    def test_exec_closes_what_it_must(self):
        self.script("""
            process 10
            process 10 parent=0 start=5000
            stream 0 10
            stream 1 10
            open stream=0 t=1000 path=/a a0=0x42 a1=0644 res=3
            open stream=0 t=2000 path=/b a0=0x80042 a1=0644 res=4
            execve stream=0 t=3000 path=/bin/x
            write stream=1 t=6000 fd=3 path=/a off=0 size=10
            write stream=1 t=7000 fd=4 path=/b off=0 size=10 err=9""")
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])

    def test_threads_share_descriptors(self):
        """The second thread uses what the first one opens later than its own start."""
        self.script("""
            process 10
            stream 0 10
            stream 0 11 token=77
            pthread_create stream=0 t=1000 a0=77
            thread_start stream=1 t=1500 a0=77
            open stream=0 t=20000000 path=/a a0=0x42 a1=0644 res=3
            pwrite stream=1 t=30000000 fd=3 path=/a off=0 size=10
            pwrite stream=1 t=31000000 fd=3 path=/a off=10 size=10
            thread_exit stream=1 t=32000000 a0=77
            close stream=0 t=40000000 fd=3 path=/a
            pthread_join stream=0 t=40001000 dur=1000 a0=77
            open stream=0 t=50000000 path=/b a0=0x42 a1=0644 res=3
            pwrite stream=0 t=51000000 fd=3 path=/b off=0 size=5""")
        for _ in range(5):
            result = self.replay(AFAP)
            self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
            self.assertEqual(os.path.getsize(self.path("/a")), 20)
            self.assertEqual(os.path.getsize(self.path("/b")), 5)

    def test_a_number_that_two_threads_use(self):
        """Each thread's descriptor 3 is its own, one after the other in the trace."""
        lines = ["process 10", "stream 0 10", "stream 0 11 token=5", "pthread_create stream=0 t=10 a0=5"]
        t = 1000
        for i in range(200):
            stream = i % 2
            lines += [f"open stream={stream} t={t} path=/f{stream} a0={RDWR_CREAT} a1=0644 res=3",
                      f"write stream={stream} t={t + 300} fd=3 path=/f{stream} off=0 size={1 + stream}",
                      f"close stream={stream} t={t + 600} fd=3 path=/f{stream}"]
            t += 1000
        self.script("\n".join(lines))
        result = self.replay(AFAP)
        self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual([os.path.getsize(self.path(f"/f{i}")) for i in (0, 1)], [1, 2])

    def test_data_of_another_process_is_waited_for(self):
        self.script("""
            process 10
            process 20
            stream 0 10
            stream 1 20
            open stream=0 t=90000000 path=/a a0=0x42 a1=0644 res=3
            pwrite stream=0 t=91000000 fd=3 path=/a off=0 size=100
            open stream=1 t=95000000 path=/a res=3
            read stream=1 t=96000000 fd=3 path=/a off=0 size=100
            unlink stream=1 t=97000000 path=/a
            stat stream=0 t=98000000 path=/a err=2""")
        for mode in ("afap", "think"):
            result = self.replay("--mode=" + mode)
            self.assertEqual(result["mismatch_count"], 0, result["mismatches"])

    def test_ranks(self):
        self.script("""
            process 10 rank=0
            process 20 rank=1
            process 30
            stream 0 10
            stream 1 20
            stream 2 30
            open stream=0 t=1000 path=/a a0=0x42 res=3
            pwrite stream=0 t=2000 fd=3 path=/a off=0 size=10
            open stream=1 t=1000 path=/b a0=0x42 res=3
            mkdir stream=2 t=1000 path=/d""")
        result = self.replay(AFAP)
        ranks = {rank["rank"]: (rank["ops"], rank["bytes_written"]) for rank in result["per_rank"]}
        self.assertEqual(ranks, {None: (1, 0), 0: (2, 10), 1: (1, 0)})


class Again(ReplayCase):
    def test_earlier_files_are_reset_and_others_left_alone(self):
        self.script("""
            open path=/d/a res=3
            pread fd=3 path=/d/a off=0 size=100
            unlink path=/d/a
            mkdir path=/made a0=0755
            open path=/made/b a0=0xc1 a1=0400 res=4
            chmod path=/made a0=0500 a1=0""")
        os.mkdir(self.target)
        os.mkdir(self.path("/d"))
        with open(self.path("/d/mine"), "w", encoding="ascii") as file:
            file.write("mine")
        for _ in range(3):
            result = self.replay(AFAP)
            self.assertEqual(result["mismatch_count"], 0, result["mismatches"])
        self.assertEqual(self.tree(), {"/d", "/d/mine", "/made", "/made/b"})

    def test_what_a_person_reads(self):
        self.script("""
            open path=/d/a res=3
            pread t=9000000 fd=3 path=/d/a off=0 size=100
            fstat fd=3 path=/d/a a1=0100644 a2=200
            stat path=/d/a err=2
            write fd=9 path=pipe:[1] size=5""")
        for cache, place in ("drop", "asked to leave the page cache"), ("keep", "in the page cache"):
            text = self.run_replay("--mode=think", "--cache=" + cache, "--format=text").stdout
            self.assertIn("replayed  4 operations, 100 B read", text)
            self.assertIn("prepared  1 file, 1 directory, 0 links, 100 B of data, " + place + "\n", text)
            self.assertRegex(text, r"late      p50 [\d.]+ [mun]s, p99 [\d.]+ [mun]s, at most [\d.]+ [mun]s\n")
            self.assertIn("skipped   1 operation: pipes and fifos\n", text)
            self.assertIn("\n1 operation had another size, success or errno", text)

    def test_mismatches_are_grouped(self):
        lines = ["mkdir path=/d"] + ["mkdir path=/d/m err=17"] * 12 + ["stat path=/d/x a1=0100644 a2=5"] * 1001
        lines += ["open path=/d/a a0=0x42 a1=0644 res=3", "fstat fd=3 path=/d/a a1=0100644 a2=200"]
        self.script("\n".join(lines))
        answer = self.run_replay(AFAP, "--format=text")
        self.assertEqual(answer.returncode, 1)
        text = answer.stdout[answer.stdout.index("\n1,014 operations had another size, success or errno"):].splitlines()
        self.assertEqual(text[2:], [
            "  988 x stat: success there, ENOENT here; the first:",
            "      pid 100 tid 100 seq 13: stat: expected success, got ENOENT: /d/x",
            "  12 x mkdir: EEXIST there, success here; the first:",
            "      pid 100 tid 100 seq 1: mkdir: expected EEXIST, got success: /d/m",
            "  and 14 more (--format=json lists the first 1,000)"])
        result = self.replay(AFAP, status=1)
        self.assertEqual((result["mismatch_count"], len(result["mismatches"])), (1014, 1000))

    def test_dry_run_touches_nothing(self):
        self.script("open path=/d/a res=3\npread fd=3 path=/d/a off=0 size=100\nwrite fd=9 path=pipe:[1] size=5")
        result = self.replay("--dry-run")
        self.assertEqual((result["ops"], result["bytes_read"]), (2, 100))
        self.assertEqual(result["prepared"], {"files": 1, "directories": 1, "links": 0, "bytes": 100})
        self.assertEqual(result["skipped"], {"pipe": 1})
        self.assertTrue(result["dry_run"])
        self.assertIsNone(result["time_s"])
        self.assertFalse(os.path.exists(self.target))

    def test_an_empty_trace(self):
        self.script("")
        result = self.replay()
        self.assertEqual((result["ops"], result["mismatch_count"]), (0, 0))
        self.assertIsNone(result["time_s"])


if __name__ == "__main__":
    main()
