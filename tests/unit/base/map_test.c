/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <string.h>

#include "base/map.h"
#include "base/pair_map.h"

static void an_empty_map_is_empty(void **state)
{
    (void)state;
    struct wio_map map = {0};
    size_t i = 0;
    assert_null(wio_map_get(&map, 0));
    assert_false(wio_map_remove(&map, 0));
    assert_null(wio_map_each(&map, &i));
    wio_map_fini(&map);
}

static void extreme_keys(void **state)
{
    (void)state;
    struct wio_map map = {0};
    assert_ok(wio_map_put(&map, 0, 1), NULL);
    assert_ok(wio_map_put(&map, UINT64_MAX, 2), NULL);
    assert_int_equal(*wio_map_get(&map, 0), 1);
    assert_int_equal(*wio_map_get(&map, UINT64_MAX), 2);
    assert_ok(wio_map_put(&map, 0, 3), NULL);
    assert_int_equal(*wio_map_get(&map, 0), 3);
    assert_int_equal(map.hash.count, 2);
    wio_map_fini(&map);
    wio_map_fini(&map);
}

#define KEYS 500

struct reference {
    bool is_there[KEYS];
    uint64_t value[KEYS];
    size_t count;
};

static void same_as_reference(const struct wio_map *map, const struct reference *ref)
{
    size_t seen = 0;
    size_t i = 0;
    assert_int_equal(map->hash.count, ref->count);
    for (const struct wio_map_entry *entry; (entry = wio_map_each(map, &i)) != NULL; seen++) {
        assert_true(entry->key < KEYS && ref->is_there[entry->key]);
        assert_int_equal(entry->value, ref->value[entry->key]);
    }
    assert_int_equal(seen, ref->count);
    for (uint64_t key = 0; key < KEYS; key++) {
        const uint64_t *value = wio_map_get(map, key);
        assert_int_equal(value != NULL, ref->is_there[key]);
        assert_true(value == NULL || *value == ref->value[key]);
    }
}

static void one_random_step(struct wio_map *map, struct reference *ref, uint64_t *seed)
{
    uint64_t key = wio_test_random(seed) % KEYS;
    if (wio_test_random(seed) % 5 < 2) {
        assert_int_equal(wio_map_remove(map, key), ref->is_there[key]);
        ref->count -= ref->is_there[key] ? 1 : 0;
        ref->is_there[key] = false;
        return;
    }
    uint64_t value = wio_test_random(seed);
    assert_ok(wio_map_put(map, key, value), NULL);
    ref->count += ref->is_there[key] ? 0 : 1;
    ref->is_there[key] = true;
    ref->value[key] = value;
}

/* Puts and removes at random, compared with an array all along. */
static void behaves_like_an_array(void **state)
{
    (void)state;
    static struct reference ref;
    struct wio_map map = {0};
    uint64_t seed = 42;
    memset(&ref, 0, sizeof(ref));
    for (int step = 0; step < 60000; step++) {
        one_random_step(&map, &ref, &seed);
        if (step % 1000 == 0) {
            same_as_reference(&map, &ref);
        }
    }
    same_as_reference(&map, &ref);
    assert_true(map.hash.room <= 4096); /* removed entries do not pile up */
    wio_map_fini(&map);
}

/* The key is split in two, so that many share a half. */
static void pairs_behave_like_an_array(void **state)
{
    (void)state;
    static uint32_t ref[KEYS];
    struct wio_pair_map map;
    uint64_t seed = 7;
    wio_pair_map_init(&map, &WIO_ALLOC_HEAP);
    memset(ref, 0xff, sizeof(ref));
    for (int step = 0; step < 60000; step++) {
        uint64_t key = wio_test_random(&seed) % KEYS;
        if (wio_test_random(&seed) % 5 < 2) {
            wio_pair_map_remove(&map, key / 20, key % 20);
            ref[key] = WIO_NO_INDEX;
        } else {
            ref[key] = (uint32_t)step;
            assert_ok(wio_pair_map_put(&map, key / 20, key % 20, ref[key]), NULL);
        }
        uint64_t other = wio_test_random(&seed) % KEYS;
        assert_int_equal(wio_pair_map_get(&map, other / 20, other % 20), ref[other]);
    }
    assert_true(map.hash.room <= 1024);
    wio_pair_map_fini(&map);
}

/* A walk that removes what it finds comes to all in the end. */
static void entries_are_removed_in_a_walk(void **state)
{
    (void)state;
    struct wio_map map = {0};
    for (uint64_t key = 0; key < 300; key++) {
        assert_ok(wio_map_put(&map, key, key), NULL);
    }
    while (map.hash.count > 0) {
        size_t i = 0;
        size_t before = map.hash.count;
        for (const struct wio_map_entry *entry; (entry = wio_map_each(&map, &i)) != NULL;) {
            assert_true(wio_map_remove(&map, entry->key));
        }
        assert_true(map.hash.count < before);
    }
    wio_map_fini(&map);
}

static void many_keys(void **state)
{
    (void)state;
    struct wio_map map = {0};
    for (uint64_t i = 0; i < 100000; i++) {
        assert_ok(wio_map_put(&map, i << 32, i), NULL);
    }
    assert_int_equal(map.hash.count, 100000);
    for (uint64_t i = 0; i < 100000; i++) {
        assert_int_equal(*wio_map_get(&map, i << 32), i);
    }
    assert_null(wio_map_get(&map, 1));
    wio_map_fini(&map);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_map_is_empty),
        cmocka_unit_test(extreme_keys),
        cmocka_unit_test(behaves_like_an_array),
        cmocka_unit_test(pairs_behave_like_an_array),
        cmocka_unit_test(entries_are_removed_in_a_walk),
        cmocka_unit_test(many_keys),
    };
    return WIO_RUN(tests);
}
