/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a target's server wants of its storage: segments that are read and updated in place, and a
 * log. A table of functions, so that tests put memory below the server and the simulator a disk
 * with faults. The server is the only user; all calls come from its loop and none calls back.
 *
 * Whatever `apply` was given is seen by every later read. It is durable only by the log: a stable
 * transaction's updates are logged first, and applied when the log says that they are durable.
 */
#ifndef WIO_STORE_SERVER_BACKING_H
#define WIO_STORE_SERVER_BACKING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

#include "lock/types.h"

enum wio_update_kind {
    WIO_UPDATE_WRITE,    /* offset, data, size */
    WIO_UPDATE_TRUNCATE, /* size: of the segment from now on */
    WIO_UPDATE_DROP,     /* the segment goes */
    WIO_UPDATE_POINTER   /* shared pointer `segment` of the file becomes `offset`: the backing skips
                            it */
};

/* One change of one segment. Those of a transaction are applied in their order. */
struct wio_update {
    enum wio_update_kind kind;
    uint32_t segment;
    uint64_t file;
    uint64_t offset;
    uint64_t size;
    const uint8_t *data; /* WRITE: `size` bytes */
};

enum wio_backing_kind {
    WIO_BACKING_COMMIT,    /* one participant: these updates are the transaction */
    WIO_BACKING_PREPARED,  /* the vote, with updates and participants */
    WIO_BACKING_COMMITTED, /* the outcome of what was prepared */
    WIO_BACKING_ABORTED,   /* the other outcome, or a tombstone */
    WIO_BACKING_FORGOTTEN
};

struct wio_backing_record {
    enum wio_backing_kind kind;
    struct wio_txn txn;
    const uint16_t *participants;
    uint32_t participant_count;
    const struct wio_update *updates;
    uint32_t update_count;
    /* Nothing waits for it: it becomes durable with the next record that is not lazy, or with
     * `flush`. */
    bool is_lazy;
};

struct wio_backing_space {
    uint64_t total_bytes;
    uint64_t used_bytes;
};

struct wio_backing;

struct wio_backing_ops {
    /* Up to `size` bytes, fewer where the segment ends; what was never written is empty. */
    enum wio_status (*read)(struct wio_backing *backing, uint64_t file, uint32_t segment,
                            uint64_t offset, void *data, size_t size, size_t *got_out,
                            struct wio_error *err);
    enum wio_status (*size)(struct wio_backing *backing, uint64_t file, uint32_t segment,
                            uint64_t *bytes_out, struct wio_error *err);
    /* Room for a WRITE or TRUNCATE, so that `apply` does not fail for want of it or because the
     * file system takes no file of that length; sys_errno ENOSPC or EFBIG.
     * *reserved_out goes back by `release` when the update was applied or dropped. */
    enum wio_status (*reserve)(struct wio_backing *backing, const struct wio_update *update,
                               uint64_t *reserved_out, struct wio_error *err);
    void (*release)(struct wio_backing *backing, uint64_t reserved);
    /* `is_logged`: the log had them, in a record that is durable (COMMIT), or whose outcome was
     * logged just now (COMMITTED). A storage that performs what its log says may do nothing then.
     */
    enum wio_status (*apply)(struct wio_backing *backing, const struct wio_update *updates,
                             uint32_t count, bool is_logged, struct wio_error *err);
    /* Append to the log. When it is durable the owner of both calls wio_server_durable with
     * *lsn_out or more: never from within this call. Where there is no room for a COMMIT or
     * PREPARED, which may turn out later, wio_server_unlogged. Nothing is borrowed afterwards. */
    enum wio_status (*log)(struct wio_backing *backing, const struct wio_backing_record *record,
                           uint64_t *lsn_out, struct wio_error *err);
    /* What is lazy is to become durable. */
    enum wio_status (*flush)(struct wio_backing *backing, struct wio_error *err);
    enum wio_status (*space)(struct wio_backing *backing, struct wio_backing_space *space_out,
                             struct wio_error *err);
};

/* The first member of an implementation's own structure. */
struct wio_backing {
    const struct wio_backing_ops *ops;
};

#endif
