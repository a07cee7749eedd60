/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/record.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <utime.h>

#include <whyio/event.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "tracer/events.h"
#include "tracer/memory.h"
#include "tracer/proc.h"
#include "tracer/specials.h"

/* ---- the tables -------------------------------------------------------------------------------
 */

static const struct wio_raw_rule rules[] = {
#define RULE(number_, symbol, ...)                                                                 \
    {.number = SYS_##number_, .call = WIO_CALL_##symbol, __VA_ARGS__},
#include "ops/syscall_rules_gen.h"
};

enum tracer_rule {
#define RULE(number, symbol, ...) RULE_##number,
#include "ops/syscall_rules_gen.h"
    RULE_COUNT
};

_Static_assert(RULE_COUNT < UINT8_MAX, "places of rules are bytes");

/* Place in `rules` + 1; 0 = none. */
static const uint8_t rule_index[WIO_SYSCALL_NUMBERS] = {
#define RULE(number, symbol, ...) [SYS_##number] = RULE_##number + 1,
#include "ops/syscall_rules_gen.h"
};

static const struct wio_raw_rule *find_rule(uint64_t number)
{
    const unsigned place = number < WIO_SYSCALL_NUMBERS ? rule_index[number] : 0;
    const struct wio_raw_rule *rule = place > 0 ? &rules[place - 1] : NULL;
    const bool is_own =
        rule != NULL && (rule->kind == WIO_RAW_FUTEX || rule->kind == WIO_RAW_SPECIAL);
    return is_own ? NULL : rule;
}

static const struct tracer_special *find_special(uint64_t number)
{
    static const struct tracer_special *const tables[] = {
        tracer_file_specials, tracer_process_specials, tracer_wait_specials,
        tracer_socket_specials};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(tables); i++) {
        for (const struct tracer_special *row = tables[i]; row->number != UINT16_MAX; row++) {
            if (row->number == number) {
                return row;
            }
        }
    }
    return NULL;
}

/* ---- by rule ----------------------------------------------------------------------------------
 */

struct by_rule {
    struct tracer_thread *thread;
    const struct wio_raw_rule *rule;
    const uint64_t *arg;
    struct wio_ring_event ev;
};

static bool read_argument(const struct by_rule *r, unsigned number, void *out, size_t size)
{
    return number != 0 && tracer_memory_read(r->thread->tid, r->arg[number], out, size);
}

static int directory_at(const struct by_rule *r, unsigned dirfd)
{
    return dirfd != 0 ? (int)r->arg[dirfd] : AT_FDCWD;
}

/* fstat of a C library that makes it by newfstatat: no path but "", and a descriptor. */
static bool is_fstat(const struct by_rule *r)
{
    const struct wio_raw_rule *rule = r->rule;
    char first = 'x';
    return rule->number == SYS_newfstatat && (r->arg[rule->arg[0]] & AT_EMPTY_PATH) != 0 &&
           directory_at(r, rule->dirfd) != AT_FDCWD && read_argument(r, rule->path, &first, 1) &&
           first == '\0';
}

static void set_names(struct by_rule *r)
{
    const struct wio_raw_rule *rule = r->rule;
    if (rule->fd != 0) {
        r->ev.fd = (int)r->arg[rule->fd];
    }
    if (is_fstat(r)) {
        r->ev.call = WIO_CALL_fstat;
        r->ev.fd = directory_at(r, rule->dirfd);
        r->ev.path = tracer_fd_path(r->thread, r->ev.fd);
    } else if (rule->path != 0) {
        r->ev.path =
            tracer_path_string(r->thread, directory_at(r, rule->dirfd), r->arg[rule->path]);
    } else if (rule->kind == WIO_RAW_CLOSE) {
        r->ev.path = r->thread->call.path;
    } else if (rule->fd != 0) {
        r->ev.path = tracer_fd_path(r->thread, r->ev.fd);
    }
    if (rule->path2 != 0) {
        r->ev.ext.path2 =
            tracer_path_string(r->thread, directory_at(r, rule->dirfd2), r->arg[rule->path2]);
        r->ev.has_ext = true;
    }
    if (rule->fd2 != 0) {
        r->ev.ext.fd2 = (int)r->arg[rule->fd2];
        r->ev.ext.path2 = tracer_fd_path(r->thread, r->ev.ext.fd2);
        r->ev.has_ext = true;
    }
}

