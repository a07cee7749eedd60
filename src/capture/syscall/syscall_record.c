/* SPDX-License-Identifier: Apache-2.0 */
/* Recording a system call by its rule. */
#include <linux/openat2.h>
#include <sys/syscall.h>

#include "capture/files/hooks.h"
#include "capture/syscall/syscall.h"

struct record {
    struct cap_thread *self;
    const struct wio_raw_rule *rule;
    const long *arg;
    struct cap_event ev;
    struct cap_ext ext;
    bool has_ext;
};

static void *pointer(const struct record *r, unsigned number)
{
    return (void *)(uintptr_t)r->arg[number]; /* arg[0] is 0 */
}

static int directory_at(const struct record *r, unsigned dirfd)
{
    return dirfd != 0 ? (int)r->arg[dirfd] : AT_FDCWD;
}

/* ---- before the call --------------------------------------------------------------------------
 */

/* What must be known or done while the old state is there. False: the call is refused (EBADF). */
static bool prepare(struct record *r)
{
    const struct wio_raw_rule *rule = r->rule;
    if (rule->fd != 0) {
        r->ev.fd = (int)r->arg[rule->fd];
        if (cap_fd_is_ours_maybe(r->ev.fd)) {
            return false;
        }
    }
    if (rule->kind == WIO_RAW_CLOSE) {
        r->ev.path = r->self != NULL ? cap_fd_path(r->self, r->ev.fd) : WIO_NO_STRING;
        cap_fd_clear(r->ev.fd);
    } else if (rule->kind == WIO_RAW_DUP && rule->arg[0] != 0) {
        cap_fd_make_room(r->ev.fd, (int)r->arg[rule->arg[0]]);
    } else if (rule->kind == WIO_RAW_FORK) {
        cap_fd_share_all(false);
    }
    return true;
}

/* ---- after it ---------------------------------------------------------------------------------
 */

static void set_names(struct record *r)
{
    const struct wio_raw_rule *rule = r->rule;
    if (rule->path != 0) {
        r->ev.path =
            cap_path_of(r->self, directory_at(r, rule->dirfd), pointer(r, rule->path), r->ev.error);
    } else if (rule->fd != 0 && rule->kind != WIO_RAW_CLOSE) {
        r->ev.path = cap_fd_path(r->self, r->ev.fd);
    }
    if (rule->path2 != 0) {
        r->ext.path2 = cap_path2_of(r->self, directory_at(r, rule->dirfd2), pointer(r, rule->path2),
                                    r->ev.error);
        r->has_ext = true;
    }
    if (rule->fd2 != 0) {
        r->ext.fd2 = (int)r->arg[rule->fd2];
        r->ext.path2 = cap_fd_path(r->self, r->ext.fd2);
        r->has_ext = true;
    }
}

static void set_numbers(struct record *r)
{
    const struct wio_raw_rule *rule = r->rule;
    if (rule->size != 0) {
        r->ev.size = (uint64_t)r->arg[rule->size];
    }
    if (rule->offset != 0) {
        r->ev.offset = r->arg[rule->offset];
    }
    for (unsigned i = 0; i < 4; i++) {
        if (rule->arg[i] != 0) {
            r->ext.arg[i] = r->arg[rule->arg[i]];
            r->has_ext = true;
        }
    }
}

/* The classes whose first two arguments stand in the place of offset and size. */
static void make_short(struct record *r)
{
    r->ev.offset = r->ext.arg[0];
    r->ev.size = (uint64_t)r->ext.arg[1];
    r->has_ext = false;
}

static void set_opened(struct record *r)
{
    if (r->rule->kind == WIO_RAW_CREAT) {
        r->ext.arg[0] = O_CREAT | O_WRONLY | O_TRUNC;
    } else if (r->rule->kind == WIO_RAW_OPENAT2) {
        const struct open_how *how = pointer(r, r->rule->extra);
        bool is_given = cap_may_read(how, r->ev.error);
        r->ext.arg[0] = is_given ? (int64_t)how->flags : 0;
        r->ext.arg[1] = is_given ? (int64_t)how->mode : 0;
    }
    if ((r->ext.arg[0] & (O_CREAT | __O_TMPFILE)) == 0) {
        r->ext.arg[1] = 0;
    }
    make_short(r);
    if (r->ev.result >= 0) {
        cap_fd_set((int)r->ev.result, r->ev.path, (int)r->ev.offset);
    }
}

