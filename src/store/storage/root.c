/* SPDX-License-Identifier: Apache-2.0 */
#include "store/storage/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>

#include "base/cleanup.h"
#include "base/crc.h"
#include "base/fmt.h"
#include "base/io.h"
#include "store/storage/segment_name.h"

static const char version_new[] = "VERSION.new";
static const char *const log_names[] = {[WIO_LOG_OWN] = "own", [WIO_LOG_SQLITE] = "sqlite"};

/* R-ROOT-2 */
void wio_store_version_encode(const struct wio_store_root *root, char text[WIO_STORE_VERSION_MAX])
{
    struct wio_fmt fmt = wio_fmt_of(text, WIO_STORE_VERSION_MAX);
    wio_fmt_str(&fmt, "whyio-store ");
    wio_fmt_u64(&fmt, WIO_STORE_FORMAT_VERSION);
    wio_fmt_str(&fmt, "\nlog ");
    wio_fmt_str(&fmt, log_names[root->log]);
    wio_fmt_str(&fmt, "\n");
    uint32_t crc = wio_crc32c(0, text, fmt.used);
    wio_fmt_str(&fmt, "crc32c ");
    wio_fmt_hex(&fmt, crc, 8);
    wio_fmt_str(&fmt, "\n");
}

static enum wio_status check_number(const char *text, const char *name, struct wio_error *err)
{
    static const char magic[] = "whyio-store ";
    uint64_t version = 0;
    if (strncmp(text, magic, strlen(magic)) != 0) {
        return wio_error_set(err, WIO_ERR_FORMAT, name, 0, "expected \"whyio-store NUMBER\"");
    }
    text += strlen(magic);
    if (!wio_scan_u64(&text, &version) || *text != '\n') {
        return wio_error_set(err, WIO_ERR_FORMAT, name, strlen(magic), "expected a version");
    }
    return version == WIO_STORE_FORMAT_VERSION
               ? WIO_OK
               : wio_error_set(err, WIO_ERR_UNSUPPORTED, name, strlen(magic),
                               "expected version %u of the store, found %llu",
                               WIO_STORE_FORMAT_VERSION, (unsigned long long)version);
}

enum wio_status wio_store_version_decode(const char *text, size_t size, const char *name,
                                         struct wio_store_root *root_out, struct wio_error *err)
{
    char copy[WIO_STORE_VERSION_MAX] = {0};
    memcpy(copy, text, size < sizeof(copy) ? size : sizeof(copy) - 1);
    WIO_TRY(check_number(copy, name, err));
    for (unsigned log = 0; log < WIO_ARRAY_SIZE(log_names); log++) {
        struct wio_store_root root = {.log = (enum wio_log_choice)log};
        char whole[WIO_STORE_VERSION_MAX];
        wio_store_version_encode(&root, whole);
        if (strlen(whole) == size && memcmp(whole, text, size) == 0) {
            *root_out = root;
            return WIO_OK;
        }
    }
    return wio_error_set(err, WIO_ERR_FORMAT, name, strcspn(copy, "\n") + 1,
                         "expected \"log own\" or \"log sqlite\" and the checksum of both lines");
}

/* *is_there_out false: there is no VERSION. */
static enum wio_status read_version(struct wio_io *io, struct wio_store_root *root_out,
                                    bool *is_there_out, struct wio_error *err)
{
    char text[WIO_STORE_VERSION_MAX];
    struct wio_io_file *file = NULL;
    struct wio_error why = WIO_ERROR_INIT;
    size_t got = 0;
    *is_there_out = false;
    if (io->ops->file_open(io, WIO_STORE_VERSION_NAME, WIO_IO_READ_ONLY, &file, &why) != WIO_OK) {
        return why.sys_errno == ENOENT ? WIO_OK : wio_error_pass(err, &why);
    }
    enum wio_status status = io->ops->file_read(file, 0, text, sizeof(text), &got, err);
    io->ops->file_close(file);
    WIO_TRY(status);
    *is_there_out = true;
    return wio_store_version_decode(text, got, WIO_STORE_VERSION_NAME, root_out, err);
}