static void set_numbers(struct by_rule *r)
{
    const struct wio_raw_rule *rule = r->rule;
    if (rule->size != 0) {
        r->ev.size = r->arg[rule->size];
    }
    if (rule->offset != 0) {
        r->ev.offset = (int64_t)r->arg[rule->offset];
    }
    for (unsigned i = 0; i < 4; i++) {
        if (rule->arg[i] != 0) {
            r->ev.ext.arg[i] = (int64_t)r->arg[rule->arg[i]];
            r->ev.has_ext = true;
        }
    }
}

/* The classes whose first two arguments stand in the place of offset and size. */
static void make_short(struct by_rule *r)
{
    r->ev.offset = r->ev.ext.arg[0];
    r->ev.size = (uint64_t)r->ev.ext.arg[1];
    r->ev.has_ext = false;
}

static void set_opened(struct by_rule *r)
{
    struct open_how how = {0};
    if (r->rule->kind == WIO_RAW_CREAT) {
        r->ev.ext.arg[0] = O_CREAT | O_WRONLY | O_TRUNC;
    } else if (r->rule->kind == WIO_RAW_OPENAT2) {
        (void)read_argument(r, r->rule->extra, &how, sizeof(how));
        r->ev.ext.arg[0] = (int64_t)how.flags;
        r->ev.ext.arg[1] = (int64_t)how.mode;
    } else {
        r->ev.ext.arg[0] = (int)r->ev.ext.arg[0];
        r->ev.ext.arg[1] = (int64_t)(mode_t)r->ev.ext.arg[1];
    }
    if ((r->ev.ext.arg[0] & (O_CREAT | __O_TMPFILE)) == 0) {
        r->ev.ext.arg[1] = 0;
    }
    make_short(r);
    if (r->ev.result >= 0) {
        tracer_fd_set(r->thread, (int)r->ev.result, r->ev.path, (int)r->ev.offset);
    }
}

static void set_closed(struct by_rule *r)
{
    tracer_fd_clear(r->thread, r->ev.fd);
}

static void set_transferred(struct by_rule *r)
{
    r->ev.offset = tracer_fd_advance(r->thread, r->ev.fd, r->ev.result);
}

static void set_vector(struct by_rule *r)
{
    r->ev.size =
        tracer_memory_vector(r->thread->tid, r->arg[r->rule->extra], r->arg[r->rule->extra2]);
    if (r->rule->offset == 0 || r->ev.offset == -1) {
        set_transferred(r);
    }
    r->ev.has_ext = true;
}

/* *offset has been moved by the call; none is the descriptor's position. */
static int64_t copy_offset(const struct by_rule *r, int fd, unsigned number)
{
    int64_t offset = 0;
    if (r->arg[number] == 0) {
        return tracer_fd_advance(r->thread, fd, r->ev.result);
    }
    if (!read_argument(r, number, &offset, sizeof(offset))) {
        return WIO_NO_OFFSET;
    }
    return offset - (r->ev.result > 0 ? r->ev.result : 0);
}

/* sendfile has no pointer for the descriptor that is written. */
static void set_copy(struct by_rule *r)
{
    r->ev.offset = r->rule->extra != 0 ? copy_offset(r, r->ev.fd, r->rule->extra)
                                       : tracer_fd_advance(r->thread, r->ev.fd, r->ev.result);
    r->ev.ext.offset2 = copy_offset(r, r->ev.ext.fd2, r->rule->extra2);
}

