/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/accounts/places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/lines/own_frame.h"

#define MAX_FRAMES 64u
#define MAX_KEY 1024

void wio_places_fini(struct wio_places *places)
{
    free(places->of_source);
    free(places->sources);
    free(places->frame_numbers);
    wio_strtab_fini(&places->frames);
    wio_sources_destroy(places->texts);
}

/* The first frame of the program's own code, or of the program that an interpreter runs; else the
 * innermost. */
static enum wio_status choose(struct wio_places *places, const struct wio_frame *frames,
                              uint32_t count, uint32_t *number_out)
{
    *number_out = 0;
    if (places->texts == NULL) {
        WIO_TRY(wio_sources_create(places->trace, &places->texts, NULL));
    }
    (void)wio_own_frame_choose(places->texts, frames, count, number_out);
    return WIO_OK;
}

static enum wio_status keep(struct wio_places *places, uint32_t place, uint32_t source,
                            uint32_t number)
{
    void *sources = places->sources;
    void *numbers = places->frame_numbers;

    WIO_TRY(wio_grow(&sources, sizeof(uint32_t), &places->sources_capacity, place + 1));
    places->sources = sources;
    WIO_TRY(wio_grow(&numbers, sizeof(uint32_t), &places->frames_capacity, place + 1));
    places->frame_numbers = numbers;
    if (places->sources[place] == 0) {
        places->sources[place] = source;
        places->frame_numbers[place] = number;
    }
    return WIO_OK;
}

static enum wio_status look_up(struct wio_places *places, uint32_t source, uint32_t *place_out)
{
    struct wio_frame frames[MAX_FRAMES];
    char key[MAX_KEY];
    uint32_t count = wio_trace_source(places->trace, source, frames, MAX_FRAMES);
    uint32_t number;
    int bytes;

    *place_out = 0;
    if (count == 0) {
        return WIO_OK;
    }
    WIO_TRY(choose(places, frames, count < MAX_FRAMES ? count : MAX_FRAMES, &number));
    bytes = snprintf(key, sizeof(key), "%s %llx %s", frames[number].build_id,
                     (unsigned long long)frames[number].address, frames[number].module);
    bytes = bytes < (int)sizeof(key) ? bytes : (int)sizeof(key) - 1;
    WIO_TRY(wio_strtab_add(&places->frames, key, (size_t)bytes, place_out));
    return keep(places, *place_out, source, number);
}

enum wio_status wio_places_find(struct wio_places *places, uint32_t source, uint32_t *place_out)
{
    void *table = places->of_source;

    if (source == 0) {
        *place_out = 0;
        return WIO_OK;
    }
    if (source >= places->source_capacity) {
        WIO_TRY(wio_grow(&table, sizeof(uint32_t), &places->source_capacity, source + 1));
        places->of_source = table;
    }
    if (places->of_source[source] == 0) {
        uint32_t place = 0;
        WIO_TRY(look_up(places, source, &place));
        places->of_source[source] = place + 1;
    }
    *place_out = places->of_source[source] - 1;
    return WIO_OK;
}
