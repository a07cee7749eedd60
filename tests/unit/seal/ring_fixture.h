/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings as a traced process would leave them, put together record by record. Independent of the
 * capture library: written from FORMAT.md section 2.
 */
#ifndef WIO_TESTS_RING_FIXTURE_H
#define WIO_TESTS_RING_FIXTURE_H

#include <stddef.h>
#include <stdint.h>

#include "ring/ring.h"
#include "ring/ring_reader.h"

#define RING_WRITERS_MAX 8u
#define RING_CHUNKS_MAX 16u

/* Zero-initialise by ring_begin; fields may be changed before ring_save. */
struct ring_builder {
    struct wio_ring_header header;
    union wio_slot (*chunks)[WIO_CHUNK_SLOTS + 1];
    uint32_t chunk_count;
    uint32_t place_of[RING_WRITERS_MAX]; /* chunk of each writer, + 1 */
    uint32_t next_slot[RING_WRITERS_MAX];
    uint64_t ticks; /* now; one tick is one ns: clock = CLOCK_MONOTONIC */
};

/* A process that began at `start_ns` (CLOCK_MONOTONIC, and 10^18 ns later by the wall clock). */
void ring_begin(struct ring_builder *ring, int32_t pid, uint64_t start_ns);
/* Write DIR/name and free. */
void ring_save(struct ring_builder *ring, const char *dir, const char *name);
/* The same bytes in memory: free() them. */
uint8_t *ring_bytes(struct ring_builder *ring, size_t *size_out);

/* The next `slots` slots of the writer, in a fresh chunk where they do not fit, marked valid. */
union wio_slot *ring_slots(struct ring_builder *ring, uint32_t writer, uint32_t slots);
void ring_clock(struct ring_builder *ring, uint32_t writer, int32_t pid, int32_t tid);
void ring_text(struct ring_builder *ring, uint32_t writer, uint8_t kind, uint32_t id, uint32_t base,
               const void *bytes, size_t size);
void ring_string(struct ring_builder *ring, uint32_t writer, uint32_t id, uint32_t base,
                 const char *text);
/* An event of the call named, 100 ns long, 1,000 ns behind the one before. Change it further. */
struct wio_slot_event *ring_event(struct ring_builder *ring, uint32_t writer, const char *call);
/* The same with an extension, whose fields are none. */
struct wio_slot_event *ring_event_ext(struct ring_builder *ring, uint32_t writer, const char *call,
                                      struct wio_slot_ext **ext_out);
void ring_complete(struct ring_builder *ring, uint32_t writer, uint64_t key, int64_t result);
/* A second copy of the writer's chunk as it is now, behind the others (death before reuse). */
void ring_copy_chunk(struct ring_builder *ring, uint32_t writer);

#endif
