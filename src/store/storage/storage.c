/* SPDX-License-Identifier: Apache-2.0 */
#include "store/storage/storage.h"

#include <errno.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "store/storage/capacity.h"
#include "store/storage/open_files.h"

enum { OPEN_FILES = 512, KEEP_FREE = 64 << 20 };

struct wio_storage {
    struct wio_io *io;
    struct open_files files;
    struct capacity capacity;
    uint64_t segment_bytes_max; /* R-DATA-3 */
    /* the flush that runs */
    wio_io_done *done; /* NULL: none */
    void *context;
    struct open_file *flushing;
    uint32_t next_place;
};

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, "data", WIO_ERROR_NO_OFFSET, "out of memory");
}

/* ---- what is there ---- */

struct names {
    struct wio_segment_id *ids;
    uint32_t count;
    uint32_t capacity;
    unsigned dir;
    bool has_file; /* only those of one file */
    uint64_t file;
    enum wio_status status;
};

static void names_fini(struct names *names)
{
    free(names->ids);
}

static bool note_name(void *context, const char *name)
{
    struct names *names = context;
    struct wio_segment_id id;
    if (!segment_name_parse(name, names->dir, &id) || (names->has_file && id.file != names->file)) {
        return true;
    }
    void *array = names->ids;
    names->status = wio_make_room(&array, sizeof(*names->ids), &names->capacity, names->count + 1);
    names->ids = array;
    if (names->status == WIO_OK) {
        names->ids[names->count++] = id;
    }
    return names->status == WIO_OK;
}

static enum wio_status list_dir(struct wio_storage *storage, struct names *names,
                                struct wio_error *err)
{
    char name[SEGMENT_NAME_BYTES];
    segment_dir_name(name, names->dir);
    WIO_TRY(storage->io->ops->list(storage->io, name, note_name, names, err));
    return names->status == WIO_OK ? WIO_OK : no_memory(err);
}

static enum wio_status add_used(struct wio_storage *storage, struct wio_segment_id id,
                                struct wio_error *err)
{
    struct wio_io_file *file = NULL;
    uint64_t used = 0;
    char name[SEGMENT_NAME_BYTES];
    segment_name(name, id);
    WIO_TRY(storage->io->ops->file_open(storage->io, name, WIO_IO_READ_ONLY, &file, err));
    enum wio_status status = open_files_used(&storage->files, file, &used, err);
    storage->io->ops->file_close(file);
    capacity_changed(&storage->capacity, 0, used);
    return status;
}

static enum wio_status add_up(struct wio_storage *storage, struct wio_error *err)
{
    for (unsigned dir = 0; dir < SEGMENT_DIRS; dir++) {
        WIO_CLEANUP(names_fini) struct names names = {.dir = dir};
        WIO_TRY(list_dir(storage, &names, err));
        for (uint32_t i = 0; i < names.count; i++) {
            WIO_TRY(add_used(storage, names.ids[i], err));
        }
    }
    return WIO_OK;
}

/* ---- open and close ---- */

void wio_storage_close(struct wio_storage *storage)
{
    if (storage != NULL) {
        open_files_fini(&storage->files);
        free(storage);
    }
}

static void storage_cleanup(struct wio_storage **storage)
{
    wio_storage_close(*storage);
}

/* A segment is one file, so what the file system takes bounds it, too. */
static enum wio_status find_segment_bytes_max(struct wio_storage *storage, struct wio_error *err)
{
    struct wio_io_space space = {0};
    WIO_TRY(storage->io->ops->space(storage->io, &space, err));
    const bool is_less = space.file_bytes_max != 0 && space.file_bytes_max < WIO_STORAGE_OFFSET_MAX;
    storage->segment_bytes_max = is_less ? space.file_bytes_max : WIO_STORAGE_OFFSET_MAX;
    return WIO_OK;
}

enum wio_status wio_storage_open(const struct wio_storage_config *config,
                                 struct wio_storage **storage_out, struct wio_error *err)
{
    WIO_CLEANUP(storage_cleanup) struct wio_storage *storage = calloc(1, sizeof(*storage));
    if (storage == NULL) {
        return no_memory(err);
    }
    storage->io = config->io;
    storage->capacity = (struct capacity){
        .io = config->io,
        .size_bytes = config->size_bytes,
        .keep_free_bytes = config->keep_free_bytes == 0 ? KEEP_FREE : config->keep_free_bytes};
    if (open_files_init(&storage->files, config->io,
                        config->open_files == 0 ? OPEN_FILES : config->open_files) != WIO_OK) {
        return no_memory(err);
    }
    WIO_TRY(find_segment_bytes_max(storage, err));
    WIO_TRY(add_up(storage, err));
    WIO_TRY(capacity_check_promise(&storage->capacity, err));
    *storage_out = storage;
    storage = NULL;
    return WIO_OK;
}

/* ---- reading ---- */

