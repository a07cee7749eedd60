/* SPDX-License-Identifier: Apache-2.0 */
#include "txn_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace_fixture.h"

static struct wio_txn_name any_name(struct random_source *random)
{
    return (struct wio_txn_name){.client = 1 + random_below(random, 7) * 0x123456789abcdefull,
                                 .number = random_next(random) >> random_below(random, 64),
                                 .birth_ns = random_next(random) >> random_below(random, 64),
                                 .attempt = (uint32_t)random_below(random, 4)};
}

static struct wio_txn_range any_range(struct random_source *random)
{
    uint64_t from = random_next(random) >> (1 + random_below(random, 60));
    return (struct wio_txn_range){.file = random_below(random, 3) * 77,
                                  .from = from,
                                  .to = from + 1 + random_below(random, 70000),
                                  .segment = (uint32_t)random_next(random)};
}

/* Every field any value; half of the rows are of the attempt before. */
static void any_row(struct random_source *random, const struct wio_txn_row *before,
                    struct wio_txn_blocker *blockers, struct wio_txn_row *row)
{
    bool is_same = before != NULL && random_below(random, 2) == 0;
    *row = (struct wio_txn_row){
        .t_ns = (before == NULL ? 0 : before->t_ns) + random_below(random, 3) * 50,
        .txn = is_same ? before->txn : any_name(random),
        .bytes = random_below(random, 2) * random_next(random),
        .origin = (uint32_t)random_below(random, TXN_ORIGINS + 1),
        .server =
            random_below(random, 3) == 0 ? WIO_TXN_NO_SERVER : (uint32_t)random_below(random, 4),
        .queue_depth = (uint32_t)(random_below(random, 2) * random_next(random)),
        .op = (uint16_t)random_next(random),
        .kind = (uint8_t)(1 + random_below(random, WIO_TXN_KINDS - 1)),
        .flags = (uint16_t)(random_below(random, 2) * random_next(random)),
        .blockers = blockers,
    };
    if (random_below(random, 2) == 0) {
        row->range = any_range(random);
        row->mode = (uint8_t)random_below(random, 3);
    }
    if (random_below(random, 2) == 0) {
        row->result = (uint16_t)random_next(random);
        row->reason = (uint16_t)random_next(random);
        row->outcome = (uint16_t)random_next(random);
        row->queue_ns = random_next(random);
        row->lock_ns = random_below(random, 100);
        row->storage_ns = random_below(random, 1000);
        row->run_ns = random_next(random);
        row->transfer_ns = random_below(random, 2) * random_next(random);
    }
    row->blocker_listed = (uint32_t)(random_below(random, 2) * random_below(random, 9));
    row->blocker_count = row->blocker_listed + (uint32_t)random_below(random, 2) * 1000;
    for (uint32_t i = 0; i < row->blocker_listed; i++) {
        blockers[i] =
            (struct wio_txn_blocker){.txn = any_name(random),
                                     .range = any_range(random),
                                     .origin = (uint32_t)random_below(random, TXN_ORIGINS),
                                     .mode = (uint8_t)random_below(random, 3),
                                     .role = (uint8_t)random_below(random, 4)};
    }
}

struct txn_rows txn_rows_make(uint32_t count, uint64_t seed)
{
    struct random_source random = {seed};
    struct txn_rows made = {.count = count};
    made.rows = calloc(count, sizeof(*made.rows));
    made.blockers = calloc(count, sizeof(*made.blockers));
    assert_true(made.rows != NULL && made.blockers != NULL);
    for (uint32_t i = 0; i < count; i++) {
        any_row(&random, i == 0 ? NULL : &made.rows[i - 1], made.blockers[i], &made.rows[i]);
    }
    return made;
}

void txn_rows_fini(struct txn_rows *rows)
{
    free(rows->rows);
    free(rows->blockers);
}

static void write_tables(struct wio_txn_writer *writer, const char *job)
{
    struct wio_error err = WIO_ERROR_INIT;
    for (uint32_t i = 1; i <= TXN_ORIGINS; i++) {
        char place[64];
        uint32_t id = 0;
        (void)snprintf(place, sizeof(place), "step (sim.c:%u)", i);
        const struct wio_txn_origin origin = {job, "/bin/sim", "node1", place};
        assert_int_equal(wio_txn_writer_origin(writer, &origin, &id, &err), WIO_OK);
        assert_int_equal(id, i);
        assert_int_equal(wio_txn_writer_origin(writer, &origin, &id, &err), WIO_OK);
        assert_int_equal(id, i);
    }
    const struct wio_txn_server server = {"unix:/tmp/s", 3, false};
    const struct wio_txn_file file = {77, "/data/grid", 4, 65536};
    assert_int_equal(wio_txn_writer_server(writer, &server, &err), WIO_OK);
    assert_int_equal(wio_txn_writer_file(writer, &file, &err), WIO_OK);
}

void txn_rows_write(const char *name, const char *job, const struct txn_rows *rows, uint32_t first,
                    uint32_t step)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_txn_writer *writer = NULL;
    struct wio_segment *segment = begin_segment(name, 0, 3);
    assert_int_equal(wio_txn_writer_create(segment, &writer, &err), WIO_OK);
    write_tables(writer, job);
    for (uint32_t i = first; i < rows->count; i += step) {
        assert_int_equal(wio_txn_writer_put(writer, &rows->rows[i], &err), WIO_OK);
    }
    assert_int_equal(wio_txn_writer_finish(writer, &err), WIO_OK);
    wio_txn_writer_destroy(writer);
    assert_int_equal(wio_segment_finish(segment, &err), WIO_OK);
}
