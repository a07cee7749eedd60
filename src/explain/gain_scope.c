/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/gain_scope.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/ids.h"

/* What the scope of a kind of change is restricted by. */
static const struct {
    bool sites; /* call sites, operations and threads */
    bool paths;
} restricted[WIO_CHANGE_COUNT] = {
    [WIO_CHANGE_REMOVE] = {true, true},       [WIO_CHANGE_FSYNC_EVERY] = {true, true},
    [WIO_CHANGE_AGGREGATE] = {true, true},    [WIO_CHANGE_COLLECTIVE] = {false, true},
    [WIO_CHANGE_MERGE_FILES] = {false, true}, [WIO_CHANGE_BALANCE] = {false, false},
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

static enum wio_status add_ops(struct wio_gain_scope *scope, const struct wio_steps *steps,
                               const struct wio_finding *finding)
{
    scope->ops = calloc((size_t)finding->step_count + 1, sizeof(uint16_t));
    if (scope->ops == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < finding->step_count; i++) {
        uint16_t op = steps->sites[steps->steps[finding->steps[i]].site].op;
        size_t k = 0;
        while (k < scope->of.op_count && scope->ops[k] != op) {
            k++;
        }
        scope->ops[k] = op;
        scope->of.op_count += k == scope->of.op_count;
    }
    scope->of.ops = scope->ops;
    return WIO_OK;
}

/* All source ids whose place is one of the steps'. */
static enum wio_status add_sources(struct wio_gain_scope *scope, const struct wio_steps *steps,
                                   const struct wio_finding *finding)
{
    const struct wio_places *places = &steps->places;
    uint8_t *is_there = calloc((size_t)places->frames.count + 1, 1);
    size_t count = 0;

    scope->sources = calloc((size_t)places->source_capacity + 1, sizeof(uint32_t));
    if (is_there == NULL || scope->sources == NULL) {
        free(is_there);
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < finding->step_count; i++) {
        is_there[steps->sites[steps->steps[finding->steps[i]].site].place] = 1;
    }
    if (is_there[0]) {
        scope->sources[count++] = 0;
    }
    for (uint32_t source = 1; source < places->source_capacity; source++) {
        uint32_t place = places->of_source[source];
        if (place > 0 && is_there[place - 1]) {
            scope->sources[count++] = source;
        }
    }
    free(is_there);
    scope->of.sources = scope->sources;
    scope->of.source_count = count;
    return WIO_OK;
}

enum wio_status wio_gain_scope_init(struct wio_gain_scope *scope, const struct wio_steps *steps,
                                    const struct wio_finding *finding, enum wio_change_kind kind)
{
    if (restricted[kind].paths) {
        WIO_TRY(add_paths(scope, steps, finding));
    }
    if (!restricted[kind].sites) {
        return WIO_OK;
    }
    WIO_TRY(add_streams(scope, steps, finding));
    WIO_TRY(add_ops(scope, steps, finding));
    return add_sources(scope, steps, finding);
}

void wio_gain_scope_fini(struct wio_gain_scope *scope)
{
    free(scope->sources);
    free(scope->streams);
    free(scope->paths);
    free(scope->ops);
}
