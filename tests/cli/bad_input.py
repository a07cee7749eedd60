#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every command that reads a trace, on damaged and impossible input.

Bytes are flipped and the file is cut at many places: a command either answers as for the whole
trace (it did not need that part) or ends with 3 and one message that names the file, the offset and
what was expected; `check` reads everything, so it finds every flip and every cut. No signal, no
second message, no time-out.
"""
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

PLACES = 120
COMMANDS = {
    "info": ["info", "--format=json", "{}"],
    "explain": ["explain", "--format=json", "{}"],
    "dump": ["dump", "{}"],
    "compare": ["compare", "--format=json", "{}", "whole"],
    "replay": ["replay", "--dry-run", "--format=json", "--root=target", "{}"],
    "edges": ["edges", "{}"],
    "jobstats": ["jobstats", "--format=json", "{}"],
    "check": ["check", "{}"],
}
READERS = ("info", "explain", "dump", "compare", "replay", "edges", "jobstats")
failures = []


def fail(text):
    failures.append(text)
    print("# " + text, file=sys.stderr)


def run(command, trace, **options):
    arguments = [part.format(trace) for part in COMMANDS[command]]
    return subprocess.run([os.environ["WHYIO"], *arguments], stdin=subprocess.DEVNULL,
                          capture_output=True, timeout=60, check=False, **options)


def check_message(what, result, needs):
    lines = result.stderr.decode("utf-8", "replace").splitlines()
    if len(lines) != 1 or not lines[0].startswith("whyio: "):
        fail(f"{what}: expected one message, got {lines}")
    elif not all(word in lines[0] for word in needs):
        fail(f"{what}: the message lacks one of {needs}: {lines[0]}")


def expect_refusal(what, trace, needs, commands=tuple(COMMANDS), **options):
    for command in commands:
        result = run(command, trace, **options)
        if result.returncode != 3:
            fail(f"{command} on {what}: exit status {result.returncode}, expected 3")
        else:
            check_message(f"{command} on {what}", result, needs)
        if result.stdout:
            fail(f"{command} on {what}: printed {result.stdout[:80]}")


def expect_fault(what, trace, whole):
    """A damaged segment: an error, or the answer of the whole one."""
    for command in READERS:
        result = run(command, trace)
        if result.returncode == 3:
            check_message(f"{command}, {what}", result, ["damaged/node1.seg", "byte ", "expected"])
        elif result.returncode != 0:
            fail(f"{command}, {what}: exit status {result.returncode}")
        elif result.stdout.replace(b'"damaged"', b'"whole"') != whole[command]:
            fail(f"{command}, {what}: another answer, and no error")
    result = run("check", trace)
    lines = result.stdout.decode("utf-8", "replace").splitlines()
    if result.returncode == 1:
        if len(lines) < 2 or not all("damaged/node1.seg" in line and "at byte " in line
                                     for line in lines[:-1]):
            fail(f"check, {what}: {lines}")
    elif result.returncode == 3:
        check_message(f"check, {what}", result, ["damaged"])
    else:
        fail(f"check, {what}: exit status {result.returncode}")


def damage(data, whole):
    """Flips and cuts at PLACES places each."""
    segment = pathlib.Path("damaged/node1.seg")
    segment.parent.mkdir()
    step = max(1, len(data) // PLACES)
    for place in range(0, len(data), step):
        changed = bytearray(data)
        changed[place] ^= 1 << place % 8
        segment.write_bytes(changed)
        expect_fault(f"byte {place} flipped", "damaged", whole)
    for place in range(0, len(data), step):
        segment.write_bytes(data[:place])
        expect_fault(f"cut at {place}", "damaged", whole)
    segment.write_bytes(data + b"x")
    expect_fault("one byte more", "damaged", whole)
    shutil.rmtree("damaged")


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82f63b78 if crc & 1 else 0)
    return crc ^ 0xffffffff


def other_version(data):
    header = data[:8] + struct.pack("<I", 2) + data[12:76]
    os.mkdir("later")
    pathlib.Path("later/node1.seg").write_bytes(header + struct.pack("<I", crc32c(header)) + data[80:])
    for command in READERS:
        result = run(command, "later")
        if result.returncode != 3:
            fail(f"{command} on version 2: exit status {result.returncode}")
        check_message(f"{command} on version 2", result, ["later/node1.seg", "version 1", "found 2"])
    result = run("check", "later")
    if result.returncode not in (1, 3) or b"version 1" not in result.stdout + result.stderr:
        fail(f"check on version 2: {result}")


def no_trace():
    os.mkdir("empty_dir")
    expect_refusal("an empty directory", "empty_dir", ["empty_dir"])
    pathlib.Path("file").write_text("hello")
    expect_refusal("a file", "file", ["file"])
    expect_refusal("nothing", "nowhere", ["nowhere", "No such file"])
    os.mkdir("notes")
    pathlib.Path("notes/readme.txt").write_text("no segment here")
    pathlib.Path("notes/half.seg.tmp").write_text("a segment that is being written")
    expect_refusal("a directory without segments", "notes", ["notes"])


def no_permission():
    """Root may read everything, so the commands run as somebody else then."""
    shutil.copytree("whole", "locked")
    os.chmod("locked/node1.seg", 0)
    shutil.copytree("whole", "closed")
    os.chmod("closed", 0)
    options = {"user": 65534, "group": 65534, "extra_groups": []} if os.geteuid() == 0 else {}
    probe = subprocess.run([os.environ["WHYIO"], "--version"], capture_output=True, check=False,
                           **options)
    if probe.returncode != 0:
        print("# cannot run as somebody else: not tried without permission", file=sys.stderr)
        return
    expect_refusal("a segment without permission", "locked", ["Permission denied"],
                   READERS, **options)
    expect_refusal("a directory without permission", "closed", ["Permission denied"], **options)
    os.chmod("closed", 0o700)


def run_with_output(arguments, redirection, program=None):
    return subprocess.run(["/bin/sh", "-c", f'exec "$0" "$@" {redirection}',
                           program or os.environ["WHYIO"], *arguments], stdin=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, timeout=60, check=False)


def lost_output():
    """Results that do not reach their file are a failure, also those of argp."""
    cases = {command: [part.format("whole") for part in COMMANDS[command]] for command in COMMANDS}
    data = os.path.join(os.environ["WHYIO_SOURCE"], "tests", "data", "predict")
    predict = ["predict", f"--host={data}/host.json"]
    cases.update({f"help of {command}": [command, "--help"] for command in
                  (*COMMANDS, "record", "merge", "calibrate", "predict", "env")})
    cases.update({"prediction": [*predict, "whole"], "prediction, JSON": [*predict, "--format=json", "whole"],
                  "predicted list": [*predict, "--per-op", f"--ops={data}/ops.jsonl"],
                  "faults": ["check", "later"], "help": ["--help"],
                  "version": ["--version"], "env": ["env"]})
    for what, arguments in cases.items():
        for redirection, cause in ((">/dev/full", "No space left"), (">&-", "Bad file descriptor"),
                                   ("1</dev/null", "Bad file descriptor")):
            result = run_with_output(arguments, redirection)
            if result.returncode != 4:
                fail(f"{what} {redirection}: exit status {result.returncode}")
            check_message(f"{what} {redirection}", result, [cause])


def no_output(program):
    """Who prints nothing does not mind; who reports nothing but an error says that."""
    for arguments, status in ((["record", "-o", "recorded", "--", "true"], 0), (["info", "nowhere"], 3)):
        result = run_with_output(arguments, ">&-", program)
        if result.returncode != status or b"output" in result.stderr:
            fail(f"{arguments} without an output: {result}")


def main():
    with tempfile.TemporaryDirectory(prefix="whyio-bad.") as directory:
        os.chdir(directory)
        os.chmod(directory, 0o755)
        program = os.path.join(directory, "whyio")  # where anybody may run it
        built = os.environ["WHYIO"]
        shutil.copy(built, program)
        os.environ["WHYIO"] = program
        os.mkdir("target")
        subprocess.run([os.environ["MAKE_TRACE"], "checkpoint", "whole"], check=True)
        whole = {command: run(command, "whole").stdout for command in COMMANDS}
        data = pathlib.Path("whole/node1.seg").read_bytes()
        damage(data, whole)
        other_version(data)
        no_trace()
        no_permission()
        lost_output()
        no_output(built)
        os.chdir("/")
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
