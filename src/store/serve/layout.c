/* SPDX-License-Identifier: Apache-2.0 */
#include "store/serve/layout.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/crc.h"
#include "store/serve/serve.h"

static const char layout_new[] = "STORE.new";
static const char key_name[] = "servers.key";
static const char key_new[] = "servers.key.new";

void serve_target_name(char name[SERVE_TARGET_NAME_BYTES], unsigned target)
{
    (void)snprintf(name, SERVE_TARGET_NAME_BYTES, "target%u", target);
}

/* ---- STORE --------------------------------------------------------------------------------- */

/* R-NODE-2 */
void serve_layout_encode(uint16_t targets, char text[SERVE_LAYOUT_TEXT_BYTES])
{
    int bytes = snprintf(text, SERVE_LAYOUT_TEXT_BYTES, "whyio-node %u\ntargets %u\n",
                         SERVE_LAYOUT_VERSION, targets);
    (void)snprintf(text + bytes, SERVE_LAYOUT_TEXT_BYTES - (size_t)bytes, "crc32c %08" PRIx32 "\n",
                   wio_crc32c(0, text, (size_t)bytes));
}

/* The first line is of another version. */
static bool is_other_version(const char *text, size_t size, const char *own)
{
    static const char begin[] = "whyio-node ";
    size_t line = (size_t)(strchr(own, '\n') - own) + 1;
    return size >= sizeof(begin) && memcmp(text, begin, sizeof(begin) - 1) == 0 &&
           (size < line || memcmp(text, own, line) != 0);
}

enum wio_status serve_layout_decode(const char *text, size_t size, uint16_t *targets_out,
                                    struct wio_error *err)
{
    char own[SERVE_LAYOUT_TEXT_BYTES] = "";
    for (uint16_t targets = 1; targets <= (uint16_t)WIO_SERVE_TARGETS_MAX; targets++) {
        serve_layout_encode(targets, own);
        if (size == strlen(own) && memcmp(own, text, size) == 0) {
            *targets_out = targets;
            return WIO_OK;
        }
    }
    if (is_other_version(text, size, own)) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, SERVE_LAYOUT_NAME, 0,
                             "expected a store of version %u, found %c", SERVE_LAYOUT_VERSION,
                             text[strlen("whyio-node ")]);
    }
    return wio_error_set(err, WIO_ERR_FORMAT, SERVE_LAYOUT_NAME, 0,
                         "expected 'whyio-node %u', the number of targets and a checksum",
                         SERVE_LAYOUT_VERSION);
}

/* ---- small files --------------------------------------------------------------------------- */

static enum wio_status read_small(struct wio_io *io, const char *name, void *data, size_t room,
                                  size_t *got_out, struct wio_error *err)
{
    struct wio_io_file *file = NULL;
    WIO_TRY(io->ops->file_open(io, name, WIO_IO_READ_ONLY, &file, err));
    enum wio_status status = io->ops->file_read(file, 0, data, room, got_out, err);
    io->ops->file_close(file);
    return status;
}

static enum wio_status write_small(struct wio_io *io, const char *name, const char *by,
                                   const void *data, size_t size, struct wio_error *err)
{
    struct wio_io_file *file = NULL;
    struct wio_io_bytes part = {data, size};
    WIO_TRY(io->ops->file_open(io, by, WIO_IO_CREATE, &file, err));
    enum wio_status status = io->ops->file_truncate(file, 0, err);
    status = status == WIO_OK ? io->ops->file_write(file, 0, &part, 1, err) : status;
    status = status == WIO_OK ? io->ops->file_sync(file, err) : status;
    io->ops->file_close(file);
    WIO_TRY(status);
    WIO_TRY(io->ops->rename(io, by, name, err));
    return io->ops->dir_sync(io, "", err);
}

static enum wio_status read_key(struct wio_io *io, struct wio_link_key *key_out,
                                struct wio_error *err)
{
    size_t got = 0;
    WIO_TRY(read_small(io, key_name, key_out->bytes, sizeof(key_out->bytes), &got, err));
    return got == sizeof(key_out->bytes)
               ? WIO_OK
               : wio_error_set(err, WIO_ERR_TRUNCATED, key_name, got,
                               "expected a key of %zu bytes, found the end of the file",
                               sizeof(key_out->bytes));
}

