/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time of answers went, by source and server. */
#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/aborts/exact_internal.h"

static enum wio_status find(struct wio_exact *exact, uint32_t source, uint32_t server,
                            struct wio_exact_contention **out)
{
    uint64_t key = (uint64_t)source << 32 | server;
    const uint64_t *known = wio_map_get(&exact->contention_index, key);
    if (known == NULL) {
        void *array = exact->contention;
        WIO_TRY(wio_grow(&array, sizeof(*exact->contention), &exact->contention_capacity,
                         exact->contention_count + 1));
        exact->contention = array;
        WIO_TRY(wio_map_put(&exact->contention_index, key, exact->contention_count));
        exact->contention[exact->contention_count] =
            (struct wio_exact_contention){.source = source, .server = server};
        *out = &exact->contention[exact->contention_count++];
        return WIO_OK;
    }
    *out = &exact->contention[*known];
    return WIO_OK;
}

enum wio_status wio_exact_add_times(struct wio_exact *exact, uint32_t source, uint32_t server,
                                    const struct wio_txn_row *row,
                                    const struct wio_attempt_lane *lane)
{
    struct wio_exact_contention *times = NULL;
    WIO_TRY(find(exact, source, server, &times));
    if (row->kind == WIO_TXN_CALL) {
        times->network_s += wio_exact_seconds(row->run_ns);
        return WIO_OK;
    }
    times->requests++;
    times->network_s += wio_exact_seconds(row->transfer_ns);
    times->queue_s += wio_exact_seconds(row->queue_ns);
    times->lock_s += wio_exact_seconds(row->lock_ns);
    times->storage_s += wio_exact_seconds(row->storage_ns);
    times->run_s += wio_exact_seconds(row->run_ns);
    times->lane_queue_s += wio_exact_seconds(lane->queue_ns);
    times->lane_storage_s += wio_exact_seconds(lane->storage_ns);
    times->lane_run_s += wio_exact_seconds(lane->run_ns);
    return WIO_OK;
}

enum wio_status wio_exact_add_busy(struct wio_exact *exact, uint32_t source, uint32_t server,
                                   bool is_silent, double seconds, double lane_s)
{
    struct wio_exact_contention *times = NULL;
    WIO_TRY(find(exact, source, server, &times));
    times->busy++;
    times->silent += is_silent;
    times->busy_s += seconds;
    times->lane_queue_s += lane_s;
    return WIO_OK;
}
