/* SPDX-License-Identifier: Apache-2.0 */
#include "schedule/lockset.h"

#include "base/cleanup.h"
#include "schedule/sync.h"

static void leave(struct wio_lockset *held, int64_t lock)
{
    for (uint32_t i = held->count; i > 0; i--) {
        if (held->locks[i - 1] == lock) {
            held->locks[i - 1] = held->locks[--held->count];
            return;
        }
    }
}

void wio_lockset_see(struct wio_lockset *held, const struct wio_event *event)
{
    enum wio_lock_step step = wio_lock_step_of(event);
    if (step == WIO_LOCK_LEAVE) {
        leave(held, wio_lock_of(event));
    } else if (step == WIO_LOCK_TAKE && held->count < WIO_LOCKSET_MAX) {
        held->locks[held->count++] = wio_lock_of(event);
    }
}

enum wio_status wio_lockset_keep(struct wio_waits *waits, const struct wio_event *event,
                                 uint32_t image)
{
    const struct wio_lockset *held = &waits->held[event->stream];
    for (uint32_t i = 0; i < held->count; i++) {
        uint32_t lock = wio_waits_lock(waits, image, held->locks[i]);
        if (lock != UINT32_MAX) {
            WIO_TRY(wio_map_put(&waits->kept_locks, lock, 1));
        }
    }
    return WIO_OK;
}

void wio_held_settle(struct wio_waits *waits)
{
    for (uint32_t i = 0; i < waits->edge_count; i++) {
        struct wio_plan_edge *edge = &waits->edges[i];
        if (edge->how == WIO_BY_LOCK && edge->lock != UINT32_MAX &&
            wio_map_get(&waits->kept_locks, edge->lock) != NULL) {
            edge->how = WIO_BY_EDGE;
        }
    }
}
