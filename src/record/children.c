/* SPDX-License-Identifier: Apache-2.0 */
#include "record/children.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

enum { LIST_BYTES = 1 << 20, NAME_BYTES = 256 };

static bool append(struct wio_children *out, int32_t pid)
{
    int32_t *pids = reallocarray(out->pids, out->count + 1, sizeof(*pids));
    if (pids == NULL) {
        return false;
    }
    out->pids = pids;
    out->pids[out->count] = pid;
    out->count += 1;
    return true;
}

bool wio_children_read(struct wio_children *out)
{
    int32_t pid = (int32_t)getpid();
    return wio_children_read_of(pid, pid, out);
}

bool wio_children_read_of(int32_t pid, int32_t tid, struct wio_children *out)
{
    *out = (struct wio_children){0};
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)tid);
    WIO_CLEANUP(wio_blob_fini) struct wio_blob blob = {0};
    if (wio_io_read_file(path, LIST_BYTES, &blob, NULL) != WIO_OK) {
        return false;
    }
    char *next = (char *)blob.data;
    char *end = next;
    for (long child = strtol(next, &end, 10); end != next; child = strtol(next, &end, 10)) {
        if (!append(out, (int32_t)child)) {
            wio_children_fini(out);
            return false;
        }
        next = end;
    }
    return true;
}

bool wio_children_has(const struct wio_children *children, int32_t pid)
{
    for (size_t i = 0; i < children->count; i++) {
        if (children->pids[i] == pid) {
            return true;
        }
    }
    return false;
}

void wio_children_fini(struct wio_children *children)
{
    free(children->pids);
    *children = (struct wio_children){0};
}

void wio_children_name(int32_t pid, char *name, size_t size)
{
    char path[64];
    name[0] = '\0';
    snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
    WIO_CLEANUP(wio_blob_fini) struct wio_blob blob = {0};
    if (wio_io_read_file(path, NAME_BYTES, &blob, NULL) == WIO_OK) {
        snprintf(name, size, "%.*s", (int)strcspn((const char *)blob.data, "\n"),
                 (const char *)blob.data);
    }
}
