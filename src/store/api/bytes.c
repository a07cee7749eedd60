/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing: at offsets, and at the pointer of a view. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "store/api/api_internal.h"

static enum wio_status wrong(const struct wio_store_file *file, int sys_errno, const char *what,
                             struct wio_error *err)
{
    (void)wio_error_set(err, WIO_ERR_IO, file->path, WIO_ERROR_NO_OFFSET, "%s", what);
    if (err != NULL) {
        err->sys_errno = sys_errno;
    }
    return WIO_ERR_IO;
}

static enum wio_status may(const struct wio_store_file *file, bool is_write, uint64_t offset,
                           size_t size, struct wio_error *err)
{
    int other = is_write ? O_RDONLY : O_WRONLY;
    if ((file->flags & O_ACCMODE) == other) {
        return wrong(file, EBADF, is_write ? "not opened for writing" : "not opened for reading",
                     err);
    }
    if (offset > INT64_MAX || size > INT64_MAX - offset) {
        return wrong(file, is_write ? EFBIG : EINVAL, "the range is none of a file", err);
    }
    return WIO_OK;
}

static bool is_global(const struct wio_store_file *file)
{
    return file->view == WIO_VIEW_GLOBAL;
}

/* ---- reads --------------------------------------------------------------------------------- */

static enum wio_status read_once(struct wio_store_file *file, struct wio_store_txn *txn,
                                 const struct api_op *like, uint64_t deadline_ns,
                                 bool *is_unsure_out, size_t *got_out, struct wio_error *err)
{
    WIO_CLEANUP(api_op_cleanup) struct api_op *op = NULL;
    WIO_TRY(api_file_op(file, txn, API_READ, &op, err));
    op->into = like->into;
    op->offset = like->offset;
    op->size = like->size;
    op->is_shared = like->is_shared;
    op->is_not_single = txn != NULL || *is_unsure_out;
    WIO_TRY(api_file_run_until(file, txn, &op, deadline_ns, err));
    *is_unsure_out = op->is_unsure;
    *got_out = op->got;
    return WIO_OK;
}

/* One segment first; where it ended in the range, with the size of all. */
static enum wio_status read_range(struct wio_store_file *file, struct wio_store_txn *txn,
                                  const struct api_op *like, size_t *got_out, struct wio_error *err)
{
    bool is_unsure = false;
    uint64_t deadline_ns = api_file_deadline_ns(file, txn);
    *got_out = 0;
    if (like->size == 0) {
        return WIO_OK;
    }
    WIO_TRY(read_once(file, txn, like, deadline_ns, &is_unsure, got_out, err));
    return is_unsure ? read_once(file, txn, like, deadline_ns, &is_unsure, got_out, err) : WIO_OK;
}

enum wio_status wio_store_pread(struct wio_store_file *file, struct wio_store_txn *txn, void *data,
                                size_t size, uint64_t offset, size_t *got_out,
                                struct wio_error *err)
{
    const struct api_op like = {.into = data, .offset = offset, .size = size};
    WIO_TRY(may(file, false, offset, size, err));
    return read_range(file, txn, &like, got_out, err);
}

enum wio_status wio_store_read(struct wio_store_file *file, struct wio_store_txn *txn, void *data,
                               size_t size, size_t *got_out, struct wio_error *err)
{
    struct api_op like = {.into = data, .size = size, .is_shared = is_global(file)};
    WIO_TRY(may(file, false, 0, size, err));
    if (like.is_shared) {
        return read_range(file, txn, &like, got_out, err);
    }
    (void)pthread_mutex_lock(&file->pointer_mutex);
    like.offset = file->pointer;
    enum wio_status status = may(file, false, like.offset, size, err);
    status = status == WIO_OK ? read_range(file, txn, &like, got_out, err) : status;
    file->pointer += status == WIO_OK ? *got_out : 0;
    (void)pthread_mutex_unlock(&file->pointer_mutex);
    return status;
}

/* ---- writes -------------------------------------------------------------------------------- */

static void written(struct wio_store_file *file)
{
    (void)pthread_mutex_lock(&file->mutex);
    file->was_written = true;
    (void)pthread_mutex_unlock(&file->mutex);
}

/* The bytes are copied: after a time-out the caller's memory is the caller's again, while the
 * request may still be under way. */
static enum wio_status write_range(struct wio_store_file *file, struct wio_store_txn *txn,
                                   const void *data, const struct api_op *like, uint64_t *end_out,
                                   struct wio_error *err)
{
    WIO_CLEANUP(api_op_cleanup) struct api_op *op = NULL;
    *end_out = like->offset;
    if (like->size == 0) {
        return WIO_OK;
    }
    WIO_TRY(api_file_op(file, txn, API_WRITE, &op, err));
    op->data = malloc(like->size);
    if (op->data == NULL) {
        return api_about(api_nomem(err), file->path, err);
    }
    memcpy(op->data, data, like->size);
    op->offset = like->offset;
    op->size = like->size;
    op->is_shared = like->is_shared;
    op->is_append = !op->is_shared && !op->place.is_segment && (file->flags & O_APPEND) != 0;
    op->is_not_single = txn != NULL;
    WIO_TRY(api_file_run(file, txn, &op, err));
    *end_out = op->at + op->size;
    written(file);
    return WIO_OK;
}

enum wio_status wio_store_pwrite(struct wio_store_file *file, struct wio_store_txn *txn,
                                 const void *data, size_t size, uint64_t offset,
                                 struct wio_error *err)
{
    const struct api_op like = {.offset = offset, .size = size};
    uint64_t end = 0;
    WIO_TRY(may(file, true, offset, size, err));
    return write_range(file, txn, data, &like, &end, err);
}

