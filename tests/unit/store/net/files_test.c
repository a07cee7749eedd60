/* SPDX-License-Identifier: Apache-2.0 */
/* Files of the seam over the kernel; sim_test.c has those of the simulator. */
#include "support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/net/net.h"

static struct wio_net *net;
static struct wio_io *io;

static int begin(void **state)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)state;
    assert_ok(wio_net_create(wio_test_dir(), &net, &err), &err);
    io = wio_net_io(net);
    return 0;
}

static int end(void **state)
{
    (void)state;
    wio_net_destroy(net);
    return 0;
}

static struct wio_io_file *open_file(const char *name, unsigned flags)
{
    struct wio_io_file *file = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(io->ops->file_open(io, name, flags, &file, &err), &err);
    return file;
}

static void writes_parts_and_reads_them(void **state)
{
    (void)state;
    struct wio_io_file *file = open_file("a", WIO_IO_CREATE);
    const struct wio_io_bytes parts[] = {{"one ", 4}, {"", 0}, {"two", 3}};
    char text[32] = "";
    size_t got = 0;
    uint64_t bytes = 0;
    assert_int_equal(io->ops->file_write(file, 10, parts, 3, NULL), WIO_OK);
    assert_int_equal(io->ops->file_read(file, 10, text, sizeof(text), &got, NULL), WIO_OK);
    assert_int_equal(got, 7);
    assert_string_equal(text, "one two");
    assert_int_equal(io->ops->file_read(file, 100, text, sizeof(text), &got, NULL), WIO_OK);
    assert_int_equal(got, 0);
    assert_int_equal(io->ops->file_size(file, &bytes, NULL), WIO_OK);
    assert_int_equal(bytes, 17);
    assert_int_equal(io->ops->file_truncate(file, 3, NULL), WIO_OK);
    assert_int_equal(io->ops->file_allocate(file, 8192, NULL), WIO_OK);
    assert_int_equal(io->ops->file_size(file, &bytes, NULL), WIO_OK);
    assert_int_equal(bytes, 8192);
    assert_int_equal(io->ops->file_used(file, &bytes, NULL), WIO_OK);
    assert_true(bytes >= 8192);
    io->ops->file_close(file);
}

static void flushed(void *context, enum wio_status status, int sys_errno)
{
    assert_int_equal(status, WIO_OK);
    assert_int_equal(sys_errno, 0);
    (*(unsigned *)context)++;
}

static void flushes_several_at_once(void **state)
{
    (void)state;
    struct wio_io_file *file = open_file("b", WIO_IO_CREATE);
    unsigned count = 0;
    const struct wio_io_bytes part = {"x", 1};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(io->ops->file_write(file, i, &part, 1, NULL), WIO_OK);
        assert_int_equal(io->ops->file_flush(file, flushed, &count), WIO_OK);
    }
    assert_int_equal(count, 0); /* never from within */
    wio_net_run(net);
    assert_int_equal(count, 3);
    assert_int_equal(io->ops->file_sync(file, NULL), WIO_OK);
    io->ops->file_close(file);
}

static int open_errno(const char *name, unsigned flags)
{
    struct wio_io_file *file = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    assert_int_not_equal(io->ops->file_open(io, name, flags, &file, &err), WIO_OK);
    return err.sys_errno;
}

/* Neither links nor names lead out of the directory. */
static void stays_below_its_directory(void **state)
{
    (void)state;
    char *link = wio_test_path("link");
    char *dir_link = wio_test_path("up");
    assert_int_equal(symlink("/etc/passwd", link), 0);
    assert_int_equal(symlink("/etc", dir_link), 0);
    assert_int_equal(open_errno("link", 0), ELOOP);
    assert_int_equal(open_errno("up/passwd", WIO_IO_READ_ONLY), ELOOP);
    assert_int_equal(open_errno("../x", WIO_IO_CREATE), 0); /* refused before any call */
    assert_int_equal(open_errno("/etc/passwd", WIO_IO_READ_ONLY), 0);
    assert_int_equal(open_errno("none", 0), ENOENT);
    io->ops->file_close(open_file("once", WIO_IO_EXCLUSIVE));
    assert_int_equal(open_errno("once", WIO_IO_EXCLUSIVE), EEXIST);
    free(link);
    free(dir_link);
}

static bool count_names(void *context, const char *name)
{
    (*(unsigned *)context)++;
    return strcmp(name, ".") != 0;
}

