/* SPDX-License-Identifier: Apache-2.0 */
/* Events of more than one slot, and those of threads with flags. */
#include <string.h>

#include "capture/core/features.h"
#include "capture/core/process.h"
#include "capture/core/stack.h"

static void fill_ext(uint8_t *bytes, const struct cap_ext *ext)
{
    struct wio_slot_ext *slot = (struct wio_slot_ext *)(void *)bytes;
    slot->path2 = ext->path2;
    slot->fd2 = ext->fd2;
    slot->offset2 = ext->offset2;
    memcpy(slot->arg, ext->arg, sizeof(slot->arg));
    slot->key = ext->key;
    slot->reserved = 0;
}

static CAP_WARM void emit(struct cap_thread *self, const struct cap_event *ev,
                          const struct cap_ext *ext)
{
    uint32_t slots = ext != NULL ? 2 : 1;
    uint32_t seq;
    uint8_t *bytes = cap_reserve(self, slots, &seq);
    if (CAP_UNLIKELY(bytes == NULL)) {
        return;
    }
    cap_fill(bytes, ev, ext != NULL ? WIO_SLOT_EVENT_EXT : WIO_SLOT_EVENT);
    if (ext != NULL) {
        fill_ext(bytes + WIO_SLOT_BYTES, ext);
    }
    cap_publish(bytes, slots, seq);
}

void cap_emit_flagged(struct cap_thread *self, const struct cap_event *ev,
                      const struct cap_ext *ext)
{
    uint8_t flags = self->flags;
    if (CAP_UNLIKELY((flags & CAP_CALL_FLAGS) != 0)) {
        flags = cap_on_event_flags(self, ev, flags); /* not of what is written on the way */
    }
    if ((self->has_pending & CAP_PENDING_EVENTS) != 0 && (self->flags & WIO_EVENT_VFORK) == 0) {
        cap_on_event(self);
    }
    struct cap_event flagged = *ev;
    flagged.flags |= flags;
    if ((self->flags & WIO_EVENT_STACK) != 0) {
        uint32_t id = cap_stack(self, ev->source);
        if (id != 0) {
            flagged.source = id;
        } else {
            flagged.flags &= (uint8_t)~WIO_EVENT_STACK;
        }
    } else if ((self->has_pending & CAP_PENDING_SITE) != 0 && (flags & WIO_EVENT_VFORK) == 0) {
        uint32_t id = cap_stack_sample(self, ev);
        if (CAP_UNLIKELY(id != 0)) {
            flagged.source = id;
            flagged.flags |= WIO_EVENT_STACK;
        }
    }
    emit(self, &flagged, ext);
}

CAP_WARM void cap_emit_ext(struct cap_thread *self, const struct cap_event *ev,
                           const struct cap_ext *ext)
{
    if (CAP_UNLIKELY(ev->end - self->sampled >= CAP_LONG)) {
        cap_cpu_behind(self, ev->begin, ev->end);
    }
    if (CAP_UNLIKELY(self->special != 0) && !cap_site_is_quiet(self, ev->source)) {
        cap_emit_flagged(self, ev, ext);
        return;
    }
    emit(self, ev, ext);
}

void cap_complete(struct cap_thread *self, uint64_t key, int64_t result, uint64_t ticks)
{
    uint32_t seq;
    uint8_t *bytes = cap_reserve(self, 1, &seq);
    if (bytes == NULL) {
        return;
    }
    struct wio_slot_completion *slot = (struct wio_slot_completion *)(void *)bytes;
    slot->kind = WIO_SLOT_COMPLETION;
    memset(slot->reserved, 0, sizeof(slot->reserved));
    slot->ticks = ticks;
    slot->key = key;
    slot->result = result;
    memset(slot->reserved2, 0, sizeof(slot->reserved2));
    cap_publish(bytes, 1, seq);
}
