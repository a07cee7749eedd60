/* SPDX-License-Identifier: Apache-2.0 */
/* io_uring through liburing: each kind of request, and each function that submits or waits. */
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/openat2.h>
#include <linux/stat.h>
#include <linux/time_types.h>
#include <sys/uio.h>

#include "capture/async/uring.h"
#include "cover_async.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const char *const names[] = {
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_enter2",
    "io_uring_register",
    "io_uring_queue_init",
    "io_uring_queue_init_params",
    "io_uring_queue_init_mem",
    "io_uring_queue_mmap",
    "io_uring_queue_exit",
    "io_uring_submit",
    "io_uring_submit_and_wait",
    "io_uring_submit_and_wait_timeout",
    "io_uring_submit_and_get_events",
    "io_uring_get_events",
    "io_uring_wait_cqes",
    "io_uring_wait_cqe_timeout",
    "io_uring_peek_batch_cqe",
    "__io_uring_get_cqe",
    "__io_uring_sqring_wait",
    "io_uring_register_files",
    "io_uring_register_files_tags",
    "io_uring_register_files_sparse",
    "io_uring_register_files_update",
    "io_uring_register_files_update_tag",
    "io_uring_unregister_files",
};

/* Room for liburing's structure, of which the first part is known. */
static union {
    struct cap_lib_uring view;
    char room[1024];
} uring;

static char buffer[512];
static const char *path;
static int fd;
static int ring_fd;
static unsigned long long tag = 100;

/* ---- small parts of liburing that are inline functions there -----------------------------------
 */

static struct io_uring_sqe *next_entry(int opcode)
{
    struct cap_lib_uring *ring = &uring.view;
    struct io_uring_sqe *sqe = &ring->sq.sqes[ring->sq.sqe_tail++ & (*ring->sq.entries - 1)];
    memset(sqe, 0, sizeof(*sqe));
    sqe->opcode = (unsigned char)opcode;
    sqe->fd = fd;
    sqe->user_data = ++tag;
    return sqe;
}

static unsigned waiting(void)
{
    return __atomic_load_n(uring.view.cq.tail, __ATOMIC_ACQUIRE) - *uring.view.cq.head;
}

/* Take one completion; its result. */
static int take(void)
{
    struct cap_lib_uring *ring = &uring.view;
    int result = ring->cq.cqes[*ring->cq.head & (*ring->cq.entries - 1)].res;
    __atomic_store_n(ring->cq.head, *ring->cq.head + 1, __ATOMIC_RELEASE);
    return result;
}

/* ---- one request -------------------------------------------------------------------------------
 */

static void expect_request(const char *mark, const struct io_uring_sqe *sqe, const char *fields)
{
    RECORD(mark, PENDING, 0, "%s a0=%d a1=%llu a3=%d", fields, ring_fd, (long long)sqe->user_data,
           sqe->opcode);
}

/* Submit what waits, wait for it, and expect it as `mark` with `fields`. The kernel must give
 * `result`. */
static void run(const struct io_uring_sqe *sqe, const char *mark, const char *fields, int result)
{
    const struct io_uring_sqe kept = *sqe;
    CALL(INT, "io_uring_submit_and_wait", P(&uring), 1);
    expect_request(mark, &kept, fields);
    RECORD("io_uring_submit_and_wait", 1, 0, "fd=%d path=* size=1", ring_fd);
    int got = take();
    if (got != result) {
        RECORD(mark, got, 0, "the kernel gave another result than %d", result);
    }
}

__attribute__((format(printf, 1, 2))) static const char *text_of(const char *format, ...)
{
    static char text[4096];
    va_list values;
    va_start(values, format);
    (void)vsnprintf(text, sizeof(text), format, values);
    va_end(values);
    return text;
}

