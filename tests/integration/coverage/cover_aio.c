/* SPDX-License-Identifier: Apache-2.0 */
/* POSIX asynchronous I/O: each request is waited for, so that its end is certain. */
#include <aio.h>

#include "cover_async.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static char buffer[512];
static const char *path;
static int fd;

static void begin(void)
{
    path = in_dir("aio.dat");
    fd = raw_open(path, O_RDWR | O_CREAT | O_TRUNC);
}

static struct aiocb block_of(int operation, off_t offset, size_t size)
{
    struct aiocb block;
    memset(&block, 0, sizeof(block));
    block.aio_fildes = fd;
    block.aio_buf = buffer;
    block.aio_nbytes = size;
    block.aio_offset = offset;
    block.aio_lio_opcode = operation;
    return block;
}

static void collect(struct aiocb *block, bool is_64, long result)
{
    const struct aiocb *list[] = {block, NULL};
    const char *suspend = is_64 ? "aio_suspend64" : "aio_suspend";
    CALL(INT, suspend, P(list), 2, 0);
    EXPECT("size=2");
    CALL(INT, is_64 ? "aio_error64" : "aio_error", P(block));
    EXPECT("fd=%d path=%s", fd, path);
    CALL(LONG, is_64 ? "aio_return64" : "aio_return", P(block));
    RECORD(is_64 ? "aio_return64" : "aio_return", result, 0, "fd=%d path=%s", fd, path);
}

static void expect_submitted(const char *symbol, const struct aiocb *block)
{
    RECORD(symbol, PENDING, 0, "fd=%d path=%s offset=%ld size=%zu a1=%ld", fd, path,
           (long)block->aio_offset, block->aio_nbytes, P(block));
}

static void data(void)
{
    static const char *const names[] = {"aio_write", "aio_write64", "aio_read", "aio_read64"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct aiocb block = block_of(0, 1000 * (off_t)(i % 2), 300);
        CALL(INT, names[i], P(&block));
        expect_submitted(names[i], &block);
        collect(&block, i % 2 == 1, 300);
    }
}

static void flushing(void)
{
    static const char *const names[] = {"aio_fsync", "aio_fsync64"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct aiocb block = block_of(0, 0, 0);
        CALL(INT, names[i], O_DSYNC, P(&block));
        RECORD(names[i], PENDING, 0, "fd=%d path=%s a1=%ld a2=%d", fd, path, P(&block), O_DSYNC);
        collect(&block, i == 1, 0);
    }
}

/* A list that is waited for: its requests come before the call that submits them. */
static void lists(void)
{
    static const char *const names[] = {"lio_listio", "lio_listio64"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct aiocb first = block_of(LIO_WRITE, 0, 100);
        struct aiocb second = block_of(LIO_READ, 10, 50);
        struct aiocb none = block_of(LIO_NOP, 0, 0);
        struct aiocb *list[] = {&first, &none, NULL, &second};
        CALL(INT, names[i], LIO_WAIT, P(list), 4, 0);
        expect_submitted("aio_write", &first);
        expect_submitted("aio_read", &second);
        RECORD(names[i], 0, 0, "size=4");
        CALL(LONG, "aio_return", P(&first));
        RECORD("aio_return", 100, 0, "fd=%d path=%s", fd, path);
        CALL(LONG, "aio_return", P(&second));
        RECORD("aio_return", 50, 0, "fd=%d path=%s", fd, path);
    }
}

static void cancelling(void)
{
    static const char *const names[] = {"aio_cancel", "aio_cancel64"};
    for (size_t i = 0; i < COUNT(names); i++) {
        CALL(INT, names[i], fd, 0);
        EXPECT("fd=%d path=%s", fd, path);
    }
}

static void refused(void)
{
    struct aiocb listed = block_of(LIO_READ, 0, 10);
    struct aiocb *list[] = {&listed};
    CALL(INT, "lio_listio", 77, P(list), 1, 0);
    RECORD("aio_read", PENDING, 0, "fd=%d path=%s offset=0 size=10 a1=%ld", fd, path, P(&listed));
    RECORD("lio_listio", -1, EINVAL, "size=1");
    struct aiocb block = block_of(0, 0, 10);
    block.aio_fildes = 99;
    block.aio_reqprio = -1;
    CALL(INT, "aio_read", P(&block));
    EXPECT("fd=99 offset=0 size=10 a1=*");
}

COVER_MAIN(begin, data, flushing, lists, cancelling, refused)
