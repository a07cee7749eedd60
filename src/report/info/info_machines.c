/* SPDX-License-Identifier: Apache-2.0 */
#include "report/info/info_machines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/system/mounts.h"
#include "trace/read/recorders.h"

/* So many mounts of files are listed, of so many files that are looked at. */
#define MOUNTS_MOST 64
#define FILES_MOST 10000

/* R-META-1 */
static const char *const facts[] = {
    "dirty_bytes",
    "dirty_ratio",
    "dirty_background_bytes",
    "dirty_background_ratio",
    "dirty_expire_centisecs",
    "dirty_writeback_centisecs",
    "dirty_threshold",
    "dirty_background_threshold",
    "memory_total",
    "memory_available",
    "memory_group_version",
    "memory_group_limit",
    "memory_group_usage",
    "memory_group_file",
};

static void put_text(struct wio_json *json, const char *key, const char *text, size_t bytes)
{
    char copy[256];
    if (bytes == 0) {
        wio_json_null(json, key);
        return;
    }
    (void)snprintf(copy, sizeof(copy), "%.*s", (int)(bytes < sizeof(copy) ? bytes : sizeof(copy)),
                   text);
    wio_json_string(json, key, copy);
}

static void put_mount(struct wio_json *json, const struct wio_mount *mount)
{
    wio_json_object_begin(json, NULL);
    wio_json_string(json, "place", mount->place);
    wio_json_string(json, "type", mount->type);
    wio_json_string(json, "options", mount->options);
    wio_json_string(json, "file_system_options", mount->super);
    wio_json_object_end(json);
}

/* Those that files of the trace are on. The text ends where its bytes do. */
static void put_mounts(struct wio_json *json, const struct wio_trace *trace, const char *text,
                       size_t bytes)
{
    char *mountinfo = strndup(text, bytes);
    struct wio_mount *found = calloc(MOUNTS_MOST, sizeof(*found));
    size_t count = 0;
    wio_json_array_begin(json, "mounts");
    for (uint32_t i = 0; mountinfo != NULL && found != NULL && i < FILES_MOST &&
                         i < wio_trace_file_count(trace) && count < MOUNTS_MOST;
         i++) {
        const char *path = wio_trace_string(trace, wio_trace_file(trace, i)->path, NULL);
        size_t k = 0;
        if (path[0] != '/' || !wio_mount_find(mountinfo, path, &found[count])) {
            continue;
        }
        while (k < count && strcmp(found[k].place, found[count].place) != 0) {
            k++;
        }
        if (k == count) {
            put_mount(json, &found[count++]);
        }
    }
    wio_json_array_end(json);
    free(mountinfo);
    free(found);
}

static void put_machine(struct wio_json *json, const struct wio_trace *trace,
                        const struct wio_recorder_info *info)
{
    wio_json_object_begin(json, NULL);
    put_text(json, "host", info->host, info->host_bytes);
    put_text(json, "kernel", info->kernel, info->kernel_bytes);
    for (size_t i = 0; i < WIO_ARRAY_SIZE(facts); i++) {
        uint64_t value;
        if (wio_recorder_fact(info, facts[i], &value)) {
            wio_json_u64(json, facts[i], value);
        } else {
            wio_json_null(json, facts[i]);
        }
    }
    put_mounts(json, trace, info->mounts, info->mounts_bytes);
    wio_json_object_end(json);
}

/* Has an earlier recorder described the same host? */
static bool is_known(const struct wio_trace *trace, uint32_t recorder,
                     const struct wio_recorder_info *info)
{
    for (uint32_t i = 0; i < recorder; i++) {
        struct wio_recorder_info other;
        if (wio_trace_recorder(trace, i, &other) == WIO_OK && other.machine_bytes > 0 &&
            other.host_bytes == info->host_bytes &&
            memcmp(other.host, info->host, info->host_bytes) == 0) {
            return true;
        }
    }
    return false;
}

void wio_report_machines(struct wio_json *json, const struct wio_trace *trace)
{
    wio_json_array_begin(json, "machines");
    for (uint32_t i = 0; i < wio_trace_recorder_count(trace); i++) {
        struct wio_recorder_info info;
        if (wio_trace_recorder(trace, i, &info) == WIO_OK && info.machine_bytes > 0 &&
            !is_known(trace, i, &info)) {
            put_machine(json, trace, &info);
        }
    }
    wio_json_array_end(json);
}
