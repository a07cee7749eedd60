/* SPDX-License-Identifier: Apache-2.0 */
/* A whole directory of a store, sorted by name. */
#ifndef WIO_STORE_STAGE_LIST_H
#define WIO_STORE_STAGE_LIST_H

#include <whyio/store.h>

struct stage_entry {
    char *name;
    struct wio_store_attr attr;
};

/* Zero-initialise. */
struct stage_list {
    struct stage_entry *entries;
    uint32_t count;
    uint32_t room;
    bool has_failed; /* no memory */
};

void stage_list_fini(struct stage_list *list);
WIO_MUST_CHECK enum wio_status stage_list_read(struct stage_list *list, struct wio_store *store,
                                               const char *path, struct wio_error *err);

#endif