static void set_stat(struct by_rule *r)
{
    struct stat st = {0};
    struct statx stx = {0};
    r->ev.has_ext = true;
    r->ev.ext.arg[0] = r->ev.call == WIO_CALL_fstat ? 0 : r->ev.ext.arg[0];
    if (r->ev.result != 0) {
        return;
    }
    if (r->rule->kind == WIO_RAW_STAT && read_argument(r, r->rule->extra, &st, sizeof(st))) {
        r->ev.ext.arg[1] = (int64_t)st.st_mode;
        r->ev.ext.arg[2] = (int64_t)st.st_size;
        r->ev.ext.arg[3] = (int64_t)st.st_nlink;
    } else if (r->rule->kind == WIO_RAW_STATX &&
               read_argument(r, r->rule->extra, &stx, sizeof(stx))) {
        r->ev.ext.arg[1] = stx.stx_mode;
        r->ev.ext.arg[2] = (int64_t)stx.stx_size;
        r->ev.ext.arg[3] = stx.stx_nlink;
    }
}

static void set_duplicate(struct by_rule *r)
{
    make_short(r);
    if (r->ev.result >= 0) {
        tracer_fd_dup(r->thread, r->ev.fd, (int)r->ev.result);
    }
}

static void set_text(struct by_rule *r)
{
    char text[TRACER_PATH_MAX];
    r->ev.has_ext = true;
    if (r->rule->kind == WIO_RAW_TEXT) {
        r->ev.ext.path2 = tracer_text_string(r->thread, r->arg[r->rule->extra]);
    } else if (r->ev.result > 0 && r->ev.result <= (int64_t)sizeof(text) &&
               read_argument(r, r->rule->extra, text, (size_t)r->ev.result)) {
        r->ev.ext.path2 = wio_ring_put_string(&r->thread->stream, 0, text, (size_t)r->ev.result);
    }
}

static void set_position(struct by_rule *r)
{
    r->ev.has_ext = true;
    if (r->ev.result >= 0) {
        tracer_fd_seek(r->thread, r->ev.fd, r->ev.result);
    }
}

static void put_times(struct by_rule *r, int64_t access_s, int64_t access_ns, int64_t change_s,
                      int64_t change_ns)
{
    const int64_t times[4] = {access_s, access_ns, change_s, change_ns};
    memcpy(r->ev.ext.arg, times, sizeof(times));
    r->ev.has_ext = true;
}

static void set_times(struct by_rule *r)
{
    struct timespec exact[2] = {{0}};
    struct timeval coarse[2] = {{0}};
    struct utimbuf old = {0};
    const unsigned at = r->rule->extra;
    if (r->rule->kind == WIO_RAW_TIMES && read_argument(r, at, exact, sizeof(exact))) {
        put_times(r, exact[0].tv_sec, exact[0].tv_nsec, exact[1].tv_sec, exact[1].tv_nsec);
    } else if (r->rule->kind == WIO_RAW_TIMEVALS && read_argument(r, at, coarse, sizeof(coarse))) {
        put_times(r, coarse[0].tv_sec, coarse[0].tv_usec * 1000, coarse[1].tv_sec,
                  coarse[1].tv_usec * 1000);
    } else if (r->rule->kind == WIO_RAW_UTIMBUF && read_argument(r, at, &old, sizeof(old))) {
        put_times(r, old.actime, 0, old.modtime, 0);
    } else {
        put_times(r, 0, UTIME_NOW, 0, UTIME_NOW);
    }
}

/* The path was read below the directory that was left. */
static void set_directory(struct by_rule *r)
{
    if (r->ev.result == 0) {
        r->thread->process->cwd = WIO_NO_STRING;
    }
}

static void set_pair(struct by_rule *r)
{
    int ends[2] = {0};
    r->ev.has_ext = true;
    if (r->ev.result == 0 && read_argument(r, r->rule->extra, ends, sizeof(ends))) {
        r->ev.path = tracer_fd_learn(r->thread, ends[0]);
        r->ev.ext.path2 = tracer_fd_learn(r->thread, ends[1]);
        r->ev.ext.arg[0] = ends[0];
        r->ev.ext.arg[1] = ends[1];
    }
}

