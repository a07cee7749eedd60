/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading the file of a bound: which places hold chunks, and of which rings (FORMAT.md#bound).
 * Nothing in it is trusted, and processes may write into it meanwhile: a place that has changed
 * hands since it was listed is read as an empty one. Reads by pread.
 */
#ifndef WIO_RING_BOUND_READER_H
#define WIO_RING_BOUND_READER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <whyio/status.h>

#include "ring/bound.h"

/* A place with a chunk. */
struct wio_bound_chunk {
    int32_t ring_pid;
    uint64_t ring_ns;
    uint32_t writer;
    uint32_t chunk_no;
    uint64_t index; /* of the place */
    uint64_t state; /* when it was listed */
};

struct wio_bound {
    char *path; /* for messages */
    int fd;     /* -1 = not open */
    struct wio_bound_header header;
    struct wio_bound_chunk *chunks; /* by (ring_pid, ring_ns) */
    uint32_t count;
    uint32_t capacity;
};

#define WIO_BOUND_INIT                                                                             \
    {                                                                                              \
        .fd = -1                                                                                   \
    }

/* Open `name` in the directory `dir` (no link) and list its chunks; `path` is its name for
 * messages. WIO_END: there is no such file of this owner, or it keeps no places. Close also what
 * failed half way. */
WIO_MUST_CHECK enum wio_status wio_bound_open(struct wio_bound *bound, int dir, const char *name,
                                              uid_t owner, const char *path, struct wio_error *err);
void wio_bound_close(struct wio_bound *bound);

/* The chunks of a ring: the first of *count_out. */
const struct wio_bound_chunk *wio_bound_find(const struct wio_bound *bound, int32_t ring_pid,
                                             uint64_t ring_ns, uint32_t *count_out);
/* The WIO_CHUNK_BYTES of a chunk, zeros where its place has changed hands. */
WIO_MUST_CHECK enum wio_status wio_bound_read(const struct wio_bound *bound,
                                              const struct wio_bound_chunk *chunk, void *bytes_out,
                                              struct wio_error *err);

#endif
