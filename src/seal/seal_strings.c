/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of rings: looked up along fork, composed to absolute paths. FORMAT.md#ring-strings. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/cleanup.h"
#include "base/crc.h"
#include "seal/seal_internal.h"

/* A path that starts from a directory that starts from a directory ...: as deep as a tree is. More
 * is a cycle. */
#define BASE_DEPTH_MAX 512u
#define PATH_BYTES_MAX 65536u
#define DENSE_IDS 4096u

/* Ids are given out one after the other, so an array finds them; a damaged ring may have any. */
static bool has_place(const struct wio_seal_ring *ring, uint32_t id)
{
    const uint32_t first = ring->header.first_string;
    return id >= first && id - first < ring->def_count * UINT64_C(4) + DENSE_IDS;
}

static enum wio_status place_def(struct wio_seal_ring *ring, uint32_t id, uint32_t index)
{
    if (!has_place(ring, id)) {
        return wio_map_put(&ring->def_index, id, index);
    }
    const uint32_t place = id - ring->header.first_string;
    void *array = ring->def_places;
    WIO_TRY(wio_grow(&array, sizeof(*ring->def_places), &ring->def_room, place + 1));
    ring->def_places = array;
    ring->def_places[place] = index + 1;
    return WIO_OK;
}

/* NULL: not defined here. */
static struct wio_seal_def *def_of(const struct wio_seal_ring *ring, uint32_t id)
{
    const uint32_t place = id - ring->header.first_string;
    if (id >= ring->header.first_string && place < ring->def_room && ring->def_places[place] != 0) {
        return &ring->defs[ring->def_places[place] - 1];
    }
    const uint64_t *index = wio_map_get(&ring->def_index, id);
    return index == NULL ? NULL : &ring->defs[*index];
}

void wio_seal_forget_defs(struct wio_seal_ring *ring)
{
    wio_map_fini(&ring->def_index);
    wio_map_fini(&ring->opened);
    wio_map_fini(&ring->kept_opens);
    free(ring->def_places);
    ring->def_places = NULL;
    ring->def_room = 0;
    wio_blob_fini(&ring->text);
}

enum wio_status wio_seal_define(struct wio_seal_ring *ring, const union wio_slot *slot)
{
    size_t bytes = 0;
    const char *text = wio_slot_payload(slot, &bytes);
    /* R-STRING-3 */
    if (text == NULL || wio_crc32c(0, text, bytes) != (uint32_t)slot->text.lo) {
        return WIO_OK;
    }
    bytes = strnlen(text, bytes); /* R-TABLE-2 */
    if (def_of(ring, slot->text.id) != NULL) {
        return WIO_OK;
    }
    void *array = ring->defs;
    WIO_TRY(wio_grow(&array, sizeof(*ring->defs), &ring->def_capacity, ring->def_count + 1));
    ring->defs = array;
    ring->defs[ring->def_count] = (struct wio_seal_def){
        .base = slot->text.base,
        .bytes = (uint32_t)bytes,
        .at = ring->text.size,
    };
    WIO_TRY(wio_blob_reserve(&ring->text, bytes + 1)); /* an empty text has a place too */
    WIO_TRY(wio_blob_put(&ring->text, text, bytes));
    WIO_TRY(place_def(ring, slot->text.id, ring->def_count));
    ring->def_count++;
    return WIO_OK;
}

/* R-STRING-2. Parents come before their children in the list, so this ends. */
static struct wio_seal_def *find_def(struct wio_seal *seal, struct wio_seal_ring **ring,
                                     uint32_t id)
{
    while (id < (*ring)->header.first_string) {
        if ((*ring)->parent >= (uint32_t)(*ring - seal->rings)) {
            return NULL;
        }
        *ring = &seal->rings[(*ring)->parent];
    }
    return def_of(*ring, id);
}

