/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records into the thread's chunk: claim slots, fill them, publish. Part of capture.h. Safe against
 * signal handlers of the same thread; no other thread writes there. FORMAT.md#chunk
 */
#ifndef WIO_CAPTURE_CORE_SLOTS_H
#define WIO_CAPTURE_CORE_SLOTS_H

#include "capture/core/state.h"

#define CAP_TICKS_MAX ((1ull << 48) - 1)

/* Add without a bus lock: atomic for signal handlers of this thread, which is all that can
 * interfere. Returns the value before. */
static inline uint64_t cap_fetch_add_local(uint64_t *word, uint64_t add)
{
#if defined(__x86_64__)
    __asm__ volatile("xaddq %0, %1" : "+r"(add), "+m"(*word) : : "memory", "cc");
    return add;
#else
    return __atomic_fetch_add(word, add, __ATOMIC_RELAXED);
#endif
}

static inline void cap_add_local(uint32_t *word, uint32_t add)
{
#if defined(__x86_64__)
    __asm__ volatile("addl %1, %0" : "+m"(*word) : "ri"(add) : "memory", "cc");
#else
    (void)__atomic_fetch_add(word, add, __ATOMIC_RELAXED);
#endif
}

/* Chunks are mapped at multiples of their size. */
static inline struct wio_chunk_header *cap_chunk_of(uint8_t *slot)
{
    return (struct wio_chunk_header *)((uintptr_t)slot & ~(uintptr_t)(WIO_CHUNK_BYTES - 1));
}

/* The slow end of cap_reserve: turns a full chunk over. NULL = dropped and counted. */
uint8_t *cap_reserve_slow(struct cap_thread *self, uint32_t slots, uint32_t *seq_out) CAP_HIDDEN;

/*
 * Claim `slots` slots in a row; *seq_out is the seq that makes the first one valid. A signal
 * handler may run between any two instructions and claim, fill and turn over the chunk: `word`
 * holds place and chunk together, so a claim that straddles a turn-over is noticed, and the
 * chunk's `published` tells the handler that a claim in it is still being filled, in which case the
 * chunk is not reused. Fill, then cap_publish. NULL where the record is dropped.
 */
static inline uint8_t *cap_reserve(struct cap_thread *self, uint32_t slots, uint32_t *seq_out)
{
    uint64_t before = __atomic_load_n(&self->word, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    uint8_t *base = __atomic_load_n(&self->slots, __ATOMIC_RELAXED);
    uint64_t word = cap_fetch_add_local(&self->word, slots);
    uint32_t place = (uint32_t)word;
    if (CAP_LIKELY(place + slots <= WIO_CHUNK_SLOTS && (word ^ before) >> 32 == 0)) {
        *seq_out = (uint32_t)(word >> 32) + place;
        return base + (size_t)place * WIO_SLOT_BYTES;
    }
    if (place + slots <= WIO_CHUNK_SLOTS) {
        cap_add_local(&self->writer.chunk->published, slots); /* the hole stays invalid */
    }
    uint32_t
        seq; /* seq_out is a register of the caller's as long as its address is taken nowhere */
    uint8_t *slot = cap_reserve_slow(self, slots, &seq);
    *seq_out = seq;
    return slot;
}

/* The record is whole: readers may have it. */
static inline void cap_publish(uint8_t *slot, uint32_t slots, uint32_t seq)
{
    __atomic_store_n((uint32_t *)(void *)slot, seq, __ATOMIC_RELEASE);
    cap_add_local(&cap_chunk_of(slot)->published, slots);
}

/* A call by a library, of which no sample of the stack is due: the only thing that is special about
 * the event (stack.h). Its site is known by return address and depth of the stack, each wrapper for
 * itself. */
static inline bool cap_site_is_quiet(struct cap_thread *self, uintptr_t source)
{
#if defined(__x86_64__)
    register uintptr_t depth __asm__("rsp");
    __asm__("" : "=r"(depth));
#else
    const uintptr_t depth = 0;
#endif
    const uint64_t mixed = (source ^ depth << 20) * 0x9e3779b97f4a7c15u;
    self->stacks.site_tag = (uint32_t)(mixed >> 32) | 1;
    struct cap_site *site = &self->stacks.sites[self->stacks.site_tag / 2 % CAP_SITE_SETS][0];
    return self->special == (uint16_t)CAP_PENDING_SITE << 8 && site->tag == self->stacks.site_tag &&
           site->left > 1 && source - self->lo >= self->span && site->left-- > 1;
}

/* Write the fixed part of an event into its slot. */
static inline void cap_fill(uint8_t *bytes, const struct cap_event *ev, uint8_t kind)
{
    struct wio_slot_event *slot = (struct wio_slot_event *)(void *)bytes;
    uint64_t ticks = ev->end - ev->begin;
    if (CAP_UNLIKELY(ticks > CAP_TICKS_MAX)) {
        ticks = CAP_TICKS_MAX;
    }
    slot->kind = kind;
    slot->flags = ev->flags;
    slot->call = ev->call;
    slot->begin = ev->begin;
    slot->dur_error = ticks | (uint64_t)(uint16_t)ev->error << 48;
    slot->source = ev->source;
    slot->result = ev->result;
    slot->offset = ev->offset;
    slot->size = ev->size;
    slot->fd = ev->fd;
    slot->path = ev->path;
}

#endif
