/* SPDX-License-Identifier: Apache-2.0 */
#include "predict/opened.h"

#include <fcntl.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "ops/calls.h"

#define NOBODY UINT32_MAX
#define HOPS_MAX 64 /* from descriptor to descriptor, from child to parent */

static uint64_t key_of(uint32_t image, int32_t fd)
{
    return (uint64_t)image << 32 | (uint32_t)fd;
}

void wio_opened_fini(struct wio_opened *opened)
{
    free(opened->items);
    opened->items = NULL;
    opened->count = 0;
    opened->room = 0;
}

static enum wio_status add(struct wio_opened *opened, const struct wio_opened_item *item)
{
    void *items = opened->items;
    WIO_TRY(wio_make_room(&items, sizeof(*item), &opened->room, opened->count + 1));
    opened->items = items;
    opened->items[opened->count++] = *item;
    return WIO_OK;
}

static int flags_of(const struct wio_event *event)
{
    return event->op == WIO_OP_creat ? O_CREAT | O_WRONLY | O_TRUNC : (int)event->arg[0];
}

enum wio_status wio_opened_see(struct wio_opened *opened, const struct wio_event *event,
                               uint32_t image)
{
    struct wio_opened_item item = {.t_ns = event->t_ns + event->dur_ns, .from = -1};
    if (event->result < 0 || event->result > INT32_MAX) {
        return WIO_OK;
    }
    item.key = key_of(image, (int32_t)event->result);
    switch ((int)wio_op_class(event->op)) {
    case WIO_CLASS_OPEN:
        item.flags = flags_of(event);
        return add(opened, &item);
    case WIO_CLASS_DUP:
        item.from = event->fd;
        return add(opened, &item);
    case WIO_CLASS_FCNTL:
        if (event->op != WIO_OP_fcntl) {
            return WIO_OK;
        }
        if (event->arg[0] == F_DUPFD || event->arg[0] == F_DUPFD_CLOEXEC) {
            item.from = event->fd;
            return add(opened, &item);
        }
        if (event->arg[0] == F_SETFL) {
            item.key = key_of(image, event->fd);
            item.flags = (int)event->arg[1];
            item.is_change = true;
            return add(opened, &item);
        }
        return WIO_OK;
    default:
        return WIO_OK;
    }
}

static int by_key(const void *a, const void *b)
{
    const struct wio_opened_item *x = a;
    const struct wio_opened_item *y = b;
    if (x->key != y->key) {
        return x->key < y->key ? -1 : 1;
    }
    return (x->t_ns > y->t_ns) - (x->t_ns < y->t_ns);
}

void wio_opened_finish(struct wio_opened *opened)
{
    if (opened->count > 0) {
        qsort(opened->items, opened->count, sizeof(*opened->items), by_key);
    }
}

/* The last item of the key not after the time; NULL where there is none. */
static const struct wio_opened_item *find(const struct wio_opened *opened, uint64_t key,
                                          uint64_t t_ns)
{
    const struct wio_opened_item want = {.key = key, .t_ns = t_ns};
    size_t low = 0;
    size_t high = opened->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (by_key(&opened->items[middle], &want) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low > 0 && opened->items[low - 1].key == key ? &opened->items[low - 1] : NULL;
}

/* What F_SETFL cannot change stays as it was. */
#define KEPT_FLAGS O_SYNC

int wio_opened_flags(const struct wio_opened *opened, uint32_t image, int32_t fd, uint64_t t_ns)
{
    int changed = 0;
    int kept = -1; /* all bits */
    for (int hop = 0; hop < HOPS_MAX && image != NOBODY; hop++) {
        const struct wio_opened_item *item = find(opened, key_of(image, fd), t_ns);
        if (item == NULL) {
            const struct wio_process_info *process = wio_trace_process(opened->trace, image);
            t_ns = process->start_ns;
            image = process->parent;
            continue;
        }
        if (item->is_change) {
            changed |= item->flags & kept;
            kept &= KEPT_FLAGS;
            t_ns = item->t_ns - 1;
        } else if (item->from < 0) {
            return changed | (item->flags & kept);
        } else {
            fd = item->from;
            t_ns = item->t_ns;
        }
    }
    return changed;
}
