/* SPDX-License-Identifier: Apache-2.0 */
/* Events made up one by one, fed in the order of their begin, and the edges that come of them. */
#ifndef WIO_TESTS_FEED_SCRIPT_H
#define WIO_TESTS_FEED_SCRIPT_H

#include "support/stingy.h"
#include "support/unit.h"

#include <string.h>

#include "causal/infer/infer.h"
#include "ops/calls.h"

#ifndef THREADS /* a test may want more */
#define THREADS 4u
#endif
#define HELD (25u * THREADS) /* events that a script has at most */

/* Texts of string ids. */
static const char *const strings[] = {"",
                                      "pipe:[1]",
                                      "eventfd:[2]",
                                      "/data/file",
                                      "socket:[4]",
                                      "socket:[5]",
                                      "dgram inet 127.0.0.1:5000",
                                      "pipe:[7]",
                                      "inet 127.0.0.1:5000 127.0.0.1:6000",
                                      "dgram inet 127.0.0.1:6000 127.0.0.1:7000",
                                      "/data/other",
                                      "unix /run/server 102",
                                      "socket:[12]",
                                      "socket:[13]",
                                      "anon_inode:[timerfd]",
                                      "anon_inode:[pidfd:101]",
                                      "anon_inode:[signalfd]"};

struct script {
    struct wio_infer_stream streams[THREADS];
    struct wio_infer_process processes[THREADS];
    struct wio_event events[HELD];
    size_t count;
    struct wio_edges edges;
    struct wio_infer *infer;
    const struct wio_infer_names *names; /* NULL: paths are what they seem */
};

static const char *text_of(void *context, uint32_t string)
{
    (void)context;
    return strings[string];
}

static inline bool is_fifo(void *context, uint32_t string)
{
    (void)context;
    (void)string;
    return false;
}

/* Every thread a process of its own, or all one process. */
static inline void begin(struct script *script, bool is_one_process)
{
    memset(script, 0, sizeof(*script));
    for (uint32_t t = 0; t < THREADS; t++) {
        script->streams[t] = (struct wio_infer_stream){
            .thread = t, .process = is_one_process ? 0 : t, .tid = 100 + (int32_t)t, .token = t};
        script->processes[t] =
            (struct wio_infer_process){.pid = 100 + (int32_t)t, .parent = UINT32_MAX};
    }
}

/* The next event of a thread. */
static inline struct wio_event *add(struct script *script, uint32_t thread, enum wio_op op,
                                    uint64_t begin_ns, uint64_t end_ns)
{
    assert_true(script->count < HELD);
    struct wio_event *event = &script->events[script->count++];
    *event = (struct wio_event){.op = (uint16_t)op,
                                .stream = thread,
                                .seq = script->streams[thread].events++,
                                .t_ns = begin_ns,
                                .dur_ns = end_ns - begin_ns,
                                .fd = WIO_NO_FD,
                                .fd2 = WIO_NO_FD,
                                .offset = WIO_NO_OFFSET,
                                .offset2 = WIO_NO_OFFSET,
                                .size = 8};
    return event;
}

static inline struct wio_event *add_args(struct script *script, uint32_t thread, enum wio_op op,
                                         uint64_t begin_ns, uint64_t end_ns, const int64_t *args)
{
    struct wio_event *event = add(script, thread, op, begin_ns, end_ns);
    memcpy(event->arg, args, sizeof(event->arg));
    return event;
}

/* All events, but not that they were all. */
static inline enum wio_status feed_all(struct script *script, const struct wio_alloc *alloc)
{
    const struct wio_infer_params params = {
        .streams = script->streams,
        .stream_count = THREADS,
        .processes = script->processes,
        .process_count = THREADS,
        .string_count = sizeof(strings) / sizeof(strings[0]),
        .text = text_of,
        .is_fifo = is_fifo,
        .names = script->names,
    };
    bool is_fed[HELD] = {false};
    wio_edges_init(&script->edges, alloc, THREADS);
    enum wio_status status = wio_infer_create(&params, &script->edges, &script->infer);
    for (size_t n = 0; n < script->count && status == WIO_OK; n++) {
        size_t next = HELD;
        for (size_t i = 0; i < script->count;
             i++) { /* by begin; those at once as they were added */
            if (!is_fed[i] &&
                (next == HELD || script->events[i].t_ns < script->events[next].t_ns)) {
                next = i;
            }
        }
        is_fed[next] = true;
        status = wio_infer_event(script->infer, &script->events[next]);
    }
    return status;
}

static inline enum wio_status run(struct script *script, const struct wio_alloc *alloc)
{
    enum wio_status status = feed_all(script, alloc);
    return status == WIO_OK ? wio_infer_finish(script->infer) : status;
}

static inline void finish(struct script *script)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    assert_int_equal(run(script, &heap), WIO_OK);
}

static inline void end(struct script *script)
{
    wio_infer_destroy(script->infer);
    wio_edges_fini(&script->edges);
}

/* Exactly this edge, once. */
static inline void assert_edge(const struct script *script, uint32_t from, uint64_t from_op,
                               uint32_t to, uint64_t to_op, enum wio_edge_class class)
{
    unsigned found = 0;
    for (size_t i = 0; i < script->edges.edge_count; i++) {
        const struct wio_edge *e = &script->edges.edges[i];
        found += e->from_thread == from && e->from_op == from_op && e->to_thread == to &&
                         e->to_op == to_op && e->class == class
                     ? 1
                     : 0;
    }
    if (found != 1) {
        fail_msg("%u edges %u:%llu -> %u:%llu of %zu", found, from, (unsigned long long)from_op, to,
                 (unsigned long long)to_op, script->edges.edge_count);
    }
}

static inline void join_world(struct script *script, uint32_t ranks)
{
    for (uint32_t r = 0; r < ranks; r++) {
        (void)add_args(script, r, WIO_OP_mpi_comm, 1, 1, (int64_t[4]){7, r, ranks, 0});
    }
}

#endif
