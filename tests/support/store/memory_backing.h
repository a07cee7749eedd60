/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A storage in memory for a target server: segments, and a log of which a prefix is durable. What
 * is applied to segments is lost by a crash; what the log has durable is not.
 *
 *     struct memory_backing memory;
 *     memory_backing_init(&memory);
 *     config.backing = &memory.base;
 *     ... memory.log_count is the lsn of the last record ...
 *     wio_server_durable(server, memory_backing_flush(&memory), true, now_ns);
 *     memory_backing_crash(&memory);   then memory_backing_replay into a new server
 */
#ifndef WIO_TESTS_SUPPORT_STORE_MEMORY_BACKING_H
#define WIO_TESTS_SUPPORT_STORE_MEMORY_BACKING_H

#include "store/server/server.h"

#define MEMORY_SEGMENTS 1024

struct memory_segment {
    uint64_t file;
    uint32_t segment;
    uint8_t *data;
    uint64_t size;
};

struct memory_record {
    struct wio_backing_record record; /* its arrays and their data are owned */
};

struct memory_backing {
    struct wio_backing base;
    struct memory_segment segments[MEMORY_SEGMENTS];
    uint32_t segment_count;
    struct memory_record *log;
    uint64_t log_count;
    uint64_t log_room;
    uint64_t durable; /* records */
    uint64_t flushes;
    uint64_t unlogged; /* calls of apply with what the log does not have */
    uint64_t reserved;
    uint64_t capacity; /* bytes of all segments; 0: no bound */
    bool wants_flush;  /* a record that is not lazy, or a flush, waits */
    bool is_broken;    /* everything fails */
    /* Each read, and each update that is applied, takes time; NULL: none. */
    void (*work)(void *context);
    void *work_context;
};

void memory_backing_init(struct memory_backing *memory);
void memory_backing_fini(struct memory_backing *memory);
/* All of the log becomes durable; its last lsn. */
uint64_t memory_backing_flush(struct memory_backing *memory);
/* What is not durable goes, and so does all that was applied. */
void memory_backing_crash(struct memory_backing *memory);
/* The log's records, in their order. */
enum wio_status memory_backing_replay(struct memory_backing *memory, struct wio_server *server,
                                      uint64_t now_ns);
/* The bytes of a segment, NULL and 0 where it is empty. */
const uint8_t *memory_backing_bytes(const struct memory_backing *memory, uint64_t file,
                                    uint32_t segment, uint64_t *size_out);

#endif
