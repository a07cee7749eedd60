/* SPDX-License-Identifier: Apache-2.0 */
/*
 * With which flags a descriptor was opened, at any moment of a trace: O_DIRECT and O_SYNC decide
 * what a write costs. Fed with the events of all streams in any order, then asked.
 */
#ifndef WIO_PREDICT_OPENED_H
#define WIO_PREDICT_OPENED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/event.h>
#include <whyio/status.h>
#include <whyio/trace.h>

struct wio_opened_item {
    uint64_t key; /* process image and descriptor */
    uint64_t t_ns;
    int32_t flags;  /* of open(2) */
    int32_t from;   /* descriptor whose flags these are, -1: `flags` */
    bool is_change; /* by F_SETFL */
};

/* Zero-initialise but for `trace`; release with wio_opened_fini. */
struct wio_opened {
    const struct wio_trace *trace;
    struct wio_opened_item *items; /* by key, then time, once it is finished */
    uint32_t count;
    uint32_t room;
};

void wio_opened_fini(struct wio_opened *opened);
/* `image`: of the event's process. Others than those that open or duplicate are ignored. */
WIO_MUST_CHECK enum wio_status wio_opened_see(struct wio_opened *opened,
                                              const struct wio_event *event, uint32_t image);
/* After the last event. */
void wio_opened_finish(struct wio_opened *opened);

/* The flags of `fd` in the process image at `t_ns`; 0 where nothing is known. A child has what its
 * parent had when it began. */
int wio_opened_flags(const struct wio_opened *opened, uint32_t image, int32_t fd, uint64_t t_ns);

#endif
