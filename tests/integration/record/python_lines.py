# SPDX-License-Identifier: Apache-2.0
"""Recorded by python_lines_test.py, which looks for the lines of its calls: each writes another number of bytes."""
import json
import os
import sys
import threading


def one_place(fd):
    os.write(fd, b"1" * 1)
    os.write(fd, b"2" * 2)


def deep(fd, depth):
    if depth == 0:
        os.write(fd, b"3" * 3)
    else:
        deep(fd, depth - 1)


def by_a_library(path):
    with open(path, "w") as file:
        file.write(json.dumps({"x": "y" * 1000}))
    with open(path) as file:
        return json.load(file)


def numbers(fd):
    for size in (5, 6):
        os.write(fd, b"5" * size)
        yield size


def main():
    fd = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT, 0o600)
    one_place(fd)
    deep(fd, 3)
    by_a_library(sys.argv[1] + ".json")
    thread = threading.Thread(target=lambda: os.write(fd, b"4" * 4))
    thread.start()
    thread.join()
    list(numbers(fd))
    exec("os.write(fd, b'7' * 7)", {"os": os, "fd": fd})
    child = os.fork()
    if child == 0:
        os.write(fd, b"8" * 8)
        os._exit(0)
    os.waitpid(child, 0)
    os.close(fd)


main()
