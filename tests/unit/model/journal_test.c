/* SPDX-License-Identifier: Apache-2.0 */
/* What an fsync waits for beside the data: the journal, whose commits tasks share; and the buffer
 * or credit of the device, through which all of it goes. */
#include "support/unit.h"

#include "journal_machine.h"

static void begin(struct wio_model *model, uint32_t task, struct wio_model_op op)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_model_begin(model, task, &op, &err), &err);
}

/* When the task's operation ends, and others' before. */
static double end_of(struct wio_model *model, uint32_t task)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model_done done;
    do {
        assert_ok(wio_model_run(model, HUGE_VAL, &done, &err), &err);
    } while (done.task != task);
    return done.result.time_s;
}

static void new_blocks_are_committed_once(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    struct wio_model *model = create(&params);
    write_file(model, 1);
    assert_near(step(model, sync_of(1)).cost_s, 0.01 + COMMIT, 1e-6);
    assert_near(step(model, sync_of(1)).cost_s, 0, 1e-9);
    write_file(model, 1); /* has its blocks */
    assert_near(step(model, sync_of(1)).cost_s, 0.01, 1e-6);
    write_file(model, 2);
    assert_near(step(model, (struct wio_model_op){.method = WIO_MODEL_SYNCFS}).cost_s,
                0.01 + COMMIT, 1e-6);
    assert_near(step(model, sync_of(2)).cost_s, 0, 1e-9);
    wio_model_destroy(model);
}

/* What an earlier commit took in need not wait for the one that runs. */
static void what_is_committed_does_not_wait_for_others(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model *model = create(&params);
    struct wio_model_done done;
    write_file(model, 1);
    (void)step(model, sync_of(1));
    write_file(model, 2);
    double begin_s = wio_model_time(model);
    begin(model, 2, sync_of(2));
    assert_status(wio_model_run(model, begin_s + 0.015, &done, &err), WIO_END, &err);
    begin(model, 1, sync_of(1));
    assert_near(end_of(model, 1) - begin_s, 0.015, 1e-9);
    assert_near(end_of(model, 2) - begin_s, 0.01 + COMMIT, 1e-6);
    wio_model_destroy(model);
}

/* Data of all three is written before the first commit begins: it is for all. */
static void tasks_that_wait_at_once_share_a_commit(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    struct wio_model *model = create(&params);
    for (uint64_t file = 1; file <= 3; file++) {
        write_file(model, file);
        (void)step(model, (struct wio_model_op){
                              .file = file, .method = WIO_MODEL_WRITE_OUT, .delay_s = 1});
    }
    (void)step(model, (struct wio_model_op){.file = 4, .method = WIO_MODEL_READ, .delay_s = 1});
    double begin_s = wio_model_time(model);
    for (uint32_t task = 1; task <= 3; task++) {
        begin(model, task, sync_of(task));
    }
    assert_near(end_of(model, 1) - begin_s, COMMIT, 1e-6);
    assert_near(end_of(model, 3) - begin_s, COMMIT, 1e-6);
    wio_model_destroy(model);
}

/* A file has its new blocks once they are written: a commit that began before that, though all was
 * handed to the device, is not for them. */
static void blocks_that_are_not_written_need_the_next_commit(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    struct wio_model *model = create(&params);
    for (uint64_t file = 1; file <= 3; file++) {
        write_file(model, file);
    }
    for (uint32_t task = 1; task <= 3; task++) {
        begin(model, task, sync_of(task));
    }
    assert_near(end_of(model, 1), 0.01 + COMMIT, 1e-6);
    assert_near(end_of(model, 2), 0.02 + 2 * COMMIT, 1e-6);
    assert_near(end_of(model, 3), 0.03 + 3 * COMMIT, 1e-6);
    wio_model_destroy(model);
}

/* Blocks of a hole are new ones, too. */
static void blocks_of_a_hole_are_committed(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    struct wio_model *model = create(&params);
    struct wio_model_op op = {.file = 1, .offset = MIB_BYTES, .size = MIB_BYTES};
    for (int i = 0; i < 2; i++, op.offset = 0) {
        (void)step(model, op);
        assert_near(step(model, sync_of(1)).cost_s, 0.01 + COMMIT, 1e-6);
    }
    (void)step(model, op);
    assert_near(step(model, sync_of(1)).cost_s, 0.01, 1e-6); /* has them now */
    wio_model_destroy(model);
}

