/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks: claim, map, turn over; the record that begins each. FORMAT.md#chunk */
#include <string.h>
#include <sys/mman.h>

#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/core/ring/bound.h"

#define RETRY_EVERY 1024u /* dropped records between two attempts on a full disk */

static uint64_t chunk_offset(uint32_t place)
{
    return WIO_RING_HEADER_BYTES + (uint64_t)place * WIO_CHUNK_BYTES;
}

/* Where a chunk goes: in the ring, or in the file of the bound. */
struct place {
    int fd;
    uint64_t offset;
    struct cap_bound_place bound; /* where the last events are kept */
};

/* A place in the ring; kept for the next attempt where it could not be filled. */
static bool claim_in_ring(struct cap_thread *self, struct place *out)
{
    out->fd = cap_ring_fd();
    if (out->fd < 0 || (self->writer.place == 0 && !cap_bound_take())) {
        return false;
    }
    if (self->writer.place == 0) {
        self->writer.place =
            __atomic_fetch_add(&cap_process.header->chunks, 1, __ATOMIC_RELAXED) + 1;
    }
    out->offset = chunk_offset(self->writer.place - 1);
    return true;
}

static bool claim(struct cap_thread *self, struct place *out)
{
    if (CAP_LIKELY(!cap_bound_keeps_last())) {
        return claim_in_ring(self, out);
    }
    if (!cap_bound_claim(self->pid, &out->bound)) {
        return false;
    }
    out->fd = out->bound.fd;
    out->offset = out->bound.offset;
    return true;
}

/* The place was filled, or not (FREE). */
static void settle(struct cap_thread *self, const struct place *place, enum wio_place_kind kind)
{
    if (cap_bound_keeps_last()) {
        cap_bound_settle(&place->bound, kind, self->pid);
    } else if (kind != WIO_PLACE_FREE) {
        self->writer.place = 0;
    }
}

/* Below the block of memory that the thread's state lies in, each thread at a place of its own:
 * that is free as a rule while the program begins. NULL where it is not. */
static uint8_t *map_below(const struct cap_thread *self, int fd, uint64_t offset)
{
    const uintptr_t index = self->index % CAP_THREAD_BLOCK;
    const uintptr_t block = (uintptr_t)self - index * sizeof(*self);
    const uintptr_t wanted =
        block / WIO_CHUNK_BYTES * WIO_CHUNK_BYTES - (index + 1) * WIO_CHUNK_BYTES;
    long mapped = raw_call6(SYS_mmap, (long)wanted, WIO_CHUNK_BYTES, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_POPULATE | MAP_FIXED_NOREPLACE, fd, (long)offset);
    if (mapped == (long)wanted) {
        return (uint8_t *)wanted;
    }
    if (mapped > 0) { /* a kernel before 4.17 takes the address for a hint */
        (void)raw_munmap((void *)mapped, WIO_CHUNK_BYTES);
    }
    return NULL;
}

/* Within a range of twice the size that is given back. */
static uint8_t *map_anywhere(int fd, uint64_t offset)
{
    const size_t range_bytes = (size_t)2 * WIO_CHUNK_BYTES;
    uint8_t *range =
        raw_mmap(range_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == NULL) {
        return NULL;
    }
    size_t before = -(uintptr_t)range % WIO_CHUNK_BYTES;
    long mapped =
        raw_call6(SYS_mmap, (long)(range + before), WIO_CHUNK_BYTES, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_POPULATE | MAP_FIXED, fd, (long)offset);
    if (mapped != (long)(range + before)) {
        (void)raw_munmap(range, range_bytes);
        return NULL;
    }
    if (before > 0) {
        (void)raw_munmap(range, before);
    }
    (void)raw_munmap(range + before + WIO_CHUNK_BYTES, WIO_CHUNK_BYTES - before);
    return range + before;
}

