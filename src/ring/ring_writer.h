/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writing rings for other processes: what the tracer of static programs does. The capture library,
 * which writes from inside the program, has a writer of its own (../capture/core/ring/chunk.c) that
 * is safe against signals and takes no libc; both write the layout of ring.h.
 *
 *     struct wio_ring_writer ring;               one for each process image
 *     wio_ring_writer_create(dir, &image, &ring, &err)
 *     struct wio_ring_stream stream;      one for each thread of it
 *     wio_ring_stream_init(&stream, &ring, pid, tid, token);
 *     wio_ring_put_event(&stream, &event);
 *     wio_ring_stream_fini(&stream);
 *     wio_ring_writer_end(&ring, WIO_END_EXIT, 0);
 *
 * Chunks are mapped shared, so that what was written is there however the writer ends. Not thread
 * safe: one thread writes a ring and its streams.
 */
#ifndef WIO_RING_RING_WRITER_H
#define WIO_RING_RING_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "ring/ring.h"

#define WIO_RING_NAME_BYTES 128

/* What the header says of the image. Texts are copied, and cut where they are too long. */
struct wio_ring_image {
    int32_t pid;
    int32_t ppid;
    uint64_t pid_start;
    int32_t rank; /* -1 = none */
    int32_t ranks;
    const char *host;
    const char *job;
    const char *boot_id;
    const char *parent_ring; /* of the process that forked this one; "" = none */
    uint32_t first_string;   /* the next_string of that ring, or 1 */
    bool is_tsc;             /* ticks are the time stamp counter's, else nanoseconds */
};

struct wio_ring_writer {
    int fd;
    struct wio_ring_header *header; /* mapped; NULL = there is no ring */
    char name[WIO_RING_NAME_BYTES]; /* of the file */
    bool is_blank; /* there is none, but a file without a header, which tells of the process */
};

/* The writer of one thread. Zero-initialised it writes nothing. */
struct wio_ring_stream {
    struct wio_ring_writer *ring;
    uint8_t *chunk; /* mapped; NULL = none yet */
    uint32_t number;
    uint32_t chunk_no;
    uint32_t used;  /* slots of the chunk, its header not counted */
    uint32_t place; /* a claimed chunk of the file that could not be filled, + 1; 0 = none */
    uint32_t retry_in;
    uint64_t dropped;
    int32_t pid;
    int32_t tid;
    uint64_t token; /* of the thread, 0 = unknown */
};

/* An event with all fields; those of the second slot count where `has_ext` is set. */
struct wio_ring_event {
    uint64_t begin; /* ticks */
    uint64_t end;
    uint64_t source;
    int64_t result;
    int64_t offset;
    uint64_t size;
    int32_t fd;
    uint32_t path;
    uint16_t call;
    uint8_t flags;
    bool has_ext;
    int error;
    struct wio_slot_ext ext;
};

/*
 * Make the file <host>.<pid>.<monotonic ns>.ring in the directory `dir` (mode 0600, never an
 * existing one) and fill in its header. WIO_ERR_IO where there is no room or no right; then
 * `ring_out` has no header.
 */
WIO_MUST_CHECK enum wio_status wio_ring_writer_create(int dir, const struct wio_ring_image *image,
                                                      struct wio_ring_writer *ring_out,
                                                      struct wio_error *err);
/* How the image ended: enum wio_ring_end and its status. */
void wio_ring_writer_end(struct wio_ring_writer *ring, uint32_t end, int32_t status);
/* Add to what was not recorded. */
void wio_ring_writer_unseen(struct wio_ring_writer *ring, enum wio_unseen kind, uint64_t count);
/* Release memory and descriptor; the file stays. */
void wio_ring_writer_close(struct wio_ring_writer *ring);

void wio_ring_stream_init(struct wio_ring_stream *stream, struct wio_ring_writer *ring, int32_t pid,
                          int32_t tid, uint64_t token);
void wio_ring_stream_fini(struct wio_ring_stream *stream);

/* Where the disk is full the record is counted as dropped, and later ones are tried again. */
void wio_ring_put_event(struct wio_ring_stream *stream, const struct wio_ring_event *event);
/* Define a string below `base` (0 = none); its id, WIO_NO_STRING where it was dropped. */
uint32_t wio_ring_put_string(struct wio_ring_stream *stream, uint32_t base, const char *text,
                             size_t bytes);
/* META: `key` is an enum wio_meta_key. */
void wio_ring_put_meta(struct wio_ring_stream *stream, uint32_t key, const char *text,
                       size_t bytes);
/* MODULE: `path` is mapped at [lo, hi) from `offset` of the file on. */
void wio_ring_put_module(struct wio_ring_stream *stream, uint64_t lo, uint64_t hi, uint64_t offset,
                         const char *path);

#endif
