/* SPDX-License-Identifier: Apache-2.0 */
#include "store/serve/layout.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/crc.h"
#include "base/text.h"

static const char layout_new[] = "STORE.new";
static const char key_name[] = "servers.key";
static const char key_new[] = "servers.key.new";

void serve_target_name(char name[SERVE_TARGET_NAME_BYTES], unsigned target)
{
    (void)snprintf(name, SERVE_TARGET_NAME_BYTES, "target%u", target);
}

/* ---- STORE --------------------------------------------------------------------------------- */

/* R-NODE-2, R-NODE-3 */
void serve_layout_encode(const struct serve_layout *layout, char text[SERVE_LAYOUT_TEXT_BYTES])
{
    char role[32] = "";
    if (layout->role == WIO_SERVE_CATALOGUE) {
        (void)snprintf(role, sizeof(role), "catalogue\n");
    } else if (layout->role == WIO_SERVE_TARGET) {
        (void)snprintf(role, sizeof(role), "target %u\n", layout->first);
    }
    int bytes = snprintf(text, SERVE_LAYOUT_TEXT_BYTES, "whyio-node %u\n%stargets %u\n",
                         role[0] == '\0' ? SERVE_LAYOUT_VERSION : SERVE_LAYOUT_PART_VERSION, role,
                         layout->total);
    (void)snprintf(text + bytes, SERVE_LAYOUT_TEXT_BYTES - (size_t)bytes, "crc32c %08" PRIx32 "\n",
                   wio_crc32c(0, text, (size_t)bytes));
}

/* The number behind a word, on a line of its own; false: there is no such line. */
static bool take_number(char **at, const char *word, uint16_t least, uint16_t *number_out)
{
    uint64_t number = 0;
    const char *line = strsep(at, "\n");
    size_t size = strlen(word);
    if (line == NULL || strncmp(line, word, size) != 0 ||
        wio_parse_u64(line + size, &number) != WIO_OK || number < least ||
        number > WIO_SERVE_RANKS_MAX) {
        return false;
    }
    *number_out = (uint16_t)number;
    return true;
}

static bool parse_part(char *at, struct serve_layout *layout)
{
    static const char catalogue[] = "catalogue\n";
    bool is_catalogue = strncmp(at, catalogue, sizeof(catalogue) - 1) == 0;
    layout->role = is_catalogue ? WIO_SERVE_CATALOGUE : WIO_SERVE_TARGET;
    layout->targets = is_catalogue ? 0 : 1;
    if (is_catalogue) {
        at += sizeof(catalogue) - 1;
    } else if (!take_number(&at, "target ", 0, &layout->first)) {
        return false;
    }
    return take_number(&at, "targets ", 1, &layout->total) && layout->first < layout->total;
}

static bool parse(char *text, struct serve_layout *layout)
{
    char *at = text;
    uint16_t version = 0;
    *layout = (struct serve_layout){0};
    if (!take_number(&at, "whyio-node ", 1, &version) || at == NULL) {
        return false;
    }
    if (version == SERVE_LAYOUT_PART_VERSION) {
        return parse_part(at, layout);
    }
    bool is_sound = take_number(&at, "targets ", 1, &layout->total);
    layout->targets = layout->total;
    return is_sound && layout->total <= (uint16_t)WIO_SERVE_TARGETS_MAX;
}

/* The first line is of another version. */
static bool is_other_version(const char *text)
{
    static const char begin[] = "whyio-node ";
    uint64_t version = 0;
    char digit[2] = {0};
    if (strncmp(text, begin, sizeof(begin) - 1) != 0 || text[sizeof(begin) - 1] == '\0') {
        return false;
    }
    digit[0] = text[sizeof(begin) - 1];
    return text[sizeof(begin)] != '\n' || wio_parse_u64(digit, &version) != WIO_OK ||
           (version != SERVE_LAYOUT_VERSION && version != SERVE_LAYOUT_PART_VERSION);
}

