/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Full block on first touch: before a block is written in place for the first time since a
 * checkpoint, its content goes into the log (R-REDO-2). A write that a crash tears may leave the
 * block in any state; recovery has the image, and then all that was written since.
 */
#ifndef WIO_STORE_STORAGE_IMAGES_H
#define WIO_STORE_STORAGE_IMAGES_H

#include "base/pair_map.h"
#include "store/storage/redo.h"

struct image_key {
    uint64_t file;
    uint64_t block; /* with the segment */
};

struct images {
    struct wio_storage *storage;
    struct wio_pair_map touched; /* (file, segment and block) since the checkpoint */
    struct image_key *fresh;     /* of the record that is being made */
    uint32_t fresh_count;
    uint32_t fresh_capacity;
};

void images_init(struct images *images, struct wio_storage *storage);
void images_fini(struct images *images);
/* A checkpoint begins: each block is to be kept again. */
void images_forget(struct images *images);
/* Append images to `redo` for the blocks that `write` is the first to touch. A block that the write
 * covers needs none, and counts as touched if `is_final`: the write is certain to be performed. */
WIO_MUST_CHECK enum wio_status images_add(struct images *images,
                                          const struct wio_redo_change *write, bool is_final,
                                          struct wio_blob *redo, struct wio_error *err);
/* The record with the images is in the log, or never will be: then its blocks were not touched. */
void images_logged(struct images *images, bool is_logged);

#endif