enum wio_status wio_storage_read(struct wio_storage *storage, struct wio_segment_id id,
                                 uint64_t offset, void *data, size_t size, size_t *got_out,
                                 struct wio_error *err)
{
    struct open_file *file = NULL;
    *got_out = 0;
    WIO_TRY(open_files_get(&storage->files, id, false, &file, err));
    if (file == NULL || offset >= WIO_STORAGE_OFFSET_MAX) {
        return WIO_OK;
    }
    return storage->io->ops->file_read(file->file, offset, data, size, got_out, err);
}

enum wio_status wio_storage_size(struct wio_storage *storage, struct wio_segment_id id,
                                 uint64_t *bytes_out, struct wio_error *err)
{
    struct open_file *file = NULL;
    *bytes_out = 0;
    WIO_TRY(open_files_get(&storage->files, id, false, &file, err));
    return file == NULL ? WIO_OK : open_files_size(&storage->files, file, bytes_out, err);
}

/* ---- capacity ---- */

static enum wio_status check_range(const struct wio_storage *storage, struct wio_segment_id id,
                                   uint64_t offset, uint64_t bytes, struct wio_error *err)
{
    const uint64_t max = storage->segment_bytes_max;
    if (id.segment < SEGMENT_LIMIT && bytes <= max && offset <= max - bytes) {
        return WIO_OK;
    }
    errno = EFBIG;
    return wio_error_sys(err, "data", "expected a range of segment 0 to %d of at most %llu bytes",
                         SEGMENT_LIMIT - 1, (unsigned long long)max);
}

/* No hole in a file of that size, and no block behind it, is written to below `end`. */
static bool has_blocks(const struct open_file *file, uint64_t size, uint64_t end)
{
    return end <= size && file->used_bytes >= size;
}

/* R-DATA-2: new blocks that a write may need: none within a file without holes, else all that it
 * touches. */
static enum wio_status blocks_needed(struct wio_storage *storage, struct wio_segment_id id,
                                     uint64_t offset, uint64_t bytes, uint64_t *need_out,
                                     struct wio_error *err)
{
    struct open_file *file = NULL;
    uint64_t size = 0;
    uint64_t begin = offset / WIO_STORAGE_BLOCK * WIO_STORAGE_BLOCK;
    uint64_t end = (offset + bytes + WIO_STORAGE_BLOCK - 1) / WIO_STORAGE_BLOCK * WIO_STORAGE_BLOCK;
    *need_out = bytes == 0 ? 0 : end - begin;
    WIO_TRY(open_files_get(&storage->files, id, false, &file, err));
    if (file != NULL) {
        WIO_TRY(open_files_size(&storage->files, file, &size, err));
        *need_out = has_blocks(file, size, offset + bytes) ? 0 : *need_out;
    }
    return WIO_OK;
}

enum wio_status wio_storage_reserve(struct wio_storage *storage, struct wio_segment_id id,
                                    uint64_t offset, uint64_t bytes, uint64_t *reserved_out,
                                    struct wio_error *err)
{
    uint64_t need = 0;
    *reserved_out = 0;
    WIO_TRY(check_range(storage, id, offset, bytes, err));
    WIO_TRY(blocks_needed(storage, id, offset, bytes, &need, err));
    if (need > 0) {
        WIO_TRY(capacity_reserve(&storage->capacity, need, err));
    }
    *reserved_out = need;
    return WIO_OK;
}

void wio_storage_release(struct wio_storage *storage, uint64_t reserved_bytes)
{
    WIO_PRE(reserved_bytes <= storage->capacity.reserved_bytes);
    storage->capacity.reserved_bytes -= reserved_bytes;
}

enum wio_status wio_storage_space(struct wio_storage *storage, struct wio_storage_space *space_out,
                                  struct wio_error *err)
{
    struct wio_io_space device;
    const struct capacity *capacity = &storage->capacity;
    WIO_TRY(storage->io->ops->space(storage->io, &device, err));
    *space_out = (struct wio_storage_space){
        .total_bytes = capacity->size_bytes != 0 ? capacity->size_bytes
                                                 : capacity->used_bytes + device.free_bytes,
        .used_bytes = capacity->used_bytes,
        .reserved_bytes = capacity->reserved_bytes};
    return WIO_OK;
}

/* ---- changing ---- */

/* The file was changed: it has other blocks, and is to be flushed. */
static enum wio_status changed(struct wio_storage *storage, struct open_file *file,
                               struct wio_error *err)
{
    uint64_t used = 0;
    file->is_dirty = true;
    WIO_TRY(open_files_used(&storage->files, file->file, &used, err));
    capacity_changed(&storage->capacity, file->used_bytes, used);
    file->used_bytes = used;
    return WIO_OK;
}

