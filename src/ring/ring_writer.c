/* SPDX-License-Identifier: Apache-2.0 */
#include "ring/ring_writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <whyio/event.h>

#include "base/clock.h"
#include "base/crc.h"
#include "ops/calls.h"

#define TEXT_MAX 8192u
#define RETRY_EVERY 1024u /* dropped records between two attempts on a full disk */
#define TICKS_MAX ((1ull << 48) - 1)

/* Real space, so that a store into the mapping can never meet a full disk (SIGBUS). */
static bool allocate(int fd, uint64_t offset, size_t size)
{
    static const char zeros[4096];
    struct iovec pages[WIO_CHUNK_BYTES / sizeof(zeros)];
    const size_t count = size / sizeof(zeros);
    for (size_t i = 0; i < count; i++) {
        pages[i] = (struct iovec){(void *)(uintptr_t)zeros, sizeof(zeros)};
    }
    return pwritev(fd, pages, (int)count, (off_t)offset) == (ssize_t)size;
}

static void copy_text(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%s", text != NULL ? text : "");
}

static void fill_header(struct wio_ring_header *header, const struct wio_ring_image *image,
                        const struct wio_clock_moment *now)
{
    header->version = WIO_RING_VERSION;
    header->header_bytes = WIO_RING_HEADER_BYTES;
    header->chunk_bytes = WIO_CHUNK_BYTES;
    header->clock = image->is_tsc ? WIO_CLOCK_TSC : WIO_CLOCK_MONOTONIC_NS;
    header->start_unix_ns = wio_clock_unix_ns();
    header->start_mono_ns = now->mono_ns;
    header->start_ticks = now->ticks;
    header->pid = image->pid;
    header->ppid = image->ppid;
    header->pid_start = image->pid_start;
    header->rank = image->rank;
    header->ranks = image->ranks;
    header->first_string = image->first_string;
    header->next_string = image->first_string;
    header->calls_hash = WIO_CALLS_HASH;
    copy_text(header->parent_ring, sizeof(header->parent_ring), image->parent_ring);
    copy_text(header->host, sizeof(header->host), image->host);
    copy_text(header->job, sizeof(header->job), image->job);
    copy_text(header->boot_id, sizeof(header->boot_id), image->boot_id);
    uint64_t magic;
    memcpy(&magic, WIO_RING_MAGIC, sizeof(magic));
    __atomic_store_n((uint64_t *)(void *)header->magic, magic, __ATOMIC_RELEASE);
}

