/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "admit/admit.h"
#include "base/cleanup.h"

#define MIB ((uint64_t)1 << 20)
#define MS ((uint64_t)1000000)
#define BLOCK_BYTES 4096
#define INDEX_BYTES 64
#define SQLITE_CACHE_BYTES (2 * MIB)
#define SQLITE_INDEX_BYTES 8

static const char *const kinds[WIO_ADMIT_KIND_COUNT] = {"fifo", "hint", "hint-heap", "credit",
                                                        "drr",  "tbf",  "mclock"};
static const char *const tenants[WIO_ADMIT_BY_COUNT] = {"pool", "job", "uid", "client"};

static unsigned find(const char *const *names, unsigned count, const char *name)
{
    unsigned i = 0;
    while (i < count && strcmp(names[i], name) != 0) {
        i++;
    }
    return i;
}

const char *wio_admit_kind_name(enum wio_admit_kind kind)
{
    return (unsigned)kind < WIO_ADMIT_KIND_COUNT ? kinds[kind] : "unknown";
}

enum wio_admit_kind wio_admit_kind_find(const char *name)
{
    return (enum wio_admit_kind)find(kinds, WIO_ADMIT_KIND_COUNT, name);
}

const char *wio_admit_tenant_name(enum wio_admit_tenant_by by)
{
    return (unsigned)by < WIO_ADMIT_BY_COUNT ? tenants[by] : "unknown";
}

enum wio_admit_tenant_by wio_admit_tenant_find(const char *name)
{
    return (enum wio_admit_tenant_by)find(tenants, WIO_ADMIT_BY_COUNT, name);
}

struct wio_admit_settings wio_admit_settings_default(void)
{
    return (struct wio_admit_settings){
        .struct_size = sizeof(struct wio_admit_settings),
        .kind = WIO_ADMIT_CREDIT,
        .tenant_by = WIO_ADMIT_BY_JOB,
        .shards = 1,
        .workers = 1,
        .memory_bytes = 64 * MIB,
        .reserve_bytes = 4 * MIB,
        .context_bytes = 16384,
        .waiting_bytes = 1024,
        .tenants_max = 4096,
        .clients_max = 1u << 17,
        .timeout_ns = 1000 * MS,
        .cost_first_ns = 100000,
        .retry_weight = 1,
        .target_min_ns = 500000,
        .target_max_ns = 50 * MS,
        .increase = 0.001,
        .decrease = 0.02,
        .turn = 16,
        .quantum_ns = 100000,
    };
}

struct bound {
    const char *name;
    uint64_t value;
    uint64_t low;
    uint64_t high;
};

static enum wio_status check_bounds(const struct bound *bounds, size_t count, struct wio_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct bound *bound = &bounds[i];
        if (bound->value < bound->low || bound->value > bound->high) {
            return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                                 "admission: %s is %llu, expected %llu to %llu", bound->name,
                                 (unsigned long long)bound->value, (unsigned long long)bound->low,
                                 (unsigned long long)bound->high);
        }
    }
    return WIO_OK;
}

static bool is_share(double value)
{
    return isfinite(value) && value > 0 && value <= 1;
}

#define TIME_MAX ((uint64_t)3600 * 1000 * MS)

enum wio_status wio_admit_settings_check(const struct wio_admit_settings *settings,
                                         struct wio_error *err)
{
    const struct wio_admit_settings *s = settings;
    const struct bound bounds[] = {
        {"struct_size", s->struct_size, sizeof(*s), sizeof(*s)},
        {"kind", (uint64_t)s->kind, 0, WIO_ADMIT_KIND_COUNT - 1},
        {"tenant_by", (uint64_t)s->tenant_by, 0, WIO_ADMIT_BY_COUNT - 1},
        {"expired", (uint64_t)s->expired, 0, WIO_ADMIT_EXPIRED_DROP},
        {"shards", s->shards, 1, 4096},
        {"workers", s->workers, 1, 65536},
        {"context_bytes", s->context_bytes, 1, 1u << 30},
        {"waiting_bytes", s->waiting_bytes, 1, 1u << 30},
        {"memory_bytes", s->memory_bytes, (uint64_t)s->context_bytes + s->waiting_bytes,
         (uint64_t)1 << 48},
        {"reserve_bytes", s->reserve_bytes, 0,
         s->memory_bytes - s->context_bytes - s->waiting_bytes},
        {"queue_total", s->queue_total, 0, 1u << 24},
        {"queue_pool", s->queue_pool, 0, 1u << 24},
        {"in_flight_max", s->in_flight_max, 0, 1u << 24},
        {"tenants_max", s->tenants_max, 1, 1u << 20},
        {"clients_max", s->clients_max, 1, 1u << 24},
        {"timeout_ns", s->timeout_ns, 1, TIME_MAX},
        {"cost_first_ns", s->cost_first_ns, 1, TIME_MAX},
        {"constant_cost_ns", s->constant_cost_ns, 0, TIME_MAX},
        {"retry_weight", s->retry_weight, 0, 1u << 20},
        {"target_min_ns", s->target_min_ns, 1, s->target_max_ns},
        {"target_max_ns", s->target_max_ns, 1, TIME_MAX},
        {"turn", s->turn, 1, 1u << 16},
        {"quantum_ns", s->quantum_ns, 1, TIME_MAX},
    };
    WIO_TRY(check_bounds(bounds, WIO_ARRAY_SIZE(bounds), err));
    if (!is_share(s->increase) || !is_share(s->decrease)) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "admission: increase and decrease are expected above 0, at most 1");
    }
    return WIO_OK;
}

uint64_t wio_admit_reserve_bytes(enum wio_admit_log log, uint64_t log_bytes, uint32_t transactions,
                                 uint32_t context_bytes)
{
    uint64_t ends = (uint64_t)transactions * context_bytes;
    switch (log) {
    case WIO_ADMIT_LOG_OWN:
        return ends + log_bytes / BLOCK_BYTES * INDEX_BYTES;
    case WIO_ADMIT_LOG_SQLITE:
        return ends + SQLITE_CACHE_BYTES + log_bytes / BLOCK_BYTES * SQLITE_INDEX_BYTES;
    case WIO_ADMIT_LOG_MEMORY:
        return ends;
    }
    return ends;
}

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 1;
}

uint8_t wio_admit_space_class(uint64_t data_free, uint64_t data_total, uint64_t log_free,
                              uint64_t log_total)
{
    static const double least[WIO_ADMIT_SPACES - 1] = {0.20, 0.10, 0.05};
    double free = fmin(share(data_free, data_total), share(log_free, log_total));
    uint8_t class = 0;
    while (class < WIO_ADMIT_SPACES - 1 && free < least[class]) {
        class ++;
    }
    return class;
}
