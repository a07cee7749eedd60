/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the process, and what is counted. */
#include "capture/core/process.h"

#include "capture/core/ring/bound.h"

struct cap_process cap_process = {.rank = -1};
struct cap_image *cap_image;
bool cap_clock_is_tsc;
bool cap_is_causal;
struct cap_bound cap_bound = {.plain_text = CAP_TEXT_MAX + 1};

uint64_t cap_now_slow(void)
{
    CAP_KEEP_ERRNO;
    return cap_process.is_off ? 0 : wio_clock_mono_ns(); /* there may be no clock: seccomp.c */
}

uint64_t cap_key(void)
{
    return __atomic_add_fetch(&cap_image->next_key, 1, __ATOMIC_RELAXED);
}

void cap_unseen_more(unsigned kind, uint64_t count)
{
    struct wio_ring_header *header = cap_process.header;
    if (header != NULL && kind < WIO_UNSEEN_COUNT) {
        (void)__atomic_fetch_add(&header->unseen[kind], count, __ATOMIC_RELAXED);
    }
}

void cap_unseen(unsigned kind)
{
    cap_unseen_more(kind, 1);
}
