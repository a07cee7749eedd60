/* SPDX-License-Identifier: Apache-2.0 */
#include "store/node/updates.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"

static bool change_of(const struct wio_update *update, struct wio_redo_change *change)
{
    *change = (struct wio_redo_change){.id = {update->file, update->segment}};
    switch (update->kind) {
    case WIO_UPDATE_WRITE:
        change->kind = WIO_CHANGE_WRITE;
        change->offset = update->offset;
        change->data = update->data;
        change->bytes = (uint32_t)update->size;
        return true;
    case WIO_UPDATE_TRUNCATE:
        change->kind = WIO_CHANGE_TRUNCATE;
        change->offset = update->size;
        return true;
    case WIO_UPDATE_DROP:
        change->kind = WIO_CHANGE_DROP;
        return true;
    case WIO_UPDATE_POINTER:
        break;
    }
    return false;
}

uint32_t disk_changes_of(const struct wio_update *updates, uint32_t count, enum disk_updates which,
                         struct wio_redo_change *changes_out)
{
    uint32_t made = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool is_asked = which == DISK_UPDATES_ALL || updates[i].kind != WIO_UPDATE_WRITE;
        made += is_asked && change_of(&updates[i], &changes_out[made]);
    }
    return made;
}

enum wio_status disk_update_perform(struct wio_storage *storage, const struct wio_update *update,
                                    struct wio_error *err)
{
    const struct wio_segment_id id = {update->file, update->segment};
    switch (update->kind) {
    case WIO_UPDATE_WRITE:
        return wio_storage_write(storage, id, update->offset, update->data, (size_t)update->size,
                                 err);
    case WIO_UPDATE_TRUNCATE:
        return wio_storage_truncate(storage, id, update->size, err);
    case WIO_UPDATE_DROP:
        return wio_storage_drop(storage, id, err);
    case WIO_UPDATE_POINTER:
        break;
    }
    return WIO_OK;
}

void disk_update_list_fini(struct disk_update_list *list)
{
    free(list->updates);
}

static enum wio_status update_of(const struct wio_redo_change *change, struct wio_update *update)
{
    *update = (struct wio_update){.file = change->id.file, .segment = change->id.segment};
    switch ((enum wio_redo_change_kind)change->kind) {
    case WIO_CHANGE_WRITE:
        update->kind = WIO_UPDATE_WRITE;
        update->offset = change->offset;
        update->data = change->data;
        update->size = change->bytes;
        return WIO_OK;
    case WIO_CHANGE_TRUNCATE:
        update->kind = WIO_UPDATE_TRUNCATE;
        update->size = change->offset;
        return WIO_OK;
    case WIO_CHANGE_DROP:
        update->kind = WIO_UPDATE_DROP;
        return WIO_OK;
    case WIO_CHANGE_IMAGE:
    case WIO_CHANGE_REMOVE:
    case WIO_CHANGE_KINDS:
        break;
    }
    return WIO_ERR_FORMAT;
}

enum wio_status disk_updates_read(const void *redo, size_t bytes, struct disk_update_list *list)
{
    struct wio_buf buf = wio_buf_of(redo, bytes);
    struct wio_redo_change change;
    enum wio_status status;
    while ((status = wio_change_decode(&buf, &change)) == WIO_OK) {
        void *array = list->updates;
        WIO_TRY(wio_make_room(&array, sizeof(*list->updates), &list->room, list->count + 1));
        list->updates = array;
        WIO_TRY(update_of(&change, &list->updates[list->count]));
        list->count++;
    }
    return status == WIO_END ? WIO_OK : status;
}
