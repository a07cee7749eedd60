/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/accounts/step_kind.h"

#include "explain/account.h"
#include "ops/calls.h"

enum wio_step_kind wio_step_kind_of(unsigned op, bool is_of_channel)
{
    enum wio_class cls = wio_op_class(op);

    if (is_of_channel) {
        return WIO_STEP_WAIT;
    }
    if (wio_account_kind(op) != WIO_IO_NONE || cls == WIO_CLASS_ASYNC_CALL ||
        cls == WIO_CLASS_MPI_FILE) {
        return WIO_STEP_IO;
    }
    if (cls == WIO_CLASS_PROCESS || cls == WIO_CLASS_EXEC || cls == WIO_CLASS_EXIT ||
        cls == WIO_CLASS_THREAD) {
        return op == WIO_OP_pthread_join || op == WIO_OP_thrd_join || op == WIO_OP_system
                   ? WIO_STEP_WAIT
                   : WIO_STEP_COMPUTE;
    }
    return WIO_STEP_WAIT;
}

bool wio_step_is_timeless(const struct wio_event *event)
{
    enum wio_class cls = wio_op_class(event->op);
    bool is_part_of_mpi = (event->flags & WIO_EVENT_CAUSED) != 0 && wio_class_is_mpi(cls);

    return event->dur_ns == 0 || (event->flags & (WIO_EVENT_ASYNC | WIO_EVENT_BUFFERED)) != 0 ||
           is_part_of_mpi;
}
