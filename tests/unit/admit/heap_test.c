/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "admit/heap.h"

static void gives_the_smallest_first(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    struct wio_admit_heap heap;
    assert_int_equal(wio_admit_heap_init(&heap, &WIO_ALLOC_HEAP, COUNT), WIO_OK);
    uint64_t seed = 1;
    uint64_t keys[COUNT];
    for (uint32_t i = 0; i < COUNT; i++) {
        keys[i] = wio_test_random(&seed) % 50;
        wio_admit_heap_add(&heap, keys[i], i, i);
    }
    uint64_t major = 0;
    uint32_t minor = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        uint32_t item = wio_admit_heap_take(&heap);
        assert_true(keys[item] > major || (keys[item] == major && (i == 0 || item > minor)));
        major = keys[item];
        minor = item;
    }
    assert_int_equal(wio_admit_heap_take(&heap), WIO_NO_INDEX);
    wio_admit_heap_fini(&heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(gives_the_smallest_first)};
    return WIO_RUN(tests);
}
