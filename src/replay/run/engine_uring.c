/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/run/engine.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>
#include <string.h>

#define QUEUE 256u

struct uring {
    struct io_uring ring;
    uint32_t queued[QUEUE]; /* tags of what the kernel has not got yet, oldest first */
    uint32_t queued_count;
    uint32_t in_flight;
    int broken; /* negative errno: the ring takes nothing any more */
};

static void *create(uint32_t depth)
{
    struct uring *self = calloc(1, sizeof(*self));
    struct io_uring_params params = {.flags = IORING_SETUP_CQSIZE, .cq_entries = depth};
    if (self != NULL && io_uring_queue_init_params(QUEUE, &self->ring, &params) != 0) {
        free(self);
        self = NULL;
    }
    return self;
}

static void destroy(void *arg)
{
    struct uring *self = arg;
    io_uring_queue_exit(&self->ring);
    free(self);
}

static void report(struct uring *self, rp_engine_done_fn *done, void *arg)
{
    struct io_uring_cqe *cqe;
    while (io_uring_peek_cqe(&self->ring, &cqe) == 0 && cqe != NULL) {
        uint32_t tag = (uint32_t)(uintptr_t)io_uring_cqe_get_data(cqe);
        int64_t result = cqe->res;
        io_uring_cqe_seen(&self->ring, cqe);
        self->in_flight--;
        done(arg, tag, result);
    }
}

static bool is_passing(const struct uring *self, int error)
{
    return error == -EINTR || ((error == -EAGAIN || error == -EBUSY) && self->in_flight > 0);
}

static void give_up(struct uring *self, int error, rp_engine_done_fn *done, void *arg)
{
    self->broken = error;
    for (uint32_t i = 0; i < self->queued_count; i++) {
        done(arg, self->queued[i], error);
    }
    self->queued_count = 0;
}

static void flush(void *arg, rp_engine_done_fn *done, void *done_arg)
{
    struct uring *self = arg;
    while (self->queued_count > 0) {
        int taken = io_uring_submit(&self->ring);
        if (taken > 0) {
            self->in_flight += (uint32_t)taken;
            self->queued_count -= (uint32_t)taken;
            memmove(self->queued, self->queued + taken, self->queued_count * sizeof(uint32_t));
        } else if (is_passing(self, taken)) {
            report(self, done, done_arg);
        } else {
            give_up(self, taken == 0 ? -EIO : taken, done, done_arg);
        }
    }
}

static void prepare(struct io_uring_sqe *sqe, const struct rp_engine_request *request)
{
    switch ((int)request->op) {
    case RP_ENGINE_READ:
        io_uring_prep_read(sqe, request->fd, request->data, (unsigned)request->bytes,
                           (uint64_t)request->offset);
        break;
    case RP_ENGINE_WRITE:
        io_uring_prep_write(sqe, request->fd, request->data, (unsigned)request->bytes,
                            (uint64_t)request->offset);
        break;
    case RP_ENGINE_SYNC:
    default:
        io_uring_prep_fsync(sqe, request->fd, 0);
        break;
    }
    io_uring_sqe_set_data(sqe, (void *)(uintptr_t)request->tag);
}

static void add(void *arg, const struct rp_engine_request *request, rp_engine_done_fn *done,
                void *done_arg)
{
    struct uring *self = arg;
    if (self->queued_count == QUEUE) {
        flush(self, done, done_arg);
    }
    struct io_uring_sqe *sqe = self->broken != 0 ? NULL : io_uring_get_sqe(&self->ring);
    if (sqe == NULL) {
        done(done_arg, request->tag, self->broken != 0 ? self->broken : -EAGAIN);
        return;
    }
    prepare(sqe, request);
    self->queued[self->queued_count++] = request->tag;
}

static bool reap(void *arg, rp_engine_done_fn *done, void *done_arg)
{
    struct uring *self = arg;
    struct io_uring_cqe *cqe;
    int error;
    while ((error = io_uring_wait_cqe(&self->ring, &cqe)) == -EINTR) {
    }
    report(self, done, done_arg);
    return error == 0;
}

const struct rp_engine *rp_engine_uring(void)
{
    static const struct rp_engine engine = {"io_uring", create, destroy, add, flush, reap};
    return &engine;
}
