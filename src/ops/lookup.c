/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/lookup.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <whyio/ops.h>

int wio_open_flags(const struct wio_event *event)
{
    switch (event->op) {
    case WIO_OP_creat:
        return O_CREAT | O_WRONLY | O_TRUNC;
    case WIO_OP_mkstemp:
    case WIO_OP_mkostemp:
    case WIO_OP_mkstemps:
    case WIO_OP_mkostemps:
        return O_CREAT | O_EXCL | O_RDWR | ((int)event->arg[0] & ~O_ACCMODE);
    case WIO_OP_tmpfile:
        return O_TMPFILE | O_RDWR | O_EXCL;
    case WIO_OP_opendir:
        return O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK;
    default:
        return (int)event->arg[0];
    }
}

bool wio_open_is_exclusive(const struct wio_event *event)
{
    return (wio_open_flags(event) & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL);
}

bool wio_op_opens_temporary(unsigned op)
{
    switch (op) {
    case WIO_OP_mkstemp:
    case WIO_OP_mkostemp:
    case WIO_OP_mkstemps:
    case WIO_OP_mkostemps:
    case WIO_OP_tmpfile:
        return true;
    default:
        return false;
    }
}

static bool lacks(int64_t flags, int flag)
{
    return (flags & flag) == 0;
}

static bool attr_follows(const struct wio_event *event)
{
    switch (event->op) {
    case WIO_OP_lchmod:
    case WIO_OP_lchown:
    case WIO_OP_lutimes:
        return false;
    case WIO_OP_chmod:
        return lacks(event->arg[1], AT_SYMLINK_NOFOLLOW);
    case WIO_OP_chown:
        return lacks(event->arg[2], AT_SYMLINK_NOFOLLOW);
    case WIO_OP_utimens:
        return event->size != WIO_NO_SIZE && lacks((int64_t)event->size, AT_SYMLINK_NOFOLLOW);
    default:
        return true;
    }
}

static bool xattr_follows(unsigned op)
{
    return op != WIO_OP_lgetxattr && op != WIO_OP_lsetxattr && op != WIO_OP_llistxattr &&
           op != WIO_OP_lremovexattr;
}

bool wio_event_follows_links(const struct wio_event *event)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_OPEN:
        return lacks(wio_open_flags(event), O_NOFOLLOW) && !wio_open_is_exclusive(event);
    case WIO_CLASS_STAT:
        return event->op != WIO_OP_lstat && lacks(event->arg[0], AT_SYMLINK_NOFOLLOW);
    case WIO_CLASS_ACCESS:
        return lacks(event->arg[1], AT_SYMLINK_NOFOLLOW);
    case WIO_CLASS_READLINK:
        return event->op == WIO_OP_realpath;
    case WIO_CLASS_XATTR:
        return xattr_follows(event->op);
    case WIO_CLASS_ATTR:
        return attr_follows(event);
    case WIO_CLASS_LINK:
        return !lacks(event->arg[0], AT_SYMLINK_FOLLOW);
    case WIO_CLASS_UNLINK:
    case WIO_CLASS_RENAME:
    case WIO_CLASS_SYMLINK:
    case WIO_CLASS_MKDIR:
    case WIO_CLASS_MKNOD:
        return false;
    default:
        return true;
    }
}
