/* SPDX-License-Identifier: Apache-2.0 */
/* Where requests come from: (client, call site) as origins of a segment of transactions. */
#ifndef WIO_STORE_TRACE_ORIGINS_H
#define WIO_STORE_TRACE_ORIGINS_H

#include "base/map.h"
#include "base/pair_map.h"
#include "store/wire/session.h"
#include "trace/txn/txn.h"

struct tracer_client {
    uint32_t job; /* texts */
    uint32_t exe;
    uint32_t host;
};

struct tracer_origins {
    struct wio_strtab texts;
    struct wio_map client_index; /* client -> index of clients */
    struct tracer_client *clients;
    uint32_t client_count;
    uint32_t client_capacity;
    struct wio_pair_map sources; /* (client, source) -> text */
    struct wio_pair_map jobs;    /* .. -> text of the job, where it is not the client's */
    struct wio_pair_map known;   /* (client, source) -> origin of the segment at hand */
};

void tracer_origins_init(struct tracer_origins *origins);
void tracer_origins_fini(struct tracer_origins *origins);
/* Another segment begins: it has no origins yet. */
void tracer_origins_clear(struct tracer_origins *origins);
void tracer_origins_client(struct tracer_origins *origins, const struct wio_wire_hello *hello);
void tracer_origins_source(struct tracer_origins *origins, uint64_t client,
                           const struct wio_store_request *define);
/* The origin in this segment; 0: not known. */
uint32_t tracer_origins_find(struct tracer_origins *origins, struct wio_txn_writer *writer,
                             uint64_t client, uint32_t source);

#endif
