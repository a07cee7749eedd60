/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a process, where it can be seen from inside. exit() and the return of main are seen by
 * an exit handler that was registered before all others and therefore runs last; death by a signal
 * is left to the recorder.
 */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/core/process.h"
#include "capture/mmap/pages.h"
#include "capture/process/exec.h"

typedef void end_fn(int status);

static uintptr_t exit_source; /* caller of exit(), 0 = main returned */

static void emit_end(unsigned call, uintptr_t source, int status)
{
    struct cap_thread *self = cap_enter(source, call);
    if (self == NULL) {
        return;
    }
    cap_pages_report_all(source, call);
    struct cap_event ev = CAP_EVENT_OF(call, source);
    ev.begin = cap_begin(self);
    ev.end = ev.begin;
    ev.offset = status;
    ev.size = 0;
    cap_emit(self, &ev);
    if ((self->flags & WIO_EVENT_VFORK) == 0) {
        cap_mark_end(WIO_END_EXIT, status & 0xff);
    }
}

static void on_end(int status, void *unused)
{
    (void)unused;
    emit_end(WIO_CALL_exit, exit_source, status);
}

void cap_exit_register(void)
{
    (void)on_exit(on_end, NULL);
}

CAP_EXPORT void exit(int status)
{
    exit_source = CAP_CALLER();
    ((end_fn *)cap_real(WIO_CALL_exit))(status);
    __builtin_unreachable();
}

CAP_EXPORT void _exit(int status)
{
    emit_end(WIO_CALL__exit, CAP_CALLER(), status);
    ((end_fn *)cap_real(WIO_CALL__exit))(status);
    __builtin_unreachable();
}

CAP_EXPORT void _Exit(int status)
{
    emit_end(WIO_CALL__Exit, CAP_CALLER(), status);
    ((end_fn *)cap_real(WIO_CALL__Exit))(status);
    __builtin_unreachable();
}

CAP_EXPORT void quick_exit(int status)
{
    emit_end(WIO_CALL_quick_exit, CAP_CALLER(), status);
    ((end_fn *)cap_real(WIO_CALL_quick_exit))(status);
    __builtin_unreachable();
}

/* A handler of SIGABRT may go on and even jump away: only the event is sure, not the end. */
CAP_EXPORT void abort(void)
{
    struct cap_thread *self = cap_enter(CAP_CALLER(), WIO_CALL_abort);
    if (self != NULL) {
        cap_pages_report_all(CAP_CALLER(), WIO_CALL_abort);
        struct cap_event ev = CAP_EVENT(abort, CAP_CALLER());
        ev.begin = cap_begin(self);
        ev.end = ev.begin;
        ev.offset = SIGABRT;
        ev.size = 0;
        cap_emit(self, &ev);
    }
    cap_real(WIO_CALL_abort)();
    __builtin_unreachable();
}
