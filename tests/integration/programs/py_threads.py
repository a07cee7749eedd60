# SPDX-License-Identifier: Apache-2.0
"""Eight threads, each with a file of its own, and one that all of them write into."""
import os
import threading

shared = os.open("shared", os.O_RDWR | os.O_CREAT, 0o644)


def work(number):
    with open(f"file-{number}", "wb", buffering=0) as file:
        for piece in range(20):
            file.write(bytes([number]) * (piece + 1))
            os.pwrite(shared, bytes([number]) * 64, (piece * 8 + number) * 64)
    with open(f"file-{number}", "rb") as file:
        assert len(file.read()) == 210


threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(os.fstat(shared).st_size)
