/* SPDX-License-Identifier: Apache-2.0 */

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "support/unit.h"

#include "capture/core/process.h"
#include "capture/mmap/mmap_table.h"

#define PAGE 4096u
#define BASE ((uintptr_t)0x100000)

static void add(uintptr_t address, size_t size, int64_t offset, uint32_t path)
{
    const struct cap_map map = {
        .address = address, .size = size, .offset = offset, .path = path, .kinds = CAP_MAP_FILE};
    cap_maps_add(&map);
}

static void assert_at(uintptr_t address, uintptr_t begin, size_t size, int64_t offset)
{
    struct cap_map map;
    assert_true(cap_maps_find(address, CAP_MAP_FILE, &map));
    assert_int_equal(map.address, begin);
    assert_int_equal(map.size, size);
    assert_int_equal(map.offset, offset);
}

static void assert_nothing_at(uintptr_t address)
{
    struct cap_map map;
    assert_false(cap_maps_find(address, CAP_MAP_FILE, &map));
}

static int clear(void **state)
{
    (void)state;
    cap_maps_remove(0, UINTPTR_MAX);
    return 0;
}

static void test_finds_first_and_last_byte(void **state)
{
    (void)state;
    add(BASE, 2 * PAGE, 0, 7);
    assert_at(BASE, BASE, 2 * PAGE, 0);
    assert_at(BASE + 2 * PAGE - 1, BASE, 2 * PAGE, 0);
    assert_nothing_at(BASE - 1);
    assert_nothing_at(BASE + 2 * PAGE);
}

static void test_a_hole_leaves_two_maps(void **state)
{
    (void)state;
    add(BASE, 4 * PAGE, 8 * PAGE, 7);
    cap_maps_remove(BASE + PAGE, PAGE);
    assert_at(BASE, BASE, PAGE, 8 * PAGE);
    assert_nothing_at(BASE + PAGE);
    assert_at(BASE + 2 * PAGE, BASE + 2 * PAGE, 2 * PAGE, 10 * PAGE);
}

static void test_one_unmap_takes_several(void **state)
{
    (void)state;
    add(BASE, PAGE, 0, 1);
    add(BASE + PAGE, PAGE, 0, 2);
    add(BASE + 2 * PAGE, 2 * PAGE, 0, 3);
    cap_maps_remove(BASE, 3 * PAGE);
    assert_nothing_at(BASE);
    assert_nothing_at(BASE + 2 * PAGE);
    assert_at(BASE + 3 * PAGE, BASE + 3 * PAGE, PAGE, PAGE);
}

static void test_the_first_of_several(void **state)
{
    struct cap_map map;
    (void)state;
    add(BASE + 4 * PAGE, PAGE, 0, 7);
    add(BASE + 2 * PAGE, PAGE, 0, 8);
    assert_true(cap_maps_first(BASE, 8 * PAGE, CAP_MAP_FILE, &map));
    assert_int_equal(map.path, 8);
    assert_true(cap_maps_first(BASE + 3 * PAGE, 8 * PAGE, CAP_MAP_FILE, &map));
    assert_int_equal(map.path, 7);
    assert_false(cap_maps_first(BASE, 2 * PAGE, CAP_MAP_FILE, &map));
    assert_false(cap_maps_first(BASE + 5 * PAGE, PAGE, CAP_MAP_FILE, &map));
}

static void test_places_are_used_again(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        add(BASE + (uintptr_t)i * PAGE, PAGE, 0, i);
        assert_at(BASE + (uintptr_t)i * PAGE, BASE + (uintptr_t)i * PAGE, PAGE, 0);
        cap_maps_remove(BASE + (uintptr_t)i * PAGE, PAGE);
    }
}

static void test_a_full_table_forgets_and_recovers(void **state)
{
    struct wio_ring_header header = {0};
    (void)state;
    cap_process.header = &header;
    const unsigned count = CAP_MAPS_MAX + 2000;
    const uintptr_t last = BASE + (count - 1) * (uintptr_t)PAGE;
    for (unsigned i = 0; i < count; i++) {
        add(BASE + (uintptr_t)i * PAGE, PAGE, 0, i);
    }
    cap_process.header = NULL;
    assert_int_equal(header.unseen[WIO_UNSEEN_MANY_MAPS], 2000);
    assert_at(BASE, BASE, PAGE, 0);
    assert_nothing_at(last);
    cap_maps_remove(BASE, count * (size_t)PAGE);
    add(last, PAGE, 0, 1);
    assert_at(last, last, PAGE, 0);
}

static void test_a_full_table_keeps_what_is_left_of_a_map(void **state)
{
    struct wio_ring_header header = {0};
    (void)state;
    for (unsigned i = 0; i < CAP_MAPS_MAX; i++) {
        add(BASE + 4 * i * (uintptr_t)PAGE, 3 * PAGE, 8 * PAGE, 7);
    }
    cap_process.header = &header;
    cap_maps_remove(BASE + 40 * PAGE, PAGE);
    cap_maps_remove(BASE + 80 * PAGE + 2 * PAGE, PAGE);
    assert_int_equal(header.unseen[WIO_UNSEEN_MANY_MAPS], 0);
    assert_nothing_at(BASE + 40 * PAGE);
    assert_at(BASE + 42 * PAGE, BASE + 41 * PAGE, 2 * PAGE, 9 * PAGE);
    assert_at(BASE + 81 * PAGE, BASE + 80 * PAGE, 2 * PAGE, 8 * PAGE);
    assert_nothing_at(BASE + 82 * PAGE);
    cap_maps_remove(BASE + 121 * PAGE, PAGE);
    cap_process.header = NULL;
    assert_int_equal(header.unseen[WIO_UNSEEN_MANY_MAPS], 1);
    assert_at(BASE + 120 * PAGE, BASE + 120 * PAGE, PAGE, 8 * PAGE);
}

