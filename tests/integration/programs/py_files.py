# SPDX-License-Identifier: Apache-2.0
"""Ordinary file work of one thread: text and binary, seeking, renaming, listing."""
import mmap
import os

os.mkdir("d")
with open("d/text", "w", encoding="utf-8") as file:
    for number in range(3000):
        print("line", number, file=file)
with open("d/text", encoding="utf-8") as file:
    print(sum(len(line) for line in file))
with open("d/binary", "wb", buffering=0) as file:
    for size in (1, 512, 4096, 100_000):
        file.write(bytes(size))
with open("d/binary", "r+b") as file:
    file.seek(5000)
    file.write(b"middle")
    file.seek(-10, os.SEEK_END)
    print(file.read(), file.tell())
    file.truncate(50_000)
with open("d/appended", "ab") as file:
    file.write(b"x" * 10)
fd = os.open("d/positioned", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o640)
print(os.pwrite(fd, b"y" * 700, 300), len(os.pread(fd, 2000, 100)))
print(os.pwritev(fd, [b"a", b"bc"], 5), os.preadv(fd, [bytearray(4), bytearray(4)], 4))
os.fsync(fd)
os.fdatasync(fd)
with mmap.mmap(fd, 1000) as pages:
    pages[10:14] = b"mmap"
    pages.flush()
other = os.dup(fd)
os.close(fd)
os.lseek(other, 0, os.SEEK_SET)
print(os.read(other, 20))
os.close(other)
os.rename("d/positioned", "d/renamed")
os.link("d/renamed", "d/hard")
os.symlink("renamed", "d/soft")
print(sorted(os.listdir("d")), os.readlink("d/soft"), os.stat("d/soft").st_size)
os.chmod("d/hard", 0o600)
os.utime("d/hard", (1, 2))
print(os.path.exists("d/missing"), os.access("d/text", os.R_OK))
for name in ("d/missing", "d/text/below"):
    try:
        os.unlink(name)
    except OSError as error:
        print(type(error).__name__)
os.unlink("d/hard")
os.mkdir("d/sub")
os.rmdir("d/sub")
