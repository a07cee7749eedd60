/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of sealing share: a traced process, and the trace that its ring becomes. */
#ifndef WIO_TESTS_SEALED_FIXTURE_H
#define WIO_TESTS_SEALED_FIXTURE_H

#include "ring_fixture.h"
#include "trace_fixture.h"

struct sealed {
    struct wio_trace *trace;
    struct wio_event *events; /* all, by time */
    size_t count;
};

/* Open the directory, which seals its rings, and read everything. */
struct sealed open_all(const char *dir);
void close_all(struct sealed *sealed);

/* Path of event `i`. */
const char *path_of(const struct sealed *sealed, size_t i);

/* DIR/raw; valid until the next call. */
const char *raw_dir(const struct fixture *fixture);

/* One writer of a fresh process 100, its CLOCK written. */
void begin_process(struct ring_builder *ring);
/* A ring of the boot that runs now. */
void set_this_boot(struct ring_builder *ring);

#endif
