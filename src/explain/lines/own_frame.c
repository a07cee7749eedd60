/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/lines/own_frame.h"

#include <stdlib.h>
#include <string.h>

#include <whyio/source.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"
#include "ops/code_owner.h"

#define MAX_FRAMES 64u
#define ANY_THREAD UINT32_MAX

/* What is known of a source of the trace. */
struct source_frames {
    uint32_t site;  /* number of its innermost frame, from 1; 0 = unknown */
    uint32_t place; /* the same of the program's own frame; 0 = none */
    uint32_t frame; /* which one that is */
    uint32_t count; /* of frames */
};

/* A stack of a call site in a thread, one of a chain. */
struct tally {
    uint64_t count;
    uint64_t last; /* when it was noted */
    uint32_t source;
    uint32_t next; /* index + 1 */
};

struct wio_own_frames {
    const struct wio_trace *trace;
    struct wio_sources *sources;
    struct wio_strtab addresses; /* of frames: 16 bytes of ids and address as text */
    struct source_frames *known; /* by source id */
    uint32_t known_count;
    struct wio_map chains; /* thread << 32 | site -> index + 1 of the first tally */
    struct tally *tallies;
    uint32_t tally_count;
    uint32_t tally_capacity;
    struct wio_source_words *words; /* by place; text NULL = not looked up yet */
    uint64_t notes;
    bool has_stacks;
};

/* ---- a stack -----------------------------------------------------------------------------------
 */

bool wio_own_frame_choose(struct wio_sources *sources, const struct wio_frame *frames,
                          uint32_t count, uint32_t *frame_out)
{
    bool is_behind = false;
    bool is_found = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!wio_code_is_own(frames[i].module, &is_behind)) {
            continue;
        }
        if (!is_found) {
            *frame_out = i;
            is_found = true;
        }
        if (!wio_sources_is_header(sources, &frames[i])) {
            *frame_out = i;
            return true;
        }
    }
    return is_found;
}

/* ---- the table of sources ----------------------------------------------------------------------
 */

/* Equal frames have equal numbers. */
static enum wio_status number_of(struct wio_own_frames *own, const struct wio_frame *frame,
                                 uint32_t *number_out)
{
    char key[1024];
    size_t bytes = strlen(frame->module);
    const size_t id_bytes = strlen(frame->build_id);
    if (bytes + id_bytes + 2 + sizeof(frame->address) > sizeof(key)) {
        *number_out = 0;
        return WIO_OK;
    }
    memcpy(key, frame->module, bytes + 1);
    memcpy(key + bytes + 1, frame->build_id, id_bytes + 1);
    bytes += id_bytes + 2;
    memcpy(key + bytes, &frame->address, sizeof(frame->address));
    return wio_strtab_add(&own->addresses, key, bytes + sizeof(frame->address), number_out);
}

static enum wio_status learn(struct wio_own_frames *own, uint32_t source)
{
    struct wio_frame frames[MAX_FRAMES];
    struct source_frames *known = &own->known[source];
    const uint32_t count = wio_trace_source(own->trace, source, frames, MAX_FRAMES);
    known->count = count < MAX_FRAMES ? count : MAX_FRAMES;
    if (known->count == 0) {
        return WIO_OK;
    }
    own->has_stacks = own->has_stacks || known->count > 1;
    WIO_TRY(number_of(own, &frames[0], &known->site));
    return wio_own_frame_choose(own->sources, frames, known->count, &known->frame)
               ? number_of(own, &frames[known->frame], &known->place)
               : WIO_OK;
}

/* ---- stacks of call sites ----------------------------------------------------------------------
 */

static struct tally *first_of(const struct wio_own_frames *own, uint32_t stream, uint32_t site)
{
    const uint64_t *first = wio_map_get(&own->chains, (uint64_t)stream << 32 | site);
    return first == NULL ? NULL : &own->tallies[*first - 1];
}

static struct tally *next_of(const struct wio_own_frames *own, const struct tally *tally)
{
    return tally->next == 0 ? NULL : &own->tallies[tally->next - 1];
}

static enum wio_status count_stack(struct wio_own_frames *own, uint32_t stream, uint32_t source,
                                   uint32_t by)
{
    const uint32_t site = own->known[source].site;
    const uint64_t key = (uint64_t)stream << 32 | site;
    struct tally *tally = first_of(own, stream, site);
    void *array = own->tallies;
    while (tally != NULL && tally->source != source) {
        tally = next_of(own, tally);
    }
    if (tally != NULL) {
        tally->count += by;
        tally->last = own->notes;
        return WIO_OK;
    }
    WIO_TRY(wio_grow(&array, sizeof(*own->tallies), &own->tally_capacity, own->tally_count + 1));
    own->tallies = array;
    const uint64_t *first = wio_map_get(&own->chains, key);
    own->tallies[own->tally_count] = (struct tally){.count = by,
                                                    .last = own->notes,
                                                    .source = source,
                                                    .next = first == NULL ? 0 : (uint32_t)*first};
    WIO_TRY(wio_map_put(&own->chains, key, own->tally_count + 1));
    own->tally_count++;
    return WIO_OK;
}

/* Without any note the table of sources is what there is. */
static enum wio_status learn_all(struct wio_own_frames *own)
{
    for (uint32_t source = 1; source < own->known_count; source++) {
        WIO_TRY(learn(own, source));
        own->notes++;
        if (own->known[source].count > 1) {
            WIO_TRY(count_stack(own, ANY_THREAD, source, 0));
        }
    }
    own->words = calloc((size_t)own->addresses.count + 1, sizeof(*own->words));
    return own->words == NULL ? WIO_ERR_NOMEM : WIO_OK;
}

