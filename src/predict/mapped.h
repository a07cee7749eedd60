/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files that a program maps, and how long its threads slept between their operations from then on:
 * no call tells of it, so that what they slept for is taken to be page faults. Which pages were
 * read is in no trace.
 */
#ifndef WIO_PREDICT_MAPPED_H
#define WIO_PREDICT_MAPPED_H

#include <whyio/event.h>
#include <whyio/status.h>

#include "predict/program.h"

struct wio_mapped_ops {
    /* A file on storage was mapped: event->size bytes. */
    enum wio_status (*mapped)(void *arg, const struct wio_event *event);
    /* Before this event its thread, of a process that has mapped files, slept so long. */
    enum wio_status (*slept)(void *arg, const struct wio_event *event, uint64_t ns);
};

/* One pass over all events, by time. */
WIO_MUST_CHECK enum wio_status wio_mapped_read(const struct wio_program *program,
                                               const struct wio_mapped_ops *ops, void *arg,
                                               struct wio_error *err);

#endif
