/* SPDX-License-Identifier: Apache-2.0 */
/* Random layouts and ranges against the place of each byte. */
#include "support/unit.h"

#include <string.h>

#include "store/client/layout.h"

static struct wio_layout draw(uint64_t *seed)
{
    return (struct wio_layout){.segments = 1 + (uint32_t)(wio_test_random(seed) % 7),
                               .targets = 1 + (uint32_t)(wio_test_random(seed) % 5),
                               .stripe_unit = 1 + wio_test_random(seed) % 9};
}

/* The formula of the model, byte by byte. */
static uint64_t place(const struct wio_layout *layout, uint64_t offset, uint32_t *segment)
{
    uint64_t unit = offset / layout->stripe_unit;
    *segment = (uint32_t)(unit % layout->segments);
    return offset / (layout->stripe_unit * layout->segments) * layout->stripe_unit +
           offset % layout->stripe_unit;
}

static void a_byte_is_where_the_model_says(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 2000; i++) {
        struct wio_layout layout = draw(&seed);
        uint64_t offset = wio_test_random(&seed) % 500;
        uint32_t segment = 0;
        uint64_t wanted = place(&layout, offset, &segment);
        uint64_t got = 0;
        assert_int_equal(wio_layout_locate(&layout, offset, &got), segment);
        assert_int_equal(got, wanted);
        assert_int_equal(wio_layout_linear(&layout, segment, got), offset);
        assert_int_equal(wio_layout_target(&layout, segment), segment % layout.targets);
    }
}

/* The runs of all pieces are the range, each byte once and in its place. */
static void pieces_cover_the_range(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int i = 0; i < 2000; i++) {
        struct wio_layout layout = draw(&seed);
        uint64_t offset = wio_test_random(&seed) % 300;
        uint64_t size = wio_test_random(&seed) % 100;
        uint8_t covered[100] = {0};
        for (uint32_t s = 0; s < layout.segments; s++) {
            struct wio_store_piece piece = wio_layout_piece(&layout, offset, size, s);
            struct wio_store_run run = {0, 0, 0};
            uint64_t in_piece = 0;
            while (wio_layout_next_run(&layout, offset, size, &piece, &run)) {
                assert_int_equal(run.in_piece, in_piece);
                in_piece += run.size;
                for (uint64_t b = 0; b < run.size; b++) {
                    uint32_t segment = 0;
                    uint64_t at = place(&layout, offset + run.in_range + b, &segment);
                    assert_int_equal(segment, s);
                    assert_int_equal(at, piece.offset + run.in_piece + b);
                    assert_true(run.in_range + b < size);
                    covered[run.in_range + b]++;
                }
            }
            assert_int_equal(in_piece, piece.size);
        }
        for (uint64_t b = 0; b < size; b++) {
            assert_int_equal(covered[b], 1);
        }
    }
}

static void sizes_go_both_ways(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int i = 0; i < 2000; i++) {
        struct wio_layout layout = draw(&seed);
        uint64_t size = wio_test_random(&seed) % 400;
        uint64_t greatest = 0;
        uint64_t sum = 0;
        for (uint32_t s = 0; s < layout.segments; s++) {
            uint64_t bytes = wio_layout_segment_size(&layout, size, s);
            uint64_t linear = wio_layout_size(&layout, s, bytes);
            greatest = linear > greatest ? linear : greatest;
            sum += bytes;
        }
        assert_int_equal(sum, size);
        assert_int_equal(greatest, size);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_byte_is_where_the_model_says),
        cmocka_unit_test(pieces_cover_the_range),
        cmocka_unit_test(sizes_go_both_ways),
    };
    return WIO_RUN(tests);
}
