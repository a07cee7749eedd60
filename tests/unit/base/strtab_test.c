/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>

#include <xxhash.h>

#include "base/map.h"

static void ids_are_dense_and_stable(void **state)
{
    (void)state;
    struct wio_strtab table = {0};
    for (uint32_t round = 0; round < 2; round++) {
        for (uint32_t i = 1; i <= 20000; i++) {
            char text[32];
            uint32_t id = 0;
            int bytes = snprintf(text, sizeof(text), "/dir/file-%u", i);
            assert_ok(wio_strtab_add(&table, text, (size_t)bytes, &id), NULL);
            assert_int_equal(id, i);
            assert_int_equal(wio_strtab_find(&table, text, (size_t)bytes), i);
            size_t got = 0;
            assert_string_equal(wio_strtab_get(&table, id, &got), text);
            assert_int_equal(got, bytes);
        }
    }
    assert_int_equal(table.count, 20000);
    wio_strtab_fini(&table);
}

static void the_empty_text_is_zero(void **state)
{
    (void)state;
    struct wio_strtab table = {0};
    uint32_t id = 9;
    size_t bytes = 9;
    assert_int_equal(wio_strtab_find(&table, "a", 1), 0);
    assert_ok(wio_strtab_add(&table, NULL, 0, &id), NULL);
    assert_int_equal(id, 0);
    assert_string_equal(wio_strtab_get(&table, 0, &bytes), "");
    assert_int_equal(bytes, 0);
    assert_string_equal(wio_strtab_get(&table, 5, NULL), "");
    assert_int_equal(table.count, 0);
    wio_strtab_fini(&table);
}

static void texts_may_hold_any_byte(void **state)
{
    (void)state;
    struct wio_strtab table = {0};
    uint32_t a = 0;
    uint32_t b = 0;
    size_t bytes = 0;
    assert_ok(wio_strtab_add(&table, "a\0b", 3, &a), NULL);
    assert_ok(wio_strtab_add(&table, "a\0c", 3, &b), NULL);
    assert_int_not_equal(a, b);
    assert_memory_equal(wio_strtab_get(&table, a, &bytes), "a\0b", 4);
    assert_int_equal(bytes, 3);
    assert_int_equal(wio_strtab_find(&table, "a", 1), 0);
    wio_strtab_fini(&table);
}

/* As if the hash of "new" were that of "old": both must be found. */
static void equal_hashes_do_not_mix_texts(void **state)
{
    (void)state;
    struct wio_strtab table = {0};
    uint32_t old = 0;
    uint32_t fresh = 0;
    assert_ok(wio_strtab_add(&table, "old", 3, &old), NULL);
    assert_ok(wio_map_put(&table.index, XXH3_64bits("new", 3), old), NULL);
    assert_int_equal(wio_strtab_find(&table, "new", 3), 0);
    assert_ok(wio_strtab_add(&table, "new", 3, &fresh), NULL);
    assert_int_equal(fresh, 2);
    assert_int_equal(wio_strtab_find(&table, "new", 3), 2);
    assert_int_equal(wio_strtab_find(&table, "old", 3), 1);
    wio_strtab_fini(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_are_dense_and_stable),
        cmocka_unit_test(the_empty_text_is_zero),
        cmocka_unit_test(texts_may_hold_any_byte),
        cmocka_unit_test(equal_hashes_do_not_mix_texts),
    };
    return WIO_RUN(tests);
}