/* ---- threads: each finds its own maps, whatever the others do ----------------------------------
 */

#define ROUNDS 4000000u

struct mapper {
    uintptr_t address;
    unsigned missed;
    unsigned left;
};

static void *map_and_unmap(void *argument)
{
    struct mapper *mapper = argument;
    struct cap_map map;
    for (unsigned i = 0; i < ROUNDS; i++) {
        add(mapper->address, PAGE, 0, 7);
        mapper->missed += !cap_maps_first(mapper->address, PAGE, CAP_MAP_FILE, &map);
        cap_maps_remove(mapper->address, PAGE);
        mapper->left += cap_maps_first(mapper->address, PAGE, CAP_MAP_FILE, &map);
    }
    return NULL;
}

static void test_threads_keep_their_maps(void **state)
{
    struct mapper mappers[] = {{.address = BASE}, {.address = BASE + 10 * PAGE}};
    pthread_t threads[2];
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, map_and_unmap, &mappers[i]), 0);
    }
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        assert_int_equal(mappers[i].missed, 0);
        assert_int_equal(mappers[i].left, 0);
    }
}

/* ---- threads that unmap parts of one map -------------------------------------------------------
 */

#define PARTS_ROUNDS 500u
/* So many that it takes a while to find room for the part behind. */
#define OTHER_MAPS 3000u

struct parts {
    atomic_uint arrived;
    unsigned left;
};

/* Both leave within nanoseconds, which a barrier that sleeps does not. */
static void meet(struct parts *parts, unsigned times)
{
    (void)atomic_fetch_add(&parts->arrived, 1);
    for (unsigned i = 1; atomic_load(&parts->arrived) < 2 * times; i++) {
        if (i % 10000 == 0) {
            (void)sched_yield();
        }
    }
}

static void *unmap_the_third(void *argument)
{
    struct parts *parts = argument;
    for (unsigned i = 0; i < PARTS_ROUNDS; i++) {
        meet(parts, 2 * i + 1);
        cap_maps_remove(BASE + 2 * PAGE, PAGE);
        meet(parts, 2 * i + 2);
    }
    return NULL;
}

static void test_threads_unmap_parts_of_one_map(void **state)
{
    struct parts parts = {0};
    pthread_t thread;
    struct cap_map map;
    (void)state;
    for (unsigned i = 0; i < OTHER_MAPS; i++) {
        add(BASE + (10 + i) * (uintptr_t)PAGE, PAGE, 0, 7);
    }
    assert_int_equal(pthread_create(&thread, NULL, unmap_the_third, &parts), 0);
    for (unsigned i = 0; i < PARTS_ROUNDS; i++) {
        add(BASE, 4 * PAGE, 0, 7);
        meet(&parts, 2 * i + 1);
        cap_maps_remove(BASE + PAGE, PAGE);
        meet(&parts, 2 * i + 2);
        parts.left += cap_maps_first(BASE + PAGE, 2 * PAGE, CAP_MAP_FILE, &map);
        cap_maps_remove(BASE, 4 * PAGE);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(parts.left, 0);
}

/* ---- a map whose front is cut off while another thread looks for its end -----------------------
 */

#define FRONT_PAGES 1000u

struct looker {
    atomic_uint stop;
    unsigned wrong;
};

static void *look_for_the_end(void *argument)
{
    struct looker *looker = argument;
    const uintptr_t last = BASE + FRONT_PAGES * (uintptr_t)PAGE;
    struct cap_map map;
    while (atomic_load(&looker->stop) == 0) {
        /* A cutting thread may be stopped in the middle of it, so look twice. */
        bool is_found =
            cap_maps_find(last, CAP_MAP_FILE, &map) || cap_maps_find(last, CAP_MAP_FILE, &map);
        bool is_right = is_found && map.offset == (int64_t)(map.address - BASE) &&
                        map.address + map.size == last + PAGE;
        looker->wrong += is_right ? 0 : 1;
    }
    return NULL;
}

static void test_the_end_of_a_map_is_found_while_its_front_is_cut(void **state)
{
    struct looker looker = {0};
    pthread_t thread;
    (void)state;
    add(BASE, (FRONT_PAGES + 1) * (size_t)PAGE, 0, 7);
    assert_int_equal(pthread_create(&thread, NULL, look_for_the_end, &looker), 0);
    for (unsigned i = 0; i < FRONT_PAGES; i++) {
        cap_maps_remove(BASE + i * (uintptr_t)PAGE, PAGE);
        (void)sched_yield();
    }
    atomic_store(&looker.stop, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(looker.wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_threads_keep_their_maps, clear), /* in a small table */
        cmocka_unit_test_teardown(test_threads_unmap_parts_of_one_map, clear),
        cmocka_unit_test_teardown(test_finds_first_and_last_byte, clear),
        cmocka_unit_test_teardown(test_a_hole_leaves_two_maps, clear),
        cmocka_unit_test_teardown(test_one_unmap_takes_several, clear),
        cmocka_unit_test_teardown(test_the_first_of_several, clear),
        cmocka_unit_test_teardown(test_places_are_used_again, clear),
        cmocka_unit_test_teardown(test_a_full_table_forgets_and_recovers, clear),
        cmocka_unit_test_teardown(test_a_full_table_keeps_what_is_left_of_a_map, clear),
        cmocka_unit_test_teardown(test_the_end_of_a_map_is_found_while_its_front_is_cut, clear),
    };
    return WIO_RUN(tests);
}
