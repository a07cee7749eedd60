/* SPDX-License-Identifier: Apache-2.0 */
/* Where the last events are kept: the place of the oldest chunk, of any process. */
#include <signal.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fmt.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/core/ring/bound.h"

/* Times that the whole file is looked through. */
#define ROUNDS 64u

static bool is_dead(int32_t pid)
{
    return pid > 0 && cap_bound.has_pids && raw_call3(SYS_kill, pid, 0, 0) == -ESRCH;
}

/* A place that is mapped, or being filled, is left alone as long as that process lives. */
static bool may_take(uint64_t state)
{
    switch (wio_place_kind(state)) {
    case WIO_PLACE_FREE:
    case WIO_PLACE_STORED:
    case WIO_PLACE_LEFT:
        return true;
    case WIO_PLACE_BUSY:
    case WIO_PLACE_LIVE:
    default:
        return is_dead(wio_place_pid(state));
    }
}

/* Slots that a record takes. */
static uint32_t slots_of(const uint8_t *slot)
{
    uint32_t slots = wio_slot_count(slot[4], slot[5]); /* kind, slots */
    return slots > 0 ? slots : 1;
}

static uint32_t events_of(const struct wio_slot_event *slot)
{
    switch (slot->kind) {
    case WIO_SLOT_EVENT:
    case WIO_SLOT_EVENT_EXT:
        return 1;
    case WIO_SLOT_EVENT_RUN: /* R-EVENT-5 */
        return slot->result >= 1 && slot->result <= WIO_RUN_MAX ? (uint32_t)slot->result : 0;
    default:
        return 0;
    }
}

uint32_t cap_bound_count(const struct wio_chunk_header *chunk)
{
    const uint8_t *slots = (const uint8_t *)chunk;
    const uint32_t first = chunk->chunk_no * WIO_CHUNK_SLOTS;
    uint32_t count = 0;
    for (uint32_t i = 1; i <= WIO_CHUNK_SLOTS;) {
        const uint8_t *slot = slots + (size_t)i * WIO_SLOT_BYTES;
        uint32_t seq;
        memcpy(&seq, slot, sizeof(seq));
        if (seq != first + i) { /* R-CHUNK-2 */
            i++;
            continue;
        }
        count += events_of((const struct wio_slot_event *)(const void *)slot);
        i += slots_of(slot);
    }
    return count;
}

/* The events of a chunk that was mapped when its writer ended. */
static uint32_t count_at(const struct cap_bound_place *place)
{
    void *chunk = raw_mmap(WIO_CHUNK_BYTES, PROT_READ, MAP_SHARED, place->fd, place->offset);
    uint32_t count = 0;
    if (chunk != NULL) {
        count = cap_bound_count(chunk);
        (void)raw_munmap(chunk, WIO_CHUNK_BYTES);
    }
    return count;
}

/* Apart from its caller: it may run on the small stack of a signal handler. */
__attribute__((noinline)) static long open_ring(const struct wio_chunk_header *chunk)
{
    char path[CAP_PATH_MAX + 160];
    struct wio_fmt text = wio_fmt_of(path, sizeof(path));
    wio_fmt_str(&text, cap_process.directory);
    wio_fmt_str(&text, "/");
    wio_fmt_str(&text, cap_process.host);
    wio_fmt_str(&text, ".");
    wio_fmt_i64(&text, chunk->ring_pid);
    wio_fmt_str(&text, ".");
    wio_fmt_u64(&text, chunk->ring_ns);
    wio_fmt_str(&text, ".ring");
    return raw_openat(AT_FDCWD, path, O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0);
}

/* In the ring of another image. Where there is none any more (it was sealed) they count nowhere. */
static void count_elsewhere(const struct wio_chunk_header *chunk, uint32_t events)
{
    struct stat st = {0};
    long fd = open_ring(chunk);
    if (fd < 0) {
        return;
    }
    struct wio_ring_header *header = NULL;
    if (raw_fstat((int)fd, &st) == 0 && st.st_size >= (off_t)WIO_RING_HEADER_BYTES) {
        header = raw_mmap(WIO_RING_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, (int)fd, 0);
    }
    (void)raw_close((int)fd);
    if (header != NULL) {
        (void)__atomic_fetch_add(&header->evicted, events, __ATOMIC_RELAXED);
        (void)raw_munmap(header, WIO_RING_HEADER_BYTES);
    }
}

