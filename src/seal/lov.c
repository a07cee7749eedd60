/* SPDX-License-Identifier: Apache-2.0 */
#include "seal/lov.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "base/buf.h"
#include "base/cleanup.h"

/* lustre/include/uapi/linux/lustre/lustre_user.h: the layout of structures, little endian. */
#define MAGIC_V1 0x0bd10bd0u
#define MAGIC_V3 0x0bd30bd0u
#define MAGIC_COMPOSITE 0x0bd60bd0u
#define POOL_BYTES 16u
#define OBJECT_ID_BYTES 16u
#define COMPOSITE_REST_BYTES 14u /* of the head, behind the count of mirrors */
#define ENTRY_REST_BYTES 16u     /* of an entry, behind the size of its layout */
#define PATTERN_MDT 0x100u
#define PATTERN_RELEASED 0x80000000u
#define COUNT_ALL 0xffffu
#define ENTRY_STALE 0x1u
#define MIRROR_SHIFT 16u /* in an entry's id */
#define ALL_BYTES (64u << 10)

struct out {
    char *text;
    size_t bytes;
};

WIO_PRINTF(2, 3) static void put(struct out *out, const char *format, ...)
{
    va_list args;
    size_t room = WIO_LOV_TEXT - out->bytes;

    va_start(args, format);
    int bytes = vsnprintf(out->text + out->bytes, room, format, args);
    va_end(args);
    if (bytes > 0) {
        out->bytes += (size_t)bytes < room ? (size_t)bytes : room - 1;
    }
}

/* What a name of a pool may be; another byte is '?'. */
static void put_pool(struct out *out, const uint8_t *name)
{
    char text[POOL_BYTES + 1] = "";

    for (size_t i = 0; i < POOL_BYTES && name[i] != 0; i++) {
        bool is_plain = (name[i] >= 'a' && name[i] <= 'z') || (name[i] >= 'A' && name[i] <= 'Z') ||
                        (name[i] >= '0' && name[i] <= '9') || name[i] == '_' || name[i] == '-' ||
                        name[i] == '.';
        text[i] = is_plain ? (char)name[i] : '?';
    }
    if (text[0] != '\0') {
        put(out, " pool=%s", text);
    }
}

/* One layout, behind its magic number. */
static enum wio_status put_plain(struct wio_buf *buf, uint32_t magic, bool has_names,
                                 struct out *out)
{
    uint32_t pattern;
    uint32_t stripe_size;
    uint16_t stripe_count;
    uint16_t generation;
    const uint8_t *skipped;
    const uint8_t *pool = NULL;

    WIO_TRY(wio_buf_u32(buf, &pattern));
    WIO_TRY(wio_buf_bytes(buf, OBJECT_ID_BYTES, &skipped));
    WIO_TRY(wio_buf_u32(buf, &stripe_size));
    WIO_TRY(wio_buf_u16(buf, &stripe_count));
    WIO_TRY(wio_buf_u16(buf, &generation));
    if (magic == MAGIC_V3) {
        WIO_TRY(wio_buf_bytes(buf, POOL_BYTES, &pool));
    }
    if ((pattern & PATTERN_MDT) != 0) {
        put(out, "mdt");
    } else if (stripe_count == COUNT_ALL) {
        put(out, "stripe_count=all");
    } else {
        put(out, "stripe_count=%u", stripe_count);
    }
    put(out, " stripe_size=%u", stripe_size);
    if (pool != NULL && has_names) {
        put_pool(out, pool);
    }
    if ((pattern & PATTERN_RELEASED) != 0) {
        put(out, " released");
    }
    return WIO_OK;
}

struct component {
    uint32_t id;
    uint32_t flags;
    uint64_t begin;
    uint64_t end;
    uint32_t offset;
    uint32_t size;
};

static enum wio_status read_component(struct wio_buf *buf, struct component *component)
{
    const uint8_t *skipped;

