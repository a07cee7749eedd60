/* SPDX-License-Identifier: Apache-2.0 */
/* What an operation does to names, lengths, entries and modes. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "ops/lookup.h"
#include "replay/initial/file_order_internal.h"
#include "replay/initial/meta_request.h"

/* ---- names ---- */

static bool is_about_name(int error)
{
    return error == 0 || error == ENOENT || error == EEXIST;
}

/* How the name is after the operation, if it takes one and worked. */
static enum presence made_of(const struct wio_event *event, bool is_second)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_MKDIR:
    case WIO_CLASS_MKNOD:
    case WIO_CLASS_SYMLINK:
        return PRESENT;
    case WIO_CLASS_UNLINK:
        return ABSENT;
    case WIO_CLASS_RENAME:
        return is_second ? PRESENT : ABSENT;
    case WIO_CLASS_LINK:
        return is_second ? PRESENT : UNKNOWN;
    default:
        return UNKNOWN;
    }
}

/* How it was before that, where the result tells. */
static enum presence needed_by(const struct wio_event *event, bool is_second)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_MKDIR:
    case WIO_CLASS_MKNOD:
    case WIO_CLASS_SYMLINK:
    case WIO_CLASS_LINK:
        return ABSENT;
    case WIO_CLASS_OPEN:
        return (wio_open_flags(event) & O_EXCL) != 0 ? ABSENT : UNKNOWN;
    case WIO_CLASS_UNLINK:
        return PRESENT;
    case WIO_CLASS_RENAME:
        return is_second ? UNKNOWN : PRESENT;
    default:
        return UNKNOWN;
    }
}

static bool may_make(const struct wio_event *event)
{
    return wio_op_class(event->op) == WIO_CLASS_OPEN && (wio_open_flags(event) & O_CREAT) != 0;
}

static size_t parent_bytes(const char *name)
{
    const char *end = strrchr(name, '/');
    return end == NULL ? 0 : (size_t)(end - name);
}

static enum wio_status see_entries(struct rp_file_order *order, struct step step, const char *name,
                                   size_t bytes, enum access access)
{
    struct rp_name_state *state;
    if (order->is_needed_only) {
        return WIO_OK;
    }
    WIO_TRY(rp_name_state_of(order, name, bytes, ENTRIES, &state));
    step.access = (uint8_t)access;
    step.after = UNKNOWN;
    return rp_name_meet(order, state, &step);
}

static enum wio_status see_name(struct rp_file_order *order, const struct wio_event *event,
                                struct step step, const char *name, bool is_second)
{
    struct rp_name_state *state;
    if (name[0] != '/' || !is_about_name(event->error) ||
        (order->is_needed_only && event->error != 0)) {
        return WIO_OK;
    }
    WIO_TRY(rp_name_state_of(order, name, strlen(name), NAME, &state));
    enum presence made = event->error == 0 ? made_of(event, is_second) : UNKNOWN;
    bool is_made = event->error == 0 && may_make(event) &&
                   (state->presence != PRESENT || (wio_open_flags(event) & O_EXCL) != 0);
    step.after = (uint8_t)(event->error == ENOENT ? ABSENT : PRESENT);
    if (made != UNKNOWN || is_made) {
        WIO_TRY(see_entries(order, step, name, parent_bytes(name), EXTENDS));
        WIO_TRY(rp_name_state_of(order, name, strlen(name), NAME, &state)); /* it may have moved */
        step.access = CHANGES;
        step.needs = (uint8_t)needed_by(event, is_second);
        step.after = (uint8_t)(made == UNKNOWN ? PRESENT : made);
    }
    return rp_name_meet(order, state, &step);
}

/* The directory of a name is looked up with it. */
static enum wio_status see_parent(struct rp_file_order *order, const struct wio_event *event,
                                  struct step step, const char *name)
{
    struct rp_name_state *state;
    size_t bytes = parent_bytes(name);
    if (name[0] != '/' || bytes == 0 || event->error != 0) {
        return WIO_OK;
    }
    WIO_TRY(rp_name_state_of(order, name, bytes, NAME, &state));
    step.after = PRESENT;
    return rp_name_meet(order, state, &step);
}

/* ---- lengths ---- */

