/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/race_kind.h"

#include <errno.h>
#include <fcntl.h>

#include "ops/calls.h"
#include "ops/lookup.h"
#include "replay/initial/meta_request.h"

static unsigned changes_of_open(const struct wio_event *event)
{
    int flags = wio_open_flags(event);
    unsigned changes = (flags & O_CREAT) != 0 ? RP_RACE_IN(RP_RACE_NAMES) : 0;
    return changes | ((flags & O_TRUNC) != 0 ? RP_RACE_IN(RP_RACE_SIZE) : 0);
}

/* Owners are changed too, but only root can do that. */
static bool is_chmod(unsigned op)
{
    return op == WIO_OP_chmod || op == WIO_OP_lchmod || op == WIO_OP_fchmod;
}

unsigned rp_race_changes(const struct wio_event *event, bool *has_two_out)
{
    struct wio_event call;
    if (rp_request_call(event, &call)) {
        event = &call;
    }
    enum wio_class cls = wio_op_class(event->op);
    *has_two_out = cls == WIO_CLASS_RENAME || cls == WIO_CLASS_LINK;
    if (event->error != 0) {
        return 0;
    }
    switch ((int)cls) {
    case WIO_CLASS_OPEN:
        return changes_of_open(event);
    case WIO_CLASS_WRITE:
    case WIO_CLASS_ASYNC_WRITE:
    case WIO_CLASS_COPY:
    case WIO_CLASS_SIZE:
        return RP_RACE_IN(RP_RACE_SIZE);
    case WIO_CLASS_RENAME:
        return RP_RACE_IN(RP_RACE_SIZE) | RP_RACE_IN(RP_RACE_NAMES);
    case WIO_CLASS_UNLINK:
    case WIO_CLASS_LINK:
    case WIO_CLASS_SYMLINK:
    case WIO_CLASS_MKDIR:
    case WIO_CLASS_MKNOD:
        return RP_RACE_IN(RP_RACE_NAMES);
    case WIO_CLASS_ATTR:
        return is_chmod(event->op) ? RP_RACE_IN(RP_RACE_MODE) : 0;
    default:
        return 0;
    }
}

/* Errors that tell how a name, its directory or its rights were; 0 tells it too. Others, EIO or
 * EFBIG, are about the target. */
static bool tells_of_names(int error)
{
    return error == 0 || error == ENOENT || error == EEXIST || error == ENOTDIR ||
           error == EISDIR || error == ENOTEMPTY || error == EACCES;
}

static bool is_either(const struct wio_replay_mismatch *mismatch, int error)
{
    return mismatch->expected_error == error || mismatch->got_error == error;
}

/* Does its result depend on the length of the file? */
static bool meets_length(unsigned op)
{
    switch ((int)wio_op_class(op)) {
    case WIO_CLASS_READ:
    case WIO_CLASS_ASYNC_READ:
    case WIO_CLASS_COPY:
    case WIO_CLASS_SEEK:
    case WIO_CLASS_STAT:
        return true;
    default:
        return op == WIO_OP_uring_stat;
    }
}

enum rp_race_kind rp_race_kind_of(const struct wio_replay_mismatch *mismatch)
{
    if (!tells_of_names(mismatch->expected_error) || !tells_of_names(mismatch->got_error)) {
        return RP_RACE_NONE;
    }
    if (is_either(mismatch, ENOTEMPTY)) {
        return RP_RACE_ENTRIES;
    }
    if (is_either(mismatch, ENOENT) || is_either(mismatch, EEXIST) ||
        is_either(mismatch, ENOTDIR) || is_either(mismatch, EISDIR)) {
        return RP_RACE_NAMES;
    }
    if (is_either(mismatch, EACCES)) {
        return RP_RACE_MODE;
    }
    if (wio_op_class(mismatch->op) == WIO_CLASS_READDIR) {
        return RP_RACE_ENTRIES;
    }
    return meets_length(mismatch->op) ? RP_RACE_SIZE : RP_RACE_NONE;
}
