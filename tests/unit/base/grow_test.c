/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

static void makes_room_for_what_is_needed(void **state)
{
    (void)state;
    void *array = NULL;
    uint32_t capacity = 0;
    assert_int_equal(wio_make_room(&array, sizeof(uint64_t), &capacity, 0), WIO_OK);
    assert_null(array);
    for (uint32_t count = 0; count < 1000; count++) {
        assert_int_equal(wio_make_room(&array, sizeof(uint64_t), &capacity, count + 1), WIO_OK);
        assert_true(capacity > count);
        ((uint64_t *)array)[count] = count;
    }
    assert_int_equal(capacity, 1024);
    for (uint32_t i = 0; i < 1000; i++) {
        assert_int_equal(((uint64_t *)array)[i], i);
    }
    free(array);
}

static void zeroes_what_is_new(void **state)
{
    (void)state;
    void *array = NULL;
    uint32_t capacity = 0;
    for (uint32_t needed = 1; needed < 5000; needed *= 3) {
        uint32_t before = capacity;
        assert_int_equal(wio_grow(&array, 3, &capacity, needed), WIO_OK);
        const char *bytes = array;
        for (size_t i = 3 * (size_t)before; i < 3 * (size_t)capacity; i++) {
            assert_int_equal(bytes[i], 0);
        }
        memset(array, 'x', 3 * (size_t)capacity);
    }
    free(array);
}

/* Twice 2^31 has no 32 bits, and an array of such items no size. */
static void refuses_what_does_not_fit(void **state)
{
    (void)state;
    char here;
    void *array = &here;
    uint32_t capacity = UINT32_C(1) << 31;
    assert_int_equal(wio_make_room(&array, 1, &capacity, capacity + 1), WIO_ERR_NOMEM);
    assert_int_equal(capacity, UINT32_C(1) << 31);
    capacity = 0;
    void *none = NULL;
    assert_int_equal(wio_grow(&none, SIZE_MAX / 2, &capacity, 1), WIO_ERR_NOMEM);
    assert_null(none);
    assert_int_equal(capacity, 0);
    assert_ptr_equal(array, &here);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_room_for_what_is_needed),
        cmocka_unit_test(zeroes_what_is_new),
        cmocka_unit_test(refuses_what_does_not_fit),
    };
    return WIO_RUN(tests);
}
