/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/race_kind.h"

#include <errno.h>
#include <fcntl.h>

#include "ops/calls.h"
#include "ops/lookup.h"
#include "replay/initial/meta_request.h"

/* ---- what an operation changes ---- */

static void change_of_open(const struct wio_event *event, struct rp_race_change *change)
{
    int flags = wio_open_flags(event);
    bool is_made = (flags & O_CREAT) != 0;
    change->makes = is_made && (flags & O_EXCL) != 0;
    change->may_make = is_made && !change->makes;
    change->cuts = (flags & O_TRUNC) != 0;
    change->kinds = is_made ? RP_RACE_IN(RP_RACE_NAMES) : 0;
    change->kinds |= change->cuts ? RP_RACE_IN(RP_RACE_SIZE) : 0;
}

static void change_of_write(const struct wio_event *event, struct rp_race_change *change)
{
    change->kinds = RP_RACE_IN(RP_RACE_SIZE);
    change->extends = true;
    change->end = event->offset == WIO_NO_OFFSET || event->result < 0
                      ? UINT64_MAX
                      : (uint64_t)event->offset + (uint64_t)event->result;
}

static void change_of_size(const struct wio_event *event, struct rp_race_change *change)
{
    bool is_room = event->op != WIO_OP_truncate && event->op != WIO_OP_ftruncate;
    change->kinds = RP_RACE_IN(RP_RACE_SIZE);
    change->cuts = !is_room;
    change->extends = true;
    change->end = is_room ? (uint64_t)event->offset + event->size : event->size;
}

/* A file comes, or goes; by a rename another one with another length. */
static void change_of_name(const struct wio_event *event, bool is_made,
                           struct rp_race_change *change)
{
    bool is_rename = wio_op_class(event->op) == WIO_CLASS_RENAME;
    change->kinds = RP_RACE_IN(RP_RACE_NAMES) | (is_rename ? RP_RACE_IN(RP_RACE_SIZE) : 0);
    change->makes = is_made;
    change->removes = !is_made;
    change->moves = is_rename;
}

/* Owners are changed too, but only root can do that. */
static void change_of_attr(const struct wio_event *event, struct rp_race_change *change)
{
    if (event->op == WIO_OP_chmod || event->op == WIO_OP_lchmod || event->op == WIO_OP_fchmod) {
        change->kinds = RP_RACE_IN(RP_RACE_MODE);
        change->mode = event->arg[0];
    }
}

bool rp_race_change_of(const struct wio_event *event, bool is_second, struct rp_race_change *change)
{
    struct wio_event call;
    event = rp_request_call(event, &call) ? &call : event;
    enum wio_class cls = wio_op_class(event->op);
    *change = (struct rp_race_change){.name = is_second ? event->path2 : event->path};
    if (event->error != 0 || (is_second && cls != WIO_CLASS_RENAME && cls != WIO_CLASS_LINK)) {
        return false;
    }
    switch ((int)cls) {
    case WIO_CLASS_OPEN:
        change_of_open(event, change);
        break;
    case WIO_CLASS_WRITE:
    case WIO_CLASS_ASYNC_WRITE:
    case WIO_CLASS_COPY:
        change_of_write(event, change);
        break;
    case WIO_CLASS_SIZE:
        change_of_size(event, change);
        break;
    case WIO_CLASS_UNLINK:
        change_of_name(event, false, change);
        break;
    case WIO_CLASS_RENAME:
        change_of_name(event, is_second, change);
        break;
    case WIO_CLASS_LINK:
        if (is_second) {
            change_of_name(event, true, change);
        }
        break;
    case WIO_CLASS_SYMLINK:
    case WIO_CLASS_MKDIR:
    case WIO_CLASS_MKNOD:
        change_of_name(event, true, change);
        break;
    case WIO_CLASS_ATTR:
        change_of_attr(event, change);
        break;
    default:
        break;
    }
    return change->kinds != 0;
}

/* ---- do two leave another state in another order? ---- */

static bool names_conflict(const struct rp_race_change *a, const struct rp_race_change *b)
{
    return ((a->makes || a->may_make) && b->removes) || ((b->makes || b->may_make) && a->removes);
}

/* A length that is set, and another that is set or reached. Where none is set the longest stays. */
static bool lengths_conflict(const struct rp_race_change *a, const struct rp_race_change *b)
{
    if (a->moves || b->moves) {
        return true;
    }
    if (a->cuts && b->cuts) {
        return a->end != b->end;
    }
    return (a->cuts && b->end > a->end) || (b->cuts && a->end > b->end);
}

