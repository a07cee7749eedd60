/* SPDX-License-Identifier: Apache-2.0 */
/* libaio: its functions return -errno. */
#include <linux/aio_abi.h>
#include <sys/uio.h>
#include <time.h>

#include "cover_async.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const names[] = {
    "io_setup",     "io_queue_init", "io_destroy",   "io_queue_release", "io_submit",
    "io_getevents", "io_pgetevents", "io_queue_run", "io_queue_wait",    "io_cancel"};
static char buffer[512];
static const char *path;
static int fd;
static long context;

static struct iocb request_of(int opcode, long offset, size_t size)
{
    struct iocb request;
    memset(&request, 0, sizeof(request));
    request.aio_fildes = (unsigned)fd;
    request.aio_lio_opcode = (unsigned short)opcode;
    request.aio_buf = (uintptr_t)buffer;
    request.aio_nbytes = size;
    request.aio_offset = offset;
    request.aio_data = 77;
    return request;
}

static void submit(struct iocb *request, const char *mark, const char *range)
{
    struct iocb *list[] = {request};
    CALL(INT, "io_submit", context, 1, P(list));
    RECORD(mark, PENDING, 0, "fd=%d path=%s %s a0=%ld a1=%lld a2=0 a3=%d", fd, path, range, context,
           (long long)request->aio_data, request->aio_lio_opcode);
    RECORD("io_submit", 1, 0, "size=1 a0=%ld", context);
}

static void collect(const char *symbol)
{
    struct io_event event;
    struct timespec timeout = {10, 0};
    CALL(INT, symbol, context, 1, 1, P(&event), P(&timeout), 0);
    EXPECT("size=1 a0=%ld", context);
}

static void requests(void)
{
    struct iovec vector[2] = {{buffer, 100}, {buffer + 200, 50}};
    struct iocb request = request_of(IOCB_CMD_PWRITE, 0, 300);
    submit(&request, "iocb_write", "offset=0 size=300");
    collect("io_getevents");
    request = request_of(IOCB_CMD_PREAD, 100, 200);
    submit(&request, "iocb_read", "offset=100 size=200");
    collect("io_pgetevents");
    request = request_of(8 /* PWRITEV */, 1000, 2);
    request.aio_buf = (uintptr_t)vector;
    submit(&request, "iocb_write", "offset=1000 size=150");
    collect("io_getevents");
    request = request_of(IOCB_CMD_FSYNC, 0, 0);
    request.aio_buf = 0;
    submit(&request, "iocb_fsync", "");
    collect("io_getevents");
}

static int called;

static void callback(void *of, struct iocb *request, long result, long second)
{
    (void)of;
    (void)request;
    (void)second;
    called += result == 10;
}

/* io_queue_run calls the function that a request carries as its data. */
static void running(void)
{
    struct iocb request = request_of(IOCB_CMD_PREAD, 0, 10);
    void (*function)(void *, struct iocb *, long, long) = callback;
    memcpy(&request.aio_data, &function, sizeof(function));
    submit(&request, "iocb_read", "offset=0 size=10");
    CALL(INT, "io_queue_wait", context, 0);
    EXPECT("size=0 a0=%ld", context);
    CALL(INT, "io_queue_run", context);
    RECORD("io_queue_run", 1, 0, "size=1 a0=%ld", context);
    RECORD("io_queue_run", 0, 0, "size=1 a0=%ld", context);
    if (called != 1) {
        RECORD("io_queue_run", called, 0, "the callback was not called");
    }
}

static void refused(void)
{
    struct iocb request = request_of(IOCB_CMD_PREAD, 0, 10);
    struct iocb *list[] = {&request};
    CALL(INT, "io_submit", 0x1000, 1, P(list));
    RECORD("iocb_read", PENDING, 0, "fd=%d path=%s offset=0 size=10 a0=4096 a1=77 a2=0 a3=0", fd,
           path);
    RECORD("io_submit", -1, EINVAL, "size=1 a0=4096");
    CALL(INT, "io_cancel", context, P(&request), P(buffer));
    RECORD("io_cancel", -1, EINVAL, "a0=%ld", context);
}

static void all(void)
{
    if (!load_library("libaio.so.1", names, COUNT(names))) {
        return;
    }
    path = in_dir("libaio.dat");
    fd = raw_open(path, O_RDWR | O_CREAT | O_TRUNC);
    CALL(INT, "io_setup", 8, P(&context));
    EXPECT("size=8 a0=%ld", context);
    requests();
    running();
    refused();
    CALL(INT, "io_destroy", context);
    EXPECT("a0=%ld", context);
    context = 0;
    CALL(INT, "io_queue_init", 8, P(&context));
    EXPECT("size=8 a0=%ld", context);
    CALL(INT, "io_queue_release", context);
    EXPECT("a0=%ld", context);
}

COVER_MAIN(all)