/* There is one text of each layout. */
enum wio_status serve_layout_decode(const char *text, size_t size, struct serve_layout *layout_out,
                                    struct wio_error *err)
{
    char copy[SERVE_LAYOUT_TEXT_BYTES + 1];
    char lines[SERVE_LAYOUT_TEXT_BYTES + 1];
    char own[SERVE_LAYOUT_TEXT_BYTES] = "";
    (void)snprintf(copy, sizeof(copy), "%.*s", (int)(size < sizeof(copy) ? size : 0), text);
    (void)snprintf(lines, sizeof(lines), "%s", copy);
    if (parse(lines, layout_out)) {
        serve_layout_encode(layout_out, own);
        if (size == strlen(own) && memcmp(own, text, size) == 0) {
            return WIO_OK;
        }
    }
    *layout_out = (struct serve_layout){0};
    if (is_other_version(copy)) {
        return wio_error_set(err, WIO_ERR_UNSUPPORTED, SERVE_LAYOUT_NAME, 0,
                             "expected a store of version %u or %u, found %c", SERVE_LAYOUT_VERSION,
                             SERVE_LAYOUT_PART_VERSION, copy[strlen("whyio-node ")]);
    }
    return wio_error_set(err, WIO_ERR_FORMAT, SERVE_LAYOUT_NAME, 0,
                         "expected 'whyio-node %u' or 'whyio-node %u', what of a store is here, "
                         "the number of targets and a checksum",
                         SERVE_LAYOUT_VERSION, SERVE_LAYOUT_PART_VERSION);
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
    WIO_TRY(serve_layout_decode(text, got, layout_out, err));
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
static enum wio_status create(struct wio_io *io, const struct wio_serve_part *part,
                              struct serve_layout *layout, struct wio_error *err)
{
    char other[WIO_IO_NAME_MAX] = "";
    struct wio_error why = WIO_ERROR_INIT;
    WIO_TRY(io->ops->list(io, "", is_of_creation, other, err));
    if (other[0] != '\0') {
        return wio_error_set(err, WIO_ERR_FORMAT, other, WIO_ERROR_NO_OFFSET,
                             "expected a store, or an empty directory for a new one");
    }
    for (unsigned i = 0; i < layout->targets; i++) {
        WIO_TRY(make_target_dir(io, layout->first + i, err));
    }
    if (layout->role != WIO_SERVE_ALL) {
        layout->servers_key = part->servers_key;
    } else if (read_key(io, &layout->servers_key, &why) == WIO_OK) {
        return WIO_OK;
    } else {
        io->ops->random(io, layout->servers_key.bytes, sizeof(layout->servers_key.bytes));
    }
    return write_small(io, key_name, key_new, layout->servers_key.bytes,
                       sizeof(layout->servers_key.bytes), err);
}

static struct serve_layout layout_of(uint16_t targets, const struct wio_serve_part *part)
{
    struct serve_layout layout = {.targets = targets, .total = targets};
    if (part != NULL) {
        bool is_target = part->role == WIO_SERVE_TARGET;
        layout = (struct serve_layout){.role = part->role,
                                       .targets = is_target ? 1 : 0,
                                       .first = is_target ? part->index : 0,
                                       .total = part->count};
    }
    return layout;
}

static enum wio_status say_what_is_here(const struct serve_layout *layout, struct wio_error *err)
{
    if (layout->role == WIO_SERVE_TARGET) {
        return wio_error_set(err, WIO_ERR_USAGE, SERVE_LAYOUT_NAME, WIO_ERROR_NO_OFFSET,
                             "here is target %u of a store of %u targets, and nothing else",
                             layout->first, layout->total);
    }
    return wio_error_set(err, WIO_ERR_USAGE, SERVE_LAYOUT_NAME, WIO_ERROR_NO_OFFSET,
                         "here is %s of %u targets, and nothing else",
                         layout->role == WIO_SERVE_CATALOGUE ? "the catalogue of a store"
                                                             : "a whole store",
                         layout->total);
}

/* What is here is what was asked for. */
static enum wio_status check_same(const struct serve_layout *layout, uint16_t targets,
                                  const struct wio_serve_part *part, struct wio_error *err)
{
    const struct serve_layout asked = layout_of(targets != 0 ? targets : layout->targets, part);
    if (layout->role == WIO_SERVE_ALL && asked.role == WIO_SERVE_ALL &&
        layout->targets != asked.targets) {
        return wio_error_set(err, WIO_ERR_USAGE, SERVE_LAYOUT_NAME, WIO_ERROR_NO_OFFSET,
                             "the store was made with --targets=%u", layout->targets);
    }
    if (layout->role != asked.role || layout->first != asked.first ||
        layout->total != asked.total) {
        return say_what_is_here(layout, err);
    }
    if (part != NULL && !wio_link_key_is(&layout->servers_key, part->servers_key.bytes)) {
        return wio_error_set(err, WIO_ERR_USAGE, SERVE_LAYOUT_NAME, WIO_ERROR_NO_OFFSET,
                             "it was made with another --servers-key");
    }
    return WIO_OK;
}

enum wio_status serve_layout_open(struct wio_io *io, uint16_t targets,
                                  const struct wio_serve_part *part,
                                  struct serve_layout *layout_out, struct wio_error *err)
{
    struct wio_error why = WIO_ERROR_INIT;
    enum wio_status status = serve_layout_read(io, layout_out, &why);
    if (status == WIO_ERR_IO && why.sys_errno == ENOENT && layout_out->total == 0) {
        *layout_out = layout_of(targets != 0 ? targets : 1, part);
        layout_out->is_new = true;
        return create(io, part, layout_out, err);
    }
    return status == WIO_OK ? check_same(layout_out, targets, part, err)
                            : wio_error_pass(err, &why);
}

enum wio_status serve_layout_finish(struct wio_io *io, const struct serve_layout *layout,
                                    struct wio_error *err)
{
    char text[SERVE_LAYOUT_TEXT_BYTES];
    serve_layout_encode(layout, text);
    return write_small(io, SERVE_LAYOUT_NAME, layout_new, text, strlen(text), err);
}
