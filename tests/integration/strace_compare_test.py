#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of strace_compare.py and of the modules below it, on texts written by hand."""
import json
import os
import tempfile
import unittest

import strace_compare
import strace_model
import strace_parse


def operations(text, cwd="/w"):
    return strace_model.Model(cwd).run(list(strace_parse.calls(text.strip().splitlines())))


def event(op, path, seq=0, **fields):
    base = {"rank": None, "pid": 1, "tid": 1, "seq": seq, "t_ns": seq, "dur_ns": 1, "op": op,
            "path": path, "path2": None, "fd": None, "offset": None, "size": None, "result": 0,
            "errno": 0, "args": [0, 0, 0, 0]}
    return {**base, **fields}


class Parsing(unittest.TestCase):
    def one(self, text):
        return list(strace_parse.calls([text]))[0]

    def test_arguments_with_commas_brackets_and_quotes(self):
        call = self.one(r'7  openat(AT_FDCWD</w>, "a,\")b\76", O_RDONLY|O_CLOEXEC) = 3</w/x>')
        self.assertEqual(call.name, "openat")
        self.assertEqual(len(call.args), 3)
        self.assertEqual(strace_parse.quoted(call.args[1]), 'a,")b>')
        self.assertEqual((call.pid, call.result, call.path), (7, 3, "/w/x"))

    def test_failure(self):
        call = self.one('7  access("/w/x", F_OK) = -1 ENOENT (No such file or directory)')
        self.assertEqual((call.result, call.error), (-1, "ENOENT"))

    def test_structure_is_one_argument(self):
        call = self.one('7  newfstatat(3</w/a>, "", {st_mode=S_IFREG|0644, st_size=2, '
                        'st_dev=makedev(0xfe, 0)}, AT_EMPTY_PATH) = 0')
        self.assertEqual(call.args[3], "AT_EMPTY_PATH")

    def test_resumed_call_is_one_call(self):
        calls = list(strace_parse.calls([
            '1  read(3</w/a>,  <unfinished ...>',
            '2  close(4</w/b>) = 0',
            '1  <... read resumed>""..., 10) = 5']))
        self.assertEqual([(c.name, c.begin, c.end) for c in calls],
                         [("close", 1, 1), ("read", 0, 2)])
        self.assertEqual(calls[1].args[2], "10")

    def test_exit_and_signals_are_no_fault(self):
        self.assertEqual(list(strace_parse.calls(["1  +++ exited with 0 +++",
                                                  "1  --- SIGCHLD {si_signo=SIGCHLD} ---",
                                                  "nonsense"])), [])
        self.assertIsNone(self.one("1  exit_group(0) = ?").result)

    def test_name_that_is_not_ascii(self):
        self.assertEqual(strace_parse.unescape(r"\303\244"), "ä")

    def test_deleted_file(self):
        self.assertEqual(strace_parse.descriptor("3</w/a>(deleted)"), (3, "/w/a"))


