/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/counts.h"

const char *wio_admit_reason_name(enum wio_admit_reason reason)
{
    static const char *const names[] = {
#define REASON_NAME(name, text) text,
        WIO_ADMIT_REASON_LIST(REASON_NAME)
#undef REASON_NAME
    };
    return (unsigned)reason < WIO_ADMIT_REASON_COUNT ? names[reason] : "unknown";
}

uint64_t wio_admit_histogram_part(const struct wio_admit_histogram *histogram, double part)
{
    uint64_t all = 0;
    for (unsigned i = 0; i < WIO_ADMIT_BUCKETS; i++) {
        all += histogram->buckets[i];
    }
    uint64_t seen = 0;
    for (unsigned i = 0; i < WIO_ADMIT_BUCKETS && all > 0; i++) {
        seen += histogram->buckets[i];
        if ((double)seen >= part * (double)all && seen > 0) {
            return (uint64_t)1 << (i + WIO_ADMIT_FIRST_BITS);
        }
    }
    return 0;
}

uint64_t wio_admit_refused(const struct wio_admit_counts *counts)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < WIO_ADMIT_REASON_COUNT; i++) {
        sum += counts->refused[i];
    }
    return sum;
}

const char *wio_admit_reason_text(enum wio_admit_reason reason)
{
    static const char *const texts[WIO_ADMIT_REASON_COUNT] = {
        [WIO_ADMIT_REASON_NONE] = "no reason is known",
        [WIO_ADMIT_REASON_MEMORY] = "its memory for requests is used up",
        [WIO_ADMIT_REASON_QUEUE_TOTAL] = "its queue is full",
        [WIO_ADMIT_REASON_QUEUE_POOL] = "the queue of this pool is full",
        [WIO_ADMIT_REASON_QUEUE_HALF] = "half of its queue is in use by this target or job",
        [WIO_ADMIT_REASON_TIMEOUT] = "it would not be done in time",
        [WIO_ADMIT_REASON_TENANT] = "this job has its share of the queue",
        [WIO_ADMIT_REASON_CREDIT] = "it was sent beyond the window of this client",
        [WIO_ADMIT_REASON_RATE] = "a rule limits the rate",
        [WIO_ADMIT_REASON_EXPIRED] = "its time ended in the queue",
    };
    return (unsigned)reason < WIO_ADMIT_REASON_COUNT ? texts[reason] : texts[0];
}