/* It cannot have been read otherwise; it is long enough, too. */
static void blocks_that_were_read_are_there(void **state)
{
    (void)state;
    static const enum wio_model_method methods[] = {WIO_MODEL_READ, WIO_MODEL_READ_DIRECT};
    struct wio_model_params params = with_journal();
    const double page_s = 4096 / params.bw_dev;
    for (size_t i = 0; i < 2; i++) {
        struct wio_model *model = create(&params);
        struct wio_model_op read = {
            .file = 1, .size = MIB_BYTES, .method = methods[i], .at_end = true};
        (void)step(model, read);
        assert_near(page_and_sync(model, 100), page_s, 1e-9);
        assert_near(page_and_sync(model, 255), page_s, 1e-9);
        assert_near(page_and_sync(model, 256), page_s + COMMIT, 1e-9); /* longer */
        /* what has yet to be written may be read, too */
        (void)step(model,
                   (struct wio_model_op){.file = 1, .offset = MIB_BYTES + 4096, .size = 100});
        read.size = MIB_BYTES + 4196;
        (void)step(model, read);
        assert_near(step(model, sync_of(1)).cost_s,
                    COMMIT + (methods[i] == WIO_MODEL_READ ? page_s : 0), 1e-9);
        wio_model_destroy(model);
    }
}

/* A folio of which a part is written, and the rest was read ahead: that is not written. */
static void idle_pages_need_no_commit(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    struct wio_model *model = create(&params);
    (void)step(model, (struct wio_model_op){.file = 1, .offset = MIB_BYTES, .size = 1 << 16});
    (void)step(model, sync_of(1));
    (void)step(model, (struct wio_model_op){.file = 1, .size = 1 << 15, .method = WIO_MODEL_READ});
    assert_near(page_and_sync(model, 0), 4096 / params.bw_dev, 1e-9);
    assert_near(page_and_sync(model, 8), 4096 / params.bw_dev + COMMIT, 1e-9);
    wio_model_destroy(model);
}

/* Others may go on writing to the file. */
static void what_is_handed_over_later_is_not_waited_for(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model *model = create(&params);
    struct wio_model_done done;
    write_file(model, 1);
    begin(model, 1, sync_of(1));
    assert_status(wio_model_run(model, 0.005, &done, &err), WIO_END, &err); /* waits for data */
    begin(model, 2, (struct wio_model_op){.file = 1, .offset = MIB_BYTES, .size = MIB_BYTES});
    (void)end_of(model, 2);
    begin(model, 2, sync_of(1));
    assert_near(end_of(model, 1), 0.01 + COMMIT, 1e-6);
    assert_near(end_of(model, 2), 0.02 + 2 * COMMIT, 1e-6);
    wio_model_destroy(model);
}

/* A commit that has begun does not take in what comes later: that waits for it, and for the next
 * one, which the data has to be written before. */
static void a_later_task_waits_for_the_next(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_model *model = create(&params);
    struct wio_model_done done;
    write_file(model, 1);
    begin(model, 1, sync_of(1));
    assert_status(wio_model_run(model, 0.015, &done, &err), WIO_END, &err); /* in its commit */
    for (uint32_t task = 2; task <= 4; task++) { /* the last two in one request */
        begin(model, task, (struct wio_model_op){.file = task, .size = 4096});
        (void)end_of(model, task);
        begin(model, task, sync_of(task));
    }
    assert_near(end_of(model, 2), 0.02 + COMMIT, 2e-4);
    assert_near(end_of(model, 3), 0.02 + 2 * COMMIT, 2e-4);
    assert_near(end_of(model, 4), 0.02 + 2 * COMMIT, 2e-4);
    wio_model_destroy(model);
}

/* O_SYNC: the table may be of a device that let small writes pass on credit. */
static void a_synchronous_write_that_appends_is_committed(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    params.append_table = params.sync_table =
        (struct wio_model_table){.count = 2, .points = {{4096, 1e-6}, {MIB, 0.02}}};
    struct wio_model *model = create(&params);
    const double page_s = 4096 / params.bw_dev;
    struct wio_model_op op = {.size = 4096, .method = WIO_MODEL_SYNC};
    assert_near(step(model, op).cost_s, page_s + COMMIT, 1e-9);
    assert_near(step(model, op).cost_s, 1e-6, 1e-9); /* is as long as it was */
    op = (struct wio_model_op){.offset = 4096, .size = MIB_BYTES, .method = WIO_MODEL_SYNC};
    assert_near(step(model, op).cost_s, 0.02, 1e-9); /* measured with it */
    wio_model_destroy(model);
}