/* At a multiple of its size (cap_chunk_of). NULL where there is no room. */
static uint8_t *map_chunk(const struct cap_thread *self, int fd, uint64_t offset)
{
    uint8_t *map = map_below(self, fd, offset);
    return map != NULL ? map : map_anywhere(fd, offset);
}

/* Any number that no other writer of the image has. */
static uint32_t writer_number(const struct cap_thread *self)
{
    return cap_bound_keeps_last()
               ? __atomic_add_fetch(&cap_process.header->chunks, 1, __ATOMIC_RELAXED)
               : self->writer.place;
}

/* In the file of the bound a chunk says whose it is. */
static void name_ring(struct wio_chunk_header *chunk, const struct wio_chunk_header *former)
{
    chunk->ring_pid = cap_process.header->pid;
    chunk->ring_ns = cap_process.header->start_mono_ns;
    chunk->events_before = former != NULL ? former->events_before + cap_bound_count(former) : 0;
}

static void begin_writing(struct cap_thread *self, uint8_t *map)
{
    struct wio_chunk_header *chunk = (struct wio_chunk_header *)(void *)map;
    if (self->writer.chunk == NULL) {
        self->writer.number = writer_number(self);
        chunk->chunk_no = 0;
    } else {
        chunk->chunk_no = self->writer.chunk->chunk_no + 1;
    }
    if (cap_bound_keeps_last()) {
        name_ring(chunk, self->writer.chunk);
    }
    chunk->writer = self->writer.number;
    __atomic_store_n(&chunk->magic, WIO_CHUNK_MAGIC, __ATOMIC_RELEASE);
    self->writer.chunk = chunk;
    __atomic_store_n(&self->slots, map + WIO_SLOT_BYTES, __ATOMIC_RELAXED);
}

bool cap_chunk_attach(struct cap_thread *self)
{
    struct place place;
    if (!claim(self, &place)) {
        return false;
    }
    const bool is_allocated = cap_ring_allocate(place.fd, place.offset, WIO_CHUNK_BYTES);
    uint8_t *map = is_allocated ? map_chunk(self, place.fd, place.offset) : NULL;
    if (map == NULL) {
        if (is_allocated) { /* the disk has room for it */
            place.bound.is_fresh = false;
        }
        settle(self, &place, WIO_PLACE_FREE);
        return false;
    }
    (void)raw_madvise(map, WIO_CHUNK_BYTES, MADV_DONTFORK);
    begin_writing(self, map);
    settle(self, &place, WIO_PLACE_LIVE);
    return true;
}