enum wio_status serve_layout_read(struct wio_io *io, struct serve_layout *layout_out,
                                  struct wio_error *err)
{
    char text[SERVE_LAYOUT_TEXT_BYTES];
    struct wio_error why = WIO_ERROR_INIT;
    size_t got = 0;
    *layout_out = (struct serve_layout){0};
    if (read_small(io, SERVE_LAYOUT_NAME, text, sizeof(text), &got, &why) != WIO_OK) {
        return wio_error_pass(err, &why);
    }
    WIO_TRY(serve_layout_decode(text, got, &layout_out->targets, err));
    return read_key(io, &layout_out->servers_key, err);
}

/* ---- creation ------------------------------------------------------------------------------ */

static bool is_target(const char *name)
{
    char again[SERVE_TARGET_NAME_BYTES];
    if (strncmp(name, "target", 6) != 0) {
        return false;
    }
    serve_target_name(again, (unsigned)strtoul(name + 6, NULL, 10));
    return strcmp(again, name) == 0;
}

static bool is_of_creation(void *context, const char *name)
{
    static const char *const known[] = {layout_new, key_name, key_new};
    char *other = context;
    bool is_known = is_target(name) || strncmp(name, "catalogue.sqlite", 16) == 0 ||
                    strncmp(name, "sock", 4) == 0;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(known); i++) {
        is_known = is_known || strcmp(name, known[i]) == 0;
    }
    if (!is_known) {
        (void)snprintf(other, WIO_IO_NAME_MAX, "%s", name);
    }
    return is_known;
}

static enum wio_status make_target_dir(struct wio_io *io, unsigned target, struct wio_error *err)
{
    char name[SERVE_TARGET_NAME_BYTES];
    struct wio_error why = WIO_ERROR_INIT;
    serve_target_name(name, target);
    enum wio_status status = io->ops->make_dir(io, name, &why);
    return status == WIO_OK || why.sys_errno == EEXIST ? WIO_OK : wio_error_pass(err, &why);
}

/* R-NODE-1. A key that is there stays: targets of an interrupted creation may have been served. */
static enum wio_status create(struct wio_io *io, struct serve_layout *layout, struct wio_error *err)
{
    char other[WIO_IO_NAME_MAX] = "";
    struct wio_error why = WIO_ERROR_INIT;
    WIO_TRY(io->ops->list(io, "", is_of_creation, other, err));
    if (other[0] != '\0') {
        return wio_error_set(err, WIO_ERR_FORMAT, other, WIO_ERROR_NO_OFFSET,
                             "expected a store, or an empty directory for a new one");
    }
    for (unsigned i = 0; i < layout->targets; i++) {
        WIO_TRY(make_target_dir(io, i, err));
    }
    if (read_key(io, &layout->servers_key, &why) == WIO_OK) {
        return WIO_OK;
    }
    io->ops->random(io, layout->servers_key.bytes, sizeof(layout->servers_key.bytes));
    return write_small(io, key_name, key_new, layout->servers_key.bytes,
                       sizeof(layout->servers_key.bytes), err);
}

enum wio_status serve_layout_open(struct wio_io *io, uint16_t targets,
                                  struct serve_layout *layout_out, struct wio_error *err)
{
    struct wio_error why = WIO_ERROR_INIT;
    enum wio_status status = serve_layout_read(io, layout_out, &why);
    if (status == WIO_ERR_IO && why.sys_errno == ENOENT && layout_out->targets == 0) {
        *layout_out = (struct serve_layout){.targets = targets != 0 ? targets : 1, .is_new = true};
        return create(io, layout_out, err);
    }
    if (status != WIO_OK) {
        return wio_error_pass(err, &why);
    }
    if (targets != 0 && targets != layout_out->targets) {
        return wio_error_set(err, WIO_ERR_USAGE, SERVE_LAYOUT_NAME, WIO_ERROR_NO_OFFSET,
                             "the store was made with --targets=%u", layout_out->targets);
    }
    return WIO_OK;
}

enum wio_status serve_layout_finish(struct wio_io *io, const struct serve_layout *layout,
                                    struct wio_error *err)
{
    char text[SERVE_LAYOUT_TEXT_BYTES];
    serve_layout_encode(layout->targets, text);
    return write_small(io, SERVE_LAYOUT_NAME, layout_new, text, strlen(text), err);
}
