/* SPDX-License-Identifier: Apache-2.0 */
/* What an fsync waits for when nothing but a file's length or time has changed, or nothing has; and
 * what tells how long a file is. */
#include "support/unit.h"

#include "journal_machine.h"

/* The device empties its cache, however little there is to write. */
static void nothing_to_write_takes_a_flush(void **state)
{
    (void)state;
    for (unsigned has_journal = 0; has_journal <= 1; has_journal++) {
        struct wio_model_params params = with_journal();
        params.sc_sw = 0.03;
        params.commit_bytes *= has_journal;
        add_tables(&params);
        params.c_flush = 0.004;
        struct wio_model *model = create(&params);
        assert_near(step(model, sync_of(1)).cost_s, 0.004, 1e-9); /* nothing was ever written */
        write_file(model, 1);
        assert_near(step(model, sync_of(1)).cost_s, 0.01 + 0.02, 1e-4);
        assert_near(step(model, sync_of(1)).cost_s, 0.004, 1e-9);
        wio_model_destroy(model);
    }
}

/* A log: its length changes with each record, though its block stays. Then written past memory. */
static void a_new_length_is_committed(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    struct wio_model *model = create(&params);
    const double page_s = 4096 / params.bw_dev;
    assert_near(step(model, sync_of(1)).cost_s, 0, 1e-9); /* nothing was ever written */
    for (uint64_t i = 0; i < 5; i++) {
        (void)step(model, (struct wio_model_op){.file = 1, .offset = 100 * i, .size = 100});
        assert_near(step(model, sync_of(1)).cost_s,
                    page_s + (i == 0 ? COMMIT : INODE_BYTES / params.bw_dev), 1e-9);
    }
    for (uint64_t i = 1; i < 4; i++) {
        (void)step(model, (struct wio_model_op){.file = 1,
                                                .offset = 4096 * i,
                                                .size = 4096,
                                                .method = WIO_MODEL_DIRECT_NOSYNC});
        assert_near(step(model, sync_of(1)).cost_s, COMMIT, 1e-9);
    }
    wio_model_destroy(model);
}

static void rewrite(struct wio_model *model, double delay_s)
{
    (void)step(model, (struct wio_model_op){.file = 1, .size = 4096, .delay_s = delay_s});
}

/* Once in a tick; fdatasync does not wait for it. */
static void a_new_time_is_committed(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    const struct wio_model_op fsync_op = {.file = 1, .method = WIO_MODEL_FSYNC};
    const double page_s = 4096 / params.bw_dev;
    const double inode_s = INODE_BYTES / params.bw_dev;
    const double tick_s = 1 / params.hz;
    struct wio_model *model = create(&params);
    rewrite(model, 0);
    assert_near(step(model, fsync_op).cost_s, page_s + COMMIT, 1e-9);
    rewrite(model, 10 * tick_s - wio_model_time(model));
    assert_near(step(model, fsync_op).cost_s, page_s + inode_s, 1e-9);
    rewrite(model, 20 * tick_s - wio_model_time(model));
    assert_near(step(model, sync_of(1)).cost_s, page_s, 1e-9);
    rewrite(model, 0); /* in the same tick; its time waits for an fsync */
    assert_near(step(model, fsync_op).cost_s, page_s + inode_s, 1e-9);
    rewrite(model, 30 * tick_s - wio_model_time(model));
    (void)step(model, (struct wio_model_op){.file = 1, .size = 4096, .method = WIO_MODEL_SYNC});
    assert_near(step(model, fsync_op).cost_s, 0, 1e-9); /* O_SYNC has committed it */
    rewrite(model, 40 * tick_s - wio_model_time(model));
    assert_near(step(model, (struct wio_model_op){.file = 1, .method = WIO_MODEL_SYNCFS}).cost_s,
                page_s + COMMIT, 1e-9);
    assert_near(step(model, fsync_op).cost_s, 0, 1e-9);
    wio_model_destroy(model);
}

/* Not while the bytes are in the stream's buffer; nor by a write of nothing. */
static void what_is_written_changes_the_time(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    const struct wio_model_op fsync_op = {.file = 1, .method = WIO_MODEL_FSYNC};
    const double tick_s = 1 / params.hz;
    params.c_lib = 0;
    struct wio_model *model = create(&params);
    write_file(model, 1);
    (void)step(model, fsync_op);
    struct wio_model_op op = {.file = 1, .size = 100, .method = WIO_MODEL_FWRITE};
    op.delay_s = 10 * tick_s - wio_model_time(model);
    (void)step(model, op);
    assert_near(step(model, fsync_op).cost_s, 0, 1e-9);
    op = (struct wio_model_op){.file = 1, .method = WIO_MODEL_FFLUSH};
    op.delay_s = 20 * tick_s - wio_model_time(model);
    (void)step(model, op);
    (void)step(model, sync_of(1));
    assert_near(step(model, fsync_op).cost_s, INODE_BYTES / params.bw_dev, 1e-9);
    op = (struct wio_model_op){.file = 1, .offset = 2 * MIB_BYTES};
    op.delay_s = 30 * tick_s - wio_model_time(model);
    (void)step(model, op);
    op.method = WIO_MODEL_SYNC;
    assert_near(step(model, op).cost_s, 0, 1e-9);
    assert_near(step(model, fsync_op).cost_s, 0, 1e-9);
    wio_model_destroy(model);
}

