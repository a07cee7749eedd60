/* SPDX-License-Identifier: Apache-2.0 */
#include "store/storage/images.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"

enum { BLOCK_BITS = 52 };

void images_init(struct images *images, struct wio_storage *storage)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    *images = (struct images){.storage = storage};
    wio_pair_map_init(&images->touched, &heap);
}

void images_fini(struct images *images)
{
    wio_pair_map_fini(&images->touched);
    free(images->fresh);
}

void images_forget(struct images *images)
{
    struct wio_storage *storage = images->storage;
    images_fini(images);
    images_init(images, storage);
}

static enum wio_status touch(struct images *images, uint64_t file, uint64_t block)
{
    void *array = images->fresh;
    WIO_TRY(wio_make_room(&array, sizeof(*images->fresh), &images->fresh_capacity,
                          images->fresh_count + 1));
    images->fresh = array;
    WIO_TRY(wio_pair_map_put(&images->touched, file, block, 0));
    images->fresh[images->fresh_count++] = (struct image_key){file, block};
    return WIO_OK;
}

void images_logged(struct images *images, bool is_logged)
{
    for (uint32_t i = 0; !is_logged && i < images->fresh_count; i++) {
        wio_pair_map_remove(&images->touched, images->fresh[i].file, images->fresh[i].block);
    }
    images->fresh_count = 0;
}

/* What the block has now; `covered`: the write replaces all of it. */
static enum wio_status add_block(struct images *images, const struct wio_redo_change *write,
                                 uint64_t block, bool *covered_out, struct wio_blob *redo,
                                 struct wio_error *err)
{
    uint8_t data[WIO_STORAGE_BLOCK];
    size_t got = 0;
    uint64_t begin = block * WIO_STORAGE_BLOCK;
    uint64_t end = write->offset + write->bytes;
    *covered_out = write->offset <= begin && end >= begin + WIO_STORAGE_BLOCK;
    if (*covered_out) {
        return WIO_OK;
    }
    WIO_TRY(wio_storage_read(images->storage, write->id, begin, data, sizeof(data), &got, err));
    struct wio_redo_change image = {WIO_CHANGE_IMAGE, write->id, begin, data, (uint32_t)got};
    if (wio_change_encode(redo, &image) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, "log", WIO_ERROR_NO_OFFSET, "out of memory");
    }
    return WIO_OK;
}

enum wio_status images_add(struct images *images, const struct wio_redo_change *write,
                           bool is_final, struct wio_blob *redo, struct wio_error *err)
{
    if (write->bytes == 0) {
        return WIO_OK;
    }
    uint64_t last = (write->offset + write->bytes - 1) / WIO_STORAGE_BLOCK;
    for (uint64_t block = write->offset / WIO_STORAGE_BLOCK; block <= last; block++) {
        uint64_t key = (uint64_t)write->id.segment << BLOCK_BITS | block;
        bool is_covered = false;
        if (wio_pair_map_get(&images->touched, write->id.file, key) != WIO_NO_INDEX) {
            continue;
        }
        WIO_TRY(add_block(images, write, block, &is_covered, redo, err));
        if ((is_final || !is_covered) && touch(images, write->id.file, key) != WIO_OK) {
            return wio_error_set(err, WIO_ERR_NOMEM, "log", WIO_ERROR_NO_OFFSET, "out of memory");
        }
    }
    return WIO_OK;
}
