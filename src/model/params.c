/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers that describe a machine: their names, and what they may be. */
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "model/model_internal.h"

static enum wio_status refuse(struct wio_error *err, const char *name, const char *expected)
{
    return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET, "parameter '%s' %s", name,
                         expected);
}

struct wio_model_params wio_model_params_default(void)
{
    return (struct wio_model_params){
#define PARAM_DEFAULT(param, unit, fallback) .param = (fallback),
        WIO_MODEL_PARAM_LIST(PARAM_DEFAULT)
#undef PARAM_DEFAULT
    };
}

static const struct {
    const char *name;
    const char *unit;
    size_t place;
} all_params[] = {
#define PARAM_ENTRY(param, unit, fallback) {#param, unit, offsetof(struct wio_model_params, param)},
    WIO_MODEL_PARAM_LIST(PARAM_ENTRY)
#undef PARAM_ENTRY
};

double *wio_model_param(struct wio_model_params *params, const char *name)
{
    for (size_t i = 0; i < WIO_ARRAY_SIZE(all_params); i++) {
        if (strcmp(all_params[i].name, name) == 0) {
            return (double *)(void *)((char *)params + all_params[i].place);
        }
    }
    return NULL;
}

static double value_at(const struct wio_model_params *params, size_t place)
{
    double value;
    memcpy(&value, (const char *)params + place, sizeof(value));
    return value;
}

/* What an operation may cost by it, or may write; ages (dirty_expire) may be as good as never. */
static double most_of(size_t i)
{
    size_t place = all_params[i].place;
    if (place == offsetof(struct wio_model_params, dirty_expire) ||
        place == offsetof(struct wio_model_params, dirty_interval)) {
        return HUGE_VAL;
    }
    if (place == offsetof(struct wio_model_params, bs) ||
        place == offsetof(struct wio_model_params, commit_bytes)) {
        return WIO_MODEL_UNLIMITED;
    }
    return strcmp(all_params[i].unit, "s") == 0 ? WIO_MODEL_DELAY_MAX_S : HUGE_VAL;
}

static enum wio_status check_each(const struct wio_model_params *params, struct wio_error *err)
{
    for (size_t i = 0; i < WIO_ARRAY_SIZE(all_params); i++) {
        double value = value_at(params, all_params[i].place);
        if (isnan(value)) {
            return refuse(err, all_params[i].name, "is missing");
        }
        if (!isfinite(value) || value < 0) {
            return refuse(err, all_params[i].name, "must be a finite number that is not negative");
        }
        if (value > most_of(i)) {
            return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                                 "parameter '%s' must be at most %g %s", all_params[i].name,
                                 most_of(i), all_params[i].unit);
        }
    }
    return WIO_OK;
}

static const char *name_at(size_t place)
{
    size_t i = 0;
    while (i < WIO_ARRAY_SIZE(all_params) - 1 && all_params[i].place != place) {
        i++;
    }
    return all_params[i].name;
}

enum wio_status wio_model_params_check_ranges(const struct wio_model_params *params,
                                              const struct wio_model_range *ranges,
                                              struct wio_error *err)
{
    for (size_t i = 0; ranges != NULL && ranges[i].place != WIO_MODEL_NO_PARAM; i++) {
        double value = value_at(params, ranges[i].place);
        if (value < ranges[i].least || value > ranges[i].most) {
            return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                                 "parameter '%s' must be between %g and %g",
                                 name_at(ranges[i].place), ranges[i].least, ranges[i].most);
        }
    }
    return WIO_OK;
}

/* Rates that another one stands in for where they are 0. */
static enum wio_status check_optional(const struct wio_model_params *params, struct wio_error *err)
{
    static const size_t rates[] = {
        offsetof(struct wio_model_params, bw_clean),
        offsetof(struct wio_model_params, bw_hit),
        offsetof(struct wio_model_params, bw_far),
    };
    for (size_t i = 0; i < WIO_ARRAY_SIZE(rates); i++) {
        double rate = value_at(params, rates[i]);
        if (rate > 0 && rate < 1) {
            return refuse(err, name_at(rates[i]), "must be 0 or at least 1");
        }
    }
    return WIO_OK;
}

static enum wio_status check_tables(const struct wio_model_params *params, struct wio_error *err)
{
    const struct {
        const char *name;
        const struct wio_model_table *table;
    } tables[] = {
        {"direct_table", &params->direct_table},
        {"sync_table", &params->sync_table},
        {"append_table", &params->append_table},
        {"direct_nosync_table", &params->direct_nosync_table},
        {"new_table", &params->new_table},
        {"clean_table", &params->clean_table},
        {"dirty_table", &params->dirty_table},
        {"hit_table", &params->hit_table},
    };
    for (size_t i = 0; i < WIO_ARRAY_SIZE(tables); i++) {
        WIO_TRY(wio_model_table_check(tables[i].table, tables[i].name, err));
    }
    return WIO_OK;
}

enum wio_status wio_model_params_check(const struct wio_model_params *params, struct wio_error *err)
{
    WIO_TRY(check_each(params, err));
    WIO_TRY(check_optional(params, err));
    static const size_t divisors[] = {
        offsetof(struct wio_model_params, bw_mem),
        offsetof(struct wio_model_params, bw_ramdisk),
        offsetof(struct wio_model_params, bw_reduced),
        offsetof(struct wio_model_params, bw_dev),
        offsetof(struct wio_model_params, bw_rdev),
        offsetof(struct wio_model_params, bs),
        offsetof(struct wio_model_params, bf),
    };
    for (size_t i = 0; i < WIO_ARRAY_SIZE(divisors); i++) {
        if (value_at(params, divisors[i]) < 1) {
            return refuse(err, name_at(divisors[i]), "must be at least 1");
        }
    }
    if (params->limit_hard <= params->limit_bg) {
        return refuse(err, "limit_hard", "must be above limit_bg");
    }
    return check_tables(params, err);
}

bool wio_model_is_device_param(const char *name)
{
    static const char *const of_machine[] = {
        "bw_mem", "limit_bg",  "limit_hard",  "dirty_expire", "dirty_interval",
        "hz",     "mem_bytes", "group_limit", "group_used",   "group_version",
        "bf",     "c_lib",     "c_stream",    "bw_far",       "cache_size"};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(of_machine); i++) {
        if (strcmp(of_machine[i], name) == 0) {
            return false;
        }
    }
    return true;
}

struct wio_model_params wio_model_params_of_device(const struct wio_model_params *machine,
                                                   const struct wio_model_params *device)
{
    struct wio_model_params params = *device;
#define PARAM_OF_MACHINE(param, unit, fallback)                                                    \
    params.param = wio_model_is_device_param(#param) ? params.param : machine->param;
    WIO_MODEL_PARAM_LIST(PARAM_OF_MACHINE)
#undef PARAM_OF_MACHINE
    return params;
}
