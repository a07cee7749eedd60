/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/async/async.h"

#include "capture/core/address.h"
#include "capture/files/descriptors.h"

#define VECTOR_MAX 1024u /* UIO_MAXIOV */

uint64_t cap_vector_bytes(const struct iovec *vector, uint64_t count)
{
    uint64_t bytes = 0;
    uint64_t page = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (count > VECTOR_MAX || !cap_is_mapped_near((uintptr_t)&vector[i], &page)) {
            return WIO_NO_SIZE;
        }
        bytes += vector[i].iov_len;
    }
    return bytes;
}

static struct cap_event event_of(struct cap_thread *self, const struct cap_event *call,
                                 const struct cap_request *request)
{
    struct cap_event ev = CAP_EVENT_OF(request->call, call->source);
    ev.begin = call->begin;
    ev.end = call->end;
    ev.flags = call->flags | WIO_EVENT_ASYNC;
    ev.fd = request->fd;
    ev.path = request->path;
    if (ev.path == WIO_NO_STRING && request->fd >= 0) {
        ev.path = cap_fd_path(self, request->fd);
    }
    ev.offset = request->offset;
    ev.size = request->size;
    return ev;
}

void cap_submit(struct cap_thread *self, const struct cap_event *call,
                const struct cap_request *request)
{
    struct cap_event ev = event_of(self, call, request);
    struct cap_ext ext = request->ext;
    ev.result = WIO_RESULT_PENDING;
    ext.key = request->key;
    cap_emit_ext(self, &ev, &ext);
}

void cap_submit_failed(struct cap_thread *self, const struct cap_event *call,
                       const struct cap_request *request, int error)
{
    struct cap_event ev = event_of(self, call, request);
    ev.result = -1;
    ev.error = error;
    cap_emit_ext(self, &ev, &request->ext);
}