bool rp_race_conflict(enum rp_race_kind kind, const struct rp_race_change *a,
                      const struct rp_race_change *b)
{
    switch (kind) {
    case RP_RACE_SIZE:
        return lengths_conflict(a, b);
    case RP_RACE_NAMES:
        return names_conflict(a, b);
    case RP_RACE_ENTRIES:
        return a->name == b->name && names_conflict(a, b);
    case RP_RACE_MODE:
        return a->mode != b->mode;
    case RP_RACE_NONE:
        break;
    }
    return false;
}

/* ---- which way did it differ? ---- */

/* Does it fail where the name is there? */
static bool is_maker(const struct wio_event *event)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_MKDIR:
    case WIO_CLASS_MKNOD:
    case WIO_CLASS_SYMLINK:
        return true;
    case WIO_CLASS_OPEN:
        return wio_open_is_exclusive(event);
    default:
        return false;
    }
}

static enum rp_race_state name_state(const struct wio_event *event, int error)
{
    bool may_make =
        wio_op_class(event->op) == WIO_CLASS_OPEN && (wio_open_flags(event) & O_CREAT) != 0;
    bool is_two =
        wio_op_class(event->op) == WIO_CLASS_RENAME || wio_op_class(event->op) == WIO_CLASS_LINK;
    if (error == 0) {
        return is_maker(event) ? RP_RACE_LESS : may_make ? RP_RACE_UNKNOWN : RP_RACE_MORE;
    }
    if (error == ENOENT) {
        return is_two ? RP_RACE_UNKNOWN : RP_RACE_LESS;
    }
    return error == EEXIST && !is_two ? RP_RACE_MORE : RP_RACE_UNKNOWN;
}

/* The directory of the name. */
static enum rp_race_state parent_state(const struct wio_event *event, int error)
{
    if (error == 0 || error == EEXIST || error == ENOTEMPTY || error == EISDIR) {
        return RP_RACE_MORE;
    }
    return error == ENOENT && is_maker(event) ? RP_RACE_LESS : RP_RACE_UNKNOWN;
}

static enum rp_race_state entries_state(const struct wio_event *event, int error)
{
    if (error == ENOTEMPTY) {
        return RP_RACE_MORE;
    }
    bool is_removed = wio_op_class(event->op) == WIO_CLASS_UNLINK;
    return error == 0 && is_removed ? RP_RACE_LESS : RP_RACE_UNKNOWN;
}

enum rp_race_state rp_race_state_of(enum rp_race_kind kind, const struct wio_event *event,
                                    int error, bool is_parent)
{
    struct wio_event call;
    event = rp_request_call(event, &call) ? &call : event;
    if (kind == RP_RACE_NAMES) {
        return is_parent ? parent_state(event, error) : name_state(event, error);
    }
    return kind == RP_RACE_ENTRIES ? entries_state(event, error) : RP_RACE_UNKNOWN;
}

/* Does the state change so, if the change comes between? */
static bool can_come_between(bool gives, bool takes, enum rp_race_state before,
                             enum rp_race_state after)
{
    return (gives && before != RP_RACE_MORE && after != RP_RACE_LESS) ||
           (takes && before != RP_RACE_LESS && after != RP_RACE_MORE);
}

bool rp_race_explains(enum rp_race_kind kind, const struct rp_race_change *change,
                      enum rp_race_side side, enum rp_race_state in_trace,
                      enum rp_race_state in_replay)
{
    bool is_length = kind == RP_RACE_SIZE;
    bool is_mode = kind == RP_RACE_MODE;
    bool gives = is_mode ||
                 (is_length ? change->extends || change->moves : change->makes || change->may_make);
    bool takes = is_mode || (is_length ? change->cuts || change->moves : change->removes);
    if (in_trace != RP_RACE_UNKNOWN && in_trace == in_replay) {
        return false;
    }
    /* what came before it in the trace and not in the replay is undone there */
    return (side != RP_RACE_BEFORE && can_come_between(gives, takes, in_trace, in_replay)) ||
           (side != RP_RACE_AFTER && can_come_between(gives, takes, in_replay, in_trace));
}

/* ---- mismatches ---- */

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

bool rp_race_is_fault(const struct wio_replay_mismatch *mismatch)
{
    switch (mismatch->got_error) {
    case EIO:
    case EFBIG:
    case EPERM:
    case ENOSPC:
    case EDQUOT:
    case EROFS:
        return true;
    default:
        return false;
    }
}
