/* SPDX-License-Identifier: Apache-2.0 */
#include "ring/ring_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/io.h"

static enum wio_status check_header(const struct wio_ring_header *header, const char *path,
                                    struct wio_error *err)
{
    /* R-RING-1 */
    if (memcmp(header->magic, WIO_RING_MAGIC, sizeof(header->magic)) != 0) {
        return wio_error_set(err, WIO_ERR_FORMAT, path, 0,
                             "expected a ring that begins with WIORING");
    }
    if (header->version != WIO_RING_VERSION) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, path, 8, "expected version %u, found %u",
                             WIO_RING_VERSION, header->version);
    }
    if (header->header_bytes != WIO_RING_HEADER_BYTES || header->chunk_bytes != WIO_CHUNK_BYTES) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, path, 12,
                             "expected a header of %u and chunks of %u bytes, found %u and %u",
                             WIO_RING_HEADER_BYTES, WIO_CHUNK_BYTES, header->header_bytes,
                             header->chunk_bytes);
    }
    if (header->clock != WIO_CLOCK_TSC && header->clock != WIO_CLOCK_MONOTONIC_NS) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, path, 20, "expected clock 1 or 2, found %u",
                             header->clock);
    }
    return WIO_OK;
}

static bool is_blank(const struct wio_ring_header *header)
{
    for (size_t i = 0; i < sizeof(header->magic); i++) {
        if (header->magic[i] != 0) {
            return false;
        }
    }
    return true;
}

enum wio_status wio_ring_read_header(int fd, const char *path, struct wio_ring_header *header_out,
                                     struct wio_error *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return wio_error_sys(err, path, "cannot look at the ring");
    }
    if (!S_ISREG(st.st_mode)) {
        return wio_error_set(err, WIO_ERR_FORMAT, path, WIO_ERROR_NO_OFFSET,
                             "expected a regular file");
    }
    if (st.st_size == 0) {
        return WIO_END;
    }
    WIO_TRY(wio_io_pread(fd, path, header_out, sizeof(*header_out), 0, err));
    if (is_blank(header_out)) {
        return WIO_END;
    }
    header_out->parent_ring[sizeof(header_out->parent_ring) - 1] = '\0';
    header_out->host[sizeof(header_out->host) - 1] = '\0';
    header_out->job[sizeof(header_out->job) - 1] = '\0';
    header_out->boot_id[sizeof(header_out->boot_id) - 1] = '\0';
    return check_header(header_out, path, err);
}

static int compare_places(const void *a, const void *b)
{
    const struct wio_chunk_place *left = a;
    const struct wio_chunk_place *right = b;
    if (left->writer != right->writer) {
        return left->writer < right->writer ? -1 : 1;
    }
    if (left->chunk_no != right->chunk_no) {
        return left->chunk_no < right->chunk_no ? -1 : 1;
    }
    return (left->index > right->index) - (left->index < right->index);
}

static enum wio_status add_place(struct wio_ring *ring, struct wio_chunk_place place,
                                 struct wio_error *err)
{
    void *places = ring->places;
    if (wio_make_room(&places, sizeof(*ring->places), &ring->place_room, ring->place_count + 1) !=
        WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, ring->path, WIO_ERROR_NO_OFFSET,
                             "no memory for %u chunks", ring->place_count + 1);
    }
    ring->places = places;
    ring->places[ring->place_count++] = place;
    return WIO_OK;
}

static uint64_t place_of(uint64_t index)
{
    return WIO_RING_HEADER_BYTES + index * WIO_CHUNK_BYTES;
}

/* The first chunk behind this one, which is empty, that has anything on the disk: a file may say
 * that it is of terabytes, and have none. Where the file system cannot tell, the next one. */
static uint64_t behind_hole(const struct wio_ring *ring, uint64_t index, uint64_t count)
{
    off_t data = lseek(ring->fd, (off_t)place_of(index + 1), SEEK_DATA);
    if (data < 0) {
        return errno == ENXIO ? count : index + 1;
    }
    uint64_t next = ((uint64_t)data - WIO_RING_HEADER_BYTES) / WIO_CHUNK_BYTES;
    return next > index ? next : index + 1;
}