enum wio_status wio_store_write(struct wio_store_file *file, struct wio_store_txn *txn,
                                const void *data, size_t size, struct wio_error *err)
{
    struct api_op like = {.size = size, .is_shared = is_global(file)};
    uint64_t end = 0;
    WIO_TRY(may(file, true, 0, size, err));
    if (like.is_shared) {
        return write_range(file, txn, data, &like, &end, err);
    }
    (void)pthread_mutex_lock(&file->pointer_mutex);
    like.offset = file->pointer;
    enum wio_status status = may(file, true, like.offset, size, err);
    status = status == WIO_OK ? write_range(file, txn, data, &like, &end, err) : status;
    file->pointer = status == WIO_OK ? end : file->pointer;
    (void)pthread_mutex_unlock(&file->pointer_mutex);
    return status;
}

enum wio_status wio_store_add(struct wio_store_file *file, struct wio_store_txn *txn,
                              uint64_t offset, int64_t delta, int64_t *before_out,
                              struct wio_error *err)
{
    WIO_CLEANUP(api_op_cleanup) struct api_op *op = NULL;
    uint64_t unit = file->place.layout.stripe_unit;
    WIO_TRY(may(file, true, offset, sizeof(delta), err));
    WIO_TRY(may(file, false, offset, sizeof(delta), err));
    bool is_split = unit < sizeof(delta) || offset % unit > unit - sizeof(delta);
    if (!file->place.is_segment && is_split) {
        return wrong(file, EINVAL, "the number does not lie in one stripe unit", err);
    }
    WIO_TRY(api_file_op(file, txn, API_ADD, &op, err));
    op->offset = offset;
    op->size = sizeof(delta);
    op->delta = delta;
    op->is_not_single = txn != NULL;
    WIO_TRY(api_file_run(file, txn, &op, err));
    written(file);
    if (before_out != NULL) {
        *before_out = (int64_t)op->before;
    }
    return WIO_OK;
}

/* ---- sizes and pointers -------------------------------------------------------------------- */

enum wio_status wio_store_size(struct wio_store_file *file, struct wio_store_txn *txn,
                               uint64_t *size_out, struct wio_error *err)
{
    WIO_CLEANUP(api_op_cleanup) struct api_op *op = NULL;
    WIO_TRY(api_file_op(file, txn, API_SIZE, &op, err));
    op->is_not_single = txn != NULL;
    WIO_TRY(api_file_run(file, txn, &op, err));
    *size_out = op->file_end;
    return WIO_OK;
}

enum wio_status wio_store_truncate(struct wio_store_file *file, struct wio_store_txn *txn,
                                   uint64_t size, struct wio_error *err)
{
    WIO_CLEANUP(api_op_cleanup) struct api_op *op = NULL;
    WIO_TRY(may(file, true, size, 0, err));
    WIO_TRY(api_file_op(file, txn, API_TRUNCATE, &op, err));
    op->size = size;
    op->is_not_single = txn != NULL;
    WIO_TRY(api_file_run(file, txn, &op, err));
    written(file);
    return WIO_OK;
}

static enum wio_status seek_shared(struct wio_store_file *file, struct wio_store_txn *txn,
                                   int64_t offset, int whence, uint64_t *position_out,
                                   struct wio_error *err)
{
    WIO_CLEANUP(api_op_cleanup) struct api_op *op = NULL;
    WIO_TRY(api_file_op(file, txn, API_SEEK, &op, err));
    op->is_shared = true;
    op->delta = offset;
    op->whence = whence;
    op->is_not_single = txn != NULL;
    WIO_TRY(api_file_run(file, txn, &op, err));
    *position_out = op->position;
    return WIO_OK;
}

static enum wio_status seek_own(struct wio_store_file *file, struct wio_store_txn *txn,
                                int64_t offset, int whence, uint64_t *position_out,
                                struct wio_error *err)
{
    uint64_t from = 0;
    int64_t to = 0;
    if (whence == SEEK_END) {
        WIO_TRY(wio_store_size(file, txn, &from, err));
    }
    (void)pthread_mutex_lock(&file->pointer_mutex);
    from = whence == SEEK_CUR ? file->pointer : from;
    bool is_bad = __builtin_add_overflow((int64_t)from, offset, &to) || to < 0;
    file->pointer = is_bad ? file->pointer : (uint64_t)to;
    (void)pthread_mutex_unlock(&file->pointer_mutex);
    *position_out = (uint64_t)to;
    return is_bad ? wrong(file, EINVAL, "the pointer would leave the file", err) : WIO_OK;
}

enum wio_status wio_store_seek(struct wio_store_file *file, struct wio_store_txn *txn,
                               int64_t offset, int whence, uint64_t *offset_out,
                               struct wio_error *err)
{
    uint64_t position = 0;
    if (whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END) {
        return wrong(file, EINVAL, "whence is none of SEEK_SET, SEEK_CUR and SEEK_END", err);
    }
    if (whence == SEEK_SET && offset < 0) {
        return wrong(file, EINVAL, "the pointer would leave the file", err);
    }
    WIO_TRY(is_global(file) ? seek_shared(file, txn, offset, whence, &position, err)
                            : seek_own(file, txn, offset, whence, &position, err));
    if (offset_out != NULL) {
        *offset_out = position;
    }
    return WIO_OK;
}