static void data(void)
{
    struct iovec vector[2] = {{buffer, 100}, {buffer + 200, 50}};
    struct io_uring_sqe *sqe = next_entry(IORING_OP_WRITE);
    sqe->addr = (uintptr_t)buffer;
    sqe->len = 300;
    run(sqe, "uring_write", text_of("fd=%d path=%s offset=0 size=300", fd, path), 300);
    sqe = next_entry(IORING_OP_READ);
    sqe->addr = (uintptr_t)buffer;
    sqe->len = 200;
    sqe->off = 50;
    run(sqe, "uring_read", text_of("fd=%d path=%s offset=50 size=200", fd, path), 200);
    sqe = next_entry(IORING_OP_WRITEV);
    sqe->addr = (uintptr_t)vector;
    sqe->len = 2;
    sqe->off = 1000;
    run(sqe, "uring_write", text_of("fd=%d path=%s offset=1000 size=150", fd, path), 150);
    sqe = next_entry(IORING_OP_READV);
    sqe->addr = (uintptr_t)vector;
    sqe->len = 2;
    run(sqe, "uring_read", text_of("fd=%d path=%s offset=0 size=150", fd, path), 150);
    sqe = next_entry(IORING_OP_FSYNC);
    sqe->fsync_flags = IORING_FSYNC_DATASYNC;
    run(sqe, "uring_fsync", text_of("fd=%d path=%s a2=1", fd, path), 0);
    sqe = next_entry(IORING_OP_FALLOCATE);
    sqe->off = 4096;
    sqe->addr = 8192;
    run(sqe, "uring_fallocate", text_of("fd=%d path=%s offset=4096 size=8192 a2=0", fd, path), 0);
    sqe = next_entry(IORING_OP_NOP);
    run(sqe, "uring_other", "", 0);
}

static void open_and_close(void)
{
    struct open_how how = {.flags = O_RDONLY};
    struct io_uring_sqe *sqe = next_entry(IORING_OP_OPENAT);
    int next = raw_open("/dev/null", O_RDONLY);
    raw_close(next); /* the number that comes next */
    sqe->fd = AT_FDCWD;
    sqe->addr = (uintptr_t)path;
    sqe->open_flags = O_RDWR | O_CREAT;
    sqe->len = 0600;
    run(sqe, "uring_open", text_of("path=%s offset2=384 a2=%d", path, O_RDWR | O_CREAT), next);
    sqe = next_entry(IORING_OP_CLOSE);
    sqe->fd = next;
    run(sqe, "uring_close", text_of("fd=%d path=%s", next, path), 0);
    sqe = next_entry(IORING_OP_OPENAT2);
    sqe->fd = AT_FDCWD;
    sqe->addr = (uintptr_t)path;
    sqe->len = sizeof(how);
    sqe->off = (uintptr_t)&how;
    run(sqe, "uring_open", text_of("path=%s offset2=0 a2=0", path), next);
    sqe = next_entry(IORING_OP_CLOSE);
    sqe->fd = next;
    run(sqe, "uring_close", text_of("fd=%d path=%s", next, path), 0);
}

static void on_names(void)
{
    static struct statx st;
    const char *directory = in_dir("made");
    const char *other = in_dir("renamed");
    struct io_uring_sqe *sqe = next_entry(IORING_OP_MKDIRAT);
    sqe->fd = AT_FDCWD;
    sqe->addr = (uintptr_t)directory;
    sqe->len = 0700;
    run(sqe, "uring_mkdir", text_of("path=%s offset2=448", directory), 0);
    sqe = next_entry(IORING_OP_STATX);
    sqe->fd = AT_FDCWD;
    sqe->addr = (uintptr_t)directory;
    sqe->len = STATX_SIZE;
    sqe->off = (uintptr_t)&st;
    run(sqe, "uring_stat", text_of("path=%s", directory), 0);
    sqe = next_entry(IORING_OP_STATX);
    sqe->fd = fd;
    sqe->addr = (uintptr_t) "";
    sqe->len = STATX_SIZE;
    sqe->off = (uintptr_t)&st;
    sqe->statx_flags = AT_EMPTY_PATH;
    run(sqe, "uring_stat", text_of("fd=%d path=%s a2=%d", fd, path, AT_EMPTY_PATH), 0);
    sqe = next_entry(IORING_OP_SYMLINKAT);
    sqe->fd = AT_FDCWD;
    sqe->addr = (uintptr_t) "text";
    sqe->addr2 = (uintptr_t)other;
    run(sqe, "uring_other", text_of("path=%s path2=text a3=%d", other, IORING_OP_SYMLINKAT), 0);
    sqe = next_entry(IORING_OP_UNLINKAT);
    sqe->fd = AT_FDCWD;
    sqe->addr = (uintptr_t)other;
    run(sqe, "uring_unlink", text_of("path=%s", other), 0);
    sqe = next_entry(IORING_OP_RENAMEAT);
    sqe->fd = AT_FDCWD;
    sqe->addr = (uintptr_t)directory;
    sqe->len = (unsigned)AT_FDCWD;
    sqe->addr2 = (uintptr_t)other;
    run(sqe, "uring_rename", text_of("path=%s path2=%s", directory, other), 0);
    sqe = next_entry(IORING_OP_UNLINKAT);
    sqe->fd = AT_FDCWD;
    sqe->addr = (uintptr_t)other;
    sqe->unlink_flags = AT_REMOVEDIR;
    run(sqe, "uring_unlink", text_of("path=%s a2=%d", other, AT_REMOVEDIR), 0);
}

