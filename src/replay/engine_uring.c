/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/engine.h"

#include <errno.h>
#include <liburing.h>
#include <stdlib.h>

#define QUEUE 256u

struct uring {
    struct io_uring ring;
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
        done(arg, tag, result);
    }
}

static void flush(void *arg, rp_engine_done_fn *done, void *done_arg)
{
    struct uring *self = arg;
    while (io_uring_sq_ready(&self->ring) > 0) {
        int submitted = io_uring_submit(&self->ring);
        if (submitted < 0 && submitted != -EAGAIN && submitted != -EBUSY && submitted != -EINTR) {
            break; /* what was not taken is found out when it is collected */
        }
        if (submitted <= 0) {
            report(self, done, done_arg);
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
    struct io_uring_sqe *sqe = io_uring_get_sqe(&self->ring);
    if (sqe == NULL) {
        flush(self, done, done_arg);
        sqe = io_uring_get_sqe(&self->ring);
    }
    if (sqe == NULL) {
        done(done_arg, request->tag, -EAGAIN);
        return;
    }
    prepare(sqe, request);
}

static void reap(void *arg, rp_engine_done_fn *done, void *done_arg)
{
    struct uring *self = arg;
    struct io_uring_cqe *cqe;
    while (io_uring_wait_cqe(&self->ring, &cqe) == -EINTR) {
    }
    report(self, done, done_arg);
}

const struct rp_engine *rp_engine_uring(void)
{
    static const struct rp_engine engine = {"io_uring", create, destroy, add, flush, reap};
    return &engine;
}
