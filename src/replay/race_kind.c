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
        return RP_RACE_IN(RP_RACE_MODE);
    default:
        return 0;
    }
}

static bool is_either(const struct wio_replay_mismatch *mismatch, int error)
{
    return mismatch->expected_error == error || mismatch->got_error == error;
}

enum rp_race_kind rp_race_kind_of(const struct wio_replay_mismatch *mismatch)
{
    if (wio_op_class(mismatch->op) == WIO_CLASS_READDIR || is_either(mismatch, ENOTEMPTY)) {
        return RP_RACE_ENTRIES;
    }
    if (is_either(mismatch, ENOENT) || is_either(mismatch, EEXIST) ||
        is_either(mismatch, ENOTDIR) || is_either(mismatch, EISDIR)) {
        return RP_RACE_NAMES;
    }
    return is_either(mismatch, EACCES) ? RP_RACE_MODE : RP_RACE_SIZE;
}
