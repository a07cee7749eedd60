/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/stdio/stdio_call.h"
#include "capture/files/descriptors.h"

__thread struct cap_stdio cap_stdio __attribute__((tls_model("initial-exec")));

/* The kind of a descriptor is asked for once: only then it is known that it has a position. */
int64_t cap_stdio_position_slow(const FILE *stream, int fd)
{
    const struct cap_fd *entry = cap_fd_find(fd);
    if (entry == NULL || (entry->flags & (CAP_FD_TYPED | CAP_FD_SHARED | CAP_FD_APPEND)) != 0) {
        return WIO_NO_OFFSET;
    }
    int64_t position = cap_fd_advance(fd, 0);
    if (position == WIO_NO_OFFSET || cap_stream_is_adrift(stream)) {
        return WIO_NO_OFFSET;
    }
    return position + cap_stream_ahead(stream);
}

int cap_stdio_error(const struct cap_stdio_call *call, const FILE *stream)
{
    if (cap_stdio.failed != call->failed) {
        return cap_stdio.error;
    }
    bool is_new = (stream->_flags & ~call->stream_flags & CAP_STREAM_ERROR) != 0;
    return is_new ? errno : 0;
}

void cap_stdio_emit_first(struct cap_stdio_call *call)
{
    struct cap_thread *self = call->self;
    struct cap_stdio_run *run = &cap_stdio.run;
    const struct cap_event *ev = &call->ev;
    uint32_t seq;
    run->self = NULL;
    if (self->special != 0) {
        cap_emit(self, ev);
        return;
    }
    uint8_t *slot = cap_reserve(self, 1, &seq);
    if (slot == NULL) {
        return;
    }
    cap_fill(slot, ev, WIO_SLOT_EVENT_RUN);
    run->slot = (struct wio_slot_event *)(void *)slot;
    run->slot->result = 1;
    cap_publish(slot, 1, seq);
    run->last = ev->begin;
    run->offset = ev->offset != WIO_NO_OFFSET ? ev->offset + (int64_t)ev->size : WIO_NO_OFFSET;
    run->pid = self->pid;
    /* Not self->word: a signal handler may have recorded something by now, which ends the run. */
    uint32_t place = (uint32_t)((uintptr_t)slot % WIO_CHUNK_BYTES / WIO_SLOT_BYTES) - 1;
    run->word = (uint64_t)(seq - place) << 32 | (place + 1);
    run->self = self;
}

void cap_stdio_end_ext(struct cap_stdio_call *call, int result, const struct cap_ext *ext)
{
    cap_stdio.source = call->outer_source;
    if (call->self == NULL) {
        return;
    }
    cap_stdio_stamp(call);
    call->ev.result = result;
    call->ev.error = result != 0 ? errno : 0;
    cap_emit_ext(call->self, &call->ev, ext);
}

int64_t cap_stdio_taken(const struct cap_stdio_call *call, const FILE *stream, int64_t most)
{
    int64_t read_bytes = cap_stdio.read_bytes - call->read_bytes;
    int64_t taken = call->unread + read_bytes - cap_stream_unread(stream);
    return taken < 0 || taken > most ? -1 : taken;
}
