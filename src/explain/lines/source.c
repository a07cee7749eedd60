/* SPDX-License-Identifier: Apache-2.0 */
#include <whyio/source.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/map.h"
#include "explain/lines/source_module.h"
#include "ops/code_owner.h"
#include "ops/program_file.h"

#define MAX_FRAMES 64
#define MAX_TEXT 1024

struct wio_sources {
    const struct wio_trace *trace;
    struct wio_strtab module_names; /* "path\nbuild-id" -> id; modules[id - 1] */
    struct wio_source_module **modules;
    uint32_t module_capacity;
    struct wio_map cache;     /* source id -> text of the innermost frame, one of `texts` */
    struct wio_map texts;     /* number -> char *: pointers that stay where they are */
    struct wio_strtab frames; /* "path\nbuild-id\naddress" -> id .. */
    struct wio_map headers;   /* .. -> is it code of a header of the system? */
};

enum wio_status wio_sources_create(const struct wio_trace *trace, struct wio_sources **sources_out,
                                   struct wio_error *err)
{
    struct wio_sources *sources = calloc(1, sizeof(*sources));

    *sources_out = sources;
    if (sources == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the table of sources");
    }
    sources->trace = trace;
    return WIO_OK;
}

void wio_sources_destroy(struct wio_sources *sources)
{
    struct wio_map_entry *entry;
    size_t at = 0;

    if (sources == NULL) {
        return;
    }
    while ((entry = wio_map_each(&sources->texts, &at)) != NULL) {
        free((void *)(uintptr_t)entry->value);
    }
    for (uint32_t i = 0; i < sources->module_names.count && i < sources->module_capacity; i++) {
        wio_source_module_destroy(sources->modules[i]);
    }
    free(sources->modules);
    wio_strtab_fini(&sources->module_names);
    wio_strtab_fini(&sources->frames);
    wio_map_fini(&sources->headers);
    wio_map_fini(&sources->cache);
    wio_map_fini(&sources->texts);
    free(sources);
}

/* The open module of a frame; NULL where memory is short. */
static struct wio_source_module *find_module(struct wio_sources *sources,
                                             const struct wio_frame *frame)
{
    char key[MAX_TEXT];
    void *array = sources->modules;
    int bytes = snprintf(key, sizeof(key), "%s\n%s", frame->build_id, frame->module);
    uint32_t id;

    if (bytes < 0 || (size_t)bytes >= sizeof(key)) {
        return NULL;
    }
    id = wio_strtab_find(&sources->module_names, key, (size_t)bytes);
    if (id != 0) {
        return sources->modules[id - 1];
    }
    if (wio_grow(&array, sizeof(struct wio_source_module *), &sources->module_capacity,
                 sources->module_names.count + 1) != WIO_OK) {
        return NULL;
    }
    sources->modules = array;
    if (wio_strtab_add(&sources->module_names, key, (size_t)bytes, &id) != WIO_OK ||
        wio_source_module_create(frame->module, frame->build_id, &sources->modules[id - 1]) !=
            WIO_OK) {
        return NULL;
    }
    return sources->modules[id - 1];
}

static const char *keep(struct wio_sources *sources, const char *text);

/* An address is a line there. */
static bool find_script(struct wio_sources *sources, const struct wio_code_script *script,
                        const struct wio_frame *frame, struct wio_source_place *place)
{
    char function[MAX_TEXT];
    (void)snprintf(function, sizeof(function), "%.*s", (int)script->function_bytes,
                   script->function);
    *place = (struct wio_source_place){
        .function = keep(sources, function), .file = script->file, .line = (int)frame->address};
    return frame->address > 0 && frame->address <= INT_MAX;
}

/* Function and line of the call; false: the module does not say. */
static bool find_place(struct wio_sources *sources, const struct wio_frame *frame,
                       struct wio_source_place *place)
{
    struct wio_code_script script;
    if (wio_code_script(frame->module, &script)) {
        return find_script(sources, &script, frame, place);
    }
    struct wio_source_module *module = find_module(sources, frame);
    /* the return address may already belong to the next line or function */
    uint64_t call = frame->address > 0 ? frame->address - 1 : 0;
    return module != NULL && wio_source_module_find(module, call, place) == WIO_OK;
}

static void describe_address(const struct wio_frame *frame, char *text, size_t size)
{
    if (frame->module[0] == '\0') {
        /* code that belongs to no file, made while the program ran */
        snprintf(text, size, "0x%llx", (unsigned long long)frame->address);
        return;
    }
    snprintf(text, size, "%s+0x%llx", wio_program_name(frame->module),
             (unsigned long long)frame->address);
}