enum wio_status wio_own_frames_create(const struct wio_trace *trace,
                                      struct wio_own_frames **own_out, struct wio_error *err)
{
    struct wio_own_frames *own = calloc(1, sizeof(*own));
    *own_out = NULL;
    if (own != NULL) {
        own->trace = trace;
        own->known_count = wio_trace_source_count(trace);
        own->known = calloc((size_t)own->known_count + 1, sizeof(*own->known));
    }
    if (own == NULL || own->known == NULL ||
        wio_sources_create(trace, &own->sources, NULL) != WIO_OK || learn_all(own) != WIO_OK) {
        wio_own_frames_destroy(own);
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the table of stacks");
    }
    *own_out = own;
    return WIO_OK;
}

void wio_own_frames_destroy(struct wio_own_frames *own)
{
    if (own == NULL) {
        return;
    }
    wio_sources_destroy(own->sources);
    wio_strtab_fini(&own->addresses);
    wio_map_fini(&own->chains);
    free(own->words);
    free(own->tallies);
    free(own->known);
    free(own);
}

bool wio_own_frames_has_stacks(const struct wio_own_frames *own)
{
    return own->has_stacks;
}

void wio_own_frames_note(struct wio_own_frames *own, uint32_t stream, uint32_t source)
{
    if (source >= own->known_count || own->known[source].count < 2) {
        return;
    }
    own->notes++;
    (void)!count_stack(own, stream, source, 1);
    (void)!count_stack(own, ANY_THREAD, source, 1);
}

enum wio_status wio_own_frames_read(struct wio_own_frames *own, struct wio_error *err)
{
    struct wio_cursor *cursor = NULL;
    const struct wio_filter filter = {
        .struct_size = sizeof(filter), .order = WIO_ORDER_STREAM, .columns = WIO_COLUMN_SOURCE};
    const struct wio_event *event;
    if (!own->has_stacks) {
        return WIO_OK;
    }
    WIO_TRY(wio_cursor_create(own->trace, &filter, &cursor, err));
    enum wio_status status;
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        wio_own_frames_note(own, event->stream, event->source);
    }
    wio_cursor_destroy(cursor);
    return status == WIO_END ? WIO_OK : status;
}

/* ---- choosing ----------------------------------------------------------------------------------
 */

/* R-SOURCE-2. The one that is noted most often, and last; NULL = none has a frame of the program.
 */
static const struct tally *best_of(const struct wio_own_frames *own, uint32_t stream, uint32_t site,
                                   bool *is_ambiguous_out)
{
    const struct tally *best = NULL;
    *is_ambiguous_out = false;
    for (const struct tally *at = first_of(own, stream, site); at != NULL; at = next_of(own, at)) {
        if (own->known[at->source].place == 0) {
            continue;
        }
        if (best != NULL && own->known[best->source].place != own->known[at->source].place) {
            *is_ambiguous_out = true;
        }
        if (best == NULL || at->count > best->count ||
            (at->count == best->count && at->last > best->last)) {
            best = at;
        }
    }
    return best;
}

static void choose(const struct wio_own_frames *own, uint32_t stream, uint32_t source,
                   struct wio_own_frame *out)
{
    const struct source_frames *known = &own->known[source];
    if (known->place != 0) {
        out->basis = known->frame == 0 ? WIO_OWN_CALLER : WIO_OWN_STACK;
        out->source = source;
        return;
    }
    if (known->count > 1) { /* its own stack has none */
        return;
    }
    const struct tally *best = best_of(own, stream, known->site, &out->is_ambiguous);
    out->basis = WIO_OWN_THREAD;
    if (best == NULL) {
        best = best_of(own, ANY_THREAD, known->site, &out->is_ambiguous);
        out->basis = WIO_OWN_SITE;
    }
    out->basis = best == NULL ? WIO_OWN_NONE : out->basis;
    out->source = best == NULL ? 0 : best->source;
}

/* The outermost one that has a name other than libc's, if there is one. */
static const char *library_of(const struct wio_own_frames *own, uint32_t source)
{
    struct wio_frame frames[MAX_FRAMES];
    const char *name = "";
    const uint32_t count = own->known[source].count;
    (void)wio_trace_source(own->trace, source, frames, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wio_code_owner owner = wio_code_owner(frames[i].module);
        if (owner.name[0] != '\0' && (name[0] == '\0' || strcmp(owner.name, "libc") != 0)) {
            name = owner.name;
        }
    }
    return name;
}

bool wio_own_frames_find(struct wio_own_frames *own, uint32_t stream, uint32_t source,
                         struct wio_own_frame *out)
{
    struct wio_frame frames[MAX_FRAMES];
    *out =
        (struct wio_own_frame){.function = "", .file = "", .module = "", .library = "", .text = ""};
    if (source == 0 || source >= own->known_count) {
        return false;
    }
    choose(own, stream, source, out);
    if (out->basis == WIO_OWN_NONE) {
        out->library = library_of(own, source);
        return false;
    }
    const uint32_t at = own->known[out->source].frame;
    (void)wio_trace_source(own->trace, out->source, frames, at + 1);
    struct wio_source_words *words = &own->words[own->known[out->source].place];
    if (words->text == NULL) {
        wio_sources_words(own->sources, &frames[at], words);
    }
    out->function = words->function;
    out->file = words->file;
    out->line = words->line;
    out->text = words->text;
    out->module = frames[at].module;
    out->address = frames[at].address;
    return true;
}
