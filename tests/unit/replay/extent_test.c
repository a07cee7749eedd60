/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdlib.h>

#include "replay/initial/extent.h"

static void add(struct rp_extents *extents, uint64_t start, uint64_t end)
{
    assert_int_equal(rp_extents_add(extents, start, end), WIO_OK);
}

static void joins_what_touches(void **state)
{
    struct rp_extents extents = {0};
    (void)state;
    add(&extents, 100, 200);
    add(&extents, 0, 50);
    add(&extents, 200, 300);
    add(&extents, 40, 60);
    add(&extents, 7, 7);
    rp_extents_finish(&extents, 1000);
    assert_int_equal(extents.count, 2);
    assert_int_equal(extents.items[0].start, 0);
    assert_int_equal(extents.items[0].end, 60);
    assert_int_equal(extents.items[1].start, 100);
    assert_int_equal(extents.items[1].end, 300);
    assert_int_equal(rp_extents_bytes(&extents), 260);
    rp_extents_fini(&extents);
}

static void ends_at_the_size(void **state)
{
    struct rp_extents extents = {0};
    (void)state;
    add(&extents, 0, 100);
    add(&extents, 500, 600);
    rp_extents_finish(&extents, 50);
    assert_int_equal(extents.count, 1);
    assert_int_equal(rp_extents_bytes(&extents), 50);
    rp_extents_finish(&extents, 0);
    assert_int_equal(extents.count, 0);
    rp_extents_fini(&extents);
}

/* Against a plain bit map: nothing that was put in is lost, whatever the order. */
static void holds_random_ranges(void **state)
{
    enum { BYTES = 4096 };
    static uint8_t map[BYTES];
    struct rp_extents extents = {0};
    uint64_t seed = 7;
    (void)state;
    for (int i = 0; i < 300; i++) {
        uint64_t start = wio_test_random(&seed) % BYTES;
        uint64_t end = start + wio_test_random(&seed) % 40;
        end = end > BYTES ? BYTES : end;
        add(&extents, start, end);
        for (uint64_t at = start; at < end; at++) {
            map[at] = 1;
        }
    }
    rp_extents_finish(&extents, BYTES);
    uint64_t sum = 0;
    for (int i = 0; i < BYTES; i++) {
        sum += map[i];
    }
    assert_int_equal(rp_extents_bytes(&extents), sum);
    for (uint32_t i = 1; i < extents.count; i++) {
        assert_true(extents.items[i].start > extents.items[i - 1].end);
    }
    rp_extents_fini(&extents);
}

/* A million scattered ranges: bounded memory, and still none is lost. */
static void stays_small(void **state)
{
    struct rp_extents extents = {0};
    uint64_t seed = 1;
    (void)state;
    for (int i = 0; i < 1000000; i++) {
        uint64_t start = wio_test_random(&seed) % (UINT64_C(1) << 40);
        add(&extents, start, start + 1);
        assert_true(extents.capacity <= RP_EXTENTS_MAX);
    }
    rp_extents_finish(&extents, UINT64_MAX);
    seed = 1;
    for (int i = 0; i < 1000; i++) {
        uint64_t start = wio_test_random(&seed) % (UINT64_C(1) << 40);
        uint32_t at = 0;
        while (at < extents.count && extents.items[at].end <= start) {
            at++;
        }
        assert_true(at < extents.count && extents.items[at].start <= start);
    }
    rp_extents_fini(&extents);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joins_what_touches),
        cmocka_unit_test(ends_at_the_size),
        cmocka_unit_test(holds_random_ranges),
        cmocka_unit_test(stays_small),
    };
    return WIO_RUN(tests);
}