/* ---- each function -----------------------------------------------------------------------------
 */

static void nop(void)
{
    (void)next_entry(IORING_OP_NOP);
}

static void expect_nops(int count)
{
    for (int i = count - 1; i >= 0; i--) {
        RECORD("uring_other", PENDING, 0, "a0=%d a1=%llu a3=0", ring_fd, tag - (unsigned)i);
    }
}

static void expect_enter(const char *symbol, int result, int size)
{
    RECORD(symbol, result, 0, "fd=%d path=* size=%d", ring_fd, size);
}

static void submitting(void)
{
    struct io_uring_cqe *cqe;
    struct __kernel_timespec timeout = {10, 0};
    nop();
    nop();
    CALL(INT, "io_uring_submit", P(&uring));
    expect_nops(2);
    expect_enter("io_uring_submit", 2, 2);
    nop();
    CALL(INT, "io_uring_submit_and_get_events", P(&uring));
    expect_nops(1);
    expect_enter("io_uring_submit_and_get_events", 1, 1);
    nop();
    CALL(INT, "io_uring_submit_and_wait_timeout", P(&uring), P(&cqe), 1, P(&timeout), 0);
    expect_nops(1);
    RECORD("io_uring_submit_and_wait_timeout", cover_last.result, 0, "fd=%d path=* size=1 result=*",
           ring_fd);
    CALL(INT, "io_uring_get_events", P(&uring));
    expect_enter("io_uring_get_events", 0, 0);
    CALL(INT, "__io_uring_sqring_wait", P(&uring));
    RECORD("__io_uring_sqring_wait", 0, 0, "fd=%d path=* size=0 result=* errno=*", ring_fd);
}

static void waiting_for(void)
{
    struct io_uring_cqe *cqes[8];
    struct __kernel_timespec timeout = {10, 0};
    CALL(INT, "io_uring_wait_cqes", P(&uring), P(cqes), 1, P(&timeout), 0);
    expect_enter("io_uring_wait_cqes", 0, 0);
    CALL(INT, "io_uring_wait_cqe_timeout", P(&uring), P(cqes), P(&timeout));
    expect_enter("io_uring_wait_cqe_timeout", 0, 0);
    CALL(INT, "__io_uring_get_cqe", P(&uring), P(cqes), 0, 1, 0);
    expect_enter("__io_uring_get_cqe", 0, 0);
    int count = (int)waiting();
    CALL(UNSIGNED, "io_uring_peek_batch_cqe", P(&uring), P(cqes), 8);
    expect_enter("io_uring_peek_batch_cqe", count, 0);
    while (waiting() > 0) {
        (void)take();
    }
    CALL(UNSIGNED, "io_uring_peek_batch_cqe", P(&uring), P(cqes), 8); /* finds none: no event */
}

static void expect_register(const char *symbol, int result, int operation, int size)
{
    RECORD(symbol, result, 0, "fd=%d path=* size=%d a0=%d", ring_fd, size, operation);
}