static void describe_place(const struct wio_source_place *place, char *text, size_t size)
{
    if (place->function[0] != '\0') {
        snprintf(text, size, "%s (%s:%d)", place->function, wio_program_name(place->file),
                 place->line);
        return;
    }
    snprintf(text, size, "%s:%d", wio_program_name(place->file), place->line);
}

static void describe(struct wio_sources *sources, const struct wio_frame *frame, char *text,
                     size_t size)
{
    struct wio_source_place place;
    if (find_place(sources, frame, &place)) {
        describe_place(&place, text, size);
    } else {
        describe_address(frame, text, size);
    }
}

/* Keep a copy of `text` as long as `sources` lives. "" where memory is short. */
static const char *keep(struct wio_sources *sources, const char *text)
{
    char *copy = strdup(text);

    if (copy == NULL ||
        wio_map_put(&sources->texts, sources->texts.hash.count, (uintptr_t)copy) != WIO_OK) {
        free(copy);
        return "";
    }
    return copy;
}

static const char *symbol_of(struct wio_sources *sources, const struct wio_frame *frame)
{
    const struct wio_source_module *module = find_module(sources, frame);
    uint64_t call = frame->address > 0 ? frame->address - 1 : 0;
    return module != NULL ? wio_source_module_symbol(module, call) : "";
}

bool wio_sources_is_header(struct wio_sources *sources, const struct wio_frame *frame)
{
    struct wio_code_script script;
    char key[MAX_TEXT];
    uint32_t id;
    int bytes = snprintf(key, sizeof(key), "%s\n%s\n%llx", frame->module, frame->build_id,
                         (unsigned long long)frame->address);

    if (bytes < 0 || (size_t)bytes >= sizeof(key) || wio_code_script(frame->module, &script) ||
        wio_strtab_add(&sources->frames, key, (size_t)bytes, &id) != WIO_OK) {
        return false;
    }
    const uint64_t *known = wio_map_get(&sources->headers, id);
    if (known != NULL) {
        return *known != 0;
    }
    const struct wio_source_module *module = find_module(sources, frame);
    uint64_t call = frame->address > 0 ? frame->address - 1 : 0;
    bool is_header = module != NULL && wio_source_module_is_header(module, call);
    /* without a place in the table it is looked up again next time: slow, not wrong */
    (void)!wio_map_put(&sources->headers, id, is_header);
    return is_header;
}

void wio_sources_words(struct wio_sources *sources, const struct wio_frame *frame,
                       struct wio_source_words *out)
{
    char text[MAX_TEXT];
    char address[MAX_TEXT];
    struct wio_source_place place = {.function = "", .file = ""};

    *out = (struct wio_source_words){.function = "", .file = "", .text = ""};
    if (find_place(sources, frame, &place)) {
        describe_place(&place, text, sizeof(text));
    } else {
        place = (struct wio_source_place){.function = symbol_of(sources, frame), .file = ""};
        describe_address(frame, address, sizeof(address));
        if (place.function[0] == '\0') {
            memcpy(text, address, sizeof(text));
        } else if (snprintf(text, sizeof(text), "%s (%s)", place.function, address) < 0) {
            return;
        }
    }
    out->function = place.function[0] != '\0' ? place.function : symbol_of(sources, frame);
    out->file = place.file;
    out->line = place.line;
    out->text = keep(sources, text);
}

const char *wio_sources_text(struct wio_sources *sources, uint32_t source)
{
    const uint64_t *cached = wio_map_get(&sources->cache, source);
    struct wio_frame frame;
    char text[MAX_TEXT];
    const char *kept;

    if (cached != NULL) {
        return (const char *)(uintptr_t)*cached;
    }
    if (source == 0 || wio_trace_source(sources->trace, source, &frame, 1) == 0) {
        return "";
    }
    describe(sources, &frame, text, sizeof(text));
    kept = keep(sources, text);
    /* without a place in the cache it is looked up again next time: slow, not wrong */
    (void)!wio_map_put(&sources->cache, source, (uintptr_t)kept);
    return kept;
}

uint32_t wio_sources_stack(struct wio_sources *sources, uint32_t source, const char **texts_out,
                           uint32_t max)
{
    struct wio_frame frames[MAX_FRAMES];
    char text[MAX_TEXT];
    uint32_t count;

    max = max < MAX_FRAMES ? max : MAX_FRAMES;
    count = wio_trace_source(sources->trace, source, frames, max);
    count = count < max ? count : max;
    for (uint32_t i = 0; i < count; i++) {
        describe(sources, &frames[i], text, sizeof(text));
        texts_out[i] = keep(sources, text);
    }
    return count;
}
