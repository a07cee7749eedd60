/* SPDX-License-Identifier: Apache-2.0 */
/* Memory maps of files, and one of memory that is no event. */
#include <sys/mman.h>

#include "cover_async.h"

#define PAGE 4096L

static const char *path;
static int fd;

static long map_as(const char *symbol, long offset)
{
    long address = CALL(LONG, symbol, 0, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, offset);
    EXPECT("fd=%d path=%s offset=%ld size=%ld a0=%d a1=%d", fd, path, offset, 4 * PAGE,
           PROT_READ | PROT_WRITE, MAP_SHARED);
    return address;
}

static void unmap(long address, long pages, long offset)
{
    CALL(INT, "munmap", address, pages * PAGE);
    EXPECT("path=%s offset=%ld size=%ld a2=%ld", path, offset, pages * PAGE, address);
}

static void ranges(void)
{
    path = in_dir("map.dat");
    fd = raw_open(path, O_RDWR | O_CREAT | O_TRUNC);
    (void)wio_rawcall3(SYS_ftruncate, fd, 8 * PAGE, 0);
    long address = map_as("mmap", 0);
    CALL(INT, "msync", address + PAGE, PAGE, MS_SYNC);
    EXPECT("path=%s offset=%ld size=%ld a0=%d a2=%ld", path, PAGE, PAGE, MS_SYNC, address + PAGE);
    CALL(INT, "madvise", address, 2 * PAGE, MADV_WILLNEED);
    EXPECT("path=%s offset=0 size=%ld a0=%d a2=%ld", path, 2 * PAGE, MADV_WILLNEED, address);
    CALL(INT, "posix_madvise", address, PAGE, POSIX_MADV_SEQUENTIAL);
    EXPECT("path=%s offset=0 size=%ld a0=%d a2=%ld", path, PAGE, POSIX_MADV_SEQUENTIAL, address);
    unmap(address + 2 * PAGE, 1, 2 * PAGE);
    unmap(address + 3 * PAGE, 1, 3 * PAGE);
    unmap(address, 2, 0);
    CALL(INT, "munmap", address, PAGE); /* nothing of a file is there any more: no event */
}

/* A range that holds two maps of files, and more; what the kernel refuses changes nothing. */
static void around(void)
{
    const int fixed = MAP_SHARED | MAP_FIXED;
    long room = wio_rawcall6(SYS_mmap, 0, 16 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long i = 2; i <= 6; i += 4) {
        CALL(LONG, "mmap", room + i * PAGE, 2 * PAGE, PROT_READ, fixed, fd, i * PAGE);
        EXPECT("fd=%d path=%s offset=%ld size=%ld a0=%d a1=%d", fd, path, i * PAGE, 2 * PAGE,
               PROT_READ, fixed);
    }
    CALL(INT, "munmap", room + 2 * PAGE, 0);
    EXPECT("path=%s offset=%ld size=0 a2=%ld", path, 2 * PAGE, room + 2 * PAGE);
    CALL(INT, "msync", room + 3 * PAGE, PAGE, MS_SYNC);
    EXPECT("path=%s offset=%ld size=%ld a0=%d a2=%ld a3=%ld", path, 3 * PAGE, PAGE, MS_SYNC,
           room + 3 * PAGE, room + 2 * PAGE);
    CALL(INT, "munmap", room + 3 * PAGE, 1); /* one byte is one page */
    EXPECT("path=%s offset=%ld size=1 a2=%ld a3=%ld", path, 3 * PAGE, room + 3 * PAGE,
           room + 2 * PAGE);
    CALL(INT, "munmap", room + 3 * PAGE, PAGE);
    CALL(INT, "munmap", room, 16 * PAGE);
    EXPECT("path=%s offset=%ld size=%ld a2=%ld a3=%ld", path, 2 * PAGE, 16 * PAGE, room,
           room + 2 * PAGE);
    CALL(INT, "munmap", room, 16 * PAGE);
}

static void moving(void)
{
    long address = map_as("mmap64", 2 * PAGE);
    long moved = CALL(LONG, "mremap", address, 4 * PAGE, 6 * PAGE, MREMAP_MAYMOVE);
    EXPECT("path=%s offset=%ld size=%ld a1=%d a2=%ld a3=%ld", path, 2 * PAGE, 6 * PAGE,
           MREMAP_MAYMOVE, address, 4 * PAGE);
    unmap(moved, 6, 2 * PAGE);
}

/* The kernel moves whole pages: nothing of the file is left behind. */
static void moving_parts(void)
{
    const int flags = MREMAP_MAYMOVE | MREMAP_FIXED;
    long room = wio_rawcall6(SYS_mmap, 0, 4 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    long address = map_as("mmap", 0);
    CALL(LONG, "mremap", address, 3 * PAGE + 1, 4 * PAGE, flags, room);
    EXPECT("path=%s offset=0 size=%ld a1=%d a2=%ld a3=%ld", path, 4 * PAGE, flags, address,
           3 * PAGE + 1);
    CALL(INT, "msync", address + 3 * PAGE, PAGE, MS_SYNC); /* no event */
    unmap(room, 4, 0);
}

static void no_file(void)
{
    long address = CALL(LONG, "mmap", 0, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CALL(INT, "munmap", address, PAGE);
    CALL(LONG, "mmap", 0, PAGE, PROT_READ, MAP_PRIVATE, 99, 0);
    EXPECT("fd=99 offset=0 size=%ld a0=%d a1=%d", PAGE, PROT_READ, MAP_PRIVATE);
}

COVER_MAIN(ranges, around, moving, moving_parts, no_file)