static bool is_link(void *arg, const char *path)
{
    const struct wio_seal *seal = arg;
    struct stat st;
    return seal->params->look_at_files && lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* Text of the base, "/", text of the definition. R-STRING-1. */
static enum wio_status compose(struct wio_seal *seal, const struct wio_seal_ring *ring,
                               const struct wio_seal_def *def, uint32_t base, uint32_t *path_out)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob path = {0};
    const char *text = (const char *)ring->text.data + def->at;
    size_t base_bytes = 0;
    const char *base_text = wio_strtab_get(&seal->paths, base, &base_bytes);
    bool is_relative = def->bytes == 0 || text[0] != '/';
    if (is_relative && base_bytes > 0 && base_bytes < PATH_BYTES_MAX) {
        WIO_TRY(wio_blob_put(&path, base_text, base_bytes));
        WIO_TRY(wio_blob_u8(&path, '/'));
    }
    WIO_TRY(wio_blob_put(&path, text, def->bytes));
    WIO_TRY(wio_blob_reserve(&path, 2));
    if (path.size > 0 && path.data[0] == '/') {
        path.size = wio_path_normalise((char *)path.data, path.size, is_link, seal);
    }
    return wio_strtab_add(&seal->paths, (const char *)path.data, path.size, path_out);
}

/* Composed from the outermost directory inwards, without recursion: a ring can hold any chain. */
static enum wio_status path_of(struct wio_seal *seal, struct wio_seal_ring *ring, uint32_t id,
                               uint32_t *path_out)
{
    struct {
        struct wio_seal_ring *ring;
        struct wio_seal_def *def;
    } chain[BASE_DEPTH_MAX];
    unsigned depth = 0;
    uint32_t base = 0;
    while (id != 0 && depth < BASE_DEPTH_MAX) {
        struct wio_seal_ring *owner = ring;
        struct wio_seal_def *def = find_def(seal, &owner, id);
        if (def == NULL) {
            break;
        }
        if (def->path != 0) {
            base = def->path;
            break;
        }
        chain[depth].ring = owner;
        chain[depth].def = def;
        depth++;
        bool is_absolute = def->bytes > 0 && owner->text.data[def->at] == '/';
        id = is_absolute ? 0 : def->base;
    }
    while (depth-- > 0) {
        WIO_TRY(compose(seal, chain[depth].ring, chain[depth].def, base, &base));
        chain[depth].def->path = base;
    }
    *path_out = base;
    return WIO_OK;
}

static enum wio_status hide(struct wio_seal *seal, const char *text, size_t bytes, uint32_t *id_out)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob hidden = {0};
    if (!seal->is_hiding) {
        return wio_strtab_add(&seal->segment->strings, text, bytes, id_out);
    }
    WIO_TRY(wio_path_anonymise(seal->key, text, bytes, &hidden));
    return wio_strtab_add(&seal->segment->strings, (const char *)hidden.data, hidden.size, id_out);
}

/* The segment's id of a path of seal->paths. */
static enum wio_status publish(struct wio_seal *seal, uint32_t path, uint32_t *id_out)
{
    *id_out = 0;
    if (path == 0) {
        return WIO_OK;
    }
    void *array = seal->path_ids;
    WIO_TRY(wio_grow(&array, sizeof(*seal->path_ids), &seal->path_capacity, path + 1));
    seal->path_ids = array;
    if (seal->path_ids[path] == 0) {
        size_t bytes = 0;
        const char *text = wio_strtab_get(&seal->paths, path, &bytes);
        WIO_TRY(hide(seal, text, bytes, &seal->path_ids[path]));
    }
    *id_out = seal->path_ids[path];
    return WIO_OK;
}

enum wio_status wio_seal_path(struct wio_seal *seal, struct wio_seal_ring *ring, uint32_t id,
                              uint32_t *path_out)
{
    uint32_t path = 0;
    *path_out = 0;
    if (id == 0) {
        return WIO_OK;
    }
    WIO_TRY(path_of(seal, ring, id, &path));
    return publish(seal, path, path_out);
}

enum wio_status wio_seal_path_text(struct wio_seal *seal, const char *text, size_t bytes,
                                   uint32_t *path_out)
{
    uint32_t path = 0;
    WIO_TRY(wio_strtab_add(&seal->paths, text, bytes, &path));
    return publish(seal, path, path_out);
}

/* R-STRING-4 */
enum wio_status wio_seal_literal(struct wio_seal *seal, struct wio_seal_ring *ring, uint32_t id,
                                 uint32_t *text_out)
{
    *text_out = 0;
    struct wio_seal_ring *owner = ring;
    struct wio_seal_def *def = id == 0 ? NULL : find_def(seal, &owner, id);
    if (def == NULL) {
        return WIO_OK;
    }
    if (def->literal == 0) {
        const char *text = (const char *)owner->text.data + def->at;
        WIO_TRY(hide(seal, text, def->bytes, &def->literal));
    }
    *text_out = def->literal;
    return WIO_OK;
}
