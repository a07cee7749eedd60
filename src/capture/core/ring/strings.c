/* SPDX-License-Identifier: Apache-2.0 */
/* Texts in the ring: records of more than one slot, and the strings that events name by id. */
#include <string.h>

#include "base/crc.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/core/ring/bound.h"

#define TEXT_MAX CAP_TEXT_MAX

static uint32_t text_slots(size_t bytes)
{
    size_t more = bytes > WIO_TEXT_INLINE ? bytes - WIO_TEXT_INLINE : 0;
    return (uint32_t)(1 + (more + WIO_SLOT_BYTES - 1) / WIO_SLOT_BYTES);
}

/* Where the last events are kept: slot number `slot`, counted over all chunks of the ring. */
static uint64_t chunk_at(uint64_t slot)
{
    return WIO_RING_HEADER_BYTES + slot / WIO_CHUNK_SLOTS * WIO_CHUNK_BYTES;
}

static uint64_t slot_at(uint64_t slot)
{
    return chunk_at(slot) + (slot % WIO_CHUNK_SLOTS + 1) * WIO_SLOT_BYTES;
}

static bool begin_chunk(int fd, uint64_t slot)
{
    const struct wio_chunk_header header = {.magic = WIO_CHUNK_MAGIC,
                                            .writer = WIO_TEXT_WRITER,
                                            .chunk_no = (uint32_t)(slot / WIO_CHUNK_SLOTS)};
    return cap_ring_is_within_limit(chunk_at(slot) + WIO_CHUNK_BYTES) &&
           raw_pwrite(fd, &header, sizeof(header), chunk_at(slot)) == sizeof(header);
}

/* The header is written with the first slot of a chunk; later where that could not be done. */
static bool has_header(int fd, uint64_t slot, bool is_first)
{
    uint64_t chunk = slot / WIO_CHUNK_SLOTS + 1;
    uint64_t *missing = &cap_image->text_missing;
    if (CAP_LIKELY(!is_first && __atomic_load_n(missing, __ATOMIC_RELAXED) != chunk)) {
        return true;
    }
    if (!begin_chunk(fd, slot)) {
        __atomic_store_n(missing, chunk, __ATOMIC_RELAXED);
        return false;
    }
    (void)__atomic_compare_exchange_n(missing, &chunk, 0, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED);
    return true;
}

/* Slots for a definition; one that does not fit into the rest of a chunk leaves that empty. What
 * has the first slot of a chunk begins it. */
static bool claim_slots(int fd, uint32_t slots, uint64_t *first_out)
{
    uint64_t *next = &cap_process.header->text_slots;
    for (unsigned tries = 0; tries < 3; tries++) {
        const uint64_t first = __atomic_fetch_add(next, slots, __ATOMIC_RELAXED);
        const uint64_t last = first + slots - 1;
        if (!has_header(fd, last,
                        first % WIO_CHUNK_SLOTS == 0 || last % WIO_CHUNK_SLOTS < slots - 1)) {
            return false;
        }
        if (first / WIO_CHUNK_SLOTS == last / WIO_CHUNK_SLOTS) {
            *first_out = first;
            return true;
        }
    }
    return false;
}

/* R-BOUND-3: definitions are written beside the events, and stay. */
static bool write_aside(const struct wio_slot_text *head, const void *first, size_t first_bytes,
                        const void *second, size_t second_bytes)
{
    static const char zeros[WIO_SLOT_BYTES];
    const uint32_t slots = text_slots(first_bytes + second_bytes);
    const size_t bytes = (size_t)slots * WIO_SLOT_BYTES;
    const size_t used = offsetof(struct wio_slot_text, payload) + first_bytes + second_bytes;
    const int fd = cap_ring_fd();
    uint64_t at = 0;
    if (fd < 0 || !cap_bound_take_text(bytes) || !claim_slots(fd, slots, &at) ||
        !cap_ring_is_within_limit(slot_at(at) + bytes)) {
        return false;
    }
    struct wio_slot_text slot = *head;
    slot.seq = (uint32_t)(at + 1); /* R-CHUNK-2 */
    slot.slots = (uint8_t)slots;
    slot.bytes = (uint16_t)(first_bytes + second_bytes);
    const struct iovec parts[] = {
        {&slot, offsetof(struct wio_slot_text, payload)},
        {(void *)(uintptr_t)first, first_bytes},
        {(void *)(uintptr_t)second, second_bytes},
        {(void *)(uintptr_t)zeros, bytes - used},
    };
    return raw_pwritev(fd, parts, sizeof(parts) / sizeof(parts[0]), slot_at(at)) == (long)bytes;
}