    WIO_TRY(wio_buf_u32(buf, &component->id));
    WIO_TRY(wio_buf_u32(buf, &component->flags));
    WIO_TRY(wio_buf_u64(buf, &component->begin));
    WIO_TRY(wio_buf_u64(buf, &component->end));
    WIO_TRY(wio_buf_u32(buf, &component->offset));
    WIO_TRY(wio_buf_u32(buf, &component->size));
    return wio_buf_bytes(buf, ENTRY_REST_BYTES, &skipped);
}

/* `all` begins with the composite layout's magic number, from which offsets count. */
static enum wio_status put_component(const struct wio_buf *all, const struct component *component,
                                     uint32_t mirrors, bool has_names, struct out *out)
{
    struct wio_buf layout;
    uint32_t magic;

    if (component->offset > all->size || component->size > all->size - component->offset ||
        component->begin > component->end) {
        return WIO_ERR_FORMAT;
    }
    layout = wio_buf_of(all->data + component->offset, component->size);
    WIO_TRY(wio_buf_u32(&layout, &magic));
    put(out, "from=%" PRIu64, component->begin);
    if (component->end == UINT64_MAX) {
        put(out, " to=eof ");
    } else {
        put(out, " to=%" PRIu64 " ", component->end);
    }
    if (mirrors > 0) {
        put(out, "mirror=%u ", component->id >> MIRROR_SHIFT);
    }
    if (magic != MAGIC_V1 && magic != MAGIC_V3) {
        put(out, "layout=0x%x", magic);
        return WIO_OK;
    }
    WIO_TRY(put_plain(&layout, magic, has_names, out));
    if ((component->flags & ENTRY_STALE) != 0) {
        put(out, " stale");
    }
    return WIO_OK;
}

static enum wio_status put_composite(const struct wio_buf *all, struct wio_buf *buf, bool has_names,
                                     struct out *out)
{
    uint32_t size;
    uint32_t generation;
    uint16_t flags;
    uint16_t count;
    uint16_t mirrors;
    const uint8_t *skipped;

    WIO_TRY(wio_buf_u32(buf, &size));
    WIO_TRY(wio_buf_u32(buf, &generation));
    WIO_TRY(wio_buf_u16(buf, &flags));
    WIO_TRY(wio_buf_u16(buf, &count));
    WIO_TRY(wio_buf_u16(buf, &mirrors));
    WIO_TRY(wio_buf_bytes(buf, COMPOSITE_REST_BYTES, &skipped));
    for (uint32_t i = 0; i < count; i++) {
        struct component component;
        if (i == WIO_LOV_COMPONENTS) {
            put(out, "; ..");
            break;
        }
        WIO_TRY(read_component(buf, &component));
        put(out, "%s", i == 0 ? "" : "; ");
        WIO_TRY(put_component(all, &component, mirrors, has_names, out));
    }
    return count > 0 ? WIO_OK : WIO_ERR_FORMAT;
}

static enum wio_status describe(const struct wio_buf *all, bool has_names, struct out *out)
{
    struct wio_buf buf = *all;
    uint32_t magic;

    WIO_TRY(wio_buf_u32(&buf, &magic));
    if (magic == MAGIC_COMPOSITE) {
        return put_composite(all, &buf, has_names, out);
    }
    return magic == MAGIC_V1 || magic == MAGIC_V3 ? put_plain(&buf, magic, has_names, out)
                                                  : WIO_ERR_UNSUPPORTED;
}

enum wio_status wio_lov_describe(const void *bytes, size_t size, bool has_names, char *text)
{
    const struct wio_buf all = wio_buf_of(bytes, size);
    struct out out = {.text = text};

    text[0] = '\0';
    enum wio_status status = describe(&all, has_names, &out);
    if (status != WIO_OK) {
        text[0] = '\0';
    }
    return status;
}

void wio_lov_of_file(const char *path, bool has_names, char *text)
{
    uint8_t *bytes = malloc(ALL_BYTES); /* as much as an attribute may have */
    ssize_t size = bytes != NULL ? lgetxattr(path, "lustre.lov", bytes, ALL_BYTES) : -1;

    text[0] = '\0';
    if (size > 0 && wio_lov_describe(bytes, (size_t)size, has_names, text) != WIO_OK) {
        text[0] = '\0';
    }
    free(bytes);
}
