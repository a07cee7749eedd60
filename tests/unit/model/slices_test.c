/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A limit of the device's rate that counts by slices of 0.1 s, here of 10 MiB each. Which writes
 * wait, and until when, is what Linux 6.18 does on ext4 behind a limit of 100 MiB/s, traced.
 */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>

#include "machine.h"

#define SLICE 0.1
#define COMMIT_BLOCKS 5
#define PASSES_S 0.8e-3 /* a MiB that does not wait */
#define WAITED 0.02     /* s: less is no wait */
#define WRITES_MOST 64

static struct wio_model_params sliced(void)
{
    struct wio_model_params params = machine();
    params.bw_dev = 100 * MIB;
    params.sc_sw = params.sc_w = params.c_sk = 0;
    params.bw_ramdisk = params.bw_mem = 1e15;
    params.bw_burst = 1e12;
    params.burst_size = 10 * MIB;
    params.slice = SLICE;
    return params;
}

static struct wio_model_op sync_of(uint64_t file)
{
    return (struct wio_model_op){.file = file, .method = WIO_MODEL_FSYNC};
}

/* What one after the other takes, over a file that is there and after a rest; each takes PASSES_S
 * a MiB beside its waits. */
static void write_all(enum wio_model_method method, uint64_t size, size_t count,
                      double costs_s[WRITES_MOST])
{
    struct wio_model_params params = sliced();
    params.commit_bytes = COMMIT_BLOCKS * 4096;
    params.direct_table = params.direct_nosync_table = params.sync_table =
        (struct wio_model_table){.count = 2, .points = {{4096, 3e-6}, {MIB, PASSES_S}}};
    struct wio_model *model = create(&params);
    struct wio_model_op op = {.size = size, .method = method, .delay_s = 1};
    (void)step(model, (struct wio_model_op){.size = size * count});
    (void)step(model, sync_of(0));
    for (size_t i = 0; i < count; i++) {
        op.offset = i * size;
        costs_s[i] = step(model, op).cost_s;
        op.delay_s = 0;
    }
    wio_model_destroy(model);
}

/* The numbers of those that wait. */
static void assert_waits(enum wio_model_method method, uint64_t size, const char *expected)
{
    double costs_s[WRITES_MOST];
    char text[256] = "";
    size_t count = 64 * MIB_BYTES / size;
    write_all(method, size, count, costs_s);
    for (size_t i = 0; i < count; i++) {
        if (costs_s[i] > WAITED) {
            (void)snprintf(text + strlen(text), sizeof(text) - strlen(text), " %zu", i);
        }
    }
    assert_string_equal(text, expected);
}

/* Ten of 1 MiB fill a slice to the last byte. With O_SYNC a new time stamp is committed besides. */
static void the_last_byte_of_a_slice_counts(void **state)
{
    (void)state;
    assert_waits(WIO_MODEL_DIRECT_NOSYNC, MIB_BYTES, " 10 20 30 40 50 60");
    assert_waits(WIO_MODEL_DIRECT, MIB_BYTES, " 9 19 29 39 49 59");
    assert_waits(WIO_MODEL_SYNC, MIB_BYTES, " 9 19 29 39 49 59");
}

/* `first`, an O_SYNC write in the same tick, and what is left of 10 MiB: what the last one takes.
 */
static double last_of_a_slice(struct wio_model_op first, struct wio_model_op second)
{
    struct wio_model_params params = sliced();
    params.commit_bytes = COMMIT_BLOCKS * 4096;
    struct wio_model *model = create(&params);
    (void)step(model, (struct wio_model_op){.size = 20 * MIB_BYTES});
    (void)step(model, sync_of(0));
    first.delay_s = 2.001 - wio_model_time(model);
    (void)step(model, first);
    second.method = WIO_MODEL_SYNC;
    (void)step(model, second);
    const struct wio_model_op last = {.offset = 10 * MIB_BYTES,
                                      .size = 10 * MIB_BYTES - second.size,
                                      .method = WIO_MODEL_DIRECT_NOSYNC};
    double cost_s = step(model, last).cost_s;
    wio_model_destroy(model);
    return cost_s;
}