class Modelling(unittest.TestCase):
    def test_position_moves(self):
        ops = operations('''
1  openat(AT_FDCWD</w>, "a", O_RDWR|O_CREAT, 0644) = 3</w/a>
1  write(3</w/a>, ""..., 10) = 10
1  write(3</w/a>, ""..., 10) = 4
1  lseek(3</w/a>, -2, SEEK_CUR) = 12
1  read(3</w/a>, ""..., 5) = 2
1  pwrite64(3</w/a>, ""..., 7, 100) = 7
1  read(3</w/a>, "", 5) = 0''')
        self.assertEqual([(o.op, o.offset, o.size, o.result) for o in ops[1:]],
                         [("write", 0, 10, 10), ("write", 10, 10, 4), ("lseek", -2, None, 12),
                          ("read", 12, 5, 2), ("pwrite", 100, 7, 7), ("read", 14, 5, 0)])

    def test_dup_and_fork_share_the_position(self):
        ops = operations('''
1  openat(AT_FDCWD</w>, "a", O_RDWR) = 3</w/a>
1  dup2(3</w/a>, 9) = 9</w/a>
1  clone(child_stack=NULL, flags=SIGCHLD <unfinished ...>
2  write(9</w/a>, ""..., 10) = 10
1  <... clone resumed>) = 2
1  write(3</w/a>, ""..., 5) = 5''')
        self.assertEqual([o.offset for o in ops if o.op == "write"], [0, 10])

    def test_open_twice_does_not_share(self):
        ops = operations('''
1  openat(AT_FDCWD</w>, "a", O_RDWR) = 3</w/a>
1  openat(AT_FDCWD</w>, "a", O_RDWR) = 4</w/a>
1  write(3</w/a>, ""..., 10) = 10
1  write(4</w/a>, ""..., 5) = 5''')
        self.assertEqual([o.offset for o in ops if o.op == "write"], [0, 0])

    def test_appending_has_no_known_offset(self):
        ops = operations('''
1  openat(AT_FDCWD</w>, "a", O_WRONLY|O_APPEND) = 3</w/a>
1  write(3</w/a>, ""..., 10) = 10''')
        self.assertIsNone(ops[1].offset)

    def test_relative_paths_follow_chdir_of_each_process(self):
        ops = operations('''
1  clone(child_stack=NULL, flags=SIGCHLD) = 2
1  chdir("d") = 0
1  mkdir("x", 0777) = 0
2  mkdir("x", 0777) = 0
1  unlink("../y") = 0''')
        self.assertEqual([o.path for o in ops], ["/w/d", "/w/d/x", "/w/x", "/w/y"])

    def test_threads_share_descriptors(self):
        ops = operations('''
1  clone3({flags=CLONE_VM|CLONE_FS|CLONE_FILES|CLONE_THREAD, exit_signal=0} => {}, 88) = 2
2  openat(AT_FDCWD</w>, "a", O_RDONLY) = 3</w/a>
1  read(3</w/a>, ""..., 4) = 4''')
        self.assertEqual(ops[1].offset, 0)

    def test_name_that_the_program_used_wins_over_the_resolved_one(self):
        ops = operations('''
1  openat(AT_FDCWD</w>, "link/a", O_RDONLY) = 3</real/a>
1  close(3</real/a>) = 0''')
        self.assertEqual([o.path for o in ops], ["/w/link/a", "/w/link/a"])

    def test_io_submit(self):
        ops = operations('''
1  io_submit(0x7f, 2, [{aio_data=0x1, aio_lio_opcode=IOCB_CMD_PWRITE, aio_fildes=5</w/f>, \
aio_buf=0x1, aio_nbytes=4096, aio_offset=8192}, {aio_data=0x2, aio_lio_opcode=IOCB_CMD_PREAD, \
aio_fildes=5</w/f>, aio_buf=0x1, aio_nbytes=512, aio_offset=0}]) = 1''')
        self.assertEqual([(o.op, o.path, o.offset, o.size) for o in ops],
                         [("pwrite", "/w/f", 8192, 4096)])

    def test_vectors_are_summed(self):
        ops = operations('1  writev(3</w/f>, [{iov_base=""..., iov_len=3}, '
                         '{iov_base=""..., iov_len=4}], 2) = 7')
        self.assertEqual((ops[0].size, ops[0].result), (7, 7))

    def test_exec_closes(self):
        model = strace_model.Model("/w")
        model.run(list(strace_parse.calls('''
1  openat(AT_FDCWD</w>, "a", O_RDONLY|O_CLOEXEC) = 3</w/a>
1  openat(AT_FDCWD</w>, "b", O_RDONLY) = 4</w/b>
1  execve("/bin/x", [""...], [""...]) = 0'''.strip().splitlines())))
        self.assertEqual(sorted(model.process(1).fds), [4])