/* What is about to be overwritten counts as lost. */
static void evict(const struct cap_bound_place *place, enum wio_place_kind kind)
{
    struct wio_chunk_header chunk;
    if (kind == WIO_PLACE_FREE || kind == WIO_PLACE_BUSY ||
        raw_pread(place->fd, &chunk, sizeof(chunk), place->offset) != sizeof(chunk) ||
        chunk.magic != WIO_CHUNK_MAGIC) {
        return;
    }
    const uint32_t events = kind == WIO_PLACE_STORED ? chunk.events : count_at(place);
    struct wio_ring_header *own = cap_process.header;
    if (own != NULL && own->pid == chunk.ring_pid && own->start_mono_ns == chunk.ring_ns) {
        (void)__atomic_fetch_add(&own->evicted, events, __ATOMIC_RELAXED);
    } else if (events > 0) {
        count_elsewhere(&chunk, events);
    }
}

/* The process that takes a place. */
struct taker {
    int32_t pid;
    uint64_t limit; /* bytes that its files may have; others may have another limit */
};

/* Take place `index` if that may be. `laps`: how often all have been looked at before; a taker that
 * was stopped since then finds the place newer than others, and leaves it. `was_busy_out`: that, or
 * it is being filled by a living process. */
static bool take(uint64_t index, uint64_t laps, const struct taker *taker,
                 struct cap_bound_place *out, bool *was_busy_out)
{
    const uint64_t offset = cap_bound.header->data_offset + index * WIO_CHUNK_BYTES;
    uint64_t state = __atomic_load_n(&cap_bound.states[index], __ATOMIC_ACQUIRE);
    const enum wio_place_kind kind = wio_place_kind(state);
    const uint64_t busy =
        wio_place_state(state, WIO_PLACE_BUSY, cap_bound.has_pids ? taker->pid : 0);
    if (offset + WIO_CHUNK_BYTES > taker->limit) {
        return false;
    }
    const bool is_late = wio_place_is_behind(state, laps);
    if (is_late || !may_take(state)) {
        *was_busy_out = *was_busy_out || is_late || kind == WIO_PLACE_BUSY;
        return false;
    }
    if (!__atomic_compare_exchange_n(&cap_bound.states[index], &state, busy, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        *was_busy_out = true;
        return false;
    }
    out->index = index;
    out->offset = offset;
    out->is_fresh = kind == WIO_PLACE_FREE;
    evict(out, kind);
    return true;
}

/* As many as there are, from the hand on. Each is looked at by one taker a lap, in their order:
 * what is taken is the oldest. */
static bool look_round(const struct taker *taker, struct cap_bound_place *out, bool *was_busy_out)
{
    struct wio_bound_header *header = cap_bound.header;
    const uint64_t places = __atomic_load_n(&header->places, __ATOMIC_RELAXED);
    for (uint64_t i = 0; i < places && places <= cap_bound.places; i++) {
        const uint64_t hand = __atomic_fetch_add(&header->hand, 1, __ATOMIC_RELAXED);
        if (take(hand % places, hand / places, taker, out, was_busy_out)) {
            return true;
        }
    }
    return false;
}

/* Where all places that are not mapped are being filled, that takes a moment: other threads have
 * the processor then. Signals are blocked, so that none of these is this thread. */
static bool find(int32_t pid, struct cap_bound_place *out)
{
    const struct taker taker = {.pid = pid, .limit = cap_ring_limit()};
    bool was_busy = true;
    for (unsigned round = 0; round < ROUNDS && was_busy; round++) {
        if (round > 0) {
            raw_yield();
        }
        was_busy = false;
        if (look_round(&taker, out, &was_busy)) {
            return true;
        }
    }
    return false;
}

bool cap_bound_claim(int32_t pid, struct cap_bound_place *out)
{
    if (cap_bound.header == NULL) {
        return false;
    }
    out->fd = cap_bound_open();
    if (out->fd < 0) {
        return false;
    }
    if (find(pid, out)) {
        return true;
    }
    cap_bound_close(out->fd);
    return false;
}

/* The disk has no room for this place, and so for none behind it: there are less from now on. */
static void shrink(uint64_t index)
{
    uint64_t places = __atomic_load_n(&cap_bound.header->places, __ATOMIC_RELAXED);
    while (index > 0 && index < places &&
           !__atomic_compare_exchange_n(&cap_bound.header->places, &places, index, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

void cap_bound_settle(const struct cap_bound_place *place, enum wio_place_kind kind, int32_t pid)
{
    uint64_t *state = &cap_bound.states[place->index];
    __atomic_store_n(state,
                     wio_place_state(__atomic_load_n(state, __ATOMIC_RELAXED), kind,
                                     cap_bound.has_pids ? pid : 0),
                     __ATOMIC_RELEASE);
    if (kind == WIO_PLACE_FREE && place->is_fresh) {
        shrink(place->index);
    }
    cap_bound_close(place->fd);
}
