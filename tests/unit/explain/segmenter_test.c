/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include "explain/compare/segmenter.h"
#include "ops/calls.h"

#define MIB (1024 * 1024)

struct clock {
    uint64_t t_ns;
    uint64_t step_ns;
};

static void add(struct wio_segmenter *segmenter, struct clock *clock, enum wio_op op, uint32_t file,
                int64_t bytes)
{
    struct wio_event event = {
        .op = (uint16_t)op, .t_ns = clock->t_ns, .dur_ns = clock->step_ns / 2, .result = bytes};

    clock->t_ns += clock->step_ns;
    assert_ok(wio_segmenter_add(segmenter, wio_account_kind(op), file, &event), NULL);
}

/* open, `count` operations, fsync, close */
static void add_stretch(struct wio_segmenter *segmenter, struct clock *clock, enum wio_op op,
                        uint32_t file, unsigned count)
{
    add(segmenter, clock, WIO_OP_open, file, 3);
    for (unsigned i = 0; i < count; i++) {
        add(segmenter, clock, op, file, MIB);
    }
    add(segmenter, clock, WIO_OP_fsync, file, 0);
    add(segmenter, clock, WIO_OP_close, file, 0);
}

static void nothing_has_no_phase(void **state)
{
    struct wio_segmenter segmenter = {0};

    (void)state;
    wio_segmenter_finish(&segmenter);
    assert_int_equal(segmenter.count, 0);
    wio_segmenter_fini(&segmenter);
}

static void write_then_read_back(void **state)
{
    struct wio_segmenter segmenter = {0};
    struct clock clock = {0, 1000};

    (void)state;
    add_stretch(&segmenter, &clock, WIO_OP_pwrite, 1, 100);
    add_stretch(&segmenter, &clock, WIO_OP_pread, 1, 100);
    wio_segmenter_finish(&segmenter);
    assert_int_equal(segmenter.count, 2);
    assert_int_equal(wio_phase_kind(&segmenter.phases[0]), WIO_PHASE_WRITE);
    assert_int_equal(wio_phase_kind(&segmenter.phases[1]), WIO_PHASE_READ);
    assert_int_equal(segmenter.phases[0].file, 1);
    assert_int_equal(segmenter.phases[0].tally.bytes, 100 * MIB);
    assert_int_equal(segmenter.phases[0].tally.count, 103); /* with its fsync and close */
    assert_int_equal(segmenter.phases[1].tally.count, 103);
    wio_segmenter_fini(&segmenter);
}

static void each_checkpoint_is_a_phase(void **state)
{
    struct wio_segmenter segmenter = {0};
    struct clock clock = {0, 1000};

    (void)state;
    for (uint32_t file = 1; file <= 5; file++) {
        add_stretch(&segmenter, &clock, WIO_OP_write, file, 20);
    }
    wio_segmenter_finish(&segmenter);
    assert_int_equal(segmenter.count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        assert_int_equal(segmenter.phases[i].file, i + 1);
        assert_int_equal(segmenter.phases[i].tally.bytes, 20 * MIB);
    }
    wio_segmenter_fini(&segmenter);
}

static void an_excursion_is_no_phase(void **state)
{
    struct wio_segmenter segmenter = {0};
    struct clock clock = {0, 1000};

    (void)state;
    add_stretch(&segmenter, &clock, WIO_OP_pwrite, 1, 100);
    add(&segmenter, &clock, WIO_OP_read, 2, 100); /* looks into its configuration */
    add_stretch(&segmenter, &clock, WIO_OP_pwrite, 1, 100);
    wio_segmenter_finish(&segmenter);
    assert_int_equal(segmenter.count, 1);
    assert_int_equal(wio_phase_kind(&segmenter.phases[0]), WIO_PHASE_WRITE);
    wio_segmenter_fini(&segmenter);
}

/* A log that is flushed after each record: no phase of its own for each. */
static void flushing_each_record_is_one_phase(void **state)
{
    struct wio_segmenter segmenter = {0};
    struct clock clock = {0, 1000};

    (void)state;
    for (unsigned i = 0; i < 10000; i++) {
        add(&segmenter, &clock, WIO_OP_write, 1, 100);
        add(&segmenter, &clock, WIO_OP_fsync, 1, 0);
    }
    assert_int_equal(segmenter.count, 1);
    wio_segmenter_finish(&segmenter);
    assert_int_equal(segmenter.phases[0].tally.count, 20000);
    wio_segmenter_fini(&segmenter);
}