/* It commits the time of a write before it, too; one of nothing has none, and O_DSYNC waits for
 * none. */
static void a_synchronous_write_commits_what_is_new(void **state)
{
    (void)state;
    const struct wio_model_op written = {.size = 4096};
    const struct wio_model_op nothing = {.method = WIO_MODEL_FFLUSH};
    const struct wio_model_op whole = {.size = MIB_BYTES};
    const struct wio_model_op data = {.size = MIB_BYTES, .is_data = true};
    assert_true(last_of_a_slice(nothing, whole) > WAITED);
    assert_true(last_of_a_slice(written, whole) > WAITED);
    assert_true(last_of_a_slice(nothing, data) < WAITED);
    assert_true(last_of_a_slice(written, data) < WAITED);
    assert_true(last_of_a_slice(nothing, nothing) < WAITED);
}

static void requests_that_do_not_fit_leave_their_room(void **state)
{
    (void)state;
    assert_waits(WIO_MODEL_DIRECT_NOSYNC, 4 * MIB_BYTES, " 2 5 7 10 12 15");
    assert_waits(WIO_MODEL_DIRECT, 4 * MIB_BYTES, " 2 4 7 9 12 14");
    assert_waits(WIO_MODEL_SYNC, 4 * MIB_BYTES, " 2 4 7 9 12 14");
}

/* A synchronous write is one request, which waits until all of it is paid for; a direct one has
 * requests of 1 MiB, of which only one waits for each slice. */
static void requests_wait_until_they_are_paid_for(void **state)
{
    (void)state;
    double costs_s[WRITES_MOST];
    double end_s = 0;
    static const double direct_ends_s[] = {0.11, 0.31, 0.42, 0.61};
    write_all(WIO_MODEL_SYNC, 16 * MIB_BYTES, 4, costs_s);
    assert_near(costs_s[0], 0.16 + 16 * PASSES_S, 0.001);
    for (size_t i = 1; i < 4; i++) {
        assert_near(costs_s[i], 0.16, 0.001);
    }
    write_all(WIO_MODEL_DIRECT, 16 * MIB_BYTES, 4, costs_s);
    for (size_t i = 0; i < 4; i++) {
        end_s += costs_s[i];
        assert_near(end_s, direct_ends_s[i], 0.016); /* ticks, and pages that adjoin by chance */
    }
}

/* New blocks are given in requests of 8 MiB: of 18 the second one waits, until 0.16 s, when the
 * rest has room. Over old ones it is one. */
static void new_blocks_have_requests_of_their_own(void **state)
{
    (void)state;
    struct wio_model_params params = sliced();
    struct wio_model *model = create(&params);
    struct wio_model_op op = {.size = 18 * MIB_BYTES, .method = WIO_MODEL_SYNC};
    assert_near(step(model, op).cost_s, 0.16, 1e-4);
    op.delay_s = 5;
    assert_near(step(model, op).cost_s, 0.18, 1e-4);
    wio_model_destroy(model);
}

/* What the device writes in a slice passes at once, the first that does not fit when it is paid
 * for, and with it what fits then. */
static void a_limit_passes_slices(void **state)
{
    (void)state;
    struct wio_model_params params = sliced();
    struct wio_model *model = create(&params);
    for (uint64_t n = 0; n < 42; n++) {
        (void)step(model, (struct wio_model_op){.offset = n * MIB_BYTES, .size = MIB_BYTES});
        (void)step(model, sync_of(0));
        uint64_t full = n / 10;
        assert_near(wio_model_time(model), full == 0 ? 0 : SLICE * (double)full + 0.01, 1e-3);
    }
    wio_model_destroy(model);
}

/* The journal does not wait, others wait for what it wrote: the 41st MiB until 241 MiB are paid
 * for, and with it the next one, whose 247th finds room. */
