/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_ring.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/crc.h"
#include "mixed_events.h"
#include "ops/calls.h"
#include "ring/ring_reader.h"

struct ring_writer {
    FILE *out;
    uint32_t writer;
    uint32_t chunk_no;
    uint32_t place; /* next slot of the chunk */
    union wio_slot chunk[WIO_CHUNK_SLOTS + 1];
};

static _Noreturn void fail(void)
{
    perror("trace_bench: cannot write a ring");
    exit(1);
}

static void end_chunk(struct ring_writer *ring)
{
    if (ring->place > 0 && fwrite(ring->chunk, WIO_CHUNK_BYTES, 1, ring->out) != 1) {
        fail();
    }
    ring->place = 0;
}

static union wio_slot *next_slots(struct ring_writer *ring, uint32_t slots)
{
    if (ring->place + slots > WIO_CHUNK_SLOTS + 1) {
        end_chunk(ring);
        ring->chunk_no++;
    }
    if (ring->place == 0) {
        memset(ring->chunk, 0, sizeof(ring->chunk));
        ring->chunk[0].header.magic = WIO_CHUNK_MAGIC;
        ring->chunk[0].header.writer = ring->writer;
        ring->chunk[0].header.chunk_no = ring->chunk_no;
        ring->chunk[1].any.seq = ring->chunk_no * WIO_CHUNK_SLOTS + 1;
        ring->chunk[1].clock.kind = WIO_SLOT_CLOCK;
        ring->chunk[1].clock.pid = 1000;
        ring->chunk[1].clock.tid = 1000 + (int32_t)ring->writer;
        ring->place = 2;
    }
    union wio_slot *slot = &ring->chunk[ring->place];
    slot->any.seq = ring->chunk_no * WIO_CHUNK_SLOTS + ring->place;
    ring->place += slots;
    return slot;
}

static void put_string(struct ring_writer *ring, uint32_t id)
{
    char text[128];
    size_t bytes = (size_t)snprintf(text, sizeof(text), "/scratch/project/run/file-%06u.dat", id);
    union wio_slot *slot = next_slots(ring, 2);
    slot->text.kind = WIO_SLOT_STRING;
    slot->text.slots = 2;
    slot->text.bytes = (uint16_t)bytes;
    slot->text.id = id;
    slot->text.lo = wio_crc32c(0, text, bytes);
    memcpy((char *)slot + offsetof(struct wio_slot_text, payload), text, bytes);
}

static void put_event(struct ring_writer *ring, const struct wio_event *event)
{
    bool has_args = event->arg[0] != 0 || event->arg[2] != 0;
    union wio_slot *slots = next_slots(ring, has_args ? 2 : 1);
    slots->event.kind = has_args ? WIO_SLOT_EVENT_EXT : WIO_SLOT_EVENT;
    slots->event.flags = (uint8_t)event->flags;
    slots->event.call = event->call;
    slots->event.begin = event->t_ns;
    slots->event.dur_error = event->dur_ns | (uint64_t)event->error << 48;
    slots->event.source = 0x1000 + 16ull * event->source;
    slots->event.result = event->result;
    slots->event.offset = event->offset;
    slots->event.size = event->size;
    slots->event.fd = event->fd;
    slots->event.path = event->path;
    if (has_args) {
        slots[1].ext.fd2 = WIO_NO_FD;
        slots[1].ext.offset2 = WIO_NO_OFFSET;
        memcpy(slots[1].ext.arg, event->arg, sizeof(event->arg));
    }
}

void bench_ring_write(const char *dir, unsigned writers, uint64_t events)
{
    static struct ring_writer ring;
    static char head[WIO_RING_HEADER_BYTES];
    struct wio_ring_header header = {
        .magic = WIO_RING_MAGIC,
        .version = WIO_RING_VERSION,
        .header_bytes = WIO_RING_HEADER_BYTES,
        .chunk_bytes = WIO_CHUNK_BYTES,
        .clock = WIO_CLOCK_MONOTONIC_NS,
        .start_unix_ns = 1,
        .pid = 1000,
        .rank = -1,
        .end = WIO_END_EXIT,
        .first_string = 1,
        .calls_hash = wio_calls_hash(),
    };
    char name[512];
    (void)snprintf(name, sizeof(name), "%s/raw", dir);
    if (mkdir(name, 0777) != 0) {
        fail();
    }
    (void)snprintf(name, sizeof(name), "%s/raw/bench.ring", dir);
    ring = (struct ring_writer){.out = fopen(name, "we")};
    memcpy(head, &header, sizeof(header));
    if (ring.out == NULL || fwrite(head, sizeof(head), 1, ring.out) != 1) {
        fail();
    }
    for (uint32_t id = 1; id <= MIXED_FILES; id++) {
        put_string(&ring, id);
    }
    for (ring.writer = 0; ring.writer < writers; ring.writer++) {
        struct mixed_stream state = mixed_begin(ring.writer);
        for (uint64_t i = 0; i < events / writers; i++) {
            struct wio_event event = mixed_next(&state);
            put_event(&ring, &event);
        }
        end_chunk(&ring);
        ring.chunk_no = 0;
    }
    if (fclose(ring.out) != 0) {
        fail();
    }
}
