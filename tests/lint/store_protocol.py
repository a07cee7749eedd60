#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The table of operations in docs/STORE-PROTOCOL.md is that of src/store/wire/fields.def, with the numbers of
src/store/messages.h.

usage: store_protocol.py ROOT
"""
import os
import re
import sys

ORDER = ["file", "segment", "group", "whence", "mode", "offset", "size", "open_flags", "file_mode", "owner",
         "layout", "times", "stat", "participants", "path", "path2", "data"]


def read(root, *path):
    with open(os.path.join(root, *path), encoding="utf-8") as file:
        return file.read()


def fields(text):
    """"WIO_HAS_FILE | WIO_HAS_SIZE" in the order of the wire."""
    found = {name.lower() for name in re.findall(r"WIO_HAS_(\w+)", text)} - {"nothing"}
    return [name for name in ORDER if name in found] if found <= set(ORDER) else sorted(found)


def main():
    root = sys.argv[1]
    numbers = dict(re.findall(r"WIO_STORE_(\w+) = (\d+),?", read(root, "src/store/messages.h").split("enum wio_store_flag")[0]))
    code = {}
    for name, request, reply in re.findall(r"^X\((\w+),([^,]*),([^)]*)\)", read(root, "src/store/wire/fields.def"), re.M):
        code[name] = (numbers.get(name), fields(request), fields(reply))
    stated = {}
    for number, name, request, reply in re.findall(r"^\| (\d+) \| ([A-Z_]+) \|([^|]*)\|([^|]*)\|$",
                                                   read(root, "docs/STORE-PROTOCOL.md"), re.M):
        stated[name] = (number, request.split(), reply.split())
    faults = [f"{name}: the code has {code.get(name)}, docs/STORE-PROTOCOL.md has {stated.get(name)}"
              for name in sorted(set(code) | set(stated)) if code.get(name) != stated.get(name)]
    # All that a client or target may ask is in the table; WOUND and WINDOW are said unasked.
    faults += [f"{name}: no row in fields.def" for name in sorted(set(numbers) - set(code) - {"NONE", "WOUND", "WINDOW"})]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"{len(code)} operations")
    return 1 if faults or not code else 0


if __name__ == "__main__":
    sys.exit(main())
