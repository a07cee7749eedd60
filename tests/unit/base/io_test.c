/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io.h"

static void whole_reads_and_writes(void **state)
{
    (void)state;
    char *path = wio_test_path("whole");
    struct wio_error err = WIO_ERROR_INIT;
    char bytes[8] = {0};
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_ok(wio_io_write(fd, path, "abcdef", 6, &err), &err);
    assert_ok(wio_io_pwrite(fd, path, "XY", 2, 1, &err), &err);
    assert_ok(wio_io_pread(fd, path, bytes, 6, 0, &err), &err);
    assert_string_equal(bytes, "aXYdef");
    assert_status(wio_io_pread(fd, path, bytes, 4, 4, &err), WIO_ERR_TRUNCATED, &err);
    assert_int_equal(err.offset, 6);
    assert_string_equal(err.message, "expected 2 bytes more, found the end of the file");
    wio_fd_cleanup(&fd);
    assert_int_equal(fd, -1);
    wio_fd_cleanup(&fd);
    assert_status(wio_io_pread(-1, "label", bytes, 1, 0, &err), WIO_ERR_IO, &err);
    assert_int_equal(err.sys_errno, EBADF);
    assert_string_equal(err.file, "label");
    assert_status(wio_io_write(-1, "label", bytes, 1, &err), WIO_ERR_IO, &err);
    assert_status(wio_io_pwrite(-1, "label", bytes, 1, 0, NULL), WIO_ERR_IO, NULL);
    free(path);
}

/* The linker's --wrap gives these names. */
ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);
ssize_t __real_pwrite64(int fd, const void *data, size_t size, off_t offset);
ssize_t __wrap_pwrite64(int fd, const void *data, size_t size, off_t offset);

static unsigned takes; /* bytes that a descriptor takes before it takes no more; 0 = all */
static unsigned taken;

static size_t taken_of(size_t size)
{
    size_t bytes = takes == 0 ? size : taken < takes ? 1 : 0;
    taken += (unsigned)bytes;
    return bytes;
}

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
    size_t bytes = taken_of(size);
    return bytes > 0 ? __real_write(fd, data, bytes) : 0;
}

ssize_t __wrap_pwrite64(int fd, const void *data, size_t size, off_t offset)
{
    size_t bytes = taken_of(size);
    return bytes > 0 ? __real_pwrite64(fd, data, bytes, offset) : 0;
}

/* Some devices and file systems say 0 where they are full: asking again would never end. */
static void writing_nothing_ends(void **state)
{
    (void)state;
    char *path = wio_test_path("short");
    struct wio_error err = WIO_ERROR_INIT;
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    takes = 3;
    taken = 0;
    assert_ok(wio_io_write(fd, path, "abc", 3, &err), &err);
    assert_status(wio_io_write(fd, path, "d", 1, &err), WIO_ERR_IO, &err);
    assert_int_equal(err.sys_errno, ENOSPC);
    taken = 0;
    assert_status(wio_io_pwrite(fd, path, "abcd", 4, 0, &err), WIO_ERR_IO, &err);
    assert_int_equal(err.sys_errno, ENOSPC);
    takes = 0;
    wio_fd_cleanup(&fd);
    free(path);
}

static void files_are_read_whole(void **state)
{
    (void)state;
    char *path = wio_test_path("file");
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_blob blob = {0};
    char data[10000];
    memset(data, 'x', sizeof(data));
    wio_test_write(path, data, sizeof(data));
    assert_ok(wio_io_read_file(path, sizeof(data), &blob, &err), &err);
    assert_int_equal(blob.size, sizeof(data));
    assert_memory_equal(blob.data, data, sizeof(data));
    assert_int_equal(blob.data[blob.size], 0);
    assert_status(wio_io_read_file(path, sizeof(data) - 1, &blob, &err), WIO_ERR_FORMAT, &err);
    assert_ok(wio_io_read_file("/proc/self/stat", 4096, &blob, &err), &err);
    assert_true(blob.size > 10);
    assert_ok(wio_io_read_file("/dev/null", 0, &blob, &err), &err);
    assert_int_equal(blob.size, 0);
    assert_status(wio_io_read_file("/no/such", 10, &blob, &err), WIO_ERR_IO, &err);
    assert_int_equal(err.sys_errno, ENOENT);
    assert_status(wio_io_read_file("/", 10, &blob, &err), WIO_ERR_IO, &err);
    wio_blob_fini(&blob);
    free(path);
}

