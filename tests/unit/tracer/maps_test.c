/* SPDX-License-Identifier: Apache-2.0 */
/* The table of maps beside an array with a word for each page. */
#include "support/unit.h"

#include <string.h>

#include "tracer/maps.h"

#define PAGES 64
#define PAGE 4096u

/* Of which map a page is a part, and of which page of the file; 0 = none. */
struct page {
    uint32_t path;
    int64_t offset;
};

static void check_all(const struct tracer_maps *maps, const struct page *pages)
{
    for (uint64_t i = 0; i < PAGES; i++) {
        const struct tracer_map *map = tracer_maps_first(maps, i * PAGE, PAGE);
        assert_int_equal(map != NULL ? map->path : 0, pages[i].path);
        if (map != NULL) {
            assert_int_equal(map->offset + (int64_t)(i * PAGE - map->address), pages[i].offset);
        }
    }
}

static void random_changes(void **state)
{
    uint64_t seed = 7;
    struct page pages[PAGES] = {0};
    struct tracer_maps maps = {0};
    (void)state;
    for (uint32_t round = 1; round <= 3000; round++) {
        const uint64_t first = wio_test_random(&seed) % PAGES;
        const uint64_t count = 1 + wio_test_random(&seed) % (PAGES - first);
        const bool is_new = wio_test_random(&seed) % 2 == 0;
        if (is_new) {
            const struct tracer_map map = {.address = first * PAGE,
                                           .size = count * PAGE,
                                           .origin = first * PAGE,
                                           .offset = round,
                                           .path = round};
            tracer_maps_add(&maps, &map);
        } else {
            tracer_maps_remove(&maps, first * PAGE, count * PAGE);
        }
        for (uint64_t i = 0; i < count; i++) {
            pages[first + i] =
                is_new ? (struct page){round, round + (int64_t)(i * PAGE)} : (struct page){0, 0};
        }
        check_all(&maps, pages);
    }
    struct tracer_maps copy = {0};
    tracer_maps_copy(&copy, &maps);
    check_all(&copy, pages);
    tracer_maps_fini(&copy);
    tracer_maps_fini(&maps);
}

static void ends_of_the_address_space(void **state)
{
    struct tracer_maps maps = {0};
    const struct tracer_map map = {.address = PAGE, .size = PAGE, .path = 1};
    (void)state;
    tracer_maps_add(&maps, &map);
    tracer_maps_remove(&maps, UINT64_MAX, PAGE);
    tracer_maps_remove(&maps, 0, UINT64_MAX);
    assert_null(tracer_maps_first(&maps, 0, UINT64_MAX));
    assert_null(tracer_maps_first(&maps, UINT64_MAX, 2));
    tracer_maps_fini(&maps);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_changes),
                                       cmocka_unit_test(ends_of_the_address_space)};
    return WIO_RUN(tests);
}
