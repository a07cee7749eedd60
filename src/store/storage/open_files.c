/* SPDX-License-Identifier: Apache-2.0 */
#include "store/storage/open_files.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"

enum wio_status open_files_init(struct open_files *files, struct wio_io *io, uint32_t limit)
{
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    *files = (struct open_files){.io = io, .limit = limit};
    wio_pair_map_init(&files->index, &heap);
    files->places = calloc(limit, sizeof(*files->places));
    for (unsigned dir = 0; dir < SEGMENT_DIRS; dir++) {
        files->dirty_dirs[dir] = true; /* a process that was killed may have left it so */
    }
    return files->places != NULL ? WIO_OK : WIO_ERR_NOMEM;
}

static void close_place(struct open_files *files, struct open_file *place)
{
    if (place->file != NULL) {
        files->io->ops->file_close(place->file);
        wio_pair_map_remove(&files->index, place->id.file, place->id.segment);
        *place = (struct open_file){0};
    }
}

void open_files_fini(struct open_files *files)
{
    for (uint32_t i = 0; files->places != NULL && i < files->limit; i++) {
        close_place(files, &files->places[i]);
    }
    free(files->places);
    wio_pair_map_fini(&files->index);
}

static void note_failure(struct open_files *files, int sys_errno)
{
    if (files->flush_errno == 0) {
        files->flush_errno = sys_errno != 0 ? sys_errno : EIO;
    }
}

enum wio_status open_files_check(const struct open_files *files, struct wio_error *err)
{
    if (files->flush_errno == 0) {
        return WIO_OK;
    }
    errno = files->flush_errno;
    return wio_error_sys(err, "data", "an earlier flush of a segment failed");
}

enum wio_status open_files_sync(struct open_files *files, struct open_file *place,
                                struct wio_error *err)
{
    struct wio_error why = WIO_ERROR_INIT;
    if (files->io->ops->file_sync(place->file, &why) != WIO_OK) {
        note_failure(files, why.sys_errno);
        return wio_error_pass(err, &why);
    }
    place->is_dirty = false;
    return WIO_OK;
}

/* A better place to give up: free, then clean, then used longest ago. */
static bool is_better(const struct open_file *place, const struct open_file *than)
{
    if (place->is_flushing) {
        return false;
    }
    if (than == NULL) {
        return true;
    }
    if ((place->file == NULL) != (than->file == NULL)) {
        return place->file == NULL;
    }
    if (place->is_dirty != than->is_dirty) {
        return !place->is_dirty;
    }
    return place->last_use < than->last_use;
}

static enum wio_status free_place(struct open_files *files, struct open_file **place_out,
                                  struct wio_error *err)
{
    struct open_file *best = NULL;
    for (uint32_t i = 0; i < files->limit; i++) {
        if (is_better(&files->places[i], best)) {
            best = &files->places[i];
        }
    }
    if (best == NULL) {
        return wio_error_set(err, WIO_ERR_BUSY, "data", WIO_ERROR_NO_OFFSET,
                             "all %u open files are being flushed", files->limit);
    }
    if (best->is_dirty) {
        WIO_TRY(open_files_sync(files, best, err));
    }
    close_place(files, best);
    *place_out = best;
    return WIO_OK;
}

enum wio_status open_files_used(const struct open_files *files, struct wio_io_file *file,
                                uint64_t *bytes_out, struct wio_error *err)
{
    if (files->io->ops->file_used != NULL) {
        return files->io->ops->file_used(file, bytes_out, err);
    }
    WIO_TRY(files->io->ops->file_size(file, bytes_out, err));
    *bytes_out = (*bytes_out + WIO_STORAGE_BLOCK - 1) / WIO_STORAGE_BLOCK * WIO_STORAGE_BLOCK;
    return WIO_OK;
}

enum wio_status open_files_size(const struct open_files *files, struct open_file *place,
                                uint64_t *bytes_out, struct wio_error *err)
{
    if (!place->has_size) {
        WIO_TRY(files->io->ops->file_size(place->file, &place->size_bytes, err));
        place->has_size = true;
    }
    *bytes_out = place->size_bytes;
    return WIO_OK;
}

