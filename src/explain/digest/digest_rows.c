/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/digest/digest_rows.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"

void wio_digest_places_fini(struct wio_digest_places *places)
{
    wio_places_fini(&places->places);
    wio_speakers_fini(&places->speakers);
    free(places->sums);
}

void wio_digest_sums_merge(struct wio_digest_sums *sums, const struct wio_digest_sums *other)
{
    sums->count += other->count;
    sums->bytes_read += other->bytes_read;
    sums->bytes_written += other->bytes_written;
    sums->time_ns += other->time_ns;
    sums->errors += other->errors;
}

enum wio_status wio_digest_places_add(struct wio_digest_places *places, uint32_t stream,
                                      const uint32_t *touched, uint32_t count,
                                      const struct wio_digest_sums *by_source)
{
    uint32_t speaker;
    uint32_t place;

    /* first for those with a stack to be known, which speak for the others */
    for (uint32_t i = 0; i < count; i++) {
        WIO_TRY(wio_speakers_find(&places->speakers, stream, touched[i], &speaker));
    }
    for (uint32_t i = 0; i < count; i++) {
        WIO_TRY(wio_speakers_find(&places->speakers, stream, touched[i], &speaker));
        WIO_TRY(wio_places_find(&places->places, speaker, &place));
        void *array = places->sums;
        WIO_TRY(wio_grow(&array, sizeof(*places->sums), &places->capacity, place + 1));
        places->sums = array;
        wio_digest_sums_merge(&places->sums[place], &by_source[touched[i]]);
    }
    return WIO_OK;
}

static bool is_before(const struct wio_digest_sums *a, const struct wio_digest_sums *b)
{
    return a->time_ns != b->time_ns ? a->time_ns > b->time_ns : a->count > b->count;
}

/* The numbers of the `rows` of `sums` with the most time go into `top`; *seen_out: of how many.
 * Number 0 is what has no name. */
static uint32_t find_top(const struct wio_digest_sums *sums, uint32_t count, uint32_t rows,
                         uint32_t *top, uint32_t *seen_out)
{
    uint32_t used = 0;

    *seen_out = 0;
    for (uint32_t i = 1; i < count; i++) {
        if (sums[i].count == 0) {
            continue;
        }
        (*seen_out)++;
        if (used == rows && (rows == 0 || !is_before(&sums[i], &sums[top[used - 1]]))) {
            continue;
        }
        uint32_t at = used < rows ? used++ : used - 1;
        for (; at > 0 && is_before(&sums[i], &sums[top[at - 1]]); at--) {
            top[at] = top[at - 1];
        }
        top[at] = i;
    }
    return used;
}

static uint32_t *make_top(uint32_t rows)
{
    return calloc((size_t)rows + 1, sizeof(uint32_t));
}

static void top_cleanup(uint32_t **top)
{
    free(*top);
}

enum wio_status wio_digest_list_files(struct wio_digest *digest, uint32_t rows,
                                      const struct wio_digest_sums *by_path, uint32_t count)
{
    WIO_CLEANUP(top_cleanup) uint32_t *top = NULL;

    rows = rows < count ? rows : count;
    top = make_top(rows);
    digest->files = calloc((size_t)rows + 1, sizeof(*digest->files));
    if (top == NULL || digest->files == NULL) {
        return WIO_ERR_NOMEM;
    }
    digest->file_count = find_top(by_path, count, rows, top, &digest->files_seen);
    for (uint32_t i = 0; i < digest->file_count; i++) {
        digest->files[i] = (struct wio_digest_file){top[i], by_path[top[i]]};
    }
    return WIO_OK;
}

enum wio_status wio_digest_list_lines(struct wio_digest *digest, uint32_t rows,
                                      const struct wio_digest_places *places)
{
    WIO_CLEANUP(top_cleanup) uint32_t *top = NULL;

    rows = rows < places->capacity ? rows : places->capacity;
    top = make_top(rows);
    digest->lines = calloc((size_t)rows + 1, sizeof(*digest->lines));
    if (top == NULL || digest->lines == NULL) {
        return WIO_ERR_NOMEM;
    }
    digest->line_count = find_top(places->sums, places->capacity, rows, top, &digest->lines_seen);
    for (uint32_t i = 0; i < digest->line_count; i++) {
        digest->lines[i] =
            (struct wio_digest_line){places->places.sources[top[i]],
                                     places->places.frame_numbers[top[i]], places->sums[top[i]]};
    }
    return WIO_OK;
}
