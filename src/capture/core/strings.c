/* SPDX-License-Identifier: Apache-2.0 */
/* Texts in the ring: records of more than one slot, and the strings that events name by id. */
#include <string.h>

#include "base/crc.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"

#define TEXT_MAX 8192u

static uint32_t text_slots(size_t bytes)
{
    size_t more = bytes > WIO_TEXT_INLINE ? bytes - WIO_TEXT_INLINE : 0;
    return (uint32_t)(1 + (more + WIO_SLOT_BYTES - 1) / WIO_SLOT_BYTES);
}

bool cap_text_record(struct cap_thread *self, const struct wio_slot_text *head, const void *first,
                     size_t first_bytes, const void *second, size_t second_bytes)
{
    if (first_bytes > TEXT_MAX) {
        first_bytes = TEXT_MAX;
    }
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

uint32_t cap_string_below(struct cap_thread *self, uint32_t base, const char *text, size_t bytes)
{
    if (bytes > TEXT_MAX) {
        bytes = TEXT_MAX;
    }
    uint32_t id = __atomic_fetch_add(&cap_process.header->next_string, 1, __ATOMIC_RELAXED);
    struct wio_slot_text head = {
        .kind = WIO_SLOT_STRING, .id = id, .base = base, .lo = wio_crc32c(0, text, bytes)};
    /* An id without its definition would never become a path again. */
    return cap_text_record(self, &head, text, bytes, NULL, 0) ? id : WIO_NO_STRING;
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