static enum wio_status look_at(struct wio_ring *ring, uint32_t index, bool *is_empty_out,
                               struct wio_error *err)
{
    struct wio_chunk_header header = {0};
    WIO_TRY(wio_io_pread(ring->fd, ring->path, &header, sizeof(header), place_of(index), err));
    *is_empty_out = header.magic == 0;
    if (header.magic == WIO_CHUNK_MAGIC) {
        return add_place(ring,
                         (struct wio_chunk_place){
                             .writer = header.writer, .chunk_no = header.chunk_no, .index = index},
                         err);
    }
    ring->bad_chunks += header.magic != 0;
    return WIO_OK;
}

/* R-RING-3: as many chunks as the file has room for; the header's own count may be behind (loss of
 * power) or ahead (a full disk). A partial one counts if its header is there. */
static enum wio_status find_chunks(struct wio_ring *ring, struct wio_error *err)
{
    uint64_t room = ring->size > WIO_RING_HEADER_BYTES ? ring->size - WIO_RING_HEADER_BYTES : 0;
    uint64_t count = (room + WIO_CHUNK_BYTES - 1) / WIO_CHUNK_BYTES;
    if (count > UINT32_MAX) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, ring->path, ring->size,
                             "expected at most 2^32 chunks");
    }
    for (uint64_t i = 0;
         i < count && ring->size - place_of(i) >= sizeof(struct wio_chunk_header);) {
        bool is_empty;
        WIO_TRY(look_at(ring, (uint32_t)i, &is_empty, err));
        i = is_empty ? behind_hole(ring, i, count) : i + 1;
    }
    return WIO_OK;
}

/* R-BOUND-2 */
static enum wio_status find_bound_chunks(struct wio_ring *ring, struct wio_error *err)
{
    uint32_t count = 0;
    if (ring->bound == NULL || ring->header.keep != WIO_BOUND_LAST) {
        return WIO_OK;
    }
    ring->bound_chunks =
        wio_bound_find(ring->bound, ring->header.pid, ring->header.start_mono_ns, &count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wio_bound_chunk *chunk = &ring->bound_chunks[i];
        WIO_TRY(add_place(
            ring,
            (struct wio_chunk_place){
                .writer = chunk->writer, .chunk_no = chunk->chunk_no, .index = i, .is_bound = true},
            err));
    }
    return WIO_OK;
}

/* NOLINTNEXTLINE(readability-function-size): where it lies, what it is called, what goes with it */
enum wio_status wio_ring_open(struct wio_ring *ring, int dir, const char *name, const char *path,
                              const struct wio_bound *bound, struct wio_error *err)
{
    *ring = (struct wio_ring){
        .path = path, .fd = wio_io_open_regular(dir, name, O_NOFOLLOW), .bound = bound};
    struct stat st;
    if (ring->fd < 0 || fstat(ring->fd, &st) != 0) {
        return wio_error_sys(err, path, "cannot open the ring");
    }
    ring->size = (uint64_t)st.st_size;
    WIO_TRY(wio_ring_read_header(ring->fd, path, &ring->header, err));
    WIO_TRY(find_chunks(ring, err));
    WIO_TRY(find_bound_chunks(ring, err));
    if (ring->place_count > 0) {
        qsort(ring->places, ring->place_count, sizeof(*ring->places), compare_places);
    }
    return WIO_OK;
}

void wio_ring_close(struct wio_ring *ring)
{
    wio_fd_cleanup(&ring->fd);
    free(ring->places);
    ring->places = NULL;
    ring->place_count = 0;
    ring->place_room = 0;
}

