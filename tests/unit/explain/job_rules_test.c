/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "explain/job_accounts.h"
#include "ops/calls.h"

/* What an operation on two files, or on none, counts as: names, joined by blanks. */
static const char *ops_of(enum wio_op op, int64_t argument, const struct wio_job_event_facts *facts)
{
    static char text[128];
    const struct wio_event event = {.op = (uint16_t)op, .arg = {argument}};
    enum wio_job_op ops[WIO_JOB_OPS_MOST];
    const unsigned count = wio_job_event_ops(&event, facts, ops);
    assert_true(count <= WIO_JOB_OPS_MOST);
    text[0] = '\0';
    for (unsigned i = 0; i < count; i++) {
        assert_true(strlen(text) + strlen(wio_job_op_name(ops[i])) + 2 < sizeof(text));
        strncat(text, i > 0 ? " " : "", sizeof(text) - strlen(text) - 1);
        strncat(text, wio_job_op_name(ops[i]), sizeof(text) - strlen(text) - 1);
    }
    return text;
}

static void each_operation_has_its_name(void **state)
{
    (void)state;
    static const struct {
        enum wio_op op;
        int64_t argument;
        const char *names;
    } rows[] = {
        {WIO_OP_fopen, 0, "open"},
        {WIO_OP_fclose, 0, "close"},
        {WIO_OP_preadv, 0, "read read_bytes"},
        {WIO_OP_uring_write, 0, "write write_bytes"},
        {WIO_OP_fdatasync, 0, "sync"},
        {WIO_OP_aio_fsync, 0, "sync"},
        {WIO_OP_truncate, 0, "punch"},
        {WIO_OP_fallocate, 0, "fallocate"},
        {WIO_OP_fallocate, 3, "punch"},
        {WIO_OP_posix_fallocate, 0, "fallocate"},
        {WIO_OP_statx, 0, "getattr"},
        {WIO_OP_access, 0, "getattr"},
        {WIO_OP_readlink, 0, "getattr"},
        {WIO_OP_statvfs, 0, "statfs"},
        {WIO_OP_chown, 0, "setattr"},
        {WIO_OP_futimens, 0, "setattr"},
        {WIO_OP_umask, 0, ""},
        {WIO_OP_listxattr, 0, "getxattr"},
        {WIO_OP_lsetxattr, 0, "setxattr"},
        {WIO_OP_removexattr, 0, "setxattr"},
        {WIO_OP_mkdtemp, 0, "mkdir"},
        {WIO_OP_rmdir, 0, "rmdir"},
        {WIO_OP_unlink, 0, "unlink"},
        {WIO_OP_unlink, AT_REMOVEDIR, "rmdir"},
        {WIO_OP_link, 0, "link"},
        {WIO_OP_symlink, 0, "mknod"},
        {WIO_OP_mkfifo, 0, "mknod"},
        {WIO_OP_getdents, 0, "readdir"},
        {WIO_OP_uring_unlink, 0, "unlink"},
        {WIO_OP_uring_rename, 0, "rename crossdir_rename"},
        {WIO_OP_uring_other, 0, ""},
        {WIO_OP_fread, 0, ""}, /* the read that it causes counts */
        {WIO_OP_fflush, 0, ""},
        {WIO_OP_lseek, 0, ""},
        {WIO_OP_mmap, 0, ""},
        {WIO_OP_flock, 0, ""},
        {WIO_OP_fork, 0, ""},
        {WIO_OP_MPI_File_write, 0, ""},
    };
    const struct wio_job_event_facts file = {.is_file = true};
    const struct wio_job_event_facts none = {.is_file = false};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_string_equal(ops_of(rows[i].op, rows[i].argument, &file), rows[i].names);
        assert_string_equal(ops_of(rows[i].op, rows[i].argument, &none), "");
    }
}

static void two_files_count_each(void **state)
{
    (void)state;
    struct wio_job_event_facts facts = {.is_file = true, .is_file2 = true, .is_same_dir = true};
    assert_string_equal(ops_of(WIO_OP_rename, 0, &facts), "rename samedir_rename");
    facts.is_same_dir = false;
    assert_string_equal(ops_of(WIO_OP_rename, 0, &facts), "rename crossdir_rename");
    assert_string_equal(ops_of(WIO_OP_copy_file_range, 0, &facts),
                        "write write_bytes read read_bytes");
    facts.is_file = false; /* to a socket */
    assert_string_equal(ops_of(WIO_OP_sendfile, 0, &facts), "read read_bytes");
    facts = (struct wio_job_event_facts){.is_file = true};
    assert_string_equal(ops_of(WIO_OP_splice, 0, &facts), "write write_bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_operation_has_its_name),
        cmocka_unit_test(two_files_count_each),
    };
    return WIO_RUN(tests);
}
