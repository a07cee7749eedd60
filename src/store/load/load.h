/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A load generator: clients of a store, each a thread with a connection of its own, that read and
 * write objects of one file, alone or several in a transaction, as fast as they are answered
 * (closed) or at a rate (open).
 */
#ifndef WIO_STORE_LOAD_LOAD_H
#define WIO_STORE_LOAD_LOAD_H

#include <whyio/store.h>
#include <whyio/trace.h>

#include "store/load/pattern.h"

struct wio_load_params {
    struct wio_store_params connect;
    unsigned clients;
    struct wio_load_pattern pattern;
    uint64_t object_bytes;
    uint32_t segments; /* of the file; 0: one for each target */
    bool is_stable;
    uint64_t duration_ns;
    double rate;               /* operations per second of all clients; 0: closed */
    uint64_t give_up_ns;       /* time-out of an operation; 0: that of the connection */
    uint64_t deadline_ns;      /* an answer that comes later counts as none; 0: any */
    wio_progress_fn *progress; /* unit "ms"; may be NULL */
    void *progress_arg;
};

struct wio_load_result {
    double duration_s;
    uint64_t offered;   /* operations that were begun, or were due */
    uint64_t done;      /* of these: an answer that is no error */
    uint64_t in_time;   /* of these: within the deadline */
    uint64_t failed;    /* an error, or the time-out */
    uint64_t bytes;     /* that were read and written by what was done */
    uint64_t committed; /* transactions, single operations too */
    uint64_t attempts;  /* that were begun again */
    uint64_t wounds;
    uint64_t refused;
    double p50_us; /* from when it was due to its answer */
    double p99_us;
    double p999_us;
    double max_us;
    uint64_t overloads; /* refusals for load, also of what was sent again then */
    uint64_t held_back; /* requests that waited in their client */
    uint64_t busy;      /* of `failed`: EBUSY */
    double fairness;    /* Jain's index of what clients got in time: 1 equal, 1 / clients worst */
    uint64_t least;     /* .. of the client that got least */
};

/* A file of its own, which is removed afterwards. The first failure is in `err` where nothing was
 * done at all. */
WIO_MUST_CHECK enum wio_status wio_load_run(const struct wio_load_params *params,
                                            struct wio_load_result *result_out,
                                            struct wio_error *err);

#endif