static void a_copy_loop_is_one_phase_of_both(void **state)
{
    struct wio_segmenter segmenter = {0};
    struct clock clock = {0, 1000};

    (void)state;
    for (unsigned i = 0; i < 100000; i++) {
        add(&segmenter, &clock, WIO_OP_read, 1, 65536);
        add(&segmenter, &clock, WIO_OP_write, 2, 65536);
    }
    assert_true(segmenter.count <= 256);
    wio_segmenter_finish(&segmenter);
    assert_int_equal(segmenter.count, 1);
    assert_int_equal(wio_phase_kind(&segmenter.phases[0]), WIO_PHASE_BOTH);
    assert_int_equal(segmenter.phases[0].file, WIO_FILE_SEVERAL);
    assert_int_equal(segmenter.phases[0].tally.count, 200000);
    wio_segmenter_fini(&segmenter);
}

/* Many small operations, then a few large ones: both are phases. */
static void few_bytes_and_few_operations(void **state)
{
    struct wio_segmenter segmenter = {0};
    struct clock clock = {0, 1000};

    (void)state;
    for (unsigned i = 0; i < 3000; i++) {
        add(&segmenter, &clock, i % 3 == 0 ? WIO_OP_pwrite : WIO_OP_pread, 1, 32);
    }
    for (unsigned i = 0; i < 4; i++) {
        add(&segmenter, &clock, WIO_OP_open, 2, 3);
        add(&segmenter, &clock, WIO_OP_pwrite, 2, MIB);
    }
    wio_segmenter_finish(&segmenter);
    assert_int_equal(segmenter.count, 2);
    assert_int_equal(wio_phase_kind(&segmenter.phases[0]), WIO_PHASE_BOTH);
    assert_int_equal(wio_phase_kind(&segmenter.phases[1]), WIO_PHASE_WRITE);
    assert_int_equal(segmenter.phases[1].file, 2);
    wio_segmenter_fini(&segmenter);
}

static void a_storm_of_stats_is_metadata(void **state)
{
    struct wio_segmenter segmenter = {0};
    struct clock clock = {0, 1000};

    (void)state;
    for (uint32_t i = 0; i < 1000; i++) {
        add(&segmenter, &clock, WIO_OP_stat, 1 + i, 0);
    }
    add_stretch(&segmenter, &clock, WIO_OP_write, 1, 10);
    wio_segmenter_finish(&segmenter);
    assert_int_equal(segmenter.count, 2);
    assert_int_equal(wio_phase_kind(&segmenter.phases[0]), WIO_PHASE_META);
    assert_int_equal(wio_phase_kind(&segmenter.phases[1]), WIO_PHASE_WRITE);
    wio_segmenter_fini(&segmenter);
}

/* Runs of random lengths, kinds and files, at a speed of `step_ns`. */
static void add_random(struct wio_segmenter *segmenter, uint64_t seed, uint64_t step_ns,
                       uint64_t *events_out)
{
    static const enum wio_op ops[] = {WIO_OP_read, WIO_OP_write, WIO_OP_stat, WIO_OP_pwrite};
    struct clock clock = {0, step_ns};

    *events_out = 0;
    for (unsigned run = 0; run < 2000; run++) {
        enum wio_op op = ops[wio_test_random(&seed) % 4];
        uint32_t file = 1 + (uint32_t)(wio_test_random(&seed) % 7);
        unsigned length = 1 + (unsigned)(wio_test_random(&seed) % 40);
        for (unsigned i = 0; i < length; i++) {
            add(segmenter, &clock, op, file, (int64_t)(wio_test_random(&seed) % 100000));
            clock.t_ns += wio_test_random(&seed) % 3 * step_ns * 100; /* pauses */
        }
        *events_out += length;
    }
}

static void nothing_is_lost_and_speed_does_not_matter(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct wio_segmenter slow = {0};
        struct wio_segmenter fast = {0};
        uint64_t events;
        uint64_t seen = 0;

        add_random(&slow, seed, 100000, &events);
        add_random(&fast, seed, 1, &events);
        wio_segmenter_finish(&slow);
        wio_segmenter_finish(&fast);
        assert_int_equal(slow.count, fast.count);
        assert_in_range(slow.count, 1, WIO_PHASES_PER_RANK);
        for (uint32_t i = 0; i < slow.count; i++) {
            assert_int_equal(slow.phases[i].tally.count, fast.phases[i].tally.count);
            assert_int_equal(slow.phases[i].tally.bytes, fast.phases[i].tally.bytes);
            seen += slow.phases[i].tally.count;
        }
        assert_int_equal(seen, events);
        wio_segmenter_fini(&slow);
        wio_segmenter_fini(&fast);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_has_no_phase),
        cmocka_unit_test(write_then_read_back),
        cmocka_unit_test(each_checkpoint_is_a_phase),
        cmocka_unit_test(an_excursion_is_no_phase),
        cmocka_unit_test(flushing_each_record_is_one_phase),
        cmocka_unit_test(a_copy_loop_is_one_phase_of_both),
        cmocka_unit_test(few_bytes_and_few_operations),
        cmocka_unit_test(a_storm_of_stats_is_metadata),
        cmocka_unit_test(nothing_is_lost_and_speed_does_not_matter),
    };
    return WIO_RUN(tests);
}
