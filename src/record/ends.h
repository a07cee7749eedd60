/* SPDX-License-Identifier: Apache-2.0 */
/* How processes ended: the wait statuses that the recorder got, to be asked for while sealing. */
#ifndef WIO_RECORD_ENDS_H
#define WIO_RECORD_ENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

struct wio_end {
    int32_t pid;
    int wait_status;
    uint64_t mono_ns; /* when it was reaped */
};

/* Zero-initialise. */
struct wio_ends {
    struct wio_end *items;
    uint32_t count;
    uint32_t capacity;
    bool is_sorted;
};

WIO_MUST_CHECK enum wio_status wio_ends_add(struct wio_ends *ends, int32_t pid, int wait_status,
                                            uint64_t mono_ns);

/* The first end of `pid` at or after `start_mono_ns` (pids are used again). `ends` is a struct
 * wio_ends: the signature is that of wio_seal_params.ended. */
bool wio_ends_find(void *ends, int32_t pid, uint64_t start_mono_ns, int *wait_status_out);

void wio_ends_fini(struct wio_ends *ends);

#endif