static void the_journal_passes_in_front(void **state)
{
    (void)state;
    struct wio_model_params params = sliced();
    params.commit_bytes = 5 * MIB;
    struct wio_model *model = create(&params);
    for (uint64_t n = 0; n < 42; n++) {
        (void)step(model, (struct wio_model_op){.offset = n * MIB_BYTES, .size = MIB_BYTES});
        (void)step(model, sync_of(0));
    }
    assert_near(wio_model_time(model), 2.41, 1e-3);
    wio_model_destroy(model);
}

/* However fast writes past memory are measured to be. */
static void tables_do_not_lift_a_limit(void **state)
{
    (void)state;
    for (int is_direct = 0; is_direct <= 1; is_direct++) {
        double costs_s[WRITES_MOST];
        double sum_s = 0;
        write_all(is_direct ? WIO_MODEL_DIRECT : WIO_MODEL_SYNC, MIB_BYTES, 64, costs_s);
        for (size_t i = 0; i < 64; i++) {
            sum_s += costs_s[i];
        }
        assert_near(costs_s[0], PASSES_S, 1e-9);
        assert_near(sum_s, 0.605, 0.01);
    }
}

/* A device that rests has a slice, and no more: what was left over is lost. */
static void rests_bring_one_slice(void **state)
{
    (void)state;
    struct wio_model_params params = sliced();
    struct wio_model *model = create(&params);
    struct wio_model_op op = {.size = 10 * MIB_BYTES};
    for (int i = 0; i < 3; i++) {
        op.delay_s = i > 0 ? 5 : 0;
        (void)step(model, op);
        assert_near(step(model, sync_of(0)).cost_s, 0, 1e-3);
        op.delay_s = 0;
        (void)step(model, op);
        assert_near(step(model, sync_of(0)).cost_s, 0.2, 1e-3); /* one request */
    }
    wio_model_destroy(model);
}

/* What the journal owes is not forgotten before it is paid: 30 MiB at 100 MiB/s, however long it
 * rests below that. */
static void debts_outlast_short_rests(void **state)
{
    (void)state;
    struct wio_model_params params = sliced();
    params.commit_bytes = 30 * MIB;
    struct wio_model *model = create(&params);
    for (uint64_t n = 0; n < 20; n++) {
        (void)step(model, (struct wio_model_op){.offset = n * 4096, .size = 4096, .delay_s = 0.25});
        (void)step(model, sync_of(0));
    }
    assert_near(wio_model_time(model) - 0.25, 19 * 0.3, 0.11);
    wio_model_destroy(model);
}

/* Of which no request could tell. */
static void slices_of_no_length_are_none(void **state)
{
    (void)state;
    struct wio_model_params params = sliced();
    params.commit_bytes = MIB;
    params.sync_table = params.append_table =
        (struct wio_model_table){.count = 2, .points = {{4096, 3e-6}, {MIB, PASSES_S}}};
    params.slice = 0;
    struct wio_model *none = create(&params);
    params.slice = 1e-7;
    struct wio_model *shortest = create(&params);
    struct wio_model_op op = {.size = MIB_BYTES, .method = WIO_MODEL_SYNC};
    for (uint64_t i = 0; i < 40; i++) {
        op.offset = i % 20 * MIB_BYTES;
        assert_near(step(shortest, op).cost_s, step(none, op).cost_s, 0);
        assert_near(step(shortest, sync_of(0)).cost_s, step(none, sync_of(0)).cost_s, 0);
    }
    wio_model_destroy(none);
    wio_model_destroy(shortest);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_last_byte_of_a_slice_counts),
        cmocka_unit_test(a_synchronous_write_commits_what_is_new),
        cmocka_unit_test(requests_that_do_not_fit_leave_their_room),
        cmocka_unit_test(requests_wait_until_they_are_paid_for),
        cmocka_unit_test(new_blocks_have_requests_of_their_own),
        cmocka_unit_test(a_limit_passes_slices),
        cmocka_unit_test(the_journal_passes_in_front),
        cmocka_unit_test(tables_do_not_lift_a_limit),
        cmocka_unit_test(rests_bring_one_slice),
        cmocka_unit_test(debts_outlast_short_rests),
        cmocka_unit_test(slices_of_no_length_are_none),
    };
    return WIO_RUN(tests);
}
