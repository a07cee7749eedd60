/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The advisory locks of the processes of a mount: which owner has which bytes of which file, shared
 * or exclusive. No lock and no store: the caller's. Ranges are [from, to).
 */
#ifndef WIO_MOUNT_LOCK_TABLE_H
#define WIO_MOUNT_LOCK_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>

struct mount_range {
    uint64_t file;
    uint64_t from;
    uint64_t to;
};

struct mount_held {
    struct mount_range range;
    uint64_t owner;
    int32_t pid;
    bool is_exclusive;
};

/* Zero-initialise. */
struct mount_lock_table {
    struct mount_held *held;
    uint32_t count;
    uint32_t room;
};

void mount_lock_table_fini(struct mount_lock_table *table);

/* The first lock of another owner that is in the way; NULL: none. Until the next change. */
const struct mount_held *mount_lock_table_conflict(const struct mount_lock_table *table,
                                                   const struct mount_held *wanted);
/* Takes the place of what the owner has there, as fcntl(2). On WIO_ERR_NOMEM nothing has changed.
 */
WIO_MUST_CHECK enum wio_status mount_lock_table_add(struct mount_lock_table *table,
                                                    const struct mount_held *wanted);
/* What the owner has there goes. On WIO_ERR_NOMEM nothing has changed. */
WIO_MUST_CHECK enum wio_status mount_lock_table_remove(struct mount_lock_table *table,
                                                       const struct mount_range *range,
                                                       uint64_t owner);
/* Whether the owner has any bytes there. */
bool mount_lock_table_has(const struct mount_lock_table *table, const struct mount_range *range,
                          uint64_t owner);

enum mount_need { MOUNT_NEED_NONE, MOUNT_NEED_SHARED, MOUNT_NEED_EXCLUSIVE };
/* What all owners together need from range->from on, and up to where that is so: *to_out, at most
 * range->to. */
enum mount_need mount_lock_table_need(const struct mount_lock_table *table,
                                      const struct mount_range *range, uint64_t *to_out);

#endif
