/* SPDX-License-Identifier: Apache-2.0 */
/* A directory of its own for each test, and events at random from a seed. */
#ifndef WIO_TESTS_TRACE_FIXTURE_H
#define WIO_TESTS_TRACE_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/event.h>
#include <whyio/segment.h>
#include <whyio/trace.h>

#include "support/unit.h"

struct fixture {
    char dir[256];
    char segment[300]; /* DIR/a.seg */
};

/* cmocka set-up and tear-down; *state is a struct fixture. */
int fixture_setup(void **state);
int fixture_teardown(void **state);

/* xorshift64*: the same seed gives the same events everywhere. */
struct random_source {
    uint64_t state;
};
uint64_t random_next(struct random_source *random);
uint64_t random_below(struct random_source *random, uint64_t limit);

enum event_style {
    EVENTS_WILD,     /* every field any value */
    EVENTS_ORDINARY, /* what programs do: runs of reads and writes, some metadata */
};

/* The next event of `stream` at about *clock_ns, which it moves on. Paths are 1 .. paths. */
struct wio_event random_event(struct random_source *random, enum event_style style, uint32_t stream,
                              uint32_t paths, uint64_t *clock_ns);

/* Are all fields that a segment keeps equal? Prints the first that is not. */
int events_equal(const struct wio_event *a, const struct wio_event *b);

/* A segment with `streams` streams of `count` ordinary events each, paths /data/file1 .. and rank =
 * stream. Fails the test on any error. */
void write_ordinary_segment(const char *name, uint32_t streams, uint32_t count, uint64_t seed);
/* Begin a segment with one process for each of `streams` ranks, one stream each, `paths` paths. */
struct wio_segment *begin_segment(const char *name, uint32_t streams, uint32_t paths);

#endif
