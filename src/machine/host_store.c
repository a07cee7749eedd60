/* SPDX-License-Identifier: Apache-2.0 */
#include "machine/host_store.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "machine/host_json.h"

#define HOUR_S 3600.0
#define FASTEST 1e15

/* NaN: it must be said. */
static const struct {
    const char *name;
    double least;
    double most;
    double fallback;
    bool is_whole;
} numbers[] = {
    {"targets", 1, WIO_HOST_STORE_TARGETS_MAX, (double)NAN, true},
    {"op_s", 1e-9, HOUR_S, (double)NAN, false},
    {"bw", 1, FASTEST, (double)NAN, false},
    {"net_s", 0, HOUR_S, 0, false},
    {"timeout_s", 1e-3, 24 * HOUR_S, 30, false},
    {"stripe_unit", 1, 0x1p32, 1 << 20, true},
};

/* By the index of `numbers`. */
static void assign(struct wio_host_store *store, size_t i, double value)
{
    switch (i) {
    case 0:
        store->targets = (uint32_t)value;
        break;
    case 1:
        store->op_s = value;
        break;
    case 2:
        store->bw = value;
        break;
    case 3:
        store->net_s = value;
        break;
    case 4:
        store->timeout_s = value;
        break;
    default:
        store->stripe_unit = (uint64_t)value;
        break;
    }
}

static bool is_right(size_t i, double value)
{
    return value >= numbers[i].least && value <= numbers[i].most &&
           (!numbers[i].is_whole || floor(value) == value);
}

bool wio_host_store_set(struct wio_host_store *store, const char *name, double value)
{
    for (size_t i = 0; i < WIO_ARRAY_SIZE(numbers); i++) {
        if (strcmp(numbers[i].name, name) == 0 && is_right(i, value)) {
            assign(store, i, value);
            return true;
        }
    }
    return false;
}

/* A number that is missing is its fallback. */
static double number_of(const json_t *store, size_t i)
{
    const json_t *value = json_object_get(store, numbers[i].name);
    if (value == NULL || json_is_null(value)) {
        return numbers[i].fallback;
    }
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

enum wio_status wio_host_store_read(const struct wio_host_json *json, struct wio_host_store *out)
{
    const json_t *store = wio_host_find(json, "store");
    *out = (struct wio_host_store){.targets = 0};
    if (store == NULL) {
        return WIO_OK;
    }
    if (!json_is_object(store)) {
        return wio_host_refuse(json, "store", "must be an object");
    }
    for (size_t i = 0; i < WIO_ARRAY_SIZE(numbers); i++) {
        const double value = number_of(store, i);
        char expected[96];
        (void)snprintf(expected, sizeof(expected), "must have \"%s\", a %snumber from %g to %g",
                       numbers[i].name, numbers[i].is_whole ? "whole " : "", numbers[i].least,
                       numbers[i].most);
        if (!is_right(i, value)) {
            return wio_host_refuse(json, "store", expected);
        }
        assign(out, i, value);
    }
    return WIO_OK;
}
