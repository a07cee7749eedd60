/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/gains/gain_scope.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/ids.h"
#include "ops/calls.h"

/* What the scope of a kind of change is restricted by. */
static const struct {
    bool threads;
    bool sites; /* call sites and operations */
    bool paths;
} restricted[WIO_CHANGE_COUNT] = {
    [WIO_CHANGE_REMOVE] = {true, true, true},        [WIO_CHANGE_FSYNC_EVERY] = {true, true, true},
    [WIO_CHANGE_AGGREGATE] = {true, true, true},     [WIO_CHANGE_COLLECTIVE] = {false, false, true},
    [WIO_CHANGE_MERGE_FILES] = {false, false, true}, [WIO_CHANGE_BALANCE] = {false, false, false},
    [WIO_CHANGE_NO_POLLING] = {true, false, false},  [WIO_CHANGE_SORT] = {true, true, true},
    [WIO_CHANGE_READ_MAPS] = {true, false, false},
};

/* Sorted, each once. */
static size_t put_in_order(uint32_t *list, size_t count)
{
    size_t kept = 0;

    qsort(list, count, sizeof(*list), wio_ids_compare);
    for (size_t i = 0; i < count; i++) {
        if (kept == 0 || list[kept - 1] != list[i]) {
            list[kept++] = list[i];
        }
    }
    return kept;
}

/* Files that are not told apart may be any. */
static enum wio_status add_paths(struct wio_gain_scope *scope, const struct wio_steps *steps,
                                 const struct wio_finding *finding)
{
    scope->paths = calloc((size_t)finding->step_count + 1, sizeof(uint32_t));
    if (scope->paths == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < finding->step_count; i++) {
        scope->paths[i] = steps->steps[finding->steps[i]].path;
        if (scope->paths[i] == WIO_SEVERAL_FILES) {
            return WIO_OK;
        }
    }
    scope->of.paths = scope->paths;
    scope->of.path_count = put_in_order(scope->paths, finding->step_count);
    return WIO_OK;
}

static enum wio_status add_streams(struct wio_gain_scope *scope, const struct wio_steps *steps,
                                   const struct wio_finding *finding)
{
    scope->streams = calloc((size_t)finding->step_count + 1, sizeof(uint32_t));
    if (scope->streams == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < finding->step_count; i++) {
        scope->streams[i] = steps->steps[finding->steps[i]].stream;
    }
    scope->of.streams = scope->streams;
    scope->of.stream_count = put_in_order(scope->streams, finding->step_count);
    return WIO_OK;
}

/* What a call of stdio transfers takes the time of the call, which is the program's to leave away.
 */
static uint16_t op_of(const struct wio_site *site)
{
    enum wio_class outer = wio_op_class(site->outer);
    bool is_in_call = outer == WIO_CLASS_STDIO_READ || outer == WIO_CLASS_STDIO_WRITE ||
                      outer == WIO_CLASS_STDIO_FLUSH;

    return is_in_call ? site->outer : site->op;
}

/* A call of stdio that fills or empties the buffer has the time of what it causes. */
static bool is_of_stream(const struct wio_site *site)
{
    return site->outer < WIO_OUTER_CHANNEL &&
           (wio_op_properties(site->outer) & WIO_DOES_STREAM) != 0;
}

/* Once. */
static void add_op(struct wio_gain_scope *scope, uint16_t op)
{
    size_t k = 0;

    while (k < scope->of.op_count && scope->ops[k] != op) {
        k++;
    }
    scope->ops[k] = op;
    scope->of.op_count += k == scope->of.op_count;
}

static enum wio_status add_ops(struct wio_gain_scope *scope, const struct wio_steps *steps,
                               const struct wio_finding *finding, enum wio_change_kind kind)
{
    scope->ops = calloc(2 * (size_t)finding->step_count + 1, sizeof(uint16_t));
    if (scope->ops == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < finding->step_count; i++) {
        const struct wio_site *site = &steps->sites[steps->steps[finding->steps[i]].site];
        add_op(scope, op_of(site));
        if (kind == WIO_CHANGE_REMOVE && is_of_stream(site)) {
            add_op(scope, site->outer);
        }
    }
    scope->of.ops = scope->ops;
    return WIO_OK;
}

/* How often a place spoke for each source. `spoken` has room for all. */
static void count_spoken(const struct wio_steps *steps, uint64_t *spoken)
{
    const struct wio_map_entry *entry;
    size_t at = 0;

    while ((entry = wio_map_each(&steps->speakers.pairs, &at)) != NULL) {
        spoken[entry->key >> 32] += entry->value;
    }
}

/* The sources of these places, and those for which one of them speaks most of the time: a change
 * knows sources, and not which place spoke for an event. */