void cap_ring_calibrate(const struct cap_moment *now)
{
    uint32_t is_free = 0;
    if (!__atomic_compare_exchange_n(&cap_image->calibration_lock, &is_free, 1, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        return; /* another thread is at it with a moment that is as good */
    }
    __atomic_store_n(&cap_process.header->end_ticks, now->ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&cap_process.header->end_mono_ns, now->mono_ns, __ATOMIC_RELAXED);
    __atomic_store_n(&cap_image->calibration_lock, 0, __ATOMIC_RELEASE);
}

void cap_clock_record(struct cap_thread *self, uint8_t reason)
{
    uint32_t seq;
    uint8_t *bytes = cap_reserve(self, 1, &seq);
    if (bytes == NULL) {
        return;
    }
    const struct cap_moment now = cap_moment_now();
    struct wio_slot_clock *clock = (struct wio_slot_clock *)(void *)bytes;
    clock->kind = WIO_SLOT_CLOCK;
    clock->reason = reason;
    clock->ticks = now.ticks;
    clock->mono_ns = now.mono_ns;
    clock->pid = self->writer.clock_pid;
    clock->tid = self->writer.clock_tid;
    clock->thread = self->birth.token;
    clock->dropped = self->writer.dropped;
    clock->reserved = 0;
    memset(clock->reserved2, 0, sizeof(clock->reserved2));
    cap_ring_calibrate(&now);
    cap_publish(bytes, 1, seq);
}

void cap_chunk_begin(struct cap_thread *self, uint8_t reason)
{
    uint64_t seq = (uint32_t)(self->writer.chunk->chunk_no * WIO_CHUNK_SLOTS + 1);
    self->writer.chunk->published = 0;
    __atomic_store_n(&self->word, seq << 32, __ATOMIC_RELAXED);
    cap_clock_record(self, reason);
}

/* Copy the full chunk away and use its memory again. */
static bool turn_over(struct cap_thread *self)
{
    struct wio_chunk_header *chunk = self->writer.chunk;
    struct place place;
    if (!claim(self, &place)) {
        return false;
    }
    if (cap_bound_keeps_last()) {
        chunk->events = cap_bound_count(chunk);
    }
    if (!cap_ring_is_within_limit(place.offset + WIO_CHUNK_BYTES) ||
        raw_pwrite(place.fd, chunk, WIO_CHUNK_BYTES, place.offset) != WIO_CHUNK_BYTES) {
        settle(self, &place, WIO_PLACE_FREE);
        return false;
    }
    settle(self, &place, WIO_PLACE_STORED);
    __atomic_store_n(&chunk->chunk_no, chunk->chunk_no + 1, __ATOMIC_RELEASE);
    chunk->events_before += chunk->events;
    chunk->events = 0;
    return true;
}

/* With signals blocked. A claim below the end that is not published is being filled by code that
 * this handler interrupted: then its chunk stays where it is, whole in the file, and the writer
 * goes on in another place. */
static bool make_space(struct cap_thread *self, bool is_whole)
{
    if (self->writer.retry_in > 0) {
        self->writer.retry_in--;
        return false;
    }
    if (is_whole ? turn_over(self) : cap_chunk_attach(self)) {
        cap_chunk_begin(self, 0);
        return true;
    }
    self->writer.retry_in = RETRY_EVERY;
    return false;
}

static void count_dropped(struct cap_thread *self)
{
    (void)__atomic_fetch_add(&self->writer.dropped, 1, __ATOMIC_RELAXED);
    (void)__atomic_fetch_add(&cap_process.header->dropped, 1, __ATOMIC_RELAXED);
}

/* While the disk is full: drop without a system call, also where a handler of a signal comes in
 * between and drops, or finds space again, itself. `word`: with the claim that found none. */
static bool drop_at_once(struct cap_thread *self, uint64_t word)
{
    uint32_t left = __atomic_load_n(&self->writer.retry_in, __ATOMIC_RELAXED);
    if (left == 0 || !__atomic_compare_exchange_n(&self->writer.retry_in, &left, left - 1, false,
                                                  __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        return false;
    }
    count_dropped(self);
    (void)__atomic_compare_exchange_n(&self->word, &word,
                                      (word & ~(uint64_t)UINT32_MAX) | WIO_CHUNK_SLOTS, false,
                                      __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return true;
}

static void drop(struct cap_thread *self, bool is_whole)
{
    count_dropped(self);
    self->word = (self->word & ~(uint64_t)UINT32_MAX) | WIO_CHUNK_SLOTS;
    if (is_whole) {
        self->writer.chunk->published = WIO_CHUNK_SLOTS;
    }
}

uint8_t *cap_reserve_slow(struct cap_thread *self, uint32_t slots, uint32_t *seq_out)
{
    if (drop_at_once(self, self->word)) {
        return NULL;
    }
    uint64_t mask = raw_block_signals();
    uint8_t *place = NULL;
    uint32_t next = (uint32_t)self->word;
    bool is_whole = self->writer.chunk != NULL && next - slots == self->writer.chunk->published;
    if (next + slots <= WIO_CHUNK_SLOTS || make_space(self, is_whole)) {
        place = cap_reserve(self, slots, seq_out);
    } else {
        drop(self, is_whole);
    }
    raw_restore_signals(mask);
    return place;
}
