/* SPDX-License-Identifier: Apache-2.0 */
/* Records that are more than one slot, and events of threads with flags. */
#include <string.h>
#include <sys/mman.h>

#include "base/crc.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/core/stack.h"
#include "capture/sync/sync_held.h"
#include "capture/throttle/hold.h"

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

static uint32_t define_string(struct cap_thread *self, uint32_t base, const char *text,
                              size_t bytes)
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
    return bytes > 0 ? define_string(self, 0, text, bytes) : WIO_NO_STRING;
}

static uint32_t long_directory(struct cap_thread *self)
{
    char *text = raw_mmap(CAP_PATH_MAX, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == NULL) {
        return WIO_NO_STRING;
    }
    long length = raw_getcwd(text, CAP_PATH_MAX);
    uint32_t id = length > 1 ? define_string(self, 0, text, (size_t)length - 1) : WIO_NO_STRING;
    (void)raw_munmap(text, CAP_PATH_MAX);
    return id;
}

static uint32_t ask_directory(struct cap_thread *self)
{
    char text[CAP_SHORT_TEXT];
    long length = raw_getcwd(text, sizeof(text));
    if (length == -ERANGE) {
        return long_directory(self);
    }
    return length > 1 ? define_string(self, 0, text, (size_t)length - 1) : WIO_NO_STRING;
}

/* What was asked is kept only where no thread has gone elsewhere meanwhile. */
static uint32_t working_directory(struct cap_thread *self)
{
    if (CAP_UNLIKELY(self->left_cwd != WIO_NO_STRING)) {
        return self->left_cwd;
    }
    if (CAP_UNLIKELY((self->flags & WIO_EVENT_VFORK) != 0)) {
        return ask_directory(self); /* a child of vfork may have gone elsewhere, alone */
    }
    uint64_t known = __atomic_load_n(&cap_process.cwd, __ATOMIC_RELAXED);
    if (CAP_LIKELY((uint32_t)known != WIO_NO_STRING)) {
        return (uint32_t)known;
    }
    uint32_t id = ask_directory(self);
    (void)__atomic_compare_exchange_n(&cap_process.cwd, &known, known | id, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED);
    return id;
}

void cap_cwd_leave(struct cap_thread *self)
{
    self->left_cwd = WIO_NO_STRING;
    self->left_cwd = working_directory(self);
}

void cap_cwd_changed(void)
{
    if ((cap_self->flags & WIO_EVENT_VFORK) != 0) {
        return;
    }
    uint64_t known = __atomic_load_n(&cap_process.cwd, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&cap_process.cwd, &known, ((known >> 32) + 1) << 32, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

bool cap_is_readable(const char *path)
{
    if (path == NULL) {
        return true;
    }
    long result = raw_call3(SYS_faccessat, AT_FDCWD, (long)path, 0 /* F_OK */);
    return result != -EFAULT && !cap_is_confined;
}

uint32_t cap_string(struct cap_thread *self, int dirfd, const char *path)
{
    if (path == NULL) {
        return WIO_NO_STRING;
    }
    if (path[0] == '/') {
        return define_string(self, 0, path, strlen(path));
    }
    uint32_t base = dirfd == AT_FDCWD ? working_directory(self) : cap_fd_path(self, dirfd);
    return path[0] == '\0' ? base : define_string(self, base, path, strlen(path));
}

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
    if (CAP_UNLIKELY((flags & WIO_EVENT_HOLD) != 0)) {
        flags = cap_hold_emitted(self, ev); /* not of what is written on the way */
    }
    if (ev->source != self->mpi_source && !self->is_internal) { /* another call is under way */
        flags &= (uint8_t) ~(cap_process.with_mpi_internals ? WIO_EVENT_CAUSED : CAP_MPI_FLAGS);
    }
    if ((self->has_pending & CAP_PENDING_LOCKS) != 0 && (self->flags & WIO_EVENT_VFORK) == 0) {
        cap_held_write(self);
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
