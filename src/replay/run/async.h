/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous reads, writes and flushes, with as many in flight as were recorded: each is
 * submitted when its turn comes and collected before the first operation that began after it was
 * collected in the trace. By io_uring where the machine has it, else by the kernel's older aio.
 */
#ifndef WIO_REPLAY_RUN_ASYNC_H
#define WIO_REPLAY_RUN_ASYNC_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/event.h>
#include <whyio/status.h>

#define RP_ASYNC_DEPTH 4096u /* more than this are not kept in flight */

/* A request in flight, and what is known of it. */
struct rp_request {
    struct wio_event event;
    uint64_t index;      /* of the event in its stream */
    uint64_t begin_ns;   /* CLOCK_MONOTONIC */
    uint64_t collect_ns; /* time of the trace; UINT64_MAX = never collected */
    int64_t result;      /* as the kernel gives it: negative errno */
    bool is_done;
    uint32_t next; /* private */
};

struct rp_async;

WIO_MUST_CHECK enum wio_status rp_async_create(struct rp_async **async_out, struct wio_error *err);
/* Requests in flight are waited for. Accepts NULL. */
void rp_async_destroy(struct rp_async *async);

/* Number of requests in flight or done and not taken. */
uint32_t rp_async_count(const struct rp_async *async);

/* Queue a request: `data` is room for `bytes`. The kernel gets it with the next flush. Gives the
 * request, whose begin_ns and index the caller fills. */
struct rp_request *rp_async_add(struct rp_async *async, const struct wio_event *event, int fd,
                                void *data, uint64_t bytes);
/* Hand queued requests to the kernel. */
void rp_async_flush(struct rp_async *async);

/* The oldest collection time of all requests, UINT64_MAX where there is none to be collected. */
uint64_t rp_async_next(const struct rp_async *async);
/* Wait for the request with the oldest collection time (or any, if none is to be collected) and
 * take it; false where there are none. */
bool rp_async_take(struct rp_async *async, struct rp_request *request_out);

#endif
