/* SPDX-License-Identifier: Apache-2.0 */
/* Files and trees of a store go. */
#include <sys/stat.h>

#include "base/cleanup.h"
#include "store/stage/list.h"
#include "store/stage/stage_internal.h"

static void remove_entry(struct stage *stage, const char *path, uint32_t mode, unsigned depth);

/* What is in it first; what could not go keeps it. */
static void remove_below(struct stage *stage, const char *path, unsigned depth)
{
    WIO_CLEANUP(stage_list_fini) struct stage_list list = {0};
    struct wio_error err = WIO_ERROR_INIT;
    char below[STAGE_PATH_MAX];
    if (depth == STAGE_DEPTH_MAX) {
        stage_failed_as(stage, path, WIO_ERR_UNSUPPORTED, "directories are nested too deeply");
        return;
    }
    if (stage_list_read(&list, stage->store, path, &err) != WIO_OK) {
        stage_failed(stage, &err);
        return;
    }
    for (uint32_t i = 0; i < list.count; i++) {
        if (stage_join(below, path, list.entries[i].name)) {
            remove_entry(stage, below, list.entries[i].attr.mode, depth + 1);
        } else {
            stage_failed_as(stage, list.entries[i].name, WIO_ERR_UNSUPPORTED,
                            "its path is too long");
        }
    }
}

static void remove_entry(struct stage *stage, const char *path, uint32_t mode, unsigned depth)
{
    struct wio_error err = WIO_ERROR_INIT;
    bool is_dir = S_ISDIR(mode);
    if (is_dir) {
        remove_below(stage, path, depth);
    }
    enum wio_status status = is_dir ? wio_store_rmdir(stage->store, path, &err)
                                    : wio_store_unlink(stage->store, path, &err);
    if (status != WIO_OK) {
        stage_failed(stage, &err);
        return;
    }
    stage_count(stage, is_dir          ? &stage->counts.directories
                       : S_ISLNK(mode) ? &stage->counts.links
                                       : &stage->counts.files);
}

enum wio_status wio_stage_remove(struct wio_store *store, const char *const *paths, size_t count,
                                 const struct wio_stage_params *params,
                                 struct wio_stage_counts *counts_out, struct wio_error *err)
{
    struct stage stage;
    WIO_TRY(stage_begin(&stage, store, params, NULL, err));
    for (size_t i = 0; i < count; i++) {
        const char *path = stage_remote(paths[i]);
        struct wio_store_attr attr = {.struct_size = sizeof(attr)};
        struct wio_error own = WIO_ERROR_INIT;
        if (wio_store_stat(store, path, WIO_STORE_NOFOLLOW | WIO_STORE_NO_SIZE, &attr, &own) !=
            WIO_OK) {
            stage_failed(&stage, &own);
        } else if (S_ISDIR(attr.mode) && !params->is_recursive) {
            stage_failed_as(&stage, path, WIO_ERR_USAGE, "is a directory: -r removes those");
        } else {
            remove_entry(&stage, path, attr.mode, 0);
        }
    }
    stage_end(&stage, counts_out);
    return WIO_OK;
}