static void set_new_fd(struct by_rule *r)
{
    if (r->ev.result >= 0) {
        r->ev.path = tracer_fd_learn(r->thread, (int)r->ev.result);
    }
}

static void set_memory_file(struct by_rule *r)
{
    make_short(r);
    set_new_fd(r);
}

/* What is particular to a kind, after the fields that the rule names; none for the others. */
static void (*const setters[])(struct by_rule *) = {
    [WIO_RAW_SHORT] = make_short,
    [WIO_RAW_OPEN] = set_opened,
    [WIO_RAW_CREAT] = set_opened,
    [WIO_RAW_OPENAT2] = set_opened,
    [WIO_RAW_CLOSE] = set_closed,
    [WIO_RAW_DUP] = set_duplicate,
    [WIO_RAW_POSITION] = set_transferred,
    [WIO_RAW_VECTOR] = set_vector,
    [WIO_RAW_SEEK] = set_position,
    [WIO_RAW_STAT] = set_stat,
    [WIO_RAW_STATX] = set_stat,
    [WIO_RAW_TEXT] = set_text,
    [WIO_RAW_TEXT_OUT] = set_text,
    [WIO_RAW_TIMES] = set_times,
    [WIO_RAW_TIMEVALS] = set_times,
    [WIO_RAW_UTIMBUF] = set_times,
    [WIO_RAW_CHDIR] = set_directory,
    [WIO_RAW_COPY] = set_copy,
    [WIO_RAW_PAIR] = set_pair,
    [WIO_RAW_NEW_FD] = set_new_fd,
    [WIO_RAW_MEMFD] = set_memory_file,
    [WIO_RAW_SPECIAL] = NULL,
};

static void record_by_rule(struct tracer_thread *thread, const struct wio_raw_rule *rule)
{
    struct by_rule r = {.thread = thread,
                        .rule = rule,
                        .arg = thread->call.arg,
                        .ev = tracer_event_of(thread, rule->call)};
    set_names(&r);
    set_numbers(&r);
    if (setters[rule->kind] != NULL) {
        setters[rule->kind](&r);
    }
    wio_ring_put_event(&thread->stream, &r.ev);
}

/* ---- entry and exit ---------------------------------------------------------------------------
 */

static bool is_wanted(const struct tracer_session *session, const struct tracer_special *special)
{
    return !special->is_causal || session->settings->causal;
}

void tracer_record_entry(struct tracer_session *session, struct tracer_thread *thread)
{
    struct tracer_call *call = &thread->call;
    const struct wio_raw_rule *rule = find_rule(call->number);
    const struct tracer_special *special = rule == NULL ? find_special(call->number) : NULL;
    const bool is_special = special != NULL && is_wanted(session, special);
    call->path = WIO_NO_STRING;
    if ((rule == NULL && !is_special) || !tracer_thread_ready(session, thread)) {
        return;
    }
    call->caller = tracer_caller(thread);
    if (rule != NULL && rule->kind == WIO_RAW_CLOSE) {
        call->path = tracer_fd_path(thread, (int)call->arg[rule->fd]);
    } else if (rule != NULL && rule->kind == WIO_RAW_CHDIR) {
        (void)tracer_cwd_string(thread);
    } else if (is_special && special->before != NULL) {
        special->before(session, thread);
    }
}

void tracer_record_exit(struct tracer_session *session, struct tracer_thread *thread)
{
    const uint64_t number = thread->call.number;
    const struct wio_raw_rule *rule = find_rule(number);
    const struct tracer_special *special = rule == NULL ? find_special(number) : NULL;
    if (rule != NULL && tracer_thread_ready(session, thread)) {
        record_by_rule(thread, rule);
    } else if (special != NULL && is_wanted(session, special) && special->after != NULL &&
               tracer_thread_ready(session, thread)) {
        special->after(session, thread);
    }
}
