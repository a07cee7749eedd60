/* SPDX-License-Identifier: Apache-2.0 */
#include "store/load/pattern.h"

/* splitmix64 */
static uint64_t next(uint64_t *state)
{
    *state += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = *state;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static bool is_among(const struct wio_load_access *accesses, uint32_t count, uint64_t object)
{
    for (uint32_t i = 0; i < count; i++) {
        if (accesses[i].object == object) {
            return true;
        }
    }
    return false;
}

static uint64_t choose(const struct wio_load_pattern *pattern, uint32_t client, uint64_t number,
                       uint64_t *random, const struct wio_load_access *before, uint32_t count)
{
    uint64_t object = count;
    switch (pattern->order) {
    case WIO_LOAD_DISJOINT:
        object = (uint64_t)client * pattern->objects +
                 (number * pattern->each + count) % pattern->objects;
        break;
    case WIO_LOAD_RANDOM:
        do {
            object = next(random) % pattern->objects;
        } while (is_among(before, count, object));
        break;
    case WIO_LOAD_OPPOSITE:
        object = client % 2 == 0 ? count : pattern->each - 1 - count;
        break;
    case WIO_LOAD_SAME:
    case WIO_LOAD_ORDERS:
        break;
    }
    return object;
}

void wio_load_choose(const struct wio_load_pattern *pattern, uint32_t client, uint64_t number,
                     uint64_t *random, struct wio_load_access accesses_out[WIO_LOAD_EACH_MAX])
{
    for (uint32_t i = 0; i < pattern->each; i++) {
        uint64_t object = choose(pattern, client, number, random, accesses_out, i);
        bool is_read = next(random) % 100 < pattern->reads;
        accesses_out[i] = (struct wio_load_access){object, is_read};
    }
}

uint64_t wio_load_objects(const struct wio_load_pattern *pattern, uint32_t clients)
{
    uint64_t all = pattern->objects;
    return pattern->order == WIO_LOAD_DISJOINT ? all * clients : all;
}
