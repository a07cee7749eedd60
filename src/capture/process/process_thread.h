/* SPDX-License-Identifier: Apache-2.0 */
/* What the state of a thread has of processes that it makes: features.def. */
#ifndef WIO_CAPTURE_PROCESS_PROCESS_THREAD_H
#define WIO_CAPTURE_PROCESS_PROCESS_THREAD_H

#include "capture/core/event.h"

struct cap_process_thread {
    struct cap_event pending; /* the vfork that is under way */
    void *left;               /* memory that a child of vfork left behind at its exec, */
    size_t left_bytes;        /* until its parent runs again */
};

#endif
