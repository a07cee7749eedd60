#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that is recorded gets the C library's own libraries with the capture library, and no other.

usage: needed.py LIBRARY
"""
import re
import subprocess
import sys

OWN = re.compile(r"lib(c|m|dl|pthread|rt)\.so\.\d+|ld-linux.*|lib[alut]+san\.so\.\d+|libclang_rt\..*")


def main(library):
    try:
        text = subprocess.run(["readelf", "-d", library], check=True, stdout=subprocess.PIPE, text=True).stdout
    except FileNotFoundError:
        print("no readelf here", file=sys.stderr)
        return 77
    needed = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
    others = [name for name in needed if not OWN.fullmatch(name)]
    for name in others:
        print(f"{library} needs {name}: a recorded program would load it, too", file=sys.stderr)
    return 1 if others or not needed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
