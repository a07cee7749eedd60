#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What cannot be recorded: a clear error, and nothing is left behind."""

import os
import shutil
import struct
import sys

from record_case import RecordCase, main

STATIC = os.path.abspath(sys.argv.pop(1))
OWN_CALLS = os.path.abspath(sys.argv.pop(1))
PT_INTERP, PT_PHDR = 3, 6


class Refused(RecordCase):
    def assert_error(self, answer, status, *parts):
        self.assertEqual(answer.returncode, status, answer.stderr)
        self.assertEqual(answer.stdout, "")
        for part in parts:
            self.assertIn(part, answer.stderr)
        self.assertFalse(os.path.exists("t"))

    def assert_refused(self, answer, *parts):
        self.assert_error(answer, 3, *parts)
        self.assertEqual(answer.stderr.count("\n"), 1, answer.stderr)

    def test_static_program(self):
        answer = self.record(STATIC)
        self.assert_refused(answer, STATIC, "statically linked", "strace")

    def test_script_of_a_static_interpreter(self):
        make_program("script", f"#!{STATIC}\n")
        self.assert_refused(self.record("./script"), STATIC, "statically linked", "./script")

    def test_command_is_not_found(self):
        self.assert_refused(self.record("no-such-command"), "no-such-command", "not found")
        self.assert_refused(self.record("./no-such-command"), "No such file")

    def test_command_is_not_executable(self):
        with open("data", "w", encoding="ascii") as out:
            out.write("x")
        self.assert_refused(self.record("./data"), "not executable")
        self.assert_refused(self.record("/tmp"), "directory")

    def test_broken_program(self):
        with open("/bin/true", "rb") as source:
            program = bytearray(source.read())
        make_program("cut", bytes(program[:60]))
        self.assert_refused(self.record("./cut"), "./cut", "at byte 60")
        program[16] = 1  # e_type: an object file
        make_program("object", bytes(program))
        self.assert_refused(self.record("./object"), "./object", "executable")

    def test_exec_fails(self):
        """Everything looks well from outside, but the kernel says no."""
        shutil.copy("/bin/true", "busy")
        with open("busy", "r+b"):
            for options in (("-q",), ("-q", "--anonymize")):
                answer = self.record("./busy", options=options)
                self.assert_refused(answer, "./busy", "Text file busy")

    def test_capture_library_is_missing(self):
        environment = dict(os.environ, WHYIO_CAPTURE_LIB="/no/such/lib.so")
        self.assert_refused(self.record("true", env=environment), "/no/such/lib.so")

    def test_usage(self):
        self.assert_error(self.whyio("record"), 2, "command")
        self.assert_error(self.whyio("record", "-o", "t"), 2, "command")
        self.assert_error(self.whyio("record", "--no-such-option", "true"), 2, "--no-such-option")
        self.assert_error(self.whyio("record", "--format=yaml", "-o", "t", "true"), 2, "yaml")
        self.assert_error(self.whyio("record", "--causal=guess", "-o", "t", "true"), 2, "guess")

    def test_throttling_needs_the_whole_program(self):
        answer = self.whyio("record", "--runs=2", "-o", "t", "true")
        self.assert_error(answer, 2, "--causal=throttle")
        ranks = dict(os.environ, PMIX_NAMESPACE="job", OMPI_COMM_WORLD_SIZE="4",
                     OMPI_MCA_orte_hnp_uri="12345.0;tcp://127.0.0.1:1")
        answer = self.record("true", options=("--causal=throttle",), env=ranks)
        self.assert_error(answer, 2, "several times")
        self.assertFalse(os.path.exists("t"))

    def test_static_program_within_is_counted(self):
        answer = self.record("sh", "-c", f"{STATIC}; exit 0", options=())
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertEqual(answer.stdout, "static\n")
        self.assertRegex(answer.stderr, r"not seen \(1\): a static program")

    def test_program_that_calls_the_kernel_itself_is_counted(self):
        answer = self.record(OWN_CALLS, options=())
        self.assertEqual((answer.returncode, answer.stdout), (0, "own calls\n"), answer.stderr)
        self.assertRegex(answer.stderr, r"not seen \(1\): a program of Go")
        self.assertEqual(self.info()["unseen"], {"own_calls": 1})

    def test_program_that_does_not_say_where_its_headers_lie(self):
        """The loader copes where it maps the program itself."""
        with open(OWN_CALLS, "rb") as source:
            program = bytearray(source.read())
        loader = None
        for at, kind in segments(program):
            if kind == PT_INTERP:
                offset, _, _, size = struct.unpack_from("<4Q", program, at + 8)
                loader = program[offset:offset + size].rstrip(b"\0").decode()
            elif kind == PT_PHDR:
                struct.pack_into("<I", program, at, 0)
        make_program("bare", bytes(program))
        answer = self.record(loader, "./bare")
        self.assertEqual((answer.returncode, answer.stdout), (0, "own calls\n"), answer.stderr)


class Frame(RecordCase):
    def test_mistyped_commands(self):
        for typed, meant in (("rcord", "record"), ("rec", "record"), ("evn", "env")):
            answer = self.whyio(typed)
            self.assertEqual(answer.returncode, 2)
            self.assertIn(f"did you mean '{meant}'", answer.stderr)
        self.assertNotIn("did you mean", self.whyio("quantum").stderr)

    def test_help_and_version(self):
        answer = self.whyio("--version")
        self.assertRegex(answer.stdout, r"^whyio \d+\.\d+\.\d+\n$")
        answer = self.whyio("--help")
        self.assertEqual((answer.returncode, answer.stderr), (0, ""))
        self.assertIn("  record ", answer.stdout)
        self.assertEqual(self.whyio().returncode, 2)

    def test_environment_variables(self):
        environment = dict(os.environ, WHYIO_PROGRESS="off")
        answer = self.whyio("env", "--format=json", env=environment)
        value = self.assert_described(answer.stdout)
        found = {variable["name"]: variable["value"] for variable in value["variables"]}
        self.assertEqual(found["WHYIO_PROGRESS"], "off")
        self.assertIsNone(found["WHYIO_JOB"])
        text = self.whyio("env", env=environment).stdout
        for name in found:
            self.assertIn(name + "\n", text)


def segments(program):
    """Place and type of each program header of a 64-bit ELF file."""
    (first,) = struct.unpack_from("<Q", program, 32)
    size, count = struct.unpack_from("<2H", program, 54)
    for at in range(first, first + size * count, size):
        yield at, struct.unpack_from("<I", program, at)[0]


def make_program(name, data):
    with open(name, "wb") as out:
        out.write(data if isinstance(data, bytes) else data.encode())
    os.chmod(name, 0o755)


if __name__ == "__main__":
    main()
