/* SPDX-License-Identifier: Apache-2.0 */
/* Which operations of Lustre's statistics an operation of a trace is. */
#include <fcntl.h>
#include <linux/falloc.h>

#include "explain/account.h"
#include "explain/job_accounts.h"
#include "ops/calls.h"

#define NO_OP WIO_JOB_OP_COUNT

/* Reads and writes are two: how long, and how much. */
static unsigned put_transfer(bool is_write, enum wio_job_op *ops_out)
{
    ops_out[0] = is_write ? WIO_JOB_OP_WRITE : WIO_JOB_OP_READ;
    ops_out[1] = is_write ? WIO_JOB_OP_WRITE_BYTES : WIO_JOB_OP_READ_BYTES;
    return 2;
}

static unsigned put_copy(const struct wio_job_event_facts *facts, enum wio_job_op *ops_out)
{
    unsigned count = facts->is_file ? put_transfer(true, ops_out) : 0;
    return count + (facts->is_file2 ? put_transfer(false, ops_out + count) : 0);
}

static unsigned put_rename(const struct wio_job_event_facts *facts, enum wio_job_op *ops_out)
{
    ops_out[0] = WIO_JOB_OP_RENAME;
    ops_out[1] = facts->is_same_dir ? WIO_JOB_OP_SAMEDIR_RENAME : WIO_JOB_OP_CROSSDIR_RENAME;
    return 2;
}

static enum wio_job_op size_op(const struct wio_event *event)
{
    if (event->op == WIO_OP_truncate || event->op == WIO_OP_ftruncate) {
        return WIO_JOB_OP_PUNCH;
    }
    const bool is_punch =
        event->op == WIO_OP_fallocate && (event->arg[0] & FALLOC_FL_PUNCH_HOLE) != 0;
    return is_punch ? WIO_JOB_OP_PUNCH : WIO_JOB_OP_FALLOCATE;
}

static enum wio_job_op xattr_op(unsigned op)
{
    switch (op) {
    case WIO_OP_setxattr:
    case WIO_OP_lsetxattr:
    case WIO_OP_fsetxattr:
    case WIO_OP_removexattr:
    case WIO_OP_lremovexattr:
    case WIO_OP_fremovexattr:
        return WIO_JOB_OP_SETXATTR;
    default:
        return WIO_JOB_OP_GETXATTR;
    }
}

static enum wio_job_op async_op(unsigned op)
{
    switch (op) {
    case WIO_OP_uring_open:
        return WIO_JOB_OP_OPEN;
    case WIO_OP_uring_close:
        return WIO_JOB_OP_CLOSE;
    case WIO_OP_uring_stat:
        return WIO_JOB_OP_GETATTR;
    case WIO_OP_uring_fallocate:
        return WIO_JOB_OP_FALLOCATE;
    case WIO_OP_uring_unlink:
        return WIO_JOB_OP_UNLINK;
    case WIO_OP_uring_mkdir:
        return WIO_JOB_OP_MKDIR;
    default:
        return NO_OP;
    }
}

static enum wio_job_op unlink_op(const struct wio_event *event)
{
    const bool is_dir = event->op == WIO_OP_rmdir ||
                        (event->op == WIO_OP_unlink && (event->arg[0] & AT_REMOVEDIR) != 0);
    return is_dir ? WIO_JOB_OP_RMDIR : WIO_JOB_OP_UNLINK;
}

/* Classes that are one operation each: its number and one; 0 = another rule, or none. */
#define PLAIN(op) (WIO_JOB_OP_##op + 1)
static const uint8_t plain_ops[WIO_CLASS_COUNT] = {
    [WIO_CLASS_OPEN] = PLAIN(OPEN),        [WIO_CLASS_CLOSE] = PLAIN(CLOSE),
    [WIO_CLASS_SYNC] = PLAIN(SYNC),        [WIO_CLASS_ASYNC_SYNC] = PLAIN(SYNC),
    [WIO_CLASS_STAT] = PLAIN(GETATTR),     [WIO_CLASS_ACCESS] = PLAIN(GETATTR),
    [WIO_CLASS_READLINK] = PLAIN(GETATTR), [WIO_CLASS_STATFS] = PLAIN(STATFS),
    [WIO_CLASS_READDIR] = PLAIN(READDIR),  [WIO_CLASS_MKDIR] = PLAIN(MKDIR),
    [WIO_CLASS_LINK] = PLAIN(LINK),        [WIO_CLASS_SYMLINK] = PLAIN(MKNOD),
    [WIO_CLASS_MKNOD] = PLAIN(MKNOD),      [WIO_CLASS_ATTR] = PLAIN(SETATTR),
};

static enum wio_job_op single_op(const struct wio_event *event, enum wio_class cls)
{
    if (cls == WIO_CLASS_SIZE) {
        return size_op(event);
    }
    if (cls == WIO_CLASS_XATTR) {
        return xattr_op(event->op);
    }
    if (cls == WIO_CLASS_UNLINK) {
        return unlink_op(event);
    }
    if (cls == WIO_CLASS_ASYNC_META) {
        return async_op(event->op);
    }
    if (plain_ops[cls] == 0 || event->op == WIO_OP_umask) {
        return NO_OP;
    }
    return (enum wio_job_op)(plain_ops[cls] - 1);
}

unsigned wio_job_event_ops(const struct wio_event *event, const struct wio_job_event_facts *facts,
                           enum wio_job_op *ops_out)
{
    const enum wio_class cls = wio_op_class(event->op);
    if (wio_account_is_buffered(event->op)) {
        return 0;
    }
    if (cls == WIO_CLASS_COPY) {
        return put_copy(facts, ops_out);
    }
    if (!facts->is_file) {
        return 0;
    }
    if (cls == WIO_CLASS_READ || cls == WIO_CLASS_ASYNC_READ) {
        return put_transfer(false, ops_out);
    }
    if (cls == WIO_CLASS_WRITE || cls == WIO_CLASS_ASYNC_WRITE) {
        return put_transfer(true, ops_out);
    }
    if (cls == WIO_CLASS_RENAME || event->op == WIO_OP_uring_rename) {
        return put_rename(facts, ops_out);
    }
    ops_out[0] = single_op(event, cls);
    return ops_out[0] != NO_OP ? 1 : 0;
}
