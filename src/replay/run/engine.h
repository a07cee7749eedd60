/* SPDX-License-Identifier: Apache-2.0 */
/* How the kernel is asked for asynchronous I/O: one table of functions per interface. */
#ifndef WIO_REPLAY_RUN_ENGINE_H
#define WIO_REPLAY_RUN_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

enum rp_engine_op { RP_ENGINE_READ, RP_ENGINE_WRITE, RP_ENGINE_SYNC };

struct rp_engine_request {
    enum rp_engine_op op;
    int fd;
    void *data;
    uint64_t bytes;
    int64_t offset; /* -1 = the file's position */
    uint32_t tag;
};

typedef void rp_engine_done_fn(void *arg, uint32_t tag, int64_t result);

struct rp_engine {
    const char *name;
    /* At most `depth` requests in flight; NULL where the machine does not have it. */
    void *(*create)(uint32_t depth);
    void (*destroy)(void *self);
    void (*add)(void *self, const struct rp_engine_request *request, rp_engine_done_fn *done,
                void *arg);
    /* A request that the kernel does not take is done, with the reason as its result. */
    void (*flush)(void *self, rp_engine_done_fn *done, void *arg);
    /* Wait for at least one completion and report all that are there. Only with requests in flight.
     * False where the kernel gives none: nothing that is in flight will ever be done. */
    bool (*reap)(void *self, rp_engine_done_fn *done, void *arg);
};

/* NULL where whyio was built without liburing. */
const struct rp_engine *rp_engine_uring(void);
const struct rp_engine *rp_engine_aio(void);

#endif
