/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run/async.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "replay/run/engine.h"

#define NO_SLOT UINT32_MAX

struct rp_async {
    const struct rp_engine *engine;
    void *self;
    struct rp_request *slots; /* RP_ASYNC_DEPTH */
    uint32_t free;            /* chain through `next` */
    uint32_t *heap;           /* slots in use, the earliest collection on top */
    uint32_t count;
};

static const struct rp_engine *choose(void **self_out)
{
    const struct rp_engine *engines[] = {rp_engine_uring(), rp_engine_aio()};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(engines); i++) {
        *self_out = engines[i] == NULL ? NULL : engines[i]->create(RP_ASYNC_DEPTH);
        if (*self_out != NULL) {
            return engines[i];
        }
    }
    return NULL;
}

enum wio_status rp_async_create(struct rp_async **async_out, struct wio_error *err)
{
    struct rp_async *async = calloc(1, sizeof(*async));
    if (async != NULL) {
        async->slots = calloc(RP_ASYNC_DEPTH, sizeof(*async->slots));
        async->heap = calloc(RP_ASYNC_DEPTH, sizeof(*async->heap));
    }
    if (async == NULL || async->slots == NULL || async->heap == NULL) {
        rp_async_destroy(async);
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for asynchronous requests");
    }
    async->engine = choose(&async->self);
    if (async->engine == NULL) {
        rp_async_destroy(async);
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                             "the trace has asynchronous requests, and this machine allows neither "
                             "io_uring nor io_submit");
    }
    for (uint32_t i = 0; i < RP_ASYNC_DEPTH; i++) {
        async->slots[i].next = i + 1 < RP_ASYNC_DEPTH ? i + 1 : NO_SLOT;
    }
    *async_out = async;
    return WIO_OK;
}

void rp_async_destroy(struct rp_async *async)
{
    if (async == NULL) {
        return;
    }
    if (async->engine != NULL) {
        async->engine->destroy(async->self);
    }
    free(async->slots);
    free(async->heap);
    free(async);
}

uint32_t rp_async_count(const struct rp_async *async)
{
    return async == NULL ? 0 : async->count;
}

/* ---- the heap ---- */

static uint64_t key(const struct rp_async *async, uint32_t at)
{
    return async->slots[async->heap[at]].collect_ns;
}

static void swap(struct rp_async *async, uint32_t a, uint32_t b)
{
    uint32_t slot = async->heap[a];
    async->heap[a] = async->heap[b];
    async->heap[b] = slot;
}

static void push(struct rp_async *async, uint32_t slot)
{
    uint32_t at = async->count++;
    async->heap[at] = slot;
    while (at > 0 && key(async, (at - 1) / 2) > key(async, at)) {
        swap(async, at, (at - 1) / 2);
        at = (at - 1) / 2;
    }
}

static uint32_t pop(struct rp_async *async)
{
    uint32_t top = async->heap[0];
    async->heap[0] = async->heap[--async->count];
    for (uint32_t at = 0;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2; child++) {
            if (child < async->count && key(async, child) < key(async, least)) {
                least = child;
            }
        }
        if (least == at) {
            return top;
        }
        swap(async, at, least);
        at = least;
    }
}

/* ---- requests ---- */

static void done(void *arg, uint32_t tag, int64_t result)
{
    struct rp_async *async = arg;
    if (tag < RP_ASYNC_DEPTH) {
        async->slots[tag].result = result;
        async->slots[tag].is_done = true;
    }
}

static enum rp_engine_op op_of(const struct wio_event *event)
{
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_ASYNC_READ:
        return RP_ENGINE_READ;
    case WIO_CLASS_ASYNC_WRITE:
        return RP_ENGINE_WRITE;
    default:
        return RP_ENGINE_SYNC;
    }
}

struct rp_request *rp_async_add(struct rp_async *async, const struct wio_event *event, int fd,
                                void *data, uint64_t bytes)
{
    uint32_t slot = async->free;
    struct rp_request *request = &async->slots[slot];
    bool is_pending = event->result == WIO_RESULT_PENDING;
    async->free = request->next;
    request->event = *event;
    request->collect_ns = is_pending ? UINT64_MAX : event->t_ns + event->dur_ns;
    request->is_done = false;
    push(async, slot);
    if (fd < 0) {
        done(async, slot, -EBADF);
        return request;
    }
    const struct rp_engine_request wanted = {
        op_of(event), fd, data, bytes, event->offset == WIO_NO_OFFSET ? -1 : event->offset, slot};
    async->engine->add(async->self, &wanted, done, async);
    return request;
}

void rp_async_flush(struct rp_async *async)
{
    async->engine->flush(async->self, done, async);
}

uint64_t rp_async_next(const struct rp_async *async)
{
    return async->count == 0 ? UINT64_MAX : key(async, 0);
}

bool rp_async_take(struct rp_async *async, struct rp_request *request_out)
{
    if (async->count == 0) {
        return false;
    }
    uint32_t slot = pop(async);
    struct rp_request *request = &async->slots[slot];
    if (!request->is_done) {
        rp_async_flush(async);
    }
    while (!request->is_done) {
        if (!async->engine->reap(async->self, done, async) && !request->is_done) {
            done(async, slot, -EIO); /* what the kernel has lost */
        }
    }
    *request_out = *request;
    request->next = async->free;
    async->free = slot;
    return true;
}
