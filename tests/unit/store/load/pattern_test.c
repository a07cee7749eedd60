/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "store/load/pattern.h"

static struct wio_load_pattern pattern_of(enum wio_load_order order, uint32_t objects,
                                          uint32_t each)
{
    return (struct wio_load_pattern){.order = order, .objects = objects, .each = each};
}

/* No two clients meet, and each uses all of its own. */
static void disjoint_clients_do_not_meet(void **state)
{
    (void)state;
    const struct wio_load_pattern pattern = pattern_of(WIO_LOAD_DISJOINT, 6, 2);
    unsigned used[4][24] = {{0}};
    uint64_t random = 1;
    for (uint32_t client = 0; client < 4; client++) {
        for (uint64_t number = 0; number < 9; number++) {
            struct wio_load_access accesses[WIO_LOAD_EACH_MAX];
            wio_load_choose(&pattern, client, number, &random, accesses);
            for (unsigned i = 0; i < 2; i++) {
                assert_true(accesses[i].object < wio_load_objects(&pattern, 4));
                used[client][accesses[i].object]++;
            }
        }
    }
    for (unsigned object = 0; object < 24; object++) {
        unsigned users = 0;
        for (unsigned client = 0; client < 4; client++) {
            users += used[client][object] > 0;
        }
        assert_int_equal(users, 1);
    }
}

static void random_transactions_have_different_objects(void **state)
{
    (void)state;
    const struct wio_load_pattern pattern = pattern_of(WIO_LOAD_RANDOM, 5, 5);
    unsigned used[5] = {0};
    uint64_t random = 9;
    for (uint64_t number = 0; number < 50; number++) {
        struct wio_load_access accesses[WIO_LOAD_EACH_MAX];
        unsigned seen = 0;
        wio_load_choose(&pattern, 0, number, &random, accesses);
        for (unsigned i = 0; i < 5; i++) {
            seen |= 1u << accesses[i].object;
        }
        assert_int_equal(seen, 31);
        used[accesses[0].object]++;
    }
    for (unsigned i = 0; i < 5; i++) {
        assert_true(used[i] > 0);
    }
}

static void opposite_clients_go_the_other_way(void **state)
{
    (void)state;
    const struct wio_load_pattern opposite = pattern_of(WIO_LOAD_OPPOSITE, 3, 3);
    const struct wio_load_pattern same = pattern_of(WIO_LOAD_SAME, 3, 3);
    struct wio_load_access accesses[WIO_LOAD_EACH_MAX];
    uint64_t random = 0;
    for (uint32_t client = 0; client < 2; client++) {
        wio_load_choose(&opposite, client, 0, &random, accesses);
        assert_int_equal(accesses[0].object, client == 0 ? 0 : 2);
        assert_int_equal(accesses[2].object, client == 0 ? 2 : 0);
        wio_load_choose(&same, client, 0, &random, accesses);
        assert_int_equal(accesses[0].object, 0);
        assert_int_equal(accesses[2].object, 2);
    }
    assert_int_equal(wio_load_objects(&same, 2), 3);
}

static void reads_are_the_share_that_was_asked_for(void **state)
{
    (void)state;
    static const uint32_t shares[] = {0, 30, 100};
    struct wio_load_pattern pattern = pattern_of(WIO_LOAD_RANDOM, 100, 1);
    uint64_t random = 4;
    for (unsigned s = 0; s < 3; s++) {
        unsigned reads = 0;
        pattern.reads = shares[s];
        for (uint64_t number = 0; number < 2000; number++) {
            struct wio_load_access accesses[WIO_LOAD_EACH_MAX];
            wio_load_choose(&pattern, 0, number, &random, accesses);
            reads += accesses[0].is_read;
        }
        assert_in_range(reads, shares[s] == 0 ? 0 : shares[s] * 20 - 150,
                        shares[s] == 0 ? 0 : shares[s] * 20 + 150);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disjoint_clients_do_not_meet),
        cmocka_unit_test(random_transactions_have_different_objects),
        cmocka_unit_test(opposite_clients_go_the_other_way),
        cmocka_unit_test(reads_are_the_share_that_was_asked_for),
    };
    return WIO_RUN(tests);
}
