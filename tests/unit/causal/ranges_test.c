/* SPDX-License-Identifier: Apache-2.0 */
/* Random locks on ranges of a small file against what each of its bytes says. */
#include "support/stingy.h"
#include "support/unit.h"

#include <limits.h>
#include <string.h>

#include "causal/match/ranges.h"

#define BYTES 32u /* the last one stands for all behind it */
#define THREADS 4u

/* Of each byte: 1 + operation of the last exclusive release, and of the shared ones since. */
struct byte {
    uint64_t last;
    uint32_t owner;
    uint64_t shared[THREADS];
};

struct found {
    bool of[THREADS][1000];
};

static enum wio_status note(void *context, struct wio_point release)
{
    struct found *found = context;
    found->of[release.thread][release.op] = true;
    return WIO_OK;
}

static void release_bytes(struct byte *bytes, struct wio_range range, struct wio_point at,
                          bool shared)
{
    for (uint64_t b = range.from; b < range.to && b < BYTES; b++) {
        if (shared) {
            bytes[b].shared[at.thread] = at.op + 1;
        } else {
            bytes[b] = (struct byte){.last = at.op + 1, .owner = at.thread};
        }
    }
}

static void find_bytes(const struct byte *bytes, struct wio_range range, bool shared,
                       struct found *found)
{
    for (uint64_t b = range.from; b < range.to && b < BYTES; b++) {
        if (bytes[b].last > 0) {
            found->of[bytes[b].owner][bytes[b].last - 1] = true;
        }
        for (uint32_t t = 0; !shared && t < THREADS; t++) {
            if (bytes[b].shared[t] > 0) {
                found->of[t][bytes[b].shared[t] - 1] = true;
            }
        }
    }
}

static struct wio_range draw_range(uint64_t *seed)
{
    uint64_t from = wio_test_random(seed) % 24;
    uint64_t to = from + wio_test_random(seed) % 6;
    return (struct wio_range){from, wio_test_random(seed) % 8 == 0 ? UINT64_MAX : to};
}

static void pieces_say_what_bytes_say(void **state)
{
    (void)state;
    static struct found expected;
    static struct found found;
    uint64_t seed = 4;
    struct wio_alloc heap = WIO_ALLOC_HEAP;
    for (unsigned round = 0; round < 50; round++) {
        struct byte bytes[BYTES] = {0};
        struct wio_ranges *ranges = NULL;
        assert_int_equal(wio_ranges_create(&heap, &ranges), WIO_OK);
        for (uint64_t op = 0; op < 200; op++) {
            struct wio_range range = draw_range(&seed);
            struct wio_point at = {op, (uint32_t)(wio_test_random(&seed) % THREADS)};
            bool shared = wio_test_random(&seed) % 2 == 0;
            memset(&expected, 0, sizeof(expected));
            memset(&found, 0, sizeof(found));
            find_bytes(bytes, range, shared, &expected);
            assert_int_equal(wio_ranges_find(ranges, range, shared, note, &found), WIO_OK);
            assert_memory_equal(&found, &expected, sizeof(found));
            release_bytes(bytes, range, at, shared);
            assert_int_equal(wio_ranges_release(ranges, range, at, shared), WIO_OK);
        }
        wio_ranges_destroy(ranges);
    }
}

/* Two threads read here and there, then everything: one piece with two readers is left. */
static void pieces_that_are_alike_are_one(void **state)
{
    (void)state;
    uint64_t seed = 9;
    struct wio_stingy stingy = {.left = UINT_MAX};
    const struct wio_alloc alloc = wio_stingy_alloc(&stingy);
    struct wio_ranges *ranges = NULL;
    assert_int_equal(wio_ranges_create(&alloc, &ranges), WIO_OK);
    for (uint64_t op = 0; op < 200; op++) {
        struct wio_point at = {op, (uint32_t)op % 2};
        assert_int_equal(wio_ranges_release(ranges, draw_range(&seed), at, true), WIO_OK);
    }
    assert_true(stingy.out > 8);
    for (uint32_t thread = 0; thread < 2; thread++) {
        struct wio_point at = {200, thread};
        assert_int_equal(wio_ranges_release(ranges, (struct wio_range){0, UINT64_MAX}, at, true),
                         WIO_OK);
    }
    assert_int_equal(stingy.out, 4);
    wio_ranges_destroy(ranges);
}

/* Each request for memory is refused in turn. */
static void short_memory_is_survived(void **state)
{
    (void)state;
    enum wio_status status = WIO_ERR_NOMEM;
    for (unsigned n = 0; status != WIO_OK; n++) {
        struct wio_stingy stingy = {.left = n};
        const struct wio_alloc alloc = wio_stingy_alloc(&stingy);
        struct wio_ranges *ranges = NULL;
        uint64_t seed = 7;
        status = wio_ranges_create(&alloc, &ranges);
        for (uint64_t op = 0; op < 20 && status == WIO_OK; op++) {
            status = wio_ranges_release(ranges, draw_range(&seed), (struct wio_point){op, 1},
                                        op % 3 != 0);
        }
        assert_true(status == WIO_OK || status == WIO_ERR_NOMEM);
        wio_ranges_destroy(ranges);
        assert_int_equal(stingy.out, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_say_what_bytes_say),
        cmocka_unit_test(pieces_that_are_alike_are_one),
        cmocka_unit_test(short_memory_is_survived),
    };
    return WIO_RUN(tests);
}