class Comparing(unittest.TestCase):
    STRACE = '''
1  openat(AT_FDCWD</w>, "a", O_WRONLY|O_CREAT, 0644) = 3</w/a>
1  write(3</w/a>, ""..., 10) = 10
1  close(3</w/a>) = 0
1  openat(AT_FDCWD</w>, "/etc/passwd", O_RDONLY) = 3</etc/passwd>'''

    def events(self):
        return [event("open", "/w/a", 0, result=3),
                event("write", "/w/a", 1, offset=0, size=10, result=10),
                event("close", "/w/a", 2)]

    def differences(self, events, strace=STRACE, **options):
        return strace_compare.Comparison("/w", **options).run(operations(strace), events)

    def test_equal(self):
        self.assertEqual(self.differences(self.events(), ordered=True), [])

    def test_every_field_counts(self):
        for field, value in (("offset", 1), ("offset", None), ("size", 11), ("result", 9),
                             ("errno", 5), ("path", "/w/b"), ("op", "pwrite")):
            events = self.events()
            events[1][field] = value
            self.assertEqual(len(self.differences(events)), 2, field)

    def test_missing_and_surplus(self):
        events = self.events()
        self.assertEqual(self.differences(events[:2]), ["only strace: close /w/a"])
        self.assertEqual(self.differences(events + [event("fsync", "/w/a", 3)]),
                         ["only whyio:  fsync /w/a result 0"])

    def test_order(self):
        events = self.events()
        events[1], events[2] = events[2], events[1]
        self.assertEqual(self.differences(events), [])
        self.assertEqual(len(self.differences(events, ordered=True)), 1)

    def test_other_directories_do_not_matter(self):
        self.assertEqual(self.differences(self.events() + [event("open", "/wx/a", 3)]), [])

    def test_unknown_offset_of_strace_matches(self):
        strace = self.STRACE.replace("O_CREAT", "O_CREAT|O_APPEND")
        events = self.events()
        events[1]["offset"] = 77
        self.assertEqual(self.differences(events, strace), [])

    def test_what_libc_does_inside_is_allowed_as_often_as_explained(self):
        fstat = '\n1  newfstatat(3</w/a>, "", {st_size=1}, AT_EMPTY_PATH) = 0'
        strace = self.STRACE.replace("\n1  write", fstat + "\n1  write")
        self.assertEqual(self.differences(self.events(), strace), ["only strace: fstat /w/a"])
        events = self.events() + [event("fdopendir", "/w/a", 3)]
        self.assertEqual(self.differences(events, strace), [])
        twice = strace.replace(fstat, fstat * 2)
        self.assertEqual(self.differences(events, twice), ["only strace: fstat /w/a"])

    def test_change_of_mode_through_proc(self):
        strace = """
1  openat(AT_FDCWD</w>, "a", O_RDONLY|O_NOFOLLOW|O_CLOEXEC|O_PATH) = 3</w/a>
1  newfstatat(3</w/a>, "", {st_size=1}, AT_EMPTY_PATH) = 0
1  chmod("/proc/self/fd/3", 0755) = 0
1  close(3</w/a>) = 0"""
        events = [event("chmod", "/w/a", args=[0o755, 0x100, 0, 0])]
        self.assertEqual(self.differences(events, strace), [])
        events = [event("lchmod", "/w/a", args=[0o755, 0, 0, 0])]
        self.assertEqual(self.differences(events, strace), [])
        self.assertEqual(len(self.differences([event("chmod", "/w/a", args=[0o755, 0, 0, 0])],
                                              strace)), 3)

    def test_dump_file_with_summary(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "dump")
            with open(path, "w", encoding="utf-8") as file:
                file.write(json.dumps(self.events()[0]) + '\n{"schema": "whyio.dump/1"}\n')
            self.assertEqual(len(strace_compare.read_events(path)), 1)


if __name__ == "__main__":
    unittest.main()