static bool keep_text(const struct wio_slot_text *head, const void *first, size_t first_bytes,
                      const void *second, size_t second_bytes)
{
    const bool is_kept = write_aside(head, first, first_bytes, second, second_bytes);
    if (!is_kept) {
        (void)__atomic_fetch_add(&cap_process.header->texts_lost, 1, __ATOMIC_RELAXED);
    }
    return is_kept;
}

/* Inline for strings: most events with a path have a new one, and without a second part half of
 * this is gone. */
static inline __attribute__((always_inline)) bool
write_text(struct cap_thread *self, const struct wio_slot_text *head, const void *first,
           size_t first_bytes, const void *second, size_t second_bytes)
{
    if (second_bytes > TEXT_MAX - first_bytes) {
        second_bytes = TEXT_MAX - first_bytes;
    }
    uint32_t slots = text_slots(first_bytes + second_bytes);
    uint32_t seq;
    uint8_t *bytes = cap_reserve(self, slots, &seq);
    if (bytes == NULL) {
        return false;
    }
    struct wio_slot_text *slot = (struct wio_slot_text *)(void *)bytes;
    uint8_t *payload = bytes + offsetof(struct wio_slot_text, payload);
    slot->kind = head->kind;
    slot->slots = (uint8_t)slots;
    slot->bytes = (uint16_t)(first_bytes + second_bytes);
    slot->id = head->id;
    slot->base = head->base;
    slot->lo = head->lo;
    slot->hi = head->hi;
    memcpy(payload, first, first_bytes);
    if (second_bytes > 0) {
        memcpy(payload + first_bytes, second, second_bytes);
    }
    cap_publish(bytes, slots, seq);
    return true;
}

/* What is too long, and every text where the last events are kept. */
static __attribute__((noinline)) bool write_special(struct cap_thread *self,
                                                    const struct wio_slot_text *head,
                                                    const void *first, size_t first_bytes,
                                                    const void *second, size_t second_bytes)
{
    if (first_bytes > TEXT_MAX) {
        first_bytes = TEXT_MAX;
    }
    if (!cap_bound_keeps_last()) {
        return write_text(self, head, first, first_bytes, second, second_bytes);
    }
    if (second_bytes > TEXT_MAX - first_bytes) {
        second_bytes = TEXT_MAX - first_bytes;
    }
    return keep_text(head, first, first_bytes, second, second_bytes);
}

static inline __attribute__((always_inline)) bool put_text(struct cap_thread *self,
                                                           const struct wio_slot_text *head,
                                                           const void *first, size_t first_bytes,
                                                           const void *second, size_t second_bytes)
{
    if (CAP_UNLIKELY(first_bytes >= cap_bound.plain_text)) {
        return write_special(self, head, first, first_bytes, second, second_bytes);
    }
    return write_text(self, head, first, first_bytes, second, second_bytes);
}

bool cap_text_record(struct cap_thread *self, const struct wio_slot_text *head, const void *first,
                     size_t first_bytes, const void *second, size_t second_bytes)
{
    return put_text(self, head, first, first_bytes, second, second_bytes);
}

void cap_bound_opened(struct cap_thread *self, int fd, uint32_t path, int open_flags)
{
    const struct wio_slot_text head = {
        .kind = WIO_SLOT_OPENED, .id = path, .base = (uint32_t)fd, .lo = (uint32_t)open_flags};
    (void)cap_text_record(self, &head, "", 0, NULL, 0);
}

CAP_WARM uint32_t cap_string_below(struct cap_thread *self, uint32_t base, const char *text,
                                   size_t bytes)
{
    if (bytes > TEXT_MAX) {
        bytes = TEXT_MAX;
    }
    uint32_t id = __atomic_fetch_add(&cap_process.header->next_string, 1, __ATOMIC_RELAXED);
    struct wio_slot_text head = {
        .kind = WIO_SLOT_STRING, .id = id, .base = base, .lo = wio_crc32c(0, text, bytes)};
    /* An id without its definition would never become a path again. */
    return put_text(self, &head, text, bytes, NULL, 0) ? id : WIO_NO_STRING;
}

uint32_t cap_text(struct cap_thread *self, const char *text, size_t bytes)
{
    return bytes > 0 ? cap_string_below(self, 0, text, bytes) : WIO_NO_STRING;
}

bool cap_is_readable(const char *path)
{
    if (path == NULL) {
        return true;
    }
    long result = raw_call3(SYS_faccessat, AT_FDCWD, (long)path, 0 /* F_OK */);
    return result != -EFAULT && !cap_is_confined;
}