static enum wio_status read_slots(const struct wio_ring *ring, const struct wio_chunk_place *place,
                                  union wio_slot *slots, struct wio_error *err)
{
    if (place->is_bound) {
        return wio_bound_read(ring->bound, &ring->bound_chunks[place->index], slots, err);
    }
    uint64_t at = place_of(place->index);
    size_t bytes = WIO_CHUNK_BYTES;
    if (ring->size - at < bytes) {
        bytes = (size_t)(ring->size - at);
        memset(slots, 0, WIO_CHUNK_BYTES);
    }
    return wio_io_pread(ring->fd, ring->path, slots, bytes, at, err);
}

/* R-CHUNK-2 */
static bool is_valid(const struct wio_ring_chunk *chunk, const union wio_slot *slots,
                     uint32_t place)
{
    return slots[place].any.seq == (uint32_t)(chunk->chunk_no * WIO_CHUNK_SLOTS + place);
}

/* Slots that a record says it takes. */
static uint32_t said_slots(const union wio_slot *slot)
{
    return wio_slot_count(slot->any.kind, slot->any.slots);
}

/* A record lies in one chunk: what goes on behind its end is damaged. */
static bool is_whole(const union wio_slot *slot, uint32_t place)
{
    uint32_t count = said_slots(slot);
    return count >= 1 && place + count <= WIO_CHUNK_SLOTS + 1;
}

/* Slots that a record takes. 1 where what it says makes no sense. */
static uint32_t slots_of(const union wio_slot *slot, uint32_t place)
{
    return is_whole(slot, place) ? said_slots(slot) : 1;
}

/* R-CHUNK-1: take each record from the copy where it is valid. */
static void join(struct wio_ring_chunk *chunk)
{
    for (uint32_t i = 1; i <= WIO_CHUNK_SLOTS;) {
        if (is_valid(chunk, chunk->slots, i)) {
            i += slots_of(&chunk->slots[i], i);
            continue;
        }
        if (!is_valid(chunk, chunk->copy, i)) {
            i++;
            continue;
        }
        uint32_t count = slots_of(&chunk->copy[i], i);
        for (uint32_t k = i; k < i + count; k++) {
            chunk->slots[k] = chunk->copy[k];
        }
        i += count;
    }
}

enum wio_status wio_ring_chunk(const struct wio_ring *ring, uint32_t *place,
                               struct wio_ring_chunk *chunk_out, struct wio_error *err)
{
    const struct wio_chunk_place *first = &ring->places[*place];
    chunk_out->writer = first->writer;
    chunk_out->chunk_no = first->chunk_no;
    chunk_out->next = 1;
    chunk_out->lost = 0;
    WIO_TRY(read_slots(ring, first, chunk_out->slots, err));
    for ((*place)++; *place < ring->place_count; (*place)++) {
        const struct wio_chunk_place *other = &ring->places[*place];
        if (other->writer != first->writer || other->chunk_no != first->chunk_no) {
            break;
        }
        WIO_TRY(read_slots(ring, other, chunk_out->copy, err));
        join(chunk_out);
    }
    chunk_out->is_last =
        *place == ring->place_count || ring->places[*place].writer != first->writer;
    return WIO_OK;
}

const union wio_slot *wio_chunk_next(struct wio_ring_chunk *chunk)
{
    uint32_t from = chunk->next;
    for (uint32_t i = from; i <= WIO_CHUNK_SLOTS; i++) {
        if (!is_valid(chunk, chunk->slots, i) || !is_whole(&chunk->slots[i], i)) {
            continue;
        }
        /* A hole before a valid record is one that was begun and not finished, of any length. */
        chunk->lost += i != from;
        chunk->next = i + slots_of(&chunk->slots[i], i);
        return &chunk->slots[i];
    }
    chunk->next = WIO_CHUNK_SLOTS + 1;
    return NULL;
}

const char *wio_slot_payload(const union wio_slot *slot, size_t *bytes_out)
{
    size_t room = WIO_TEXT_INLINE + (slot->text.slots - 1u) * (size_t)WIO_SLOT_BYTES;
    if (slot->text.slots < 1 || slot->text.bytes > room) {
        return NULL;
    }
    *bytes_out = slot->text.bytes;
    /* The continuation slots lie behind it in the same array. */
    return (const char *)slot + offsetof(struct wio_slot_text, payload);
}