static void directories_are_made(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    char *deep = wio_test_path("a//b/c/");
    char *file = wio_test_path("plain");
    char *below = wio_test_path("plain/x");
    struct stat st;
    assert_ok(wio_io_mkdirs(deep, &err), &err);
    assert_ok(wio_io_mkdirs(deep, &err), &err);
    assert_int_equal(stat(deep, &st), 0);
    assert_true(S_ISDIR(st.st_mode));
    assert_ok(wio_io_mkdirs("/", &err), &err);
    wio_test_write(file, "", 0);
    assert_status(wio_io_mkdirs(file, &err), WIO_ERR_IO, &err);
    assert_int_equal(err.sys_errno, ENOTDIR);
    assert_status(wio_io_mkdirs(below, &err), WIO_ERR_IO, &err);
    assert_status(wio_io_mkdirs("", &err), WIO_ERR_IO, &err);
    free(deep);
    free(file);
    free(below);
}

static void trees_are_removed_and_links_are_not_followed(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    char *deep = wio_test_path("tree/1/2/3");
    char *root = wio_test_path("tree");
    char *keep = wio_test_path("keep");
    char *inside = wio_test_path("keep/file");
    char *link = wio_test_path("tree/1/link");
    char *file = wio_test_path("tree/1/2/file");
    assert_ok(wio_io_mkdirs(deep, &err), &err);
    assert_ok(wio_io_mkdirs(keep, &err), &err);
    wio_test_write(inside, "precious", 8);
    wio_test_write(file, "x", 1);
    assert_int_equal(symlink(keep, link), 0);
    assert_ok(wio_io_remove_tree(root, &err), &err);
    assert_int_equal(access(root, F_OK), -1);
    assert_int_equal(access(inside, F_OK), 0);
    assert_ok(wio_io_remove_tree(root, &err), &err); /* nothing there is fine */
    assert_int_equal(symlink(keep, root), 0);
    assert_ok(wio_io_remove_tree(root, &err), &err); /* the link itself */
    assert_int_equal(access(inside, F_OK), 0);
    free(deep);
    free(root);
    free(keep);
    free(inside);
    free(link);
    free(file);
}

static int open_errno(int dir, const char *name, int flags)
{
    int fd = wio_io_open_regular(dir, name, flags);
    int result = fd < 0 ? errno : 0;
    wio_fd_cleanup(&fd);
    return result;
}

static void only_regular_files_are_opened(void **state)
{
    (void)state;
    char *file = wio_test_path("regular");
    char *link = wio_test_path("link-to-regular");
    char *fifo = wio_test_path("fifo");
    wio_test_write(file, "x", 1);
    assert_int_equal(symlink("regular", link), 0);
    assert_int_equal(mkfifo(fifo, 0600), 0);
    int dir = open(wio_test_dir(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(open_errno(dir, "regular", O_NOFOLLOW), 0);
    assert_int_equal(open_errno(dir, "link-to-regular", 0), 0);
    assert_int_equal(open_errno(dir, "link-to-regular", O_NOFOLLOW), ELOOP);
    assert_int_equal(open_errno(dir, "fifo", 0), EINVAL);
    assert_int_equal(open_errno(dir, ".", 0), EISDIR);
    assert_int_equal(open_errno(dir, "nothing", 0), ENOENT);
    assert_int_equal(open_errno(AT_FDCWD, "/dev/null", 0), EINVAL);
    assert_int_equal(close(dir), 0);
    free(file);
    free(link);
    free(fifo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_reads_and_writes),
        cmocka_unit_test(writing_nothing_ends),
        cmocka_unit_test(files_are_read_whole),
        cmocka_unit_test(directories_are_made),
        cmocka_unit_test(trees_are_removed_and_links_are_not_followed),
        cmocka_unit_test(only_regular_files_are_opened),
    };
    return WIO_RUN(tests);
}