static void mark_sources(const struct wio_steps *steps, const uint64_t *spoken,
                         const uint8_t *is_place, uint8_t *is_source)
{
    const struct wio_places *places = &steps->places;
    const struct wio_map_entry *entry;
    size_t at = 0;

    is_source[0] = is_place[0];
    for (uint32_t source = 1; source < places->source_capacity; source++) {
        uint32_t place = places->of_source[source];
        is_source[source] = place > 0 && is_place[place - 1];
    }
    while ((entry = wio_map_each(&steps->speakers.pairs, &at)) != NULL) {
        uint32_t speaker = (uint32_t)entry->key;
        uint32_t place = speaker < places->source_capacity ? places->of_source[speaker] : 0;
        bool is_most = 2 * entry->value >= spoken[entry->key >> 32];
        is_source[entry->key >> 32] |= place > 0 && is_place[place - 1] && is_most;
    }
}

/* All source ids whose place is one of the steps'. */
static enum wio_status list_sources(struct wio_gain_scope *scope, const struct wio_steps *steps,
                                    const struct wio_finding *finding, uint64_t *spoken,
                                    uint8_t *is_place, uint8_t *is_source)
{
    uint32_t known = wio_trace_source_count(steps->places.trace);
    uint32_t sources =
        steps->places.source_capacity > known ? steps->places.source_capacity : known;

    scope->sources = calloc((size_t)sources + 1, sizeof(uint32_t));
    if (scope->sources == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < finding->step_count; i++) {
        is_place[steps->sites[steps->steps[finding->steps[i]].site].place] = 1;
    }
    count_spoken(steps, spoken);
    mark_sources(steps, spoken, is_place, is_source);
    for (uint32_t source = 0; source < sources; source++) {
        if (is_source[source]) {
            scope->sources[scope->of.source_count++] = source;
        }
    }
    scope->of.sources = scope->sources;
    return WIO_OK;
}

static enum wio_status add_sources(struct wio_gain_scope *scope, const struct wio_steps *steps,
                                   const struct wio_finding *finding)
{
    size_t sources =
        (size_t)steps->places.source_capacity + wio_trace_source_count(steps->places.trace);
    uint8_t *is_place = calloc((size_t)steps->places.frames.count + 1, 1);
    uint8_t *is_source = calloc(sources + 1, 1);
    uint64_t *spoken = calloc(sources + 1, sizeof(*spoken));
    enum wio_status status = WIO_ERR_NOMEM;

    if (is_place != NULL && is_source != NULL && spoken != NULL) {
        status = list_sources(scope, steps, finding, spoken, is_place, is_source);
    }
    free(spoken);
    free(is_place);
    free(is_source);
    return status;
}

/* ---- asynchronous requests ---- */

static bool is_asynchronous(const struct wio_steps *steps, const struct wio_finding *finding)
{
    enum wio_class cls = wio_op_class(steps->sites[steps->steps[finding->step].site].op);

    return cls == WIO_CLASS_ASYNC_READ || cls == WIO_CLASS_ASYNC_WRITE ||
           cls == WIO_CLASS_ASYNC_SYNC;
}

/* Their threads lose time in the calls that collect them, wherever these are. */
static enum wio_status add_collecting(struct wio_gain_scope *scope)
{
    static const uint16_t collecting[] = {WIO_OP_aio_suspend, WIO_OP_lio_listio,
                                          WIO_OP_io_getevents, WIO_OP_io_uring_enter};

    scope->ops = malloc(sizeof(collecting));
    if (scope->ops == NULL) {
        return WIO_ERR_NOMEM;
    }
    memcpy(scope->ops, collecting, sizeof(collecting));
    scope->of.ops = scope->ops;
    scope->of.op_count = WIO_ARRAY_SIZE(collecting);
    return WIO_OK;
}

enum wio_status wio_gain_scope_init(struct wio_gain_scope *scope, const struct wio_steps *steps,
                                    const struct wio_finding *finding, enum wio_change_kind kind)
{
    if (kind == WIO_CHANGE_REMOVE && is_asynchronous(steps, finding)) {
        WIO_TRY(add_streams(scope, steps, finding));
        return add_collecting(scope);
    }
    if (restricted[kind].paths) {
        WIO_TRY(add_paths(scope, steps, finding));
    }
    if (restricted[kind].threads) {
        WIO_TRY(add_streams(scope, steps, finding));
    }
    if (!restricted[kind].sites) {
        return WIO_OK;
    }
    WIO_TRY(add_ops(scope, steps, finding, kind));
    return add_sources(scope, steps, finding);
}

void wio_gain_scope_fini(struct wio_gain_scope *scope)
{
    free(scope->sources);
    free(scope->streams);
    free(scope->paths);
    free(scope->ops);
}
