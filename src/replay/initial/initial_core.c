/* SPDX-License-Identifier: Apache-2.0 */
/* Names of the observed files, and what they are looked up in. */
#include "replay/initial/initial_names.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "replay/initial/kind.h"

enum wio_status rp_observer_node(struct rp_observer *observer, uint32_t string, bool follow,
                                 uint32_t *node_out)
{
    *node_out = RP_NONE;
    if (string >= observer->string_count ||
        rp_kinds_now(&observer->kinds, string) != RP_KIND_FILE) {
        return WIO_OK;
    }
    struct rp_seen *seen = follow ? &observer->followed[string] : &observer->plain[string];
    if (seen->epoch != observer->space.epoch + 1) {
        const char *path = wio_trace_string(observer->trace, string, NULL);
        WIO_TRY(rp_space_lookup(&observer->space, path, follow, &seen->node));
        seen->epoch = observer->space.epoch + 1;
    }
    *node_out = seen->node;
    return WIO_OK;
}

enum wio_status rp_observer_name(struct rp_observer *observer, uint32_t string, uint32_t *node_out)
{
    const char *path = wio_trace_string(observer->trace, string, NULL);
    *node_out = RP_NONE;
    return rp_kind_of_path(path) == RP_KIND_FILE
               ? rp_space_lookup(&observer->space, path, false, node_out)
               : WIO_OK;
}

static enum wio_status load_links(struct rp_observer *observer)
{
    struct rp_space *space = &observer->space;
    for (uint32_t i = 0; i < wio_trace_file_count(observer->trace); i++) {
        const struct wio_file_info *file = wio_trace_file(observer->trace, i);
        if (file->path >= observer->string_count || file->type != WIO_FILE_SYMLINK ||
            rp_kinds_now(&observer->kinds, file->path) != RP_KIND_FILE) {
            continue;
        }
        const char *target = wio_trace_string(observer->trace, file->target, NULL);
        uint32_t node;
        WIO_TRY(rp_space_lookup(space, wio_trace_string(observer->trace, file->path, NULL), false,
                                &node));
        if (node == RP_NONE || target[0] == '\0') {
            continue;
        }
        WIO_TRY(rp_space_set_target(space, node, target));
    }
    return WIO_OK;
}

enum wio_status rp_observer_init(struct rp_observer *observer, const struct wio_trace *trace)
{
    observer->trace = trace;
    observer->string_count = wio_trace_string_count(trace) + 1;
    observer->followed = calloc(observer->string_count, sizeof(struct rp_seen));
    observer->plain = calloc(observer->string_count, sizeof(struct rp_seen));
    if (observer->followed == NULL || observer->plain == NULL) {
        return WIO_ERR_NOMEM;
    }
    WIO_TRY(rp_kinds_init(&observer->kinds, trace));
    WIO_TRY(rp_space_init(&observer->space));
    return load_links(observer);
}

void rp_observer_fini(struct rp_observer *observer)
{
    rp_kinds_fini(&observer->kinds);
    free(observer->followed);
    free(observer->plain);
    wio_map_fini(&observer->odd);
    wio_map_fini(&observer->met_file);
    rp_space_fini(&observer->space);
    *observer = (struct rp_observer){0};
}
