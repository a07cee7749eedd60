/* SPDX-License-Identifier: Apache-2.0 */
#include "store/storage/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "store/log/redo_chain.h"
#include "store/log/redo_super.h"
#include "store/storage/segment_name.h"

enum { READ_BYTES = 1 << 20 };

struct checker {
    struct wio_io *io;
    wio_store_fault *fault;
    void *context;
    struct wio_store_check found;
    struct wio_blob buffer;
    unsigned dir;            /* of data/ that is listed */
    enum wio_status stopped; /* no memory */
};

static void tell(struct checker *checker, const struct wio_error *fault)
{
    checker->found.faults++;
    if (fault->status == WIO_ERR_NOMEM) {
        checker->stopped = WIO_ERR_NOMEM;
    }
    if (checker->fault != NULL) {
        checker->fault(checker->context, fault);
    }
}

/* ---- names ---- */

static void tell_name(struct checker *checker, const char *dir, const char *name)
{
    struct wio_error fault = WIO_ERROR_INIT;
    char path[WIO_IO_NAME_MAX];
    (void)snprintf(path, sizeof(path), "%s%s%s", dir, dir[0] != '\0' ? "/" : "", name);
    (void)!wio_error_set(&fault, WIO_ERR_FORMAT, path, WIO_ERROR_NO_OFFSET,
                         "expected no such name here");
    tell(checker, &fault);
}

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* R-ROOT-1 */
static bool check_root_name(void *context, const char *name)
{
    static const char *const names[] = {"VERSION",
                                        "VERSION.new",
                                        "log",
                                        "data",
                                        "catalogue.sqlite",
                                        "catalogue.sqlite-wal",
                                        "catalogue.sqlite-shm"};
    if (!is_one_of(name, names, WIO_ARRAY_SIZE(names))) {
        tell_name(context, "", name);
    }
    return true;
}

static bool check_data_name(void *context, const char *name)
{
    char dir[SEGMENT_NAME_BYTES];
    for (unsigned i = 0; i < SEGMENT_DIRS; i++) {
        segment_dir_name(dir, i);
        if (strcmp(dir + strlen("data/"), name) == 0) {
            return true;
        }
    }
    tell_name(context, "data", name);
    return true;
}

static bool check_log_name(void *context, const char *name)
{
    static const char *const names[] = {"super", "super.new", "redo.sqlite", "redo.sqlite-wal"};
    size_t digits = strspn(name, "0123456789");
    if (!is_one_of(name, names, WIO_ARRAY_SIZE(names)) &&
        (digits != 6 || strcmp(name + digits, ".redo") != 0)) {
        tell_name(context, "log", name);
    }
    return true;
}

static void check_names(struct checker *checker, const char *dir, wio_io_each *each)
{
    struct wio_error fault = WIO_ERROR_INIT;
    if (checker->io->ops->list(checker->io, dir, each, checker, &fault) != WIO_OK) {
        tell(checker, &fault);
    }
}

/* ---- data ---- */

static enum wio_status read_all(struct checker *checker, struct wio_io_file *file,
                                struct wio_error *fault)
{
    uint64_t at = 0;
    size_t got = 0;
    do {
        WIO_TRY(
            checker->io->ops->file_read(file, at, checker->buffer.data, READ_BYTES, &got, fault));
        at += got;
        checker->found.bytes += got;
    } while (got == READ_BYTES);
    return WIO_OK;
}

static void check_segment(struct checker *checker, struct wio_segment_id id)
{
    struct wio_error fault = WIO_ERROR_INIT;
    struct wio_io_file *file = NULL;
    char name[SEGMENT_NAME_BYTES];
    segment_name(name, id);
    enum wio_status status =
        checker->io->ops->file_open(checker->io, name, WIO_IO_READ_ONLY, &file, &fault);
    if (status == WIO_OK) {
        status = read_all(checker, file, &fault);
        checker->io->ops->file_close(file);
    }
    checker->found.files++;
    if (status != WIO_OK) {
        tell(checker, &fault);
    }
}

