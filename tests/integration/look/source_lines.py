#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""whyio dump names function, file and line of each call.

A small program and a shared library of it are compiled in several ways; each call that is traced
stands on a line marked /* OP:FUNCTION */, so the source itself says what must come out.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

MAIN = """
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
int library_write(int fd, const char *text, unsigned long size);
static inline __attribute__((always_inline)) long inlined_write(int fd, long offset)
{
    return pwrite(fd, "inline", 6, offset); /* pwrite:inlined_write */
}
__attribute__((noinline)) static int reader(int fd)
{
    char data[16];
    int count = (int)pread(fd, data, 16, 0); /* pread:reader */
    return count + 1;
}
int main(int argc, char **argv)
{
    int fd = open(argv[1], O_RDWR | O_CREAT, 0600); /* open:main */
    if (argc < 2 || fd < 0) {
        return 1;
    }
    long sum = inlined_write(fd, 100);
    sum += library_write(fd, "library", 7);
    sum += reader(fd);
    sum += fsync(fd); /* fsync:main */
    return close(fd) == 0 && sum > 0 ? 0 : 1; /* close:main */
}
"""
LIBRARY = """
#include <unistd.h>
__attribute__((noinline)) static long helper(int fd, const char *text, unsigned long size)
{
    long done = write(fd, text, size); /* write:helper */
    return done * 2;
}
int library_write(int fd, const char *text, unsigned long size)
{
    return (int)helper(fd, text, size) - 1;
}
"""
BUILDS = [
    ("gcc -O0", ["gcc", "-g", "-O0"], []),
    ("gcc -O2", ["gcc", "-g", "-O2"], []),
    ("gcc -O2 -no-pie", ["gcc", "-g", "-O2"], ["-no-pie"]),
    ("gcc -O2 DWARF 4", ["gcc", "-gdwarf-4", "-O2"], []),
    ("clang -O2", ["clang", "-g", "-O2"], []),
]


def expected(texts):
    """{operation: source} from the marks."""
    found = {}
    for name, text in texts.items():
        for number, line in enumerate(text.splitlines(), 1):
            mark = re.search(r"/\* (\w+):(\w+) \*/", line)
            if mark:
                found[mark[1]] = f"{mark[2]} ({name}:{number})"
    return found


def build(compiler, link):
    pathlib.Path("program.c").write_text(MAIN)
    pathlib.Path("library.c").write_text(LIBRARY)
    # -fPIE is what compilers do by themselves or not; say it, unless the link says otherwise
    pie = ["-fno-pie"] if "-no-pie" in link else ["-fPIE", "-pie"]
    subprocess.run([*compiler, "-fPIC", "-shared", "library.c", "-o", "library.so"], check=True)
    subprocess.run([*compiler, *pie, "program.c", *link, "./library.so", "-o", "program"], check=True)


def dump():
    shutil.rmtree("trace", ignore_errors=True)
    subprocess.run([os.environ["WHYIO"], "record", "-q", "-o", "trace", "--", "./program", "data"],
                   check=True)
    lines = subprocess.run([os.environ["WHYIO"], "dump", "--path", os.path.realpath("data"), "trace"],
                           check=True, capture_output=True, text=True).stdout.splitlines()
    items = [json.loads(line) for line in lines]
    return {item["op"]: item["source"] for item in items if "op" in item}


def check(title, got, want, failures):
    for operation, source in want.items():
        if got.get(operation) != source:
            failures.append(f"{title}: {operation}: expected {source}, got {got.get(operation)}")


def without_debug_information(failures):
    """Stripped: module and offset."""
    subprocess.run(["strip", "program", "library.so"], check=True)
    got = dump()
    for operation, module in (("open", "program"), ("write", "library.so")):
        if not re.fullmatch(module + r"\+0x[0-9a-f]+", got.get(operation) or ""):
            failures.append(f"stripped: {operation}: got {got.get(operation)}")


def main():
    failures = []
    with tempfile.TemporaryDirectory(prefix="whyio-source.") as directory:
        os.chdir(directory)
        want = expected({"program.c": MAIN, "library.c": LIBRARY})
        assert len(want) == 6
        for title, compiler, link in BUILDS:
            if shutil.which(compiler[0]) is None:
                print(f"no {compiler[0]}: {title} not tried", file=sys.stderr)
                continue
            build(compiler, link)
            check(title, dump(), want, failures)
        without_debug_information(failures)
        os.chdir("/")
    for failure in failures:
        print(failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