/* A request on a registered file has the path that the file had when it was registered. */
static void files(void)
{
    const uint64_t tags[2] = {0, 0};
    const int fds[2] = {-1, fd};
    struct io_uring_sqe *sqe;
    CALL(INT, "io_uring_register_files", P(&uring), P(fds), 2);
    expect_register("io_uring_register_files", 0, IORING_REGISTER_FILES, 2);
    sqe = next_entry(IORING_OP_READ);
    sqe->flags = IOSQE_FIXED_FILE;
    sqe->fd = 1;
    sqe->addr = (uintptr_t)buffer;
    sqe->len = 10;
    run(sqe, "uring_read", text_of("fd=%d path=%s offset=0 size=10 a2=%lld", fd, path, 1LL << 32),
        10);
    CALL(INT, "io_uring_register_files_update", P(&uring), 0, P(&fd), 1);
    expect_register("io_uring_register_files_update", 1, IORING_REGISTER_FILES_UPDATE, 1);
    CALL(INT, "io_uring_unregister_files", P(&uring));
    expect_register("io_uring_unregister_files", 0, IORING_UNREGISTER_FILES, 0);
    CALL(INT, "io_uring_register_files_tags", P(&uring), P(fds), P(tags), 2);
    expect_register("io_uring_register_files_tags", 0, IORING_REGISTER_FILES2, 2);
    CALL(INT, "io_uring_register_files_update_tag", P(&uring), 0, P(&fd), P(tags), 1);
    expect_register("io_uring_register_files_update_tag", 1, IORING_REGISTER_FILES_UPDATE2, 1);
    CALL(INT, "io_uring_unregister_files", P(&uring));
    expect_register("io_uring_unregister_files", 0, IORING_UNREGISTER_FILES, 0);
    CALL(INT, "io_uring_register_files_sparse", P(&uring), 4);
    expect_register("io_uring_register_files_sparse", 0, IORING_REGISTER_FILES2, 4);
}

/* ---- rings -------------------------------------------------------------------------------------
 */

static void expect_ring(const char *symbol, int entries)
{
    ring_fd = uring.view.ring_fd;
    RECORD(symbol, 0, 0, "fd=%d path=* size=%d", ring_fd, entries);
}

static void end_ring(void)
{
    CALL(NOTHING, "io_uring_queue_exit", P(&uring));
    RECORD("io_uring_queue_exit", 0, 0, "fd=%d path=*", ring_fd);
}

/* The calls as liburing's functions, on a ring that it has mapped. */
static void bare(void)
{
    struct io_uring_params params;
    memset(&params, 0, sizeof(params));
    memset(&uring, 0, sizeof(uring));
    long made = CALL(INT, "io_uring_setup", 4, P(&params));
    RECORD("io_uring_setup", made, 0, "path=* size=4");
    CALL(INT, "io_uring_queue_mmap", made, P(&params), P(&uring));
    expect_ring("io_uring_queue_mmap", 4);
    nop();
    *uring.view.sq.array = 0;
    __atomic_store_n(uring.view.sq.tail, 1, __ATOMIC_RELEASE);
    uring.view.sq.sqe_head = 1;
    CALL(INT, "io_uring_enter", made, 1, 1, IORING_ENTER_GETEVENTS, 0);
    expect_nops(1);
    RECORD("io_uring_enter", 1, 0, "fd=%ld path=* size=1", made);
    CALL(INT, "io_uring_enter2", made, 0, 0, 0, 0, 8);
    RECORD("io_uring_enter2", 0, 0, "fd=%ld path=* size=0", made);
    CALL(INT, "io_uring_register", made, IORING_REGISTER_FILES, P(&fd), 1);
    RECORD("io_uring_register", 0, 0, "fd=%ld path=* size=1 a0=%d", made, IORING_REGISTER_FILES);
    end_ring();
}

static void all(void)
{
    struct io_uring_params params;
    if (!load_library("liburing.so.2", names, COUNT(names))) {
        return;
    }
    path = in_dir("uring.dat");
    fd = raw_open(path, O_RDWR | O_CREAT | O_TRUNC);
    CALL(INT, "io_uring_queue_init", 8, P(&uring), 0);
    expect_ring("io_uring_queue_init", 8);
    data();
    open_and_close();
    on_names();
    submitting();
    waiting_for();
    files();
    end_ring();
    memset(&params, 0, sizeof(params));
    memset(&uring, 0, sizeof(uring));
    CALL(INT, "io_uring_queue_init_params", 8, P(&uring), P(&params));
    expect_ring("io_uring_queue_init_params", 8);
    end_ring();
    bare();
}

COVER_MAIN(all)