/* It needs a commit for the length or for blocks, which has the file's time as well. */
static void a_commit_takes_the_time_along(void **state)
{
    (void)state;
    static const enum wio_model_method methods[] = {WIO_MODEL_SYNC, WIO_MODEL_DIRECT};
    struct wio_model_params params = with_journal();
    const struct wio_model_op fsync_op = {.file = 1, .method = WIO_MODEL_FSYNC};
    const double tick_s = 1 / params.hz;
    for (size_t i = 0; i < 2; i++) {
        struct wio_model *model = create(&params);
        struct wio_model_op op = {.file = 1, .size = 4096, .method = methods[i], .is_data = true};
        for (op.offset = 0; op.offset < 3 * op.size; op.offset += op.size) {
            (void)step(model, op);
            assert_near(step(model, fsync_op).cost_s, 0, 1e-9);
            op.delay_s = 10 * tick_s;
        }
        op.offset = 0; /* has its block */
        (void)step(model, op);
        assert_near(step(model, fsync_op).cost_s, INODE_BYTES / params.bw_dev, 1e-9);
        wio_model_destroy(model);
    }
}

/* However a length alone was measured. */
static void a_commit_takes_no_less_than_none(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    params.commit_bytes *= 0.1;
    add_tables(&params);
    params.c_length = 0.005;
    struct wio_model *model = create(&params);
    rewrite(model, 0);
    (void)step(model, sync_of(1));
    rewrite(model, 1);
    assert_near(step(model, sync_of(1)).cost_s, 0.01, 1e-9);
    rewrite(model, 1);
    assert_near(step(model, (struct wio_model_op){.file = 1, .method = WIO_MODEL_FSYNC}).cost_s,
                0.01, 1e-9);
    wio_model_destroy(model);
}

/* Of a page, after 100 B at its beginning. */
static double sync_cost(struct wio_model *model, uint64_t offset, enum wio_model_method method)
{
    double cost_s =
        step(model,
             (struct wio_model_op){.file = 1, .offset = offset, .size = 100, .method = method})
            .cost_s;
    return cost_s + step(model, sync_of(1)).cost_s;
}

/* What makes a file longer within its last block needs no new one. */
static void a_length_alone_has_its_own_cost(void **state)
{
    (void)state;
    for (unsigned has_journal = 0; has_journal <= 1; has_journal++) {
        struct wio_model_params params = with_journal();
        params.commit_bytes *= 0.1 * has_journal;
        add_tables(&params);
        params.c_length = 0.015;
        struct wio_model *model = create(&params);
        assert_near(sync_cost(model, 0, WIO_MODEL_WRITE), 0.02, 1e-9);
        assert_near(sync_cost(model, 100, WIO_MODEL_WRITE), 0.015, 1e-9);
        assert_near(sync_cost(model, 200, WIO_MODEL_SYNC), 0.015, 1e-9);
        assert_near(sync_cost(model, 4000, WIO_MODEL_WRITE), 0.02, 1e-4);
        assert_near(sync_cost(model, 4150, WIO_MODEL_WRITE), 0.015, 1e-9);
        assert_near(sync_cost(model, 8192, WIO_MODEL_SYNC), 0.02, 1e-9);
        wio_model_destroy(model);
    }
}

/* Whatever else is written takes its time; so does a block that is in memory only. */
static void a_length_and_data_cost_both(void **state)
{
    (void)state;
    for (unsigned has_journal = 0; has_journal <= 1; has_journal++) {
        struct wio_model_params params = with_journal();
        params.commit_bytes *= 0.1 * has_journal;
        params.append_table =
            (struct wio_model_table){.count = 2, .points = {{4096, 2e-4}, {MIB, 0.0102}}};
        params.c_length = 1.5e-4;
        struct wio_model *model = create(&params);
        struct wio_model_op op = {.file = 1, .size = 1048000};
        (void)step(model, op);
        (void)step(model, sync_of(1));
        op = (struct wio_model_op){.file = 1, .size = MIB_BYTES, .method = WIO_MODEL_SYNC};
        assert_near(step(model, op).cost_s, 0.0102, 0.0002);
        op = (struct wio_model_op){.file = 2, .size = 100};
        (void)step(model, op);
        op = (struct wio_model_op){.file = 2, .offset = 100, .size = 100, .method = WIO_MODEL_SYNC};
        assert_near(step(model, op).cost_s, has_journal ? 0.001 + 100 / params.bw_dev : 2e-4, 1e-6);
        wio_model_destroy(model);
    }
}

