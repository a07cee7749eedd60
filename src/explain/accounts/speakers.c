/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/accounts/speakers.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "ops/code_owner.h"

#define MAX_FRAMES 64u
#define MAX_NAME 1024

enum { SPEAKS_ITSELF, HAS_STACK, HAS_NONE };

void wio_speakers_fini(struct wio_speakers *speakers)
{
    free(speakers->kinds);
    free(speakers->sites);
    wio_strtab_fini(&speakers->names);
    wio_map_fini(&speakers->of_thread);
    wio_map_fini(&speakers->of_site);
    wio_map_fini(&speakers->pairs);
}

static bool is_library(const struct wio_frame *frame)
{
    return wio_code_owner(frame->module).kind == WIO_CODE_LIBRARY;
}

/* Has the stack a frame of the program's own before that of an interpreter? */
static bool has_own(const struct wio_frame *frames, uint32_t count)
{
    uint32_t i = 0;

    while (i < count && is_library(&frames[i])) {
        i++;
    }
    return i < count && wio_code_owner(frames[i].module).kind == WIO_CODE_OWN;
}

static enum wio_status classify(struct wio_speakers *speakers, uint32_t source)
{
    struct wio_frame frames[MAX_FRAMES];
    char name[MAX_NAME];
    uint32_t count = wio_trace_source(speakers->trace, source, frames, MAX_FRAMES);

    if (count == 0 || !is_library(&frames[0])) {
        return WIO_OK;
    }
    count = count < MAX_FRAMES ? count : MAX_FRAMES;
    int bytes = snprintf(name, sizeof(name), "%s %llx %s", frames[0].build_id,
                         (unsigned long long)frames[0].address, frames[0].module);
    bytes = bytes < (int)sizeof(name) ? bytes : (int)sizeof(name) - 1;
    WIO_TRY(wio_strtab_add(&speakers->names, name, (size_t)bytes, &speakers->sites[source]));
    if (count == 1) {
        speakers->kinds[source] = HAS_NONE;
    } else if (has_own(frames, count)) {
        speakers->kinds[source] = HAS_STACK;
        return wio_map_put(&speakers->of_site, speakers->sites[source], source);
    }
    return WIO_OK;
}

static enum wio_status classify_all(struct wio_speakers *speakers)
{
    uint32_t count = wio_trace_source_count(speakers->trace);

    speakers->kinds = calloc((size_t)count + 1, sizeof(*speakers->kinds));
    speakers->sites = calloc((size_t)count + 1, sizeof(*speakers->sites));
    if (speakers->kinds == NULL || speakers->sites == NULL) {
        return WIO_ERR_NOMEM;
    }
    speakers->count = count;
    for (uint32_t source = 1; source < count; source++) {
        WIO_TRY(classify(speakers, source));
    }
    return WIO_OK;
}

static enum wio_status note_pair(struct wio_speakers *speakers, uint32_t source, uint32_t speaker)
{
    uint64_t pair = (uint64_t)source << 32 | speaker;
    uint64_t *count = wio_map_get(&speakers->pairs, pair);

    if (count == NULL) {
        return wio_map_put(&speakers->pairs, pair, 1);
    }
    (*count)++;
    return WIO_OK;
}

enum wio_status wio_speakers_find(struct wio_speakers *speakers, uint32_t stream, uint32_t source,
                                  uint32_t *speaker_out)
{
    *speaker_out = source;
    if (speakers->kinds == NULL) {
        WIO_TRY(classify_all(speakers));
    }
    if (source >= speakers->count || speakers->kinds[source] == SPEAKS_ITSELF) {
        return WIO_OK;
    }
    uint64_t site = (uint64_t)stream << 32 | speakers->sites[source];
    if (speakers->kinds[source] == HAS_STACK) {
        return wio_map_put(&speakers->of_thread, site, source);
    }
    const uint64_t *known = wio_map_get(&speakers->of_thread, site);
    if (known == NULL) {
        known = wio_map_get(&speakers->of_site, speakers->sites[source]);
    }
    if (known == NULL) {
        return WIO_OK;
    }
    *speaker_out = (uint32_t)*known;
    return note_pair(speakers, source, *speaker_out);
}
