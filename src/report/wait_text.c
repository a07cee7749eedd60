/* SPDX-License-Identifier: Apache-2.0 */
#include "report/wait_text.h"

#include <string.h>

#include "base/text.h"
#include "ops/calls.h"

/* Addresses, and ids of what processes share (R-SYNC-1). */
static void put_object(struct wio_line *line, int64_t object)
{
    WIO_LINE_LITERAL(line, "0x");
    wio_line_hex(line, (uint64_t)object);
}

static void put_barrier(struct wio_line *line, const struct wio_event *event)
{
    put_object(line, event->arg[0]);
    WIO_LINE_LITERAL(line, ", round ");
    wio_line_i64(line, event->arg[1]);
    WIO_LINE_LITERAL(line, " of ");
    wio_line_i64(line, event->arg[2]);
    WIO_LINE_LITERAL(line, " threads");
}

static void put_futex(struct wio_line *line, const struct wio_event *event)
{
    put_object(line, event->arg[0]);
    if (event->op != WIO_OP_futex_wait && event->op != WIO_OP_futex_wake) {
        return;
    }
    WIO_LINE_LITERAL(line, ", operation ");
    wio_line_i64(line, event->arg[1]);
    WIO_LINE_LITERAL(line, ", value ");
    wio_line_i64(line, event->arg[2]);
}

static void put_time(struct wio_line *line, uint64_t ns)
{
    char text[WIO_TEXT_MAX];
    wio_line_text(line, ns != WIO_NO_SIZE ? wio_format_time(text, ns) : "no limit");
}

static void put_signal(struct wio_line *line, int64_t number)
{
    const char *name = number > 0 && number < 65 ? sigabbrev_np((int)number) : NULL;
    if (name != NULL) {
        WIO_LINE_LITERAL(line, "SIG");
        wio_line_text(line, name);
    } else {
        WIO_LINE_LITERAL(line, "signal ");
        wio_line_i64(line, number);
    }
}

static void put_sent(struct wio_line *line, const struct wio_event *event)
{
    bool is_group = event->arg[0] < 0;
    if (event->arg[0] == 0) {
        wio_line_text(line, event->op == WIO_OP_pidfd_send_signal ? "pid unknown" : "own group");
    } else if (event->arg[0] == -1 && event->op == WIO_OP_kill) {
        WIO_LINE_LITERAL(line, "all");
    } else {
        wio_line_text(line, is_group ? "group " : "pid ");
        wio_line_u64(line, is_group ? 0 - (uint64_t)event->arg[0] : (uint64_t)event->arg[0]);
    }
    WIO_LINE_LITERAL(line, ", ");
    put_signal(line, event->arg[1]);
}

static void put_received(struct wio_line *line, const struct wio_event *event)
{
    if (event->arg[1] != 0) {
        put_signal(line, event->arg[1]);
    }
    if (event->arg[0] != 0) {
        WIO_LINE_LITERAL(line, " from pid ");
        wio_line_i64(line, event->arg[0]);
    }
}

static void put_arguments(struct wio_line *line, const struct wio_event *event, enum wio_class cls)
{
    switch ((int)cls) {
    case WIO_CLASS_BARRIER:
        put_barrier(line, event);
        return;
    case WIO_CLASS_FUTEX_WAIT:
    case WIO_CLASS_FUTEX_WAKE:
        put_futex(line, event);
        return;
    case WIO_CLASS_POLL:
    case WIO_CLASS_SLEEP:
        put_time(line, event->size);
        return;
    case WIO_CLASS_KILL:
        put_sent(line, event);
        return;
    case WIO_CLASS_SIGWAIT:
        put_received(line, event);
        return;
    default:
        put_object(line, event->arg[0]);
    }
    if (cls == WIO_CLASS_COND_WAIT) {
        WIO_LINE_LITERAL(line, ", ");
        put_object(line, event->arg[1]);
    } else if ((cls == WIO_CLASS_MUTEX || cls == WIO_CLASS_UNLOCK) && event->arg[1] != 0) {
        WIO_LINE_LITERAL(line, ", reader");
    }
}

/* Waiting of threads and processes; MPI has texts of its own. */
static bool is_wait(enum wio_class cls)
{
    return (wio_class_properties(cls) & (WIO_DOES_SYNC | WIO_DOES_MPI)) == WIO_DOES_SYNC &&
           cls != WIO_CLASS_HOLD;
}

bool wio_wait_text(struct wio_line *line, const struct wio_event *event, bool has_any)
{
    enum wio_class cls = wio_op_class(event->op);
    if (!is_wait(cls)) {
        return false;
    }
    if (has_any) {
        WIO_LINE_LITERAL(line, ", ");
    }
    put_arguments(line, event, cls);
    return true;
}
