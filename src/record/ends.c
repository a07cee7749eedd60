/* SPDX-License-Identifier: Apache-2.0 */
#include "record/ends.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/grow.h"

enum wio_status wio_ends_add(struct wio_ends *ends, int32_t pid, int wait_status, uint64_t mono_ns)
{
    void *items = ends->items;
    WIO_TRY(wio_make_room(&items, sizeof(*ends->items), &ends->capacity, ends->count + 1));
    ends->items = items;
    ends->items[ends->count] = (struct wio_end){pid, wait_status, mono_ns};
    ends->count += 1;
    ends->is_sorted = false;
    return WIO_OK;
}

static int compare(const void *a, const void *b)
{
    const struct wio_end *left = a;
    const struct wio_end *right = b;
    if (left->pid != right->pid) {
        return left->pid < right->pid ? -1 : 1;
    }
    return (left->mono_ns > right->mono_ns) - (left->mono_ns < right->mono_ns);
}

bool wio_ends_find(void *arg, int32_t pid, uint64_t start_mono_ns, int *wait_status_out)
{
    struct wio_ends *ends = arg;
    if (!ends->is_sorted && ends->count > 0) {
        qsort(ends->items, ends->count, sizeof(*ends->items), compare);
        ends->is_sorted = true;
    }
    const struct wio_end wanted = {pid, 0, start_mono_ns};
    size_t first = WIO_FIRST(i, 0, ends->count, compare(&ends->items[i], &wanted) >= 0);
    if (first == ends->count || ends->items[first].pid != pid) {
        return false;
    }
    *wait_status_out = ends->items[first].wait_status;
    return true;
}

void wio_ends_fini(struct wio_ends *ends)
{
    free(ends->items);
    *ends = (struct wio_ends){0};
}