/* Whatever passes the device fills its buffer, which empties while the device rests: 1 MiB in steps
 * of 64 KiB, with rests of the same length. */
static void rests_are_made_up_for(void **state)
{
    (void)state;
    static const enum wio_model_method methods[] = {WIO_MODEL_WRITE, WIO_MODEL_SYNC,
                                                    WIO_MODEL_DIRECT};
    struct wio_model_params params = with_journal();
    params.commit_bytes = 0;
    params.bw_burst = 1e12;
    params.burst_size = MIB;
    for (size_t i = 0; i < 3; i++) {
        struct wio_model *model = create(&params);
        double cost_s = 0;
        for (uint64_t n = 0; n < 64; n++) {
            cost_s += step(model, (struct wio_model_op){.offset = n << 16,
                                                        .size = 1 << 16,
                                                        .method = methods[i],
                                                        .delay_s = n == 32 ? 1 : 0})
                          .cost_s;
            cost_s += step(model, sync_of(0)).cost_s;
        }
        assert_near(cost_s, 0.02, 1e-3); /* 4 MiB, of which twice 1 MiB cost nothing */
        wio_model_destroy(model);
    }
}

/* What does not find room in the buffer goes on at the speed of the medium. */
static void a_large_request_fills_the_buffer(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    params.commit_bytes = 0;
    params.bw_burst = 200 * MIB;
    params.burst_size = MIB;
    struct wio_model *model = create(&params);
    (void)step(model, (struct wio_model_op){.size = 4 * MIB_BYTES});
    /* 2 MiB at 200 MiB/s leave 1 in the buffer, 2 MiB at 100 */
    assert_near(step(model, sync_of(0)).cost_s, 0.03, 1e-6);
    wio_model_destroy(model);
}

/* What one block took at the end of a file it takes again: within a slice, and where there are
 * none. */
static void a_commit_takes_what_was_measured(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    params.bw_burst = 1e12;
    params.append_table = (struct wio_model_table){.count = 1, .points = {{4096, 0.05}}};
    for (int has_slices = 0; has_slices <= 1; has_slices++) {
        params.slice = has_slices * 0.1;
        struct wio_model *model = create(&params);
        (void)step(model, (struct wio_model_op){.size = 4096});
        assert_near(step(model, sync_of(0)).cost_s, 0.05, 1e-6);
        wio_model_destroy(model);
    }
}

/* What is written past memory, too, however fast it is measured to be: 100 MiB less what finds
 * room, which takes its own time. */
static void tables_do_not_lift_a_limit(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    params.commit_bytes = 0;
    params.bw_burst = 1e12;
    params.burst_size = 10 * MIB;
    params.direct_table = params.sync_table =
        (struct wio_model_table){.count = 2, .points = {{4096, 1e-4}, {MIB, 1.2e-3}}};
    for (int is_direct = 0; is_direct <= 1; is_direct++) {
        struct wio_model *model = create(&params);
        struct wio_model_op op = {.size = MIB_BYTES,
                                  .method = is_direct ? WIO_MODEL_DIRECT : WIO_MODEL_SYNC};
        double cost_s = step(model, op).cost_s;
        assert_near(cost_s, 1.2e-3, 1e-9);
        for (uint64_t n = 1; n < 100; n++) {
            op.offset = n * MIB_BYTES;
            cost_s += step(model, op).cost_s;
        }
        assert_near(cost_s, 0.9, 0.015);
        wio_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_blocks_are_committed_once),
        cmocka_unit_test(what_is_committed_does_not_wait_for_others),
        cmocka_unit_test(tasks_that_wait_at_once_share_a_commit),
        cmocka_unit_test(blocks_that_are_not_written_need_the_next_commit),
        cmocka_unit_test(blocks_of_a_hole_are_committed),
        cmocka_unit_test(blocks_that_were_read_are_there),
        cmocka_unit_test(idle_pages_need_no_commit),
        cmocka_unit_test(what_is_handed_over_later_is_not_waited_for),
        cmocka_unit_test(a_later_task_waits_for_the_next),
        cmocka_unit_test(a_synchronous_write_that_appends_is_committed),
        cmocka_unit_test(rests_are_made_up_for),
        cmocka_unit_test(a_large_request_fills_the_buffer),
        cmocka_unit_test(tables_do_not_lift_a_limit),
        cmocka_unit_test(a_commit_takes_what_was_measured),
    };
    return WIO_RUN(tests);
}
