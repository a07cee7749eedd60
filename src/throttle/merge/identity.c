/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/merge/identity.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/cleanup.h"

struct finder {
    const struct wio_trace *trace;
    uint64_t *process_keys;
    struct wio_identity *out;
};

static const struct wio_process_info *process_of(const struct finder *finder, uint32_t stream)
{
    return wio_trace_process(finder->trace, wio_trace_stream(finder->trace, stream)->process);
}

/* An image that exec made of another one of the same process. */
static bool is_exec(const struct finder *finder, uint32_t process)
{
    const struct wio_process_info *info = wio_trace_process(finder->trace, process);
    return info->parent != UINT32_MAX &&
           wio_trace_process(finder->trace, info->parent)->pid == info->pid;
}

/* Ids are given in rising order, until they begin anew far below: then the times must tell. */
#define FAR_APART 8192

static bool comes_before(int32_t id, uint64_t ns, int32_t other_id, uint64_t other_ns)
{
    int64_t apart = (int64_t)id - other_id;
    if (apart == 0 || apart > FAR_APART || apart < -FAR_APART) {
        return ns < other_ns;
    }
    return apart < 0;
}

/* How many-th child of its parent; or, without a parent, how many-th of the same program. */
static uint64_t place_among_siblings(const struct finder *finder, uint32_t process)
{
    const struct wio_process_info *info = wio_trace_process(finder->trace, process);
    uint64_t place = 0;
    for (uint32_t i = 0; i < wio_trace_process_count(finder->trace); i++) {
        const struct wio_process_info *other = wio_trace_process(finder->trace, i);
        bool is_sibling = i != process && other->parent == info->parent && !is_exec(finder, i) &&
                          other->rank == info->rank;
        if (info->parent == UINT32_MAX) {
            is_sibling = is_sibling && strcmp(other->argv, info->argv) == 0;
        }
        place += is_sibling && comes_before(other->pid, other->start_ns, info->pid, info->start_ns)
                     ? 1
                     : 0;
    }
    return place;
}

/* Parents stand before their children. */
static uint64_t process_key(const struct finder *finder, uint32_t process)
{
    const struct wio_process_info *info = wio_trace_process(finder->trace, process);
    uint64_t place[2] = {place_among_siblings(finder, process), (uint64_t)(info->rank + 1)};
    if (info->parent == UINT32_MAX) {
        uint64_t seed = info->rank >= 0 ? 0 : XXH3_64bits(info->argv, strlen(info->argv));
        return XXH3_64bits_withSeed(place, sizeof(place), seed);
    }
    if (is_exec(finder, process)) {
        return finder->process_keys[info->parent];
    }
    return XXH3_64bits_withSeed(place, sizeof(place), finder->process_keys[info->parent]);
}

/* The node that this stream goes on, UINT32_MAX where it begins one. */
static uint32_t node_before(const struct finder *finder, uint32_t stream)
{
    const struct wio_stream_info *info = wio_trace_stream(finder->trace, stream);
    uint32_t image = info->process;
    while (is_exec(finder, image)) {
        image = wio_trace_process(finder->trace, image)->parent;
        for (uint32_t s = 0; s < stream; s++) {
            const struct wio_stream_info *other = wio_trace_stream(finder->trace, s);
            if (other->process == image && other->tid == info->tid) {
                return finder->out->node_of[s];
            }
        }
    }
    return UINT32_MAX;
}

/* Among the threads of the image that are not its first one. */
static uint64_t place_in_process(const struct finder *finder, uint32_t stream)
{
    const struct wio_stream_info *info = wio_trace_stream(finder->trace, stream);
    uint64_t place = 1;
    if (info->tid == process_of(finder, stream)->pid) {
        return 0;
    }
    for (uint32_t s = 0; s < wio_trace_stream_count(finder->trace); s++) {
        const struct wio_stream_info *other = wio_trace_stream(finder->trace, s);
        bool is_beside = other->process == info->process && s != stream &&
                         other->tid != process_of(finder, s)->pid;
        place += is_beside && comes_before(other->tid, other->first_ns, info->tid, info->first_ns)
                     ? 1
                     : 0;
    }
    return place;
}

static void add_node(const struct finder *finder, uint32_t stream)
{
    struct wio_identity *out = finder->out;
    uint32_t process = wio_trace_stream(finder->trace, stream)->process;
    uint64_t place = place_in_process(finder, stream);
    struct wio_identity_node node = {
        .key = XXH3_64bits_withSeed(&place, sizeof(place), finder->process_keys[process]),
        .stream = stream};
    for (uint32_t n = 0; n < out->count; n++) {
        node.nth += out->nodes[n].key == node.key ? 1 : 0;
    }
    out->node_of[stream] = out->count;
    out->nodes[out->count++] = node;
}

static void find(const struct finder *finder)
{
    for (uint32_t i = 0; i < wio_trace_process_count(finder->trace); i++) {
        finder->process_keys[i] = process_key(finder, i);
    }
    for (uint32_t s = 0; s < wio_trace_stream_count(finder->trace); s++) {
        uint32_t before = node_before(finder, s);
        finder->out->node_of[s] = before;
        if (before == UINT32_MAX) {
            add_node(finder, s);
        }
    }
}

enum wio_status wio_identity_find(const struct wio_trace *trace, struct wio_identity *identity_out,
                                  struct wio_error *err)
{
    uint32_t streams = wio_trace_stream_count(trace);
    *identity_out = (struct wio_identity){0};
    identity_out->nodes = calloc((size_t)streams + 1, sizeof(*identity_out->nodes));
    identity_out->node_of = calloc((size_t)streams + 1, sizeof(*identity_out->node_of));
    uint64_t *process_keys =
        calloc((size_t)wio_trace_process_count(trace) + 1, sizeof(*process_keys));
    if (identity_out->nodes == NULL || identity_out->node_of == NULL || process_keys == NULL) {
        free(process_keys);
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    const struct finder finder = {trace, process_keys, identity_out};
    find(&finder);
    free(process_keys);
    return WIO_OK;
}

void wio_identity_fini(struct wio_identity *identity)
{
    free(identity->nodes);
    free(identity->node_of);
    *identity = (struct wio_identity){0};
}

uint32_t wio_identity_match(const struct wio_identity *identity, uint32_t n,
                            const struct wio_identity *other)
{
    const struct wio_identity_node *node = &identity->nodes[n];
    for (uint32_t i = 0; i < other->count; i++) {
        if (other->nodes[i].key == node->key && other->nodes[i].nth == node->nth) {
            return i;
        }
    }
    return UINT32_MAX;
}