enum wio_status wio_ring_writer_create(int dir, const struct wio_ring_image *image,
                                       struct wio_ring_writer *ring_out, struct wio_error *err)
{
    *ring_out = (struct wio_ring_writer){.fd = -1};
    const struct wio_clock_moment now = wio_clock_moment(image->is_tsc);
    int length = snprintf(ring_out->name, sizeof(ring_out->name), "%s.%d.%llu.ring", image->host,
                          (int)image->pid, (unsigned long long)now.mono_ns);
    if (length >= (int)sizeof(ring_out->name)) {
        return wio_error_set(err, WIO_ERR_IO, image->host, WIO_ERROR_NO_OFFSET,
                             "cannot make a ring: the name of the host is too long");
    }
    ring_out->fd =
        openat(dir, ring_out->name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (ring_out->fd < 0) {
        return wio_error_sys(err, ring_out->name, "cannot make a ring");
    }
    void *map = MAP_FAILED;
    if (allocate(ring_out->fd, 0, WIO_RING_HEADER_BYTES)) {
        map = mmap(NULL, WIO_RING_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                   ring_out->fd, 0);
    }
    if (map == MAP_FAILED) {
        enum wio_status status = wio_error_sys(err, ring_out->name, "cannot make a ring");
        (void)close(ring_out->fd); /* without a header it says that there was a process: R-RING-9 */
        ring_out->fd = -1;
        ring_out->is_blank = true;
        return status;
    }
    ring_out->header = map;
    fill_header(map, image, &now);
    return WIO_OK;
}

static void calibrate(struct wio_ring_writer *ring, const struct wio_clock_moment *now)
{
    ring->header->end_ticks = now->ticks;
    ring->header->end_mono_ns = now->mono_ns;
}

static struct wio_clock_moment moment_of(const struct wio_ring_writer *ring)
{
    return wio_clock_moment(ring->header->clock == WIO_CLOCK_TSC);
}

void wio_ring_writer_end(struct wio_ring_writer *ring, uint32_t end, int32_t status)
{
    if (ring->header == NULL) {
        return;
    }
    const struct wio_clock_moment now = moment_of(ring);
    calibrate(ring, &now);
    ring->header->end_status = status;
    __atomic_store_n(&ring->header->end, end, __ATOMIC_RELEASE);
}

void wio_ring_writer_unseen(struct wio_ring_writer *ring, enum wio_unseen kind, uint64_t count)
{
    if (ring->header != NULL) {
        ring->header->unseen[kind] += count;
    }
}

void wio_ring_writer_close(struct wio_ring_writer *ring)
{
    if (ring->header != NULL) {
        (void)munmap(ring->header, WIO_RING_HEADER_BYTES);
        (void)close(ring->fd);
    }
    ring->header = NULL;
    ring->fd = -1;
}

void wio_ring_stream_init(struct wio_ring_stream *stream, struct wio_ring_writer *ring, int32_t pid,
                          int32_t tid, uint64_t token)
{
    *stream = (struct wio_ring_stream){.ring = ring, .pid = pid, .tid = tid, .token = token};
}

void wio_ring_stream_fini(struct wio_ring_stream *stream)
{
    if (stream->chunk != NULL) {
        (void)munmap(stream->chunk, WIO_CHUNK_BYTES);
    }
    *stream = (struct wio_ring_stream){0};
}

/* A fresh chunk in place of the full one, which stays as it is. False = no space. */
static bool attach(struct wio_ring_stream *stream)
{
    struct wio_ring_writer *ring = stream->ring;
    if (stream->place == 0) {
        stream->place = __atomic_fetch_add(&ring->header->chunks, 1, __ATOMIC_RELAXED) + 1;
    }
    const uint64_t offset = WIO_RING_HEADER_BYTES + (uint64_t)(stream->place - 1) * WIO_CHUNK_BYTES;
    if (!allocate(ring->fd, offset, WIO_CHUNK_BYTES)) {
        return false;
    }
    void *map = mmap(NULL, WIO_CHUNK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
                     ring->fd, (off_t)offset);
    if (map == MAP_FAILED) {
        return false;
    }
    if (stream->chunk == NULL) {
        stream->number = stream->place; /* any number that no other writer of the image has */
    } else {
        (void)munmap(stream->chunk, WIO_CHUNK_BYTES);
        stream->chunk_no += 1;
    }
    struct wio_chunk_header *header = map;
    header->writer = stream->number;
    header->chunk_no = stream->chunk_no;
    __atomic_store_n(&header->magic, WIO_CHUNK_MAGIC, __ATOMIC_RELEASE);
    stream->chunk = map;
    stream->used = 0;
    stream->place = 0;
    return true;
}

static uint8_t *take_slots(struct wio_ring_stream *stream, uint32_t slots)
{
    uint8_t *place = stream->chunk + (size_t)(stream->used + 1) * WIO_SLOT_BYTES;
    stream->used += slots;
    return place;
}

/* The record is whole: readers may have it. Its first word is the sequence number. */
static void publish(const struct wio_ring_stream *stream, uint8_t *slot)
{
    const uint32_t place = (uint32_t)((size_t)(slot - stream->chunk) / WIO_SLOT_BYTES) - 1;
    __atomic_store_n((uint32_t *)(void *)slot,
                     (uint32_t)(stream->chunk_no * WIO_CHUNK_SLOTS + place + 1), __ATOMIC_RELEASE);
}

static void put_clock(struct wio_ring_stream *stream)
{
    const struct wio_clock_moment now = moment_of(stream->ring);
    struct wio_slot_clock *clock = (struct wio_slot_clock *)(void *)take_slots(stream, 1);
    clock->kind = WIO_SLOT_CLOCK;
    clock->ticks = now.ticks;
    clock->mono_ns = now.mono_ns;
    clock->pid = stream->pid;
    clock->tid = stream->tid;
    clock->thread = stream->token;
    clock->dropped = stream->dropped;
    calibrate(stream->ring, &now);
    publish(stream, (uint8_t *)clock);
}

/* NULL = dropped and counted. */
static uint8_t *reserve(struct wio_ring_stream *stream, uint32_t slots)
{
    if (stream->ring == NULL || stream->ring->header == NULL) {
        return NULL;
    }
    if (stream->chunk != NULL && stream->used + slots <= WIO_CHUNK_SLOTS) {
        return take_slots(stream, slots);
    }
    if (stream->retry_in == 0 && attach(stream)) {
        put_clock(stream);
        return take_slots(stream, slots);
    }
    stream->retry_in = stream->retry_in == 0 ? RETRY_EVERY : stream->retry_in - 1;
    stream->dropped += 1;
    stream->ring->header->dropped += 1;
    return NULL;
}

void wio_ring_put_event(struct wio_ring_stream *stream, const struct wio_ring_event *event)
{
    uint8_t *place = reserve(stream, event->has_ext ? 2 : 1);
    if (place == NULL) {
        return;
    }
    uint64_t ticks = event->end > event->begin ? event->end - event->begin : 0;
    ticks = ticks < TICKS_MAX ? ticks : TICKS_MAX;
    struct wio_slot_event *slot = (struct wio_slot_event *)(void *)place;
    slot->kind = event->has_ext ? WIO_SLOT_EVENT_EXT : WIO_SLOT_EVENT;
    slot->flags = event->flags;
    slot->call = event->call;
    slot->begin = event->begin;
    slot->dur_error = ticks | (uint64_t)(uint16_t)event->error << 48;
    slot->source = event->source;
    slot->result = event->result;
    slot->offset = event->offset;
    slot->size = event->size;
    slot->fd = event->fd;
    slot->path = event->path;
    if (event->has_ext) {
        memcpy(place + WIO_SLOT_BYTES, &event->ext, sizeof(event->ext));
    }
    publish(stream, place);
}

static bool put_text(struct wio_ring_stream *stream, const struct wio_slot_text *head,
                     const void *first, size_t first_bytes, const char *second, size_t second_bytes)
{
    first_bytes = first_bytes < TEXT_MAX ? first_bytes : TEXT_MAX;
    second_bytes = second_bytes < TEXT_MAX - first_bytes ? second_bytes : TEXT_MAX - first_bytes;
    const size_t bytes = first_bytes + second_bytes;
    const size_t more = bytes > WIO_TEXT_INLINE ? bytes - WIO_TEXT_INLINE : 0;
    const uint32_t slots = (uint32_t)(1 + (more + WIO_SLOT_BYTES - 1) / WIO_SLOT_BYTES);
    uint8_t *place = reserve(stream, slots);
    if (place == NULL) {
        return false;
    }
    struct wio_slot_text *slot = (struct wio_slot_text *)(void *)place;
    uint8_t *payload = place + offsetof(struct wio_slot_text, payload);
    slot->kind = head->kind;
    slot->slots = (uint8_t)slots;
    slot->bytes = (uint16_t)bytes;
    slot->id = head->id;
    slot->base = head->base;
    slot->lo = head->lo;
    slot->hi = head->hi;
    memcpy(payload, first, first_bytes);
    if (second_bytes > 0) {
        memcpy(payload + first_bytes, second, second_bytes);
    }
    publish(stream, place);
    return true;
}

uint32_t wio_ring_put_string(struct wio_ring_stream *stream, uint32_t base, const char *text,
                             size_t bytes)
{
    bytes = bytes < TEXT_MAX ? bytes : TEXT_MAX;
    if (stream->ring == NULL || stream->ring->header == NULL) {
        return WIO_NO_STRING;
    }
    const uint32_t id = stream->ring->header->next_string++;
    const struct wio_slot_text head = {
        .kind = WIO_SLOT_STRING, .id = id, .base = base, .lo = wio_crc32c(0, text, bytes)};
    /* An id without its definition would never become a path again. */
    return put_text(stream, &head, text, bytes, NULL, 0) ? id : WIO_NO_STRING;
}

void wio_ring_put_meta(struct wio_ring_stream *stream, uint32_t key, const char *text, size_t bytes)
{
    const struct wio_slot_text head = {.kind = WIO_SLOT_META, .id = key};
    (void)put_text(stream, &head, text, bytes, NULL, 0);
}

void wio_ring_put_module(struct wio_ring_stream *stream, uint64_t lo, uint64_t hi, uint64_t offset,
                         const char *path)
{
    const struct wio_slot_text head = {.kind = WIO_SLOT_MODULE, .lo = lo, .hi = hi};
    (void)put_text(stream, &head, &offset, sizeof(offset), path, strlen(path));
}