/* R-DATA-1 */
static bool check_segment_name(void *context, const char *name)
{
    struct checker *checker = context;
    struct wio_segment_id id;
    char dir[SEGMENT_NAME_BYTES];
    if (segment_name_parse(name, checker->dir, &id)) {
        check_segment(checker, id);
    } else {
        segment_dir_name(dir, checker->dir);
        tell_name(checker, dir, name);
    }
    return true;
}

static void check_data(struct checker *checker)
{
    check_names(checker, "data", check_data_name);
    for (checker->dir = 0; checker->dir < SEGMENT_DIRS; checker->dir++) {
        char dir[SEGMENT_NAME_BYTES];
        segment_dir_name(dir, checker->dir);
        check_names(checker, dir, check_segment_name);
    }
}

/* ---- the log ---- */

/* R-REDO-1: each record's redo is a list of changes. */
static enum wio_status check_record(void *context, uint64_t lsn,
                                    const struct wio_log_record *record, struct wio_error *err)
{
    struct checker *checker = context;
    struct wio_buf buf = wio_buf_of(record->redo, record->redo_bytes);
    struct wio_redo_change change;
    enum wio_status status;
    (void)err;
    checker->found.records++;
    while ((status = wio_change_decode(&buf, &change)) == WIO_OK) {
    }
    if (status != WIO_END) {
        struct wio_error fault = WIO_ERROR_INIT;
        (void)!wio_error_set(&fault, status, "log", WIO_ERROR_NO_OFFSET,
                             "expected a change at byte %zu of the redo of record %llu", buf.pos,
                             (unsigned long long)lsn);
        tell(checker, &fault);
    }
    return WIO_OK;
}

static enum wio_status scan_own(struct checker *checker, struct redo_segments *segments,
                                struct wio_error *fault)
{
    struct wio_io_file *file = NULL;
    struct redo_super super;
    struct redo_position end;
    WIO_TRY(redo_super_open(checker->io, true, &file, &super, fault));
    if (file == NULL) {
        return wio_error_set(fault, WIO_ERR_FORMAT, "log/super", WIO_ERROR_NO_OFFSET,
                             "expected the log's superblock, found no such file");
    }
    checker->io->ops->file_close(file);
    segments->bytes = super.segment_bytes;
    WIO_TRY(redo_segments_open(segments, true, fault));
    return redo_chain_scan(segments, super.redo_from, check_record, checker, &end, fault);
}

static void check_own(struct checker *checker)
{
    struct wio_error fault = WIO_ERROR_INIT;
    struct redo_segments segments = {.io = checker->io};
    if (scan_own(checker, &segments, &fault) != WIO_OK) {
        tell(checker, &fault);
    }
    redo_segments_close(&segments);
}

static void check_reference(struct checker *checker)
{
    struct wio_error fault = WIO_ERROR_INIT;
    struct wio_log *log = NULL;
    struct wio_log_config config = {.io = checker->io};
    enum wio_status status = wio_log_open_sqlite(&config, &log, &fault);
    status = status == WIO_OK ? wio_log_scan(log, check_record, checker, &fault) : status;
    if (status != WIO_OK) {
        tell(checker, &fault);
    }
    wio_log_close(log);
}

enum wio_status wio_store_check(struct wio_io *io, wio_store_fault *fault, void *context,
                                struct wio_store_check *check_out, struct wio_error *err)
{
    struct checker checker = {.io = io, .fault = fault, .context = context};
    struct wio_error why = WIO_ERROR_INIT;
    struct wio_store_root root;
    if (wio_blob_reserve(&checker.buffer, READ_BYTES) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    check_names(&checker, "", check_root_name);
    if (wio_store_root_read(io, &root, &why) != WIO_OK) {
        tell(&checker, &why);
    } else {
        check_names(&checker, "log", check_log_name);
        check_data(&checker);
        if (root.log == WIO_LOG_SQLITE) {
            check_reference(&checker);
        } else {
            check_own(&checker);
        }
    }
    wio_blob_fini(&checker.buffer);
    *check_out = checker.found;
    return checker.stopped == WIO_OK
               ? WIO_OK
               : wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
}
