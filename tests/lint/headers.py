#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each header compiles alone: public ones as C11 -pedantic and as C++17, the others as gnu17.

usage: headers.py ROOT BUILD

BUILD holds the headers that are made by the build. Without a C++ compiler that part is left out, and
so is a header that wants an optional library which is not installed.
"""
import glob
import os
import shutil
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
# What pkg-config calls the optional library that a header includes.
LIBRARIES = {"src/store/mount/mount_internal.h": "fuse3", "src/store/mount/control.h": "fuse3"}


def library_flags(name):
    """Where the headers of a library are; None where it is not installed."""
    result = subprocess.run(["pkg-config", "--cflags", name], text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return result.stdout.split() if result.returncode == 0 else None


def compile_alone(command, root, header, language):
    """The compiler's complaint, '' where there is none."""
    result = subprocess.run(
        command + WARNINGS + ["-I", os.path.join(root, "include"), "-I", os.path.join(root, "src"),
                              "-I", os.path.join(sys.argv[2], "src"), "-x", language, "-"],
        input=f'#include "{header}"\n', text=True, check=False,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.stdout if result.returncode != 0 else ""


def checks(root):
    has_cxx = shutil.which("g++") is not None
    for header in sorted(glob.glob(os.path.join(root, "include/whyio/*.h"))):
        yield ["gcc", "-std=c11", "-pedantic"], header, "c"
        if has_cxx:
            yield ["g++", "-std=c++17", "-pedantic"], header, "c++"
    for header in sorted(glob.glob(os.path.join(root, "src/**/*.h"), recursive=True)):
        library = LIBRARIES.get(os.path.relpath(header, root))
        flags = library_flags(library) if library else []
        if flags is None:
            print(f"{os.path.relpath(header, root)} is left out: {library} is not installed")
        else:
            yield ["gcc", "-std=gnu17", "-D_GNU_SOURCE", *flags], header, "c"


def main():
    root = sys.argv[1]
    failed = count = 0
    for command, header, language in checks(root):
        complaint = compile_alone(command, root, header, language)
        count += 1
        if complaint:
            failed += 1
            print(f"{os.path.relpath(header, root)} ({' '.join(command)}):\n{complaint}",
                  file=sys.stderr)
    print(f"{count} compilations, {failed} failed")
    return 1 if failed or not count else 0


if __name__ == "__main__":
    sys.exit(main())