/* ENOENT is no error: *file_out stays NULL. */
static enum wio_status open_segment(struct open_files *files, struct wio_segment_id id,
                                    bool may_create, struct wio_io_file **file_out,
                                    struct wio_error *err)
{
    const struct wio_io_ops *ops = files->io->ops;
    struct wio_error why = WIO_ERROR_INIT;
    char name[SEGMENT_NAME_BYTES];
    segment_name(name, id);
    if (ops->file_open(files->io, name, 0, file_out, &why) == WIO_OK) {
        return WIO_OK;
    }
    *file_out = NULL;
    if (why.sys_errno != ENOENT) {
        return wio_error_pass(err, &why);
    }
    if (!may_create) {
        return WIO_OK;
    }
    files->dirty_dirs[segment_dir(id.file)] = true;
    return ops->file_open(files->io, name, WIO_IO_CREATE | WIO_IO_EXCLUSIVE, file_out, err);
}

/* The open file takes the place. */
static enum wio_status enter(struct open_files *files, struct open_file *place,
                             struct wio_segment_id id, struct wio_io_file *file,
                             struct wio_error *err)
{
    uint64_t used = 0;
    WIO_PRE(place != NULL);
    WIO_TRY(open_files_used(files, file, &used, err));
    if (wio_pair_map_put(&files->index, id.file, id.segment, (uint32_t)(place - files->places)) !=
        WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, "data", WIO_ERROR_NO_OFFSET, "out of memory");
    }
    *place =
        (struct open_file){.file = file, .id = id, .used_bytes = used, .last_use = ++files->uses};
    return WIO_OK;
}

enum wio_status open_files_get(struct open_files *files, struct wio_segment_id id, bool may_create,
                               struct open_file **file_out, struct wio_error *err)
{
    uint32_t found = wio_pair_map_get(&files->index, id.file, id.segment);
    if (found != WIO_NO_INDEX) {
        *file_out = &files->places[found];
        (*file_out)->last_use = ++files->uses;
        return WIO_OK;
    }
    struct open_file *place = NULL;
    struct wio_io_file *file = NULL;
    *file_out = NULL;
    WIO_TRY(free_place(files, &place, err));
    WIO_TRY(open_segment(files, id, may_create, &file, err));
    if (file == NULL) {
        return WIO_OK;
    }
    enum wio_status status = enter(files, place, id, file, err);
    if (status != WIO_OK) {
        files->io->ops->file_close(file);
        return status;
    }
    *file_out = place;
    return WIO_OK;
}

enum wio_status open_files_remove(struct open_files *files, struct wio_segment_id id,
                                  struct wio_error *err)
{
    char name[SEGMENT_NAME_BYTES];
    uint32_t found = wio_pair_map_get(&files->index, id.file, id.segment);
    if (found != WIO_NO_INDEX && files->places[found].is_flushing) {
        files->places[found].is_dirty = false;
        files->places[found].is_removed = true;
        wio_pair_map_remove(&files->index, id.file, id.segment);
    } else if (found != WIO_NO_INDEX) {
        close_place(files, &files->places[found]);
    }
    segment_name(name, id);
    files->dirty_dirs[segment_dir(id.file)] = true;
    return files->io->ops->remove(files->io, name, err);
}

void open_files_flush_ended(struct open_files *files, struct open_file *place, int sys_errno)
{
    place->is_flushing = false;
    if (sys_errno != 0) {
        note_failure(files, sys_errno);
    }
    if (place->is_removed) {
        files->io->ops->file_close(place->file);
        *place = (struct open_file){0};
    }
}

uint32_t open_files_dirty(const struct open_files *files, uint32_t place)
{
    for (; place < files->limit; place++) {
        if (files->places[place].is_dirty) {
            return place;
        }
    }
    return WIO_NO_INDEX;
}

enum wio_status open_files_sync_dirs(struct open_files *files, struct wio_error *err)
{
    for (unsigned dir = 0; dir < SEGMENT_DIRS; dir++) {
        if (files->dirty_dirs[dir]) {
            char name[SEGMENT_NAME_BYTES];
            segment_dir_name(name, dir);
            struct wio_error why = WIO_ERROR_INIT;
            if (files->io->ops->dir_sync(files->io, name, &why) != WIO_OK) {
                note_failure(files, why.sys_errno);
                return wio_error_pass(err, &why);
            }
            files->dirty_dirs[dir] = false;
        }
    }
    return WIO_OK;
}
