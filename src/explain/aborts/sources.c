/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/aborts/sources.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"

void wio_abort_sources_fini(struct wio_abort_sources *sources)
{
    free(sources->rows);
    free(sources->origins);
    wio_strtab_fini(&sources->index);
    wio_strtab_fini(&sources->applications);
    wio_strtab_fini(&sources->places);
}

static enum wio_status add_application(struct wio_abort_sources *sources,
                                       const struct wio_txn_origin *origin, uint32_t *id_out)
{
    char text[1024];
    bool has_both = origin->job[0] != '\0' && origin->exe[0] != '\0';
    (void)snprintf(text, sizeof(text), "%s%s%s", origin->job, has_both ? " " : "", origin->exe);
    return wio_strtab_add(&sources->applications, text, strlen(text), id_out);
}

enum wio_status wio_abort_sources_begin(struct wio_abort_sources *sources,
                                        const struct wio_txn_cursor *cursor)
{
    uint32_t count = wio_txn_origin_count(cursor);
    sources->origins = calloc((size_t)count + 1, sizeof(*sources->origins));
    if (sources->origins == NULL) {
        return WIO_ERR_NOMEM;
    }
    sources->origin_count = count;
    for (uint32_t id = 0; id < count; id++) {
        const struct wio_txn_origin *origin = wio_txn_cursor_origin(cursor, id);
        struct wio_abort_place *place = &sources->origins[id];
        WIO_TRY(add_application(sources, origin, &place->application));
        WIO_TRY(
            wio_strtab_add(&sources->places, origin->place, strlen(origin->place), &place->place));
    }
    return WIO_OK;
}

struct wio_abort_place wio_abort_sources_place(const struct wio_abort_sources *sources,
                                               uint32_t origin)
{
    return origin < sources->origin_count ? sources->origins[origin] : (struct wio_abort_place){0};
}

void wio_abort_source_add_file(struct wio_abort_source *source, uint64_t file)
{
    uint32_t at = 0;
    while (at < source->file_count && source->files[at] < file) {
        at++;
    }
    if (at < source->file_count && source->files[at] == file) {
        return;
    }
    if (source->file_count == WIO_SOURCE_FILES) {
        source->has_more_files = true;
        return;
    }
    memmove(&source->files[at + 1], &source->files[at],
            (source->file_count - at) * sizeof(source->files[0]));
    source->files[at] = file;
    source->file_count++;
}

/* The row without what is not used of it, so that equal sources have equal bytes. */
static size_t key_of(const struct wio_abort_source *source, uint64_t *key)
{
    key[0] = (uint64_t)source->application << 32 | source->place;
    key[1] = source->is_line ? 2 : source->has_more_files;
    uint32_t files = source->is_line ? 0 : source->file_count;
    for (uint32_t i = 0; i < files; i++) {
        key[2 + i] = source->files[i];
    }
    return (2 + (size_t)files) * sizeof(*key);
}

enum wio_status wio_abort_sources_find(struct wio_abort_sources *sources,
                                       const struct wio_abort_source *source, uint32_t *index_out)
{
    uint64_t key[2 + WIO_SOURCE_FILES];
    uint32_t id = 0;
    size_t bytes = key_of(source, key);
    WIO_TRY(wio_strtab_add(&sources->index, (const char *)key, bytes, &id));
    if (id > sources->count) {
        void *array = sources->rows;
        WIO_TRY(wio_grow(&array, sizeof(*sources->rows), &sources->capacity, sources->count + 1));
        sources->rows = array;
        sources->rows[sources->count++] = *source;
    }
    *index_out = id - 1;
    return WIO_OK;
}

static const char *text_of(const struct wio_strtab *table, uint32_t id)
{
    const char *text = wio_strtab_get(table, id, NULL);
    return text[0] == '\0' ? "?" : text;
}

const char *wio_abort_sources_application(const struct wio_abort_sources *sources, uint32_t id)
{
    return text_of(&sources->applications, id);
}

const char *wio_abort_sources_place_text(const struct wio_abort_sources *sources, uint32_t id)
{
    return text_of(&sources->places, id);
}