static void set_vector(struct record *r)
{
    const struct iovec *vector = pointer(r, r->rule->extra);
    r->ev.size = cap_iov_bytes(vector, (size_t)r->arg[r->rule->extra2], r->ev.error);
    if (r->rule->offset == 0 || r->ev.offset == -1) {
        r->ev.offset = cap_fd_advance(r->ev.fd, r->ev.result);
    }
    r->has_ext = true;
}

static void set_copy(struct record *r)
{
    const int64_t *to = pointer(r, r->rule->extra);
    const int64_t *from = pointer(r, r->rule->extra2);
    r->ev.offset = cap_copy_offset(r->ev.fd, to, r->ev.result, CAP_COPY_OUT);
    r->ext.offset2 = cap_copy_offset(r->ext.fd2, from, r->ev.result, CAP_COPY_IN);
}

static void set_stat(struct record *r)
{
    r->has_ext = true;
    if (r->ev.result == 0 && r->rule->kind == WIO_RAW_STAT) {
        const struct stat *st = pointer(r, r->rule->extra);
        CAP_STAT_ARGS(&r->ext, st);
    } else if (r->ev.result == 0) {
        cap_after_statx(r->self, &r->ev, &r->ext, pointer(r, r->rule->extra));
    }
}

static void set_duplicate(struct record *r)
{
    make_short(r);
    if (r->ev.result >= 0) {
        bool is_cloexec = ((int)r->ev.size & O_CLOEXEC) != 0;
        cap_fd_dup(r->self, r->ev.fd, (int)r->ev.result, is_cloexec);
    }
}

static void set_text(struct record *r)
{
    const char *text = pointer(r, r->rule->extra);
    r->has_ext = true;
    if (r->rule->kind == WIO_RAW_TEXT_OUT) {
        r->ext.path2 = cap_text_of(r->self, r->ev.error, text, r->ev.result);
    } else {
        r->ext.path2 = cap_string_of(r->self, r->ev.error, text);
    }
}

static void set_transferred(struct record *r)
{
    r->ev.offset = cap_fd_advance(r->ev.fd, r->ev.result);
}

static void set_position(struct record *r)
{
    cap_after_seek(r->self, &r->ev, &r->ext, r->ev.fd);
}

static void set_times(struct record *r)
{
    void *times = pointer(r, r->rule->extra);
    r->has_ext = true;
    if (r->rule->kind == WIO_RAW_TIMES) {
        cap_after_timespecs(r->self, &r->ev, &r->ext, times);
    } else if (r->rule->kind == WIO_RAW_TIMEVALS) {
        cap_after_timevals(r->self, &r->ev, &r->ext, times);
    } else {
        cap_after_utimbuf(r->self, &r->ev, &r->ext, times);
    }
}

static void set_directory(struct record *r)
{
    cap_after_chdir(r->self, &r->ev, &r->ext);
}

static void set_pair(struct record *r)
{
    r->has_ext = true;
    cap_channel_pair(r->self, &r->ev, &r->ext, pointer(r, r->rule->extra));
}

static void set_new_fd(struct record *r)
{
    cap_channel_made(r->self, &r->ev);
}

static void set_memory_file(struct record *r)
{
    make_short(r);
    cap_after_memfd(r->self, &r->ev, &r->ext, (unsigned)r->ev.offset);
}

static void set_child(struct record *r)
{
    make_short(r);
    r->ev.size = r->ev.result > 0 ? (uint64_t)r->ev.result : 0;
}

