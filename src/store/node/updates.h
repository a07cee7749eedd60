/* SPDX-License-Identifier: Apache-2.0 */
/* The updates of a target's logic as changes of segment files, and back. Shared pointers are not
 * stored: they live as long as the target. */
#ifndef WIO_STORE_NODE_UPDATES_H
#define WIO_STORE_NODE_UPDATES_H

#include "store/server/backing.h"
#include "store/storage/redo.h"

enum disk_updates {
    DISK_UPDATES_ALL,
    DISK_UPDATES_CUTS /* TRUNCATE and DROP */
};

/* At most `count`; how many. Data is borrowed. */
uint32_t disk_changes_of(const struct wio_update *updates, uint32_t count, enum disk_updates which,
                         struct wio_redo_change *changes_out);
/* Straight into the storage. */
WIO_MUST_CHECK enum wio_status disk_update_perform(struct wio_storage *storage,
                                                   const struct wio_update *update,
                                                   struct wio_error *err);

/* Zero-initialise. */
struct disk_update_list {
    struct wio_update *updates; /* their data lies in the redo */
    uint32_t count;
    uint32_t room;
};

void disk_update_list_fini(struct disk_update_list *list);
/* The updates that a record's redo was made of. WIO_ERR_FORMAT; WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status disk_updates_read(const void *redo, size_t bytes,
                                                 struct disk_update_list *list);

#endif
