/* SPDX-License-Identifier: Apache-2.0 */
#include "record/children.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

enum { LIST_BYTES = 1 << 20, NAME_BYTES = 256 };

static void read_name(int32_t pid, char *name, size_t size)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    WIO_CLEANUP(wio_blob_fini) struct wio_blob blob = {0};
    if (wio_io_read_file(path, NAME_BYTES, &blob, NULL) == WIO_OK) {
        snprintf(name, size, "%.*s", (int)strcspn((const char *)blob.data, "\n"),
                 (const char *)blob.data);
    }
}

bool wio_children_look(struct wio_lingering *who_out)
{
    *who_out = (struct wio_lingering){0};
    char path[64];
    snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
    WIO_CLEANUP(wio_blob_fini) struct wio_blob blob = {0};
    if (wio_io_read_file(path, LIST_BYTES, &blob, NULL) != WIO_OK) {
        return false;
    }
    char *next = (char *)blob.data;
    for (;;) {
        char *end = next;
        long pid = strtol(next, &end, 10);
        if (end == next) {
            break;
        }
        if (who_out->count == 0) {
            who_out->pid = (int32_t)pid;
        }
        who_out->count += 1;
        next = end;
    }
    if (who_out->count > 0) {
        read_name(who_out->pid, who_out->name, sizeof(who_out->name));
    }
    return who_out->count > 0;
}
