# SPDX-License-Identifier: Apache-2.0
"""multiprocessing: py_processes.py fork|spawn. Workers read and write files for their parent."""
import multiprocessing
import os
import sys


def work(number):
    path = f"part-{number}"
    with open(path, "wb") as file:
        file.write(bytes([number]) * 5000)
    with open(path, "rb") as file:
        return sum(file.read())


if __name__ == "__main__":
    inherited = os.open("inherited", os.O_RDWR | os.O_CREAT, 0o644)
    os.write(inherited, b"parent\n")
    context = multiprocessing.get_context(sys.argv[1])
    with context.Pool(2) as pool:
        print(pool.map(work, range(6)))
        pool.close()
        pool.join()
    os.write(inherited, b"parent again\n")
