/* SPDX-License-Identifier: Apache-2.0 */
#include "record/machine.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fmt.h"
#include "base/io.h"
#include "base/system/memory_group.h"

#define PROC_MOST (1u << 20)
#define KIB 1024

/* Names are short and numbers too: all lines fit. */
static void put(char *text, const char *name, uint64_t value)
{
    size_t used = strlen(text);
    (void)snprintf(text + used, WIO_MACHINE_TEXT - used, "%s %" PRIu64 "\n", name, value);
}

/* R-META-1: settings of /proc/sys/vm. */
static void put_settings(char *text)
{
    static const char *const names[] = {"dirty_bytes",
                                        "dirty_ratio",
                                        "dirty_background_bytes",
                                        "dirty_background_ratio",
                                        "dirty_expire_centisecs",
                                        "dirty_writeback_centisecs"};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(names); i++) {
        WIO_CLEANUP(wio_blob_fini) struct wio_blob content = {0};
        char path[64];
        uint64_t value;
        (void)snprintf(path, sizeof(path), "/proc/sys/vm/%s", names[i]);
        if (wio_io_read_file(path, PROC_MOST, &content, NULL) != WIO_OK || content.size == 0) {
            continue;
        }
        const char *at = (const char *)content.data;
        if (wio_scan_u64(&at, &value)) {
            put(text, names[i], value);
        }
    }
}

/* The number behind `key` at the begin of a line of the file, times `unit`. */
static void put_line(char *text, const struct wio_blob *content, const char *key, const char *name,
                     uint64_t unit)
{
    const char *line = content->size > 0 ? (const char *)content->data : "";
    uint64_t value;
    while (strncmp(line, key, strlen(key)) != 0) {
        line = strchr(line, '\n');
        if (line == NULL) {
            return;
        }
        line++;
    }
    line += strlen(key);
    line += strspn(line, " ");
    if (wio_scan_u64(&line, &value) && value <= UINT64_MAX / unit) {
        put(text, name, value * unit);
    }
}

static void put_memory(char *text)
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob vmstat = {0};
    WIO_CLEANUP(wio_blob_fini) struct wio_blob meminfo = {0};
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (wio_io_read_file("/proc/vmstat", PROC_MOST, &vmstat, NULL) == WIO_OK) {
        put_line(text, &vmstat, "nr_dirty_threshold ", "dirty_threshold", page);
        put_line(text, &vmstat, "nr_dirty_background_threshold ", "dirty_background_threshold",
                 page);
    }
    if (wio_io_read_file("/proc/meminfo", PROC_MOST, &meminfo, NULL) == WIO_OK) {
        put_line(text, &meminfo, "MemTotal:", "memory_total", KIB);
        put_line(text, &meminfo, "MemAvailable:", "memory_available", KIB);
    }
}

static void put_group(char *text)
{
    struct wio_memory_group group = wio_memory_group_own();
    if (group.version != 0) {
        put(text, "memory_group_version", group.version);
        put(text, "memory_group_limit", group.limit);
        put(text, "memory_group_usage", group.usage);
        put(text, "memory_group_file", group.file);
    }
}

void wio_machine_read(char text[WIO_MACHINE_TEXT])
{
    text[0] = '\0';
    put_settings(text);
    put_memory(text);
    put_group(text);
}
