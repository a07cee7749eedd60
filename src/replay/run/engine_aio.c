/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's aio (io_submit), by its system calls: libaio adds nothing to them. */
#include "replay/run/engine.h"

#include <errno.h>
#include <linux/aio_abi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define BATCH 64
#define DEPTH_MIN 64u

struct aio {
    aio_context_t context;
    struct iocb *blocks; /* one per tag */
    struct iocb *queued[BATCH];
    int queued_count;
    uint32_t in_flight;
};

static void destroy(void *arg)
{
    struct aio *self = arg;
    if (self->context != 0) {
        (void)syscall(SYS_io_destroy, self->context);
    }
    free(self->blocks);
    free(self);
}

static void *create(uint32_t depth)
{
    struct aio *self = calloc(1, sizeof(*self));
    if (self == NULL) {
        return NULL;
    }
    self->blocks = calloc(depth, sizeof(*self->blocks));
    uint32_t events = depth; /* the kernel limits the sum over all processes: fs.aio-max-nr */
    while (self->blocks != NULL && syscall(SYS_io_setup, events, &self->context) != 0) {
        events /= 2;
        if (errno != EAGAIN || events < DEPTH_MIN) {
            break;
        }
    }
    if (self->context == 0) {
        destroy(self);
        return NULL;
    }
    return self;
}

static bool report(struct aio *self, long wanted, rp_engine_done_fn *done, void *arg)
{
    struct io_event events[BATCH];
    long count;
    do {
        count = syscall(SYS_io_getevents, self->context, wanted, (long)BATCH, events, NULL);
    } while (count < 0 && errno == EINTR);
    for (long i = 0; i < count; i++) {
        self->in_flight--;
        done(arg, (uint32_t)events[i].data, events[i].res);
    }
    return count > 0;
}

static void flush(void *arg, rp_engine_done_fn *done, void *done_arg)
{
    struct aio *self = arg;
    int at = 0;
    while (at < self->queued_count) {
        long taken = syscall(SYS_io_submit, self->context, (long)(self->queued_count - at),
                             self->queued + at);
        if (taken > 0) {
            at += (int)taken;
            self->in_flight += (uint32_t)taken;
        } else if (taken < 0 && errno == EAGAIN && self->in_flight > 0) {
            (void)report(self, 1, done, done_arg);
        } else { /* about the first one */
            done(done_arg, (uint32_t)self->queued[at]->aio_data, taken < 0 ? -errno : -EIO);
            at++;
        }
    }
    self->queued_count = 0;
}

static uint16_t command(enum rp_engine_op op)
{
    switch ((int)op) {
    case RP_ENGINE_READ:
        return IOCB_CMD_PREAD;
    case RP_ENGINE_WRITE:
        return IOCB_CMD_PWRITE;
    case RP_ENGINE_SYNC:
    default:
        return IOCB_CMD_FSYNC;
    }
}

static void add(void *arg, const struct rp_engine_request *request, rp_engine_done_fn *done,
                void *done_arg)
{
    struct aio *self = arg;
    if (self->queued_count == BATCH) {
        flush(self, done, done_arg);
    }
    struct iocb *block = &self->blocks[request->tag];
    memset(block, 0, sizeof(*block));
    block->aio_lio_opcode = command(request->op);
    block->aio_fildes = (uint32_t)request->fd;
    block->aio_data = request->tag;
    if (request->op != RP_ENGINE_SYNC) {
        block->aio_buf = (uint64_t)(uintptr_t)request->data;
        block->aio_nbytes = request->bytes;
        block->aio_offset = request->offset < 0 ? 0 : request->offset;
    }
    self->queued[self->queued_count++] = block;
}

static bool reap(void *arg, rp_engine_done_fn *done, void *done_arg)
{
    return report(arg, 1, done, done_arg);
}

const struct rp_engine *rp_engine_aio(void)
{
    static const struct rp_engine engine = {"aio", create, destroy, add, flush, reap};
    return &engine;
}
