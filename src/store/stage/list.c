/* SPDX-License-Identifier: Apache-2.0 */
#include "store/stage/list.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"

void stage_list_fini(struct stage_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        free(list->entries[i].name);
    }
    free(list->entries);
    *list = (struct stage_list){0};
}

static bool add(void *context, const char *name, const struct wio_store_attr *attr)
{
    struct stage_list *list = context;
    char *copy = strdup(name);
    if (copy == NULL || wio_grow((void **)&list->entries, sizeof(*list->entries), &list->room,
                                 list->count + 1) != WIO_OK) {
        free(copy);
        list->has_failed = true;
        return false;
    }
    list->entries[list->count++] = (struct stage_entry){copy, *attr};
    /* cppcheck-suppress memleak ; the entry has it */
    return true;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct stage_entry *)a)->name, ((const struct stage_entry *)b)->name);
}

enum wio_status stage_list_read(struct stage_list *list, struct wio_store *store, const char *path,
                                struct wio_error *err)
{
    WIO_TRY(wio_store_list(store, path, add, list, err));
    if (list->has_failed) {
        return wio_error_set(err, WIO_ERR_NOMEM, path, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    if (list->count > 0) {
        qsort(list->entries, list->count, sizeof(*list->entries), by_name);
    }
    return WIO_OK;
}
