#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each header compiles alone: public ones as C11 -pedantic and as C++17, the others as gnu17.

usage: headers.py ROOT BUILD

BUILD holds the headers that are made by the build. Without a C++ compiler that part is left out.
"""
import glob
import os
import shutil
import subprocess
import sys

WARNINGS = ["-Wall", "-Wextra", "-Werror", "-fsyntax-only"]


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
        yield ["gcc", "-std=gnu17", "-D_GNU_SOURCE"], header, "c"


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
