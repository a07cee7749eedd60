/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a target's logic wants of its storage (store/server/backing.h) on segment files and the log
 * (store/storage/stable.h). It numbers the records that the logic logs, tells it when they are
 * durable, and kicks the log once for all that came in one turn of the loop.
 *
 *     disk_backing_create(&config, &disk, err);       recovers
 *     .. wio_server_create(.. .backing = disk_backing_base(disk) ..)
 *     disk_backing_restore(disk, server, now, err);   before any client
 */
#ifndef WIO_STORE_NODE_DISK_BACKING_H
#define WIO_STORE_NODE_DISK_BACKING_H

#include "store/server/server.h"
#include "store/storage/stable.h"

struct disk_backing;

struct disk_backing_config {
    struct wio_stable_config stable; /* but for `failed` and `context`; its storage outlives this */
    /* From the loop, never from within a function of the backing. */
    void (*durable)(void *context, uint64_t lsn);
    void (*unlogged)(void *context, uint64_t lsn, enum wio_store_result result);
    /* Nothing becomes durable any more: once. */
    void (*failed)(void *context, const struct wio_error *why);
    void *context;
};

/* The caller destroys it. */
WIO_MUST_CHECK enum wio_status disk_backing_create(const struct disk_backing_config *config,
                                                   struct disk_backing **disk_out,
                                                   struct wio_error *err);
/* Not while a flush runs, but for a process that ends. NULL is allowed. */
void disk_backing_destroy(struct disk_backing *disk);

struct wio_backing *disk_backing_base(struct disk_backing *disk);
/* What the log knows of transactions goes into the server. */
WIO_MUST_CHECK enum wio_status disk_backing_restore(const struct disk_backing *disk,
                                                    struct wio_server *server, uint64_t now_ns,
                                                    struct wio_error *err);

/* Make all durable and small, that the next start be short; it has come to rest when
 * disk_backing_is_idle. */
WIO_MUST_CHECK enum wio_status disk_backing_rest(struct disk_backing *disk, struct wio_error *err);
bool disk_backing_is_idle(const struct disk_backing *disk);
void disk_backing_stats(const struct disk_backing *disk, struct wio_stable_stats *stats_out);

#endif