/* Nor is what a stream has in its buffer: the file is as long as it was. */
static void what_a_stream_holds_is_not_synced(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    params.commit_bytes = 0;
    add_tables(&params);
    params.c_lib = 0;
    params.c_flush = 0.001;
    struct wio_model *model = create(&params);
    (void)step(model, (struct wio_model_op){.file = 1, .size = 100, .method = WIO_MODEL_FWRITE});
    assert_near(step(model, sync_of(1)).cost_s, 0.001, 1e-9);
    (void)step(model, (struct wio_model_op){.file = 1, .method = WIO_MODEL_FFLUSH});
    assert_near(step(model, sync_of(1)).cost_s, 0.02, 1e-9);
    wio_model_destroy(model);
}

/* It reads back what the stream had in its buffer: no file was so long before. */
static void what_a_stream_holds_was_not_there(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    const double page_s = 4096 / params.bw_dev;
    struct wio_model *model = create(&params);
    struct wio_model_op read = {.file = 1, .size = 4096, .method = WIO_MODEL_READ, .at_end = true};
    (void)step(model, read);
    (void)step(model, (struct wio_model_op){
                          .file = 1, .offset = 4096, .size = 100, .method = WIO_MODEL_FWRITE});
    read.size = 4196;
    (void)step(model, read);
    (void)step(model, (struct wio_model_op){.file = 1, .method = WIO_MODEL_FFLUSH});
    assert_near(step(model, sync_of(1)).cost_s, page_s + COMMIT, 1e-9);
    wio_model_destroy(model);
}

/* Without commits: whether it becomes longer decides what an fsync, or an O_SYNC write, costs. */
static void a_file_that_was_read_is_as_long(void **state)
{
    (void)state;
    struct wio_model_params params = with_journal();
    params.commit_bytes = 0;
    add_tables(&params);
    struct wio_model *model = create(&params);
    struct wio_model_op op = {
        .file = 1, .size = MIB_BYTES, .method = WIO_MODEL_READ, .at_end = true};
    (void)step(model, op);
    op = (struct wio_model_op){.file = 1, .size = 4096, .method = WIO_MODEL_SYNC};
    assert_near(step(model, op).cost_s, 0.01, 1e-9);
    assert_near(page_and_sync(model, 3), 0.01, 1e-6);
    assert_near(page_and_sync(model, 256), 0.02, 1e-6);
    wio_model_destroy(model);
}

/* A file that is cut to nothing, then what proves no block of it, then an O_SYNC write of 4 KiB. */
static double sync_after(enum wio_model_method method, uint64_t offset, uint64_t size,
                         uint64_t sync_at)
{
    struct wio_model_params params = with_journal();
    params.commit_bytes = 0;
    add_tables(&params);
    struct wio_model *model = create(&params);
    (void)step(model, (struct wio_model_op){.method = WIO_MODEL_TRUNCATE});
    (void)step(model, (struct wio_model_op){.offset = MIB_BYTES, .method = WIO_MODEL_TRUNCATE});
    (void)step(model, (struct wio_model_op){.offset = offset, .size = size, .method = method});
    double cost_s =
        step(model,
             (struct wio_model_op){.offset = sync_at, .size = 4096, .method = WIO_MODEL_SYNC})
            .cost_s;
    wio_model_destroy(model);
    return cost_s;
}

static void nothing_and_holes_make_no_file_longer(void **state)
{
    (void)state;
    assert_near(sync_after(WIO_MODEL_TRUNCATE, MIB_BYTES, 0, 0), 0.02, 1e-9);
    assert_near(sync_after(WIO_MODEL_READ, MIB_BYTES, 0, 0), 0.02, 1e-9);
    assert_near(sync_after(WIO_MODEL_WRITE, MIB_BYTES, 0, 0), 0.02, 1e-9);
    assert_near(sync_after(WIO_MODEL_READ, 0, MIB_BYTES, MIB_BYTES / 2), 0.02, 1e-9);
    assert_near(sync_after(WIO_MODEL_READ_DIRECT, 0, MIB_BYTES, MIB_BYTES / 2), 0.02, 1e-9);
    assert_near(sync_after(WIO_MODEL_READ, MIB_BYTES / 2, 4096, 0), 0.02, 1e-9);
    /* a write behind makes it longer */
    assert_near(sync_after(WIO_MODEL_SYNC, MIB_BYTES, 4096, 0), 0.01, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_length_is_committed),
        cmocka_unit_test(nothing_to_write_takes_a_flush),
        cmocka_unit_test(a_new_time_is_committed),
        cmocka_unit_test(what_is_written_changes_the_time),
        cmocka_unit_test(a_commit_takes_no_less_than_none),
        cmocka_unit_test(a_commit_takes_the_time_along),
        cmocka_unit_test(a_length_alone_has_its_own_cost),
        cmocka_unit_test(a_length_and_data_cost_both),
        cmocka_unit_test(what_a_stream_holds_is_not_synced),
        cmocka_unit_test(what_a_stream_holds_was_not_there),
        cmocka_unit_test(a_file_that_was_read_is_as_long),
        cmocka_unit_test(nothing_and_holes_make_no_file_longer),
    };
    return WIO_RUN(tests);
}