static bool cuts(const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    return cls == WIO_CLASS_SIZE ||
           (cls == WIO_CLASS_OPEN && (wio_open_flags(event) & O_TRUNC) != 0);
}

static bool meets_end(const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    return (cls == WIO_CLASS_STAT && S_ISREG((mode_t)event->arg[1])) ||
           (cls == WIO_CLASS_READ && event->result >= 0 && event->size != WIO_NO_SIZE &&
            (uint64_t)event->result < event->size);
}

static uint64_t written_end(const struct wio_event *event)
{
    return event->offset == WIO_NO_OFFSET ? UINT64_MAX
                                          : (uint64_t)event->offset + (uint64_t)event->result;
}

static bool is_write(const struct wio_event *event)
{
    return wio_op_class(event->op) == WIO_CLASS_WRITE && event->result > 0;
}

static enum wio_status see_length(struct rp_file_order *order, const struct wio_event *event,
                                  struct step step, const char *name)
{
    struct rp_name_state *state;
    bool is_cut = cuts(event);
    if (order->is_needed_only || name[0] != '/' || event->error != 0 ||
        (!is_cut && !meets_end(event) && !is_write(event))) {
        return WIO_OK;
    }
    WIO_TRY(rp_name_state_of(order, name, strlen(name), LENGTH, &state));
    if (is_write(event)) {
        uint64_t end = written_end(event);
        if (end <= state->length) {
            return WIO_OK;
        }
        state->length = end == UINT64_MAX ? state->length : end;
        step.access = EXTENDS;
    } else if (is_cut) {
        state->length = 0;
        step.access = CHANGES;
    }
    return rp_name_meet(order, state, &step);
}

/* ---- modes ---- */

#define OWNER_BITS 0700

static bool sets_mode(const struct wio_event *event)
{
    return event->op == WIO_OP_chmod || event->op == WIO_OP_lchmod || event->op == WIO_OP_fchmod;
}

/* Of a file that is there; of one that the call makes the mode says nothing. */
static bool meets_mode(const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    return (cls == WIO_CLASS_ACCESS && event->arg[0] != F_OK) ||
           (cls == WIO_CLASS_OPEN && (wio_open_flags(event) & O_EXCL) == 0);
}

static enum wio_status see_mode(struct rp_file_order *order, const struct wio_event *event,
                                struct step step, const char *name)
{
    struct rp_name_state *state;
    bool is_set = sets_mode(event);
    if (name[0] != '/' || event->error != 0 || (!is_set && !meets_mode(event))) {
        return WIO_OK;
    }
    WIO_TRY(rp_name_state_of(order, name, strlen(name), MODE, &state));
    if (is_set) {
        mode_t granted = (mode_t)event->arg[0] & OWNER_BITS;
        step.access = CHANGES;
        step.after = (uint8_t)(granted == OWNER_BITS ? PRESENT : granted == 0 ? ABSENT : UNKNOWN);
    } else {
        step.after = PRESENT;
    }
    return rp_name_meet(order, state, &step);
}

/* ---- all of it ---- */

enum wio_status rp_file_order_see(struct rp_file_order *order, const struct wio_event *event,
                                  const char *path, const char *path2)
{
    const struct step step = {.stream = event->stream,
                              .seq = event->seq,
                              .t_ns = event->t_ns,
                              .end_ns = event->t_ns + event->dur_ns + 1};
    struct wio_event call;
    if (rp_request_call(event, &call)) {
        event = &call;
    }
    order->barrier_ns = UINT64_MAX;
    enum wio_class cls = wio_op_class(event->op);
    bool is_pair = cls == WIO_CLASS_RENAME || cls == WIO_CLASS_LINK;
    if ((wio_class_properties(cls) & WIO_DOES_BY_NAME) != 0 &&
        (event->fd < 0 || cls == WIO_CLASS_OPEN)) {
        WIO_TRY(see_parent(order, event, step, path));
        WIO_TRY(see_name(order, event, step, path, false));
        if (is_pair) {
            WIO_TRY(see_parent(order, event, step, path2));
            WIO_TRY(see_name(order, event, step, path2, true));
        }
    }
    WIO_TRY(see_mode(order, event, step, path));
    if (cls == WIO_CLASS_READDIR && path[0] == '/') {
        return see_entries(order, step, path, strlen(path), LOOKS);
    }
    return see_length(order, event, step, path);
}
