/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/total.h"

#include "base/cleanup.h"
#include "base/memory.h"

#define QUEUE_PART 8 /* of the memory, for what waits, where the settings do not say */
#define QUEUE_MIN 16
#define QUEUE_MAX (1u << 20)

static uint32_t clamp(uint64_t value, uint32_t low, uint32_t high)
{
    return value < low ? low : value > high ? high : (uint32_t)value;
}

/* Of the usable memory a part is for what waits, the rest for contexts of what runs. */
static void set_limits(struct wio_admit_settings *settings)
{
    uint64_t usable = settings->memory_bytes - settings->reserve_bytes;
    if (settings->queue_total == 0) {
        uint64_t queued = usable / QUEUE_PART / settings->waiting_bytes * settings->shards;
        settings->queue_total = clamp(queued, QUEUE_MIN, QUEUE_MAX);
    }
    if (settings->queue_pool == 0) {
        settings->queue_pool = settings->queue_total;
    }
    if (settings->in_flight_max == 0) {
        uint64_t waiting = (uint64_t)settings->queue_total / settings->shards;
        uint64_t held = waiting * settings->waiting_bytes;
        uint64_t rest = usable > held ? usable - held : 0;
        settings->in_flight_max = clamp(rest / settings->context_bytes, 1, QUEUE_MAX);
    }
}

enum wio_status wio_admit_total_create(const struct wio_admit_settings *settings,
                                       const struct wio_alloc *alloc,
                                       struct wio_admit_total **total_out, struct wio_error *err)
{
    WIO_TRY(wio_admit_settings_check(settings, err));
    struct wio_admit_total *total = wio_alloc_array(alloc, 1, sizeof(*total));
    if (total == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the admission of %u shards", settings->shards);
    }
    total->alloc = *alloc;
    total->settings = *settings;
    set_limits(&total->settings);
    *total_out = total;
    return WIO_OK;
}

void wio_admit_total_destroy(struct wio_admit_total *total)
{
    if (total != NULL) {
        total->alloc.put(total->alloc.context, total);
    }
}

enum wio_status wio_admit_set_rules(struct wio_admit_total *total, const struct wio_rule *rules,
                                    uint32_t count, struct wio_error *err)
{
    return wio_rules_set(&total->rules, rules, count, err);
}

/* One shard alone needs no locked instruction: the counter is only its thread's. */
bool wio_total_enter(struct wio_admit_total *total)
{
    uint32_t limit = total->settings.queue_total;
    uint32_t queued = atomic_load_explicit(&total->queued, memory_order_relaxed);
    if (total->settings.shards == 1) {
        if (queued >= limit) {
            return false;
        }
        atomic_store_explicit(&total->queued, queued + 1, memory_order_relaxed);
        return true;
    }
    do {
        if (queued >= limit) {
            return false;
        }
    } while (!atomic_compare_exchange_weak_explicit(&total->queued, &queued, queued + 1,
                                                    memory_order_relaxed, memory_order_relaxed));
    return true;
}

void wio_total_leave(struct wio_admit_total *total)
{
    if (total->settings.shards == 1) {
        uint32_t queued = atomic_load_explicit(&total->queued, memory_order_relaxed);
        atomic_store_explicit(&total->queued, queued - 1, memory_order_relaxed);
    } else {
        atomic_fetch_sub_explicit(&total->queued, 1, memory_order_relaxed);
    }
}
