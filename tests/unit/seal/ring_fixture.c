/* SPDX-License-Identifier: Apache-2.0 */
#include "ring_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <whyio/event.h>

#include "base/cleanup.h"
#include "base/crc.h"
#include "base/io.h"
#include "ops/calls.h"
#include "support/unit.h"

void ring_begin(struct ring_builder *ring, int32_t pid, uint64_t start_ns)
{
    *ring = (struct ring_builder){.ticks = start_ns};
    struct wio_ring_header *header = &ring->header;
    memcpy(header->magic, WIO_RING_MAGIC, sizeof(header->magic));
    header->version = WIO_RING_VERSION;
    header->header_bytes = WIO_RING_HEADER_BYTES;
    header->chunk_bytes = WIO_CHUNK_BYTES;
    header->clock = WIO_CLOCK_MONOTONIC_NS;
    header->start_mono_ns = start_ns;
    header->start_unix_ns = 1000000000000000000ull + start_ns;
    header->start_ticks = start_ns;
    header->pid = pid;
    header->ppid = 1;
    header->pid_start = 77 + (uint64_t)pid;
    header->rank = -1;
    header->first_string = 1;
    header->next_string = 1;
    header->calls_hash = wio_calls_hash();
    header->end = WIO_END_EXIT;
    (void)snprintf(header->host, sizeof(header->host), "node1");
    (void)snprintf(header->boot_id, sizeof(header->boot_id),
                   "11111111-2222-3333-4444-555555555555");
    ring->chunks = calloc(RING_CHUNKS_MAX, sizeof(*ring->chunks));
    assert_non_null(ring->chunks);
}

static void begin_chunk(struct ring_builder *ring, uint32_t writer)
{
    uint32_t before = ring->place_of[writer];
    assert_true(ring->chunk_count < RING_CHUNKS_MAX);
    struct wio_chunk_header *header = &ring->chunks[ring->chunk_count][0].header;
    header->magic = WIO_CHUNK_MAGIC;
    header->writer = writer;
    header->chunk_no = before == 0 ? 0 : ring->chunks[before - 1][0].header.chunk_no + 1;
    ring->place_of[writer] = ++ring->chunk_count;
    ring->next_slot[writer] = 1;
}

union wio_slot *ring_slots(struct ring_builder *ring, uint32_t writer, uint32_t slots)
{
    if (ring->place_of[writer] == 0 || ring->next_slot[writer] + slots > WIO_CHUNK_SLOTS + 1) {
        begin_chunk(ring, writer);
    }
    union wio_slot *chunk = ring->chunks[ring->place_of[writer] - 1];
    union wio_slot *slot = &chunk[ring->next_slot[writer]];
    slot->any.seq = chunk[0].header.chunk_no * WIO_CHUNK_SLOTS + ring->next_slot[writer];
    ring->next_slot[writer] += slots;
    return slot;
}

void ring_clock(struct ring_builder *ring, uint32_t writer, int32_t pid, int32_t tid)
{
    struct wio_slot_clock *clock = &ring_slots(ring, writer, 1)->clock;
    clock->kind = WIO_SLOT_CLOCK;
    clock->ticks = ring->ticks;
    clock->mono_ns = ring->ticks;
    clock->pid = pid;
    clock->tid = tid;
}

void ring_text(struct ring_builder *ring, uint32_t writer, uint8_t kind, uint32_t id, uint32_t base,
               const void *bytes, size_t size)
{
    size_t more = size > WIO_TEXT_INLINE ? size - WIO_TEXT_INLINE : 0;
    uint32_t slots = 1 + (uint32_t)((more + WIO_SLOT_BYTES - 1) / WIO_SLOT_BYTES);
    union wio_slot *slot = ring_slots(ring, writer, slots);
    slot->text.kind = kind;
    slot->text.slots = (uint8_t)slots;
    slot->text.bytes = (uint16_t)size;
    slot->text.id = id;
    slot->text.base = base;
    slot->text.lo = wio_crc32c(0, bytes, size);
    memcpy((uint8_t *)slot + offsetof(struct wio_slot_text, payload), bytes, size);
}

void ring_string(struct ring_builder *ring, uint32_t writer, uint32_t id, uint32_t base,
                 const char *text)
{
    ring_text(ring, writer, WIO_SLOT_STRING, id, base, text, strlen(text));
}

static void fill_event(struct ring_builder *ring, struct wio_slot_event *event, uint8_t kind,
                       const char *call)
{
    event->kind = kind;
    event->call = (uint16_t)wio_call_find(call);
    assert_int_not_equal(event->call, WIO_CALL_none);
    ring->ticks += 1000;
    event->begin = ring->ticks;
    event->dur_error = 100;
    event->fd = WIO_NO_FD;
    event->offset = WIO_NO_OFFSET;
    event->size = WIO_NO_SIZE;
}

struct wio_slot_event *ring_event(struct ring_builder *ring, uint32_t writer, const char *call)
{
    struct wio_slot_event *event = &ring_slots(ring, writer, 1)->event;
    fill_event(ring, event, WIO_SLOT_EVENT, call);
    return event;
}

struct wio_slot_event *ring_event_ext(struct ring_builder *ring, uint32_t writer, const char *call,
                                      struct wio_slot_ext **ext_out)
{
    union wio_slot *slots = ring_slots(ring, writer, 2);
    fill_event(ring, &slots[0].event, WIO_SLOT_EVENT_EXT, call);
    slots[1].ext.fd2 = WIO_NO_FD;
    slots[1].ext.offset2 = WIO_NO_OFFSET;
    *ext_out = &slots[1].ext;
    return &slots[0].event;
}

void ring_complete(struct ring_builder *ring, uint32_t writer, uint64_t key, int64_t result)
{
    struct wio_slot_completion *completion = &ring_slots(ring, writer, 1)->completion;
    completion->kind = WIO_SLOT_COMPLETION;
    completion->ticks = ring->ticks += 1000;
    completion->key = key;
    completion->result = result;
}

void ring_copy_chunk(struct ring_builder *ring, uint32_t writer)
{
    assert_true(ring->chunk_count < RING_CHUNKS_MAX);
    memcpy(ring->chunks[ring->chunk_count++], ring->chunks[ring->place_of[writer] - 1],
           WIO_CHUNK_BYTES);
}

uint8_t *ring_bytes(struct ring_builder *ring, size_t *size_out)
{
    size_t chunks = (size_t)ring->chunk_count * WIO_CHUNK_BYTES;
    uint8_t *bytes = calloc(1, WIO_RING_HEADER_BYTES + chunks);
    assert_non_null(bytes);
    ring->header.chunks = ring->chunk_count;
    memcpy(bytes, &ring->header, sizeof(ring->header));
    memcpy(bytes + WIO_RING_HEADER_BYTES, ring->chunks, chunks);
    free(ring->chunks);
    ring->chunks = NULL;
    *size_out = WIO_RING_HEADER_BYTES + chunks;
    return bytes;
}

void ring_save(struct ring_builder *ring, const char *dir, const char *name)
{
    char path[512];
    size_t size = 0;
    uint8_t *bytes = ring_bytes(ring, &size);
    assert_int_equal(wio_io_mkdirs(dir, NULL), WIO_OK);
    (void)snprintf(path, sizeof(path), "%s/%s", dir, name);
    wio_test_write(path, bytes, size);
    free(bytes);
}