/* What is particular to a kind, after the fields that the rule names; none for the others. */
static void (*const setters[])(struct record *) = {
    [WIO_RAW_SHORT] = make_short,  [WIO_RAW_OPEN] = set_opened,
    [WIO_RAW_CREAT] = set_opened,  [WIO_RAW_OPENAT2] = set_opened,
    [WIO_RAW_DUP] = set_duplicate, [WIO_RAW_POSITION] = set_transferred,
    [WIO_RAW_VECTOR] = set_vector, [WIO_RAW_SEEK] = set_position,
    [WIO_RAW_STAT] = set_stat,     [WIO_RAW_STATX] = set_stat,
    [WIO_RAW_TEXT] = set_text,     [WIO_RAW_TEXT_OUT] = set_text,
    [WIO_RAW_TIMES] = set_times,   [WIO_RAW_TIMEVALS] = set_times,
    [WIO_RAW_UTIMBUF] = set_times, [WIO_RAW_CHDIR] = set_directory,
    [WIO_RAW_COPY] = set_copy,     [WIO_RAW_PAIR] = set_pair,
    [WIO_RAW_NEW_FD] = set_new_fd, [WIO_RAW_MEMFD] = set_memory_file,
    [WIO_RAW_FORK] = set_child,    [WIO_RAW_SPECIAL] = NULL,
};

static void emit(struct record *r)
{
    set_names(r);
    set_numbers(r);
    if (setters[r->rule->kind] != NULL) {
        setters[r->rule->kind](r);
    }
    if (r->has_ext) {
        cap_emit_ext(r->self, &r->ev, &r->ext);
    } else {
        cap_emit(r->self, &r->ev);
    }
}

static struct cap_thread *enter(const struct cap_raw_call *call)
{
    const struct wio_raw_rule *rule = call->rule;
    if (rule->fd != 0) {
        return cap_enter_fd(call->source, rule->call, (int)call->arg[rule->fd]);
    }
    const char *path = rule->path != 0 ? (const char *)(uintptr_t)call->arg[rule->path] : NULL;
    return path != NULL ? cap_enter_path(call->source, rule->call, path)
                        : cap_enter(call->source, rule->call);
}

static long record_call(const struct cap_raw_call *call)
{
    const struct wio_raw_rule *rule = call->rule;
    if (rule->kind == WIO_RAW_FUTEX) {
        return cap_raw_futex(call);
    }
    struct record r = {.self = enter(call), .rule = rule, .arg = call->arg, .ext = CAP_EXT};
    if (rule->kind == WIO_RAW_SPECIAL) {
        return r.self != NULL ? cap_raw_special(r.self, call) : cap_raw_special_hidden(call);
    }
    r.ev = CAP_EVENT_OF(rule->call, call->source);
    r.ev.flags = WIO_EVENT_RAW;
    if (!prepare(&r)) {
        errno = EBADF;
        return -1;
    }
    if (rule->kind == WIO_RAW_CHDIR && r.self != NULL) {
        cap_before_chdir(r.self);
    }
    r.ev.begin = cap_begin(r.self);
    long result = cap_raw_perform(call);
    if (r.self != NULL && !(rule->kind == WIO_RAW_FORK && result == 0)) {
        r.ev.end = cap_now();
        r.ev.result = result;
        r.ev.error = result < 0 ? errno : 0;
        emit(&r);
    }
    return result;
}

/* Reached by a jump from syscall() itself: same arguments, and the caller's return address. */
CAP_HIDDEN long cap_syscall_recorded(long number, long a, long b, long c, long d, long e, long f);

/* NOLINTNEXTLINE(readability-function-size): as many as the kernel takes */
long cap_syscall_recorded(long number, long a, long b, long c, long d, long e, long f)
{
    /* A clone that is no more than a fork: the others do not come here. */
    static const struct wio_raw_rule fork_rule = {.call = WIO_CALL_clone, .kind = WIO_RAW_FORK};
    struct wio_raw_rule as_clone = fork_rule;
    struct cap_raw_call call = {NULL, {0, a, b, c, d, e, f}, CAP_CALLER()};
    uint8_t place = cap_syscall_index[number];
    if (place == CAP_SYSCALL_CLONE) {
        as_clone.number = (uint16_t)number;
        call.rule = &as_clone;
    } else {
        call.rule = &cap_syscall_rules[place];
    }
    return record_call(&call);
}
