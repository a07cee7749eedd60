#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shellcheck over the shell scripts, codespell over everything that people read.

usage: words.py ROOT        skips (77) where neither program is installed
"""
import os
import shutil
import subprocess
import sys

# Words that are right here: names of system calls and functions, mistakes that a test makes.
NOT_MISSPELT = "creat,ro,fo,te,nd,inout,iput,wit,uint,statics,bu,sav,mis,claus,parms,ist,hist,ue,lod,raed,runn,improbe,nown"
READ_BY_PEOPLE = (".md", ".c", ".h", ".def", ".py", ".sh", ".scd", ".txt", ".build", "Makefile")


def files(root):
    for directory, below, names in os.walk(root):
        below[:] = sorted(name for name in below
                          if not name.startswith("build") and name not in (".git", "corpus", "data"))
        for name in sorted(names):
            yield os.path.join(directory, name)


def is_shell(path):
    if path.endswith(".sh"):
        return True
    with open(path, "rb") as file:
        return file.readline(40).strip() in (b"#!/bin/sh", b"#!/bin/bash", b"#!/usr/bin/env bash")


def run(command, paths, root):
    result = subprocess.run(command + paths, cwd=root, check=False, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)
    print(result.stdout, end="")
    return result.returncode != 0


def main():
    root = sys.argv[1]
    if not shutil.which("shellcheck") and not shutil.which("codespell"):
        print("neither shellcheck nor codespell here", file=sys.stderr)
        return 77
    every = list(files(root))
    cases = [path for path in every if path.endswith(".sh") and os.sep + "cli" + os.sep in path]
    shell = [path for path in every if is_shell(path) and path not in cases]
    prose = [path for path in every if path.endswith(READ_BY_PEOPLE)]
    failed = False
    if shutil.which("shellcheck"):
        failed |= run(["shellcheck"], shell, root)
        failed |= run(["shellcheck", "--shell=sh"], cases, root) if cases else False
    if shutil.which("codespell"):
        failed |= run(["codespell", "-L", NOT_MISSPELT], prose, root)
    print(f"{len(shell) + len(cases)} scripts, {len(prose)} texts")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
