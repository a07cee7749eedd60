/* SPDX-License-Identifier: Apache-2.0 */
/* futex by syscall(2): locks and conditions that programs and libraries make themselves. R-SYNC-7
 */
#include <linux/futex.h>

#include "capture/sync/sync.h"
#include "capture/sync/sync_object.h"
#include "capture/syscall/syscall.h"
#include "ops/futex_kinds.h"

/* A call that did not wait, or woke no thread, is not recorded; UNLOCK_PI returns no count. */
static bool is_worth(enum wio_futex_kind kind, long operation, long result)
{
    return kind == WIO_FUTEX_WAITS ? result >= 0 || errno != EAGAIN
                                   : result > 0 || (operation & FUTEX_CMD_MASK) == FUTEX_UNLOCK_PI;
}

long cap_raw_futex(const struct cap_raw_call *call)
{
    const long operation = call->arg[2];
    const enum wio_futex_kind kind = wio_futex_kind_of(operation);
    const unsigned number = kind == WIO_FUTEX_WAITS ? WIO_CALL_futex_wait : WIO_CALL_futex_wake;
    struct cap_thread *self = kind == WIO_FUTEX_OTHER ? NULL : cap_enter_sync(call->source, number);
    if (self == NULL) {
        return cap_raw_perform(call);
    }
    const bool is_shared = (operation & FUTEX_PRIVATE_FLAG) == 0;
    const int64_t arg[4] = {
        cap_object_id((const void *)call->arg[1], is_shared), operation, call->arg[3],
        wio_futex_has_second_word(operation) ? cap_object_id((const void *)call->arg[5], is_shared)
                                             : 0};
    struct cap_event ev = CAP_EVENT_OF(number, call->source);
    ev.flags = WIO_EVENT_RAW;
    ev.size = wio_futex_has_bits(operation) ? (uint32_t)call->arg[6] : WIO_NO_SIZE;
    if (kind == WIO_FUTEX_WAITS) {
        cap_state_enter(self, CAP_STATE_BLOCKED);
    }
    ev.begin = cap_begin(self);
    long result = cap_raw_perform(call);
    ev.end = cap_now();
    if (kind == WIO_FUTEX_WAITS) {
        cap_state_leave(self);
    }
    if (is_worth(kind, operation, result)) {
        ev.result = result;
        ev.error = result < 0 ? errno : 0;
        cap_emit_wait_ext(self, &ev, arg);
    }
    return result;
}
