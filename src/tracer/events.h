/* SPDX-License-Identifier: Apache-2.0 */
/* What the events of all calls are made of: times and results, names of files. */
#ifndef WIO_TRACER_EVENTS_H
#define WIO_TRACER_EVENTS_H

#include <stdint.h>

#include "tracer/tracee.h"

/* An event of the call that the thread is in: times, source, result; no descriptor, no path. */
struct wio_ring_event tracer_event_of(const struct tracer_thread *thread, unsigned call);
/* With descriptor and its path. */
struct wio_ring_event tracer_event_of_fd(struct tracer_thread *thread, unsigned call, int fd);
/* A path argument, as a string below the directory that it starts from; 0 where it cannot be
 * read. */
uint32_t tracer_path_string(struct tracer_thread *thread, int dirfd, uint64_t address);
/* A text argument. */
uint32_t tracer_text_string(struct tracer_thread *thread, uint64_t address);
/* The working directory, asked for where it is not known. */
uint32_t tracer_cwd_string(struct tracer_thread *thread);
/* Nanoseconds of a struct timespec; WIO_NO_SIZE where there is none. */
uint64_t tracer_time_ns(const struct tracer_thread *thread, uint64_t address);

#endif
