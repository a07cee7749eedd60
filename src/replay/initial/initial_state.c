/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/initial/initial_state.h"

#include <string.h>

#include "base/cleanup.h"
#include "ops/calls.h"
#include "ops/lookup.h"
#include "replay/initial/initial_names.h"
#include "replay/initial/kind.h"
#include "replay/initial/meta_request.h"

#define MODE_BITS 07777u

enum wio_status rp_observe(struct rp_observer *observer, const struct wio_event *event)
{
    struct wio_event call;
    uint32_t node;
    if (rp_request_call(event, &call)) {
        event = &call;
    }
    bool is_seen;
    WIO_TRY(rp_see_special(observer, event, &is_seen));
    if (is_seen) {
        return WIO_OK;
    }
    enum wio_class cls = wio_op_class(event->op);
    if (cls == WIO_CLASS_RENAME || cls == WIO_CLASS_LINK) {
        return rp_see_two_names(observer, event);
    }
    WIO_TRY(rp_observer_node(observer, event->path, wio_event_follows_links(event), &node));
    if (event->error == 0 && cls == WIO_CLASS_COPY) {
        return rp_see_copy(observer, event, node);
    }
    if (node == RP_NONE) {
        return WIO_OK;
    }
    bool is_exec = cls == WIO_CLASS_EXEC || cls == WIO_CLASS_PROCESS;
    if (event->error != 0) {
        return is_exec ? WIO_OK : rp_see_failure(observer, event, node);
    }
    return rp_see_success(observer, event, node);
}

/* ---- begin and end ---- */

/* The FILES table says how a path looked after the run. */
static void fill_from_table(struct rp_file *file, const struct wio_file_info *info)
{
    if (info->type == WIO_FILE_UNKNOWN || info->type == WIO_FILE_NONE) {
        return;
    }
    if (file->type == WIO_FILE_UNKNOWN) {
        file->type = (uint8_t)info->type;
    }
    if (file->type != info->type) {
        return;
    }
    if (!file->has_mode) {
        file->mode = info->mode & MODE_BITS;
        file->has_mode = true;
    }
    if (!file->has_size && file->wrote == 0 && !file->is_truncated &&
        info->size >= file->size_min) {
        file->size = info->size;
        file->has_size = true;
    }
}

enum wio_status rp_observer_finish(struct rp_observer *observer)
{
    struct rp_space *space = &observer->space;
    rp_kinds_finish(&observer->kinds);
    for (uint32_t i = 0; i < wio_trace_file_count(observer->trace); i++) {
        const struct wio_file_info *info = wio_trace_file(observer->trace, i);
        const char *path = wio_trace_string(observer->trace, info->path, NULL);
        uint32_t node;
        if (rp_kind_of_path(path) != RP_KIND_FILE) {
            continue;
        }
        WIO_TRY(rp_space_lookup(space, path, false, &node));
        if (node == RP_NONE) {
            continue;
        }
        struct rp_file *file = rp_space_file(space, node);
        if (file->type == WIO_FILE_SYMLINK && info->type == WIO_FILE_SYMLINK) {
            rp_space_found(space, node); /* it was followed, which no operation shows */
        }
        const char *initial = wio_strtab_get(&space->texts, file->path, NULL);
        if (file->origin == RP_ORIGIN_INITIAL && strcmp(initial, path) == 0) {
            fill_from_table(file, info);
        }
    }
    size_t place = 0;
    for (const struct wio_map_entry *entry;
         (entry = wio_map_each(&observer->met_file, &place)) != NULL;) {
        rp_space_met_file(space, (uint32_t)entry->key);
    }
    for (uint32_t i = 0; i < space->file_count; i++) {
        struct rp_file *file = &space->files[i];
        if (file->type == WIO_FILE_UNKNOWN) {
            file->type = WIO_FILE_REGULAR;
        }
        if (!file->has_size || file->size < file->size_min) {
            file->size = file->size_min;
        }
        if (!file->has_mode) {
            file->mode = file->type == WIO_FILE_DIRECTORY || file->may_execute ? 0777 : 0666;
        }
        rp_extents_finish(&file->reads, file->size);
    }
    return WIO_OK;
}