enum wio_status wio_storage_write(struct wio_storage *storage, struct wio_segment_id id,
                                  uint64_t offset, const void *data, size_t size,
                                  struct wio_error *err)
{
    struct open_file *file = NULL;
    struct wio_io_bytes part = {data, size};
    uint64_t before = 0;
    WIO_TRY(check_range(storage, id, offset, size, err));
    WIO_TRY(open_files_get(&storage->files, id, true, &file, err));
    WIO_TRY(open_files_size(&storage->files, file, &before, err));
    file->is_dirty = true;
    file->has_size = false; /* if it fails */
    WIO_TRY(storage->io->ops->file_write(file->file, offset, &part, 1, err));
    file->size_bytes = offset + size > before ? offset + size : before;
    file->has_size = true;
    return has_blocks(file, before, offset + size) ? WIO_OK : changed(storage, file, err);
}

enum wio_status wio_storage_truncate(struct wio_storage *storage, struct wio_segment_id id,
                                     uint64_t bytes, struct wio_error *err)
{
    struct open_file *file = NULL;
    WIO_TRY(check_range(storage, id, bytes, 0, err));
    WIO_TRY(open_files_get(&storage->files, id, bytes > 0, &file, err));
    if (file == NULL) {
        return WIO_OK; /* empty already */
    }
    file->has_size = false;
    WIO_TRY(storage->io->ops->file_truncate(file->file, bytes, err));
    return changed(storage, file, err);
}

enum wio_status wio_storage_drop(struct wio_storage *storage, struct wio_segment_id id,
                                 struct wio_error *err)
{
    struct open_file *file = NULL;
    WIO_TRY(open_files_get(&storage->files, id, false, &file, err));
    if (file == NULL) {
        return WIO_OK;
    }
    uint64_t used = file->used_bytes;
    WIO_TRY(open_files_remove(&storage->files, id, err));
    capacity_changed(&storage->capacity, used, 0);
    return WIO_OK;
}

enum wio_status wio_storage_remove(struct wio_storage *storage, uint64_t file,
                                   struct wio_error *err)
{
    WIO_CLEANUP(names_fini)
    struct names names = {.dir = segment_dir(file), .has_file = true, .file = file};
    WIO_TRY(list_dir(storage, &names, err));
    for (uint32_t i = 0; i < names.count; i++) {
        WIO_TRY(wio_storage_drop(storage, names.ids[i], err));
    }
    return WIO_OK;
}

/* ---- flushing ---- */

enum wio_status wio_storage_sync(struct wio_storage *storage, struct wio_error *err)
{
    WIO_TRY(open_files_check(&storage->files, err));
    for (uint32_t place = open_files_dirty(&storage->files, 0); place != WIO_NO_INDEX;
         place = open_files_dirty(&storage->files, place)) {
        WIO_TRY(open_files_sync(&storage->files, &storage->files.places[place], err));
    }
    return open_files_sync_dirs(&storage->files, err);
}

static void flush_ended(struct wio_storage *storage, enum wio_status status, int sys_errno)
{
    wio_io_done *done = storage->done;
    storage->done = NULL;
    done(storage->context, status, sys_errno);
}

static void file_flushed(void *context, enum wio_status status, int sys_errno);

/* Begin with the next file. WIO_END: there is none, and the names are durable, too. */
static enum wio_status flush_next(struct wio_storage *storage, struct wio_error *err)
{
    WIO_TRY(open_files_check(&storage->files, err));
    uint32_t place = open_files_dirty(&storage->files, storage->next_place);
    if (place == WIO_NO_INDEX) {
        WIO_TRY(open_files_sync_dirs(&storage->files, err));
        return WIO_END;
    }
    storage->flushing = &storage->files.places[place];
    storage->next_place = place + 1;
    if (storage->io->ops->file_flush(storage->flushing->file, file_flushed, storage) != WIO_OK) {
        return no_memory(err);
    }
    storage->flushing->is_flushing = true;
    storage->flushing->is_dirty = false; /* what is written from now on is for the next flush */
    return WIO_OK;
}

static void file_flushed(void *context, enum wio_status status, int sys_errno)
{
    struct wio_storage *storage = context;
    struct wio_error err = WIO_ERROR_INIT;
    open_files_flush_ended(&storage->files, storage->flushing,
                           status != WIO_OK && sys_errno == 0 ? EIO : sys_errno);
    if (status == WIO_OK) {
        status = flush_next(storage, &err);
        sys_errno = err.sys_errno;
        if (status == WIO_OK) {
            return;
        }
    }
    flush_ended(storage, status == WIO_END ? WIO_OK : status, sys_errno);
}

enum wio_status wio_storage_flush(struct wio_storage *storage, wio_io_done *done, void *context,
                                  struct wio_error *err)
{
    WIO_PRE(storage->done == NULL);
    storage->next_place = 0;
    storage->done = done;
    storage->context = context;
    enum wio_status status = flush_next(storage, err);
    if (status != WIO_OK) {
        storage->done = NULL;
    }
    return status;
}
