/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of the state of a thread that the core itself keeps: features.def. */
#ifndef WIO_CAPTURE_CORE_THREAD_PARTS_H
#define WIO_CAPTURE_CORE_THREAD_PARTS_H

#include <stdint.h>

#include "capture/core/attributes.h"

/* Where calls come from, besides the first line's range. */
struct cap_callers {
    uintptr_t lo2; /* the caller range before the last one */
    uintptr_t span2;
    uintptr_t outer_frame; /* inside a call of a feature that stands there on the stack, whose inner
                              calls it judges (cap_on_call); 0 = none */
    uintptr_t library_lo;  /* of the library that called last, where its stacks are sampled */
    uintptr_t library_span;
};

/* Processor time, as of `sampled`. */
struct cap_cpu {
    int64_t ns;      /* WIO_NO_OFFSET: not known */
    uint64_t sleeps; /* how often the thread had given its processor away by itself */
};

/* How the thread was made: thread_birth.h. */
struct cap_birth {
    uint64_t token;        /* of pthread_create, 0 = main or unknown */
    cap_function *routine; /* for the trampoline of pthread_create */
    void *argument;
    uint32_t state; /* is its maker done with it? */
};

#endif
