/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading one ring file: header, chunks in the order in which their writers filled them, valid
 * records (FORMAT.md#ring). Nothing in a ring is trusted: the process may still write, may have
 * died in the middle of a record, or the machine may have lost power. Reads by pread, so that a
 * file that shrinks is an error and no signal.
 */
#ifndef WIO_RING_RING_READER_H
#define WIO_RING_RING_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "ring/bound_reader.h"
#include "ring/ring.h"

/* Any slot; which member counts is said by its kind. */
union wio_slot {
    struct {
        uint32_t seq;
        uint8_t kind;
        uint8_t slots;
    } any;
    struct wio_chunk_header header;
    struct wio_slot_event event;
    struct wio_slot_ext ext;
    struct wio_slot_text text;
    struct wio_slot_clock clock;
    struct wio_slot_completion completion;
    struct wio_slot_cpu cpu;
    uint8_t bytes[WIO_SLOT_BYTES];
};

_Static_assert(sizeof(union wio_slot) == WIO_SLOT_BYTES, "one slot");

/* Where a chunk lies. */
struct wio_chunk_place {
    uint32_t writer;
    uint32_t chunk_no;
    uint32_t index; /* within the file; of a place of the bound: among those of the ring */
    bool is_bound;  /* the chunk lies in the file of the bound */
};

struct wio_ring {
    const char *path; /* borrowed */
    int fd;
    uint64_t size;
    struct wio_ring_header header;  /* texts are NUL-terminated */
    struct wio_chunk_place *places; /* by writer, then chunk_no, then index */
    uint32_t place_count;
    uint32_t place_room;
    uint32_t bad_chunks;                        /* that had no chunk header */
    const struct wio_bound *bound;              /* borrowed, may be NULL */
    const struct wio_bound_chunk *bound_chunks; /* of this ring */
};

/* The header alone: WIO_END where there is none yet (an empty file, or zeros). */
WIO_MUST_CHECK enum wio_status wio_ring_read_header(int fd, const char *path,
                                                    struct wio_ring_header *header_out,
                                                    struct wio_error *err);
/* Open `name` in the directory `dir` (no link), read the header and where the chunks are; `path` is
 * its name for messages, and is kept. Chunks may lie in `bound`, too, which outlives the ring;
 * NULL: there is none. Close also what failed half way. */
WIO_MUST_CHECK enum wio_status wio_ring_open(struct wio_ring *ring, int dir, const char *name,
                                             const char *path, const struct wio_bound *bound,
                                             struct wio_error *err);
void wio_ring_close(struct wio_ring *ring);

/* One chunk of one writer: its copies joined. */
struct wio_ring_chunk {
    uint32_t writer;
    uint32_t chunk_no;
    uint32_t next; /* slot to look at next, 1 .. WIO_CHUNK_SLOTS */
    uint32_t lost; /* records that were begun and never finished, found so far */
    bool is_last;  /* of its writer */
    union wio_slot slots[WIO_CHUNK_SLOTS + 1]; /* [0] is the header */
    union wio_slot copy[WIO_CHUNK_SLOTS + 1];
};

/* Read the chunk at ring->places[*place] and move *place behind its copies. */
WIO_MUST_CHECK enum wio_status wio_ring_chunk(const struct wio_ring *ring, uint32_t *place,
                                              struct wio_ring_chunk *chunk_out,
                                              struct wio_error *err);
/* The next valid record; NULL at the end. Its continuation slots follow it in memory. */
const union wio_slot *wio_chunk_next(struct wio_ring_chunk *chunk);
/* Payload of a text record, `bytes` of it; NULL where it does not fit into its slots. */
const char *wio_slot_payload(const union wio_slot *slot, size_t *bytes_out);

#endif
