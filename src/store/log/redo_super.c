/* SPDX-License-Identifier: Apache-2.0 */
#include "store/log/redo_super.h"

#include <errno.h>

#include "base/cleanup.h"

static const char super_name[] = "log/super";
static const char super_new[] = "log/super.new";

enum wio_status redo_super_choose(const uint8_t *data, size_t size, const char *name,
                                  struct redo_super *super_out, struct wio_error *err)
{
    struct redo_super super;
    bool is_found = false;
    for (size_t at = 0; at < (size_t)2 * REDO_BLOCK && at < size; at += REDO_BLOCK) {
        if (redo_super_decode(data + at, size - at, &super) &&
            (!is_found || super.generation > super_out->generation)) {
            *super_out = super;
            is_found = true;
        }
    }
    if (!is_found) {
        return wio_error_set(err, WIO_ERR_FORMAT, name, 0,
                             "expected a superblock at byte 0 or %d, found none", REDO_BLOCK);
    }
    return WIO_OK;
}

static enum wio_status read_super(struct wio_io *io, struct wio_io_file *file,
                                  struct redo_super *super_out, struct wio_error *err)
{
    uint8_t data[2 * REDO_BLOCK];
    size_t got = 0;
    WIO_TRY(io->ops->file_read(file, 0, data, sizeof(data), &got, err));
    return redo_super_choose(data, got, super_name, super_out, err);
}

enum wio_status redo_super_open(struct wio_io *io, bool is_checked, struct wio_io_file **file_out,
                                struct redo_super *super_out, struct wio_error *err)
{
    struct wio_error why = WIO_ERROR_INIT;
    struct wio_io_file *file = NULL;
    enum wio_status status =
        io->ops->file_open(io, super_name, is_checked ? WIO_IO_READ_ONLY : 0, &file, &why);
    *file_out = NULL;
    if (status != WIO_OK) {
        return why.sys_errno == ENOENT ? WIO_OK : wio_error_pass(err, &why);
    }
    if (!is_checked && io->ops->file_settle != NULL) {
        status = io->ops->file_settle(file, err); /* R-LOG-9 */
    }
    status = status == WIO_OK ? read_super(io, file, super_out, err) : status;
    if (status != WIO_OK) {
        io->ops->file_close(file);
        return status;
    }
    *file_out = file;
    return WIO_OK;
}

enum wio_status redo_super_write(struct wio_io *io, struct wio_io_file *file,
                                 const struct redo_super *super, struct wio_error *err)
{
    uint8_t block[REDO_BLOCK];
    redo_super_encode(super, block);
    struct wio_io_bytes part = {block, sizeof(block)};
    WIO_TRY(io->ops->file_write(file, super->generation % 2 * REDO_BLOCK, &part, 1, err));
    return io->ops->file_sync(file, err);
}

/* Both blocks, so that a torn second generation leaves the first. */
static enum wio_status write_both(struct wio_io *io, struct wio_io_file *file,
                                  const struct redo_super *super, struct wio_error *err)
{
    struct redo_super older = {super->generation - 1, super->redo_from, super->segment_bytes};
    WIO_TRY(redo_super_write(io, file, &older, err));
    WIO_TRY(redo_super_write(io, file, super, err));
    WIO_TRY(io->ops->rename(io, super_new, super_name, err));
    return io->ops->dir_sync(io, "log", err);
}

enum wio_status redo_super_create(struct wio_io *io, const struct redo_super *super,
                                  struct wio_io_file **file_out, struct wio_error *err)
{
    struct wio_io_file *file = NULL;
    WIO_PRE(super->generation > 0);
    WIO_TRY(io->ops->file_open(io, super_new, WIO_IO_CREATE, &file, err));
    enum wio_status status = write_both(io, file, super, err);
    if (status != WIO_OK) {
        io->ops->file_close(file);
        return status;
    }
    *file_out = file;
    return WIO_OK;
}