enum wio_status wio_store_root_read(struct wio_io *io, struct wio_store_root *root_out,
                                    struct wio_error *err)
{
    bool is_there = false;
    WIO_TRY(read_version(io, root_out, &is_there, err));
    return is_there ? WIO_OK
                    : wio_error_set(err, WIO_ERR_FORMAT, WIO_STORE_VERSION_NAME,
                                    WIO_ERROR_NO_OFFSET, "expected a store, found no such file");
}

/* ---- creation ---- */

static bool is_of_creation(void *context, const char *name)
{
    char *other = context;
    static const char *const known[] = {"log",
                                        "data",
                                        "VERSION.new",
                                        "catalogue.sqlite",
                                        "catalogue.sqlite-wal",
                                        "catalogue.sqlite-shm"};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(known); i++) {
        if (strcmp(name, known[i]) == 0) {
            return true;
        }
    }
    (void)snprintf(other, WIO_IO_NAME_MAX, "%s", name);
    return false;
}

static enum wio_status make_dir(struct wio_io *io, const char *name, struct wio_error *err)
{
    struct wio_error why = WIO_ERROR_INIT;
    enum wio_status status = io->ops->make_dir(io, name, &why);
    return status == WIO_OK || why.sys_errno == EEXIST ? WIO_OK : wio_error_pass(err, &why);
}

/* R-ROOT-1 */
static enum wio_status create(struct wio_io *io, struct wio_error *err)
{
    char other[WIO_IO_NAME_MAX] = "";
    WIO_TRY(io->ops->list(io, "", is_of_creation, other, err));
    if (other[0] != '\0') {
        return wio_error_set(err, WIO_ERR_FORMAT, other, WIO_ERROR_NO_OFFSET,
                             "expected a store, or an empty directory for a new one");
    }
    WIO_TRY(make_dir(io, "log", err));
    WIO_TRY(make_dir(io, "data", err));
    for (unsigned dir = 0; dir < SEGMENT_DIRS; dir++) {
        char name[SEGMENT_NAME_BYTES];
        segment_dir_name(name, dir);
        WIO_TRY(make_dir(io, name, err));
    }
    WIO_TRY(io->ops->dir_sync(io, "data", err));
    return io->ops->dir_sync(io, "", err);
}

enum wio_status wio_store_root_open(struct wio_io *io, enum wio_log_choice log, bool may_create,
                                    struct wio_store_root *root_out, struct wio_error *err)
{
    bool is_there = false;
    *root_out = (struct wio_store_root){.log = log};
    WIO_TRY(read_version(io, root_out, &is_there, err));
    if (is_there) {
        return root_out->log == log
                   ? WIO_OK
                   : wio_error_set(err, WIO_ERR_USAGE, WIO_STORE_VERSION_NAME, WIO_ERROR_NO_OFFSET,
                                   "the store was made with --log=%s", log_names[root_out->log]);
    }
    if (!may_create) {
        return wio_store_root_read(io, root_out, err);
    }
    root_out->is_new = true;
    return create(io, err);
}

enum wio_status wio_store_root_lock(const char *path, int *fd_out, struct wio_error *err)
{
    WIO_CLEANUP(wio_fd_cleanup)
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        return wio_error_sys(err, path, "cannot open the store's root");
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK ? wio_error_set(err, WIO_ERR_BUSY, path, WIO_ERROR_NO_OFFSET,
                                                    "another process has this store open")
                                    : wio_error_sys(err, path, "cannot lock the store's root");
    }
    *fd_out = fd;
    fd = -1;
    return WIO_OK;
}

enum wio_status wio_store_root_finish(struct wio_io *io, const struct wio_store_root *root,
                                      struct wio_error *err)
{
    char text[WIO_STORE_VERSION_MAX];
    struct wio_io_file *file = NULL;
    wio_store_version_encode(root, text);
    struct wio_io_bytes part = {text, strlen(text)};
    WIO_TRY(io->ops->file_open(io, version_new, WIO_IO_CREATE, &file, err));
    enum wio_status status = io->ops->file_truncate(file, 0, err);
    status = status == WIO_OK ? io->ops->file_write(file, 0, &part, 1, err) : status;
    status = status == WIO_OK ? io->ops->file_sync(file, err) : status;
    io->ops->file_close(file);
    WIO_TRY(status);
    WIO_TRY(io->ops->rename(io, version_new, WIO_STORE_VERSION_NAME, err));
    return io->ops->dir_sync(io, "", err);
}
