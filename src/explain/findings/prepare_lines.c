/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/findings/prepare_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <whyio/source.h>

#include "base/cleanup.h"
#include "base/map.h"

#define MAX_FRAMES 64u
#define MAX_KEY 1024

/* "file:line function" of the frame that the place is; false: no line is known. */
static bool describe(const struct wio_places *places, struct wio_sources *sources, uint32_t place,
                     char key[MAX_KEY])
{
    struct wio_frame frames[MAX_FRAMES];
    struct wio_source_words words;
    uint32_t count = wio_trace_source(places->trace, places->sources[place], frames, MAX_FRAMES);
    uint32_t number = places->frame_numbers[place];

    if (number >= count || number >= MAX_FRAMES) {
        return false;
    }
    wio_sources_words(sources, &frames[number], &words);
    if (words.line == 0) {
        return false;
    }
    int bytes = snprintf(key, MAX_KEY, "%s:%d %s", words.file, words.line, frames[number].module);
    return bytes > 0 && bytes < MAX_KEY;
}

struct line_table {
    struct wio_strtab names;
    struct wio_map first; /* name -> the first place with it */
    struct wio_sources *sources;
};

static void line_table_fini(struct line_table *lines)
{
    wio_strtab_fini(&lines->names);
    wio_map_fini(&lines->first);
    wio_sources_destroy(lines->sources);
}

static enum wio_status find_line(struct line_table *lines, const struct wio_places *places,
                                 uint32_t place, uint32_t *line_out)
{
    char key[MAX_KEY];
    uint32_t name;

    *line_out = place;
    if (!describe(places, lines->sources, place, key)) {
        return WIO_OK;
    }
    WIO_TRY(wio_strtab_add(&lines->names, key, strlen(key), &name));
    const uint64_t *first = wio_map_get(&lines->first, name);
    if (first != NULL) {
        *line_out = (uint32_t)*first;
        return WIO_OK;
    }
    return wio_map_put(&lines->first, name, place);
}

static bool costs_time(const struct wio_finding_input *input, const struct wio_step *step)
{
    return wio_finding_site(input, step)->place != 0 && step->critical_ns > 0 &&
           wio_finding_is_io(input, step);
}

enum wio_status wio_prepare_lines(const struct wio_finding_input *input, uint32_t **lines_out)
{
    const struct wio_places *places = &input->steps->places;
    WIO_CLEANUP(line_table_fini) struct line_table lines = {0};
    uint32_t *of = calloc((size_t)places->frames.count + 1, sizeof(*of));

    *lines_out = of;
    if (of == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i <= places->frames.count; i++) {
        of[i] = UINT32_MAX;
    }
    WIO_TRY(wio_sources_create(places->trace, &lines.sources, NULL));
    for (uint32_t i = 0; i < input->steps->count; i++) {
        uint32_t place = wio_finding_site(input, &input->steps->steps[i])->place;
        if (costs_time(input, &input->steps->steps[i]) && of[place] == UINT32_MAX) {
            WIO_TRY(find_line(&lines, places, place, &of[place]));
        }
    }
    for (uint32_t i = 0; i <= places->frames.count; i++) {
        of[i] = of[i] == UINT32_MAX ? i : of[i];
    }
    return WIO_OK;
}
