/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How Linux slows a task that dirties pages: the device's dirty rate limit and its estimate of
 * write bandwidth, the position ratio, pauses in whole jiffies. Whole numbers as the kernel
 * computes, because rounding decides: a pause of 2.9 jiffies is one of 2.
 *
 * Source: behaviour of mm/page-writeback.c, Linux 6.1 to 6.18; docs/MODEL.md#kernel has the rules.
 * Units: pages, jiffies, pages per second.
 */
#ifndef WIO_MODEL_KERNEL_THROTTLE_H
#define WIO_MODEL_KERNEL_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

/* What does not change. */
struct wio_throttle_limits {
    int64_t hz;
    int64_t background; /* pages: above it the flusher runs */
    int64_t hard;       /* pages */
};

/* The device (the kernel's bdi_writeback) and its domain. */
struct wio_throttle_device {
    int64_t ratelimit;
    int64_t balanced;
    int64_t bandwidth;
    int64_t bandwidth_mean;
    int64_t limit;   /* the domain's dirty_limit: `hard`, or above it while it comes down */
    int64_t dirtied; /* pages, ever */
    int64_t dirtied_stamp;
    int64_t written; /* pages, ever */
    int64_t written_stamp;
    int64_t stamp;       /* jiffy of the last estimate */
    int64_t limit_stamp; /* jiffy of the limit's last step */
    bool is_exceeded;    /* the hard limit was, at the last look */
};

/* A task: in struct wio_throttle the one that runs. */
struct wio_throttle_task {
    bool has_paused;       /* paused_when is valid */
    int64_t paused_when;   /* jiffy up to which its dirtying has been paid for */
    int64_t dirtied;       /* pages since then */
    int64_t dirtied_pause; /* pages after which it looks at the limits again */
};

struct wio_throttle {
    struct wio_throttle_limits limits;
    struct wio_throttle_device device;
    struct wio_throttle_task task;
};

enum wio_throttle_verdict {
    WIO_THROTTLE_FREE,  /* below the ceiling: nothing to pay */
    WIO_THROTTLE_GO,    /* above it, but paid for by earlier pauses or by computing */
    WIO_THROTTLE_PAUSE, /* sleep, then go on */
    WIO_THROTTLE_AGAIN  /* sleep, then ask again: at the hard limit */
};

/* Pages dirty or under write-back: of all devices, of this one; and its part of the hard limit,
 * which is all of it for the only device. */
struct wio_throttle_dirty {
    int64_t all;
    int64_t device;
    int64_t share;
};

/* Of a task that has not written yet. */
struct wio_throttle_task wio_throttle_task_new(void);

/* Rates in pages per second. */
void wio_throttle_init(struct wio_throttle *throttle, const struct wio_throttle_limits *limits,
                       double ratelimit, double bandwidth);

/* Up to this many dirty pages no task is throttled. */
static inline int64_t wio_throttle_ceiling(const struct wio_throttle *throttle)
{
    return (throttle->limits.background + throttle->limits.hard) / 2;
}

/* Has the task dirtied enough pages to look at the limits? */
bool wio_throttle_is_due(const struct wio_throttle *throttle);

/* The task looks at the limits at jiffy `now`. For the last two verdicts `pause_out` is how many
 * jiffies it sleeps. */
enum wio_throttle_verdict wio_throttle_balance(struct wio_throttle *throttle,
                                               const struct wio_throttle_dirty *dirty, int64_t now,
                                               int64_t *pause_out);

/* Estimate the write bandwidth without touching the rate limit, as the flusher does. */
void wio_throttle_estimate(struct wio_throttle *throttle, int64_t now);
/* Is the last estimate older than its interval of 200 ms? */
bool wio_throttle_is_stale(const struct wio_throttle *throttle, int64_t now);
/* The device starts to write after more than a second of rest: forget the rest. */
void wio_throttle_wake(struct wio_throttle *throttle, int64_t now);

#endif