static void names_come_and_go(void **state)
{
    (void)state;
    unsigned count = 0;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_io_space space;
    assert_ok(io->ops->make_dir(io, "d", &err), &err);
    io->ops->file_close(open_file("d/x", WIO_IO_CREATE));
    io->ops->file_close(open_file("d/y", WIO_IO_CREATE));
    assert_ok(io->ops->rename(io, "d/x", "d/y", &err), &err);
    assert_ok(io->ops->dir_sync(io, "d", &err), &err);
    assert_ok(io->ops->list(io, "d", count_names, &count, &err), &err);
    assert_int_equal(count, 1);
    assert_int_not_equal(io->ops->remove(io, "d", &err), WIO_OK);
    assert_ok(io->ops->remove(io, "d/y", &err), &err);
    assert_ok(io->ops->remove(io, "d", &err), &err);
    assert_int_not_equal(io->ops->remove(io, "d", &err), WIO_OK);
    assert_int_equal(err.sys_errno, ENOENT);
    assert_ok(io->ops->space(io, &space, &err), &err);
    assert_true(space.total_bytes >= space.free_bytes && space.total_bytes > 0);
}

static int cut(const char *path, uint64_t bytes)
{
    return truncate(path, (off_t)bytes);
}

/* What is told is exact: a file can have that length, and no byte more, whatever the file system.
 */
static void the_longest_file_is_found(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_io_space space;
    unsigned count = 0;
    char *path = wio_test_path("long");
    assert_ok(io->ops->space(io, &space, &err), &err);
    assert_ok(io->ops->list(io, "", count_names, &count, &err), &err);
    io->ops->file_close(open_file("long", WIO_IO_CREATE));
    assert_int_equal(cut(path, space.file_bytes_max), 0);
    if (space.file_bytes_max < INT64_MAX) {
        assert_int_equal(cut(path, space.file_bytes_max + 1), -1);
        assert_int_equal(errno, EFBIG);
    }
    unsigned after = 0;
    assert_ok(io->ops->remove(io, "long", &err), &err);
    assert_ok(io->ops->list(io, "", count_names, &after, &err), &err);
    assert_int_equal(after, count); /* nothing was left by the search */
    free(path);
}

/* A bound of the process counts, too: past it a signal comes. */
static void a_bound_of_the_process_counts(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_io_space space;
    struct rlimit before;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit bound = {.rlim_cur = 1 << 20, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &bound), 0);
    enum wio_status status = io->ops->space(io, &space, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_ok(status, &err);
    assert_int_equal(space.file_bytes_max, 1 << 20);
}

/* ---- file systems that are full, or old ---------------------------------------------------- */

static int truncate_fails; /* errno of ftruncate() from .. */
static off_t fails_from;   /* .. that length on */
static bool has_no_tmpfile;

/* In place of the C library's. */
int ftruncate(int fd, off_t bytes)
{
    if (truncate_fails != 0 && bytes >= fails_from) {
        errno = truncate_fails;
        return -1;
    }
    return (int)syscall(SYS_ftruncate, fd, bytes);
}

int openat(int dir, const char *name, int flags, ...)
{
    va_list more;
    va_start(more, flags);
    const mode_t mode = (flags & (O_CREAT | __O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
    va_end(more);
    if (has_no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return (int)syscall(SYS_openat, dir, name, flags, mode);
}

static uint64_t file_bytes_max(void)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_io_space space;
    assert_ok(io->ops->space(io, &space, &err), &err);
    return space.file_bytes_max;
}

/* What fails for another reason than the length tells no bound, now; it is tried again. */
static void a_full_file_system_is_no_bound(void **state)
{
    static const int reasons[] = {ENOSPC, EDQUOT, EIO, EPERM};
    (void)state;
    fails_from = 1 << 20;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(reasons); i++) {
        truncate_fails = reasons[i];
        assert_int_equal(file_bytes_max(), 0);
    }
    truncate_fails = EFBIG;
    const uint64_t found = file_bytes_max();
    truncate_fails = 0;
    assert_int_equal(found, (1 << 20) - 1);
}

static void a_probe_that_was_left_behind_is_no_obstacle(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    io->ops->file_close(open_file(".file-size-probe", WIO_IO_CREATE));
    has_no_tmpfile = true;
    truncate_fails = EFBIG;
    fails_from = 1 << 20;
    const uint64_t found = file_bytes_max();
    has_no_tmpfile = false;
    truncate_fails = 0;
    assert_int_equal(found, (1 << 20) - 1);
    assert_int_not_equal(io->ops->remove(io, ".file-size-probe", &err), WIO_OK);
    assert_int_equal(err.sys_errno, ENOENT);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(writes_parts_and_reads_them),    TEST(flushes_several_at_once),
        TEST(stays_below_its_directory),      TEST(names_come_and_go),
        TEST(the_longest_file_is_found),      TEST(a_bound_of_the_process_counts),
        TEST(a_full_file_system_is_no_bound), TEST(a_probe_that_was_left_behind_is_no_obstacle),
    };
    return WIO_RUN(tests);
}
