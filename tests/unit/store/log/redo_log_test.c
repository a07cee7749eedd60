/* SPDX-License-Identifier: Apache-2.0 */
/* The own log's files: layout, damage, segments that are used again, group commit. */
#include "support/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc.h"
#include "store/log/redo_format.h"
#include "support/store/disk.h"

enum { SMALL = 64 << 10, LIKE_A_BLOCK = REDO_BLOCK - REDO_HEADER_BYTES };

struct place {
    struct disk *disk;
    struct wio_log *log;
};

static struct place begin(void)
{
    struct place place = {.disk = disk_create(1)};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_io *io = disk_io(place.disk);
    struct wio_log_config config = {.io = io, .segment_bytes = SMALL, .may_create = true};
    assert_ok(io->ops->make_dir(io, "log", &err), &err);
    assert_ok(wio_log_open_own(&config, &place.log, &err), &err);
    return place;
}

static enum wio_status try_reopen(struct place *place, struct wio_error *err)
{
    struct wio_log_config config = {.io = disk_io(place->disk)};
    wio_log_close(place->log);
    place->log = NULL;
    return wio_log_open_own(&config, &place->log, err);
}

static void end(struct place *place)
{
    (void)disk_turn(place->disk);
    wio_log_close(place->log);
    disk_destroy(place->disk);
}

static enum wio_status try_append(struct place *place, uint64_t number, uint32_t bytes,
                                  struct wio_error *err)
{
    uint8_t *redo = calloc(1, bytes + 1u);
    struct wio_log_record record = {
        .kind = WIO_LOG_COMMIT, .txn = {1, number, 3, 4}, .redo = redo, .redo_bytes = bytes};
    uint64_t lsn = 0;
    assert_non_null(redo);
    memset(redo, 0xab, bytes);
    enum wio_status status = wio_log_append(place->log, &record, 1, &lsn, err);
    free(redo);
    return status;
}

static void append(struct place *place, uint64_t number, uint32_t bytes)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(try_append(place, number, bytes, &err), &err);
}

static struct wio_log_state flush(struct place *place)
{
    struct wio_log_state state;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_log_flushed(place->log, NULL, &err), &err);
    (void)disk_turn(place->disk);
    assert_ok(wio_log_flushed(place->log, &state, &err), &err);
    return state;
}

struct numbers {
    uint64_t list[64];
    size_t count;
};

static enum wio_status visit(void *context, uint64_t lsn, const struct wio_log_record *record,
                             struct wio_error *err)
{
    struct numbers *numbers = context;
    (void)lsn;
    (void)err;
    numbers->list[numbers->count++ % 64] = record->txn.number;
    return WIO_OK;
}

static struct numbers scan(struct place *place)
{
    struct numbers numbers = {0};
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_log_scan(place->log, visit, &numbers, &err), &err);
    return numbers;
}

static uint64_t number_at(const uint8_t *data, size_t at, size_t bytes)
{
    uint64_t value = 0;
    for (size_t i = bytes; i > 0; i--) {
        value = value << 8 | data[at + i - 1];
    }
    return value;
}

/* The document's offsets, read by hand (R-LOG-2, R-LOG-3, R-LOG-6). */
static void the_bytes_are_as_documented(void **state)
{
    struct place place = begin();
    (void)state;
    append(&place, 77, 20);
    (void)flush(&place);
    size_t size = 0;
    const uint8_t *data = disk_bytes(place.disk, "log/000000.redo", &size);
    assert_int_equal(size, SMALL);
    assert_memory_equal(data, "WIOREDO\n", 8);
    assert_int_equal(number_at(data, 16, 8), 1); /* sequence number */
    assert_int_equal(number_at(data, 24, 8), 1); /* first LSN */
    assert_int_equal(number_at(data, 40, 4), wio_crc32c(0, data, 40));
    const uint8_t *epoch = data + REDO_BLOCK;
    assert_memory_equal(epoch, "RECO", 4);
    assert_int_equal(number_at(epoch, 60, 2), WIO_LOG_EPOCH);
    const uint8_t *record = epoch + REDO_BLOCK; /* a batch of its own */
    assert_memory_equal(record, "RECO", 4);
    assert_int_equal(number_at(record, 28, 4), 64 + 20);
    assert_int_equal(number_at(record, 4, 4), wio_crc32c(0, record + 8, 64 + 20 - 8));
    assert_int_equal(number_at(record, 8, 8), 2);  /* LSN */
    assert_int_equal(number_at(record, 16, 8), 1); /* durable LSN */
    assert_int_equal(number_at(record, 24, 4), 1); /* epoch */
    assert_int_equal(number_at(record, 40, 8), 77);
    assert_int_equal(number_at(record, 60, 2), WIO_LOG_COMMIT);
    assert_int_equal(record[64], 0xab);
    data = disk_bytes(place.disk, "log/super", &size);
    assert_int_equal(size, 2 * REDO_BLOCK);
    assert_memory_equal(data + REDO_BLOCK, "WIOSUPR\n", 8);
    assert_int_equal(number_at(data, REDO_BLOCK + 16, 8), 1); /* generation */
    assert_int_equal(number_at(data, REDO_BLOCK + 24, 8), 1); /* where recovery begins */
    end(&place);
}

/* While a flush runs the next batch forms: 100 records, two flushes. */
static void one_flush_serves_all_that_came_meanwhile(void **state)
{
    struct place place = begin();
    struct wio_error err = WIO_ERROR_INIT;
    (void)state;
    uint64_t before = flush(&place).flushes;
    disk_hold_flushes(place.disk, true);
    for (uint64_t i = 1; i <= 100; i++) {
        append(&place, i, 50);
        assert_ok(wio_log_flushed(place.log, NULL, &err), &err);
    }
    disk_hold_flushes(place.disk, false);
    assert_int_equal(flush(&place).flushes - before, 2);
    end(&place);
}

/* A torn batch leaves its second record whole, exactly where the next epoch's first one would be
 * (R-LOG-4). */
static void what_a_torn_batch_left_never_becomes_a_record(void **state)
{
    struct place place = begin();
    struct wio_error err = WIO_ERROR_INIT;
    (void)state;
    append(&place, 1, 10);
    (void)flush(&place);
    append(&place, 2, LIKE_A_BLOCK);
    append(&place, 3, 10);
    (void)flush(&place);
    size_t size = 0;
    uint8_t *data = disk_bytes(place.disk, "log/000000.redo", &size);
    memset(data + 3 * REDO_BLOCK, 0, DISK_SECTOR); /* the sector with the begin of record 2 */
    assert_ok(try_reopen(&place, &err), &err);
    assert_int_equal(scan(&place).count, 1);
    assert_ok(try_reopen(&place, &err), &err);
    struct numbers found = scan(&place);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0], 1);
    end(&place);
}

/* What was flushed and is not there any more is no torn tail (R-LOG-5). */
static void a_damaged_record_in_the_middle_is_an_error(void **state)
{
    struct place place = begin();
    struct wio_error err = WIO_ERROR_INIT;
    size_t size = 0;
    (void)state;
    for (uint64_t i = 1; i <= 5; i++) {
        append(&place, i, 100);
        (void)flush(&place);
    }
    disk_bytes(place.disk, "log/000000.redo", &size)[4 * REDO_BLOCK + 80] ^= 1;
    assert_status(try_reopen(&place, &err), WIO_ERR_FORMAT, &err);
    assert_string_equal(err.file, "log/000000.redo");
    assert_true(err.offset > 3 * REDO_BLOCK && err.offset <= 4 * REDO_BLOCK);
    assert_non_null(strstr(err.message, "expected record 4"));
    end(&place);
}

static void a_damaged_last_batch_is_a_torn_tail(void **state)
{
    struct place place = begin();
    struct wio_error err = WIO_ERROR_INIT;
    size_t size = 0;
    (void)state;
    for (uint64_t i = 1; i <= 5; i++) {
        append(&place, i, 100);
        (void)flush(&place);
    }
    disk_bytes(place.disk, "log/000000.redo", &size)[6 * REDO_BLOCK + 80] ^= 1;
    assert_ok(try_reopen(&place, &err), &err);
    assert_int_equal(scan(&place).count, 4);
    end(&place);
}

static void fill_segments(struct place *place, unsigned batches)
{
    for (unsigned i = 1; i <= batches; i++) {
        append(place, i, 3000);
        (void)flush(place);
    }
}

/* R-LOG-2 */
static void a_missing_segment_is_an_error(void **state)
{
    struct place place = begin();
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_io *io = disk_io(place.disk);
    (void)state;
    fill_segments(&place, 40); /* three segments of 15 batches */
    assert_ok(io->ops->remove(io, "log/000001.redo", &err), &err);
    assert_status(try_reopen(&place, &err), WIO_ERR_FORMAT, &err);
    assert_non_null(strstr(err.message, "expected segment 2"));
    end(&place);
}

static unsigned count_segments(struct disk *disk)
{
    unsigned count = 0;
    for (char slot = '0'; slot <= '9'; slot++) {
        char name[] = "log/000000.redo";
        size_t size = 0;
        name[9] = slot;
        count += disk_bytes(disk, name, &size) != NULL ? 1 : 0;
    }
    return count;
}

/* R-LOG-1 */
static void segments_are_used_again(void **state)
{
    struct place place = begin();
    struct wio_error err = WIO_ERROR_INIT;
    (void)state;
    for (unsigned round = 0; round < 30; round++) {
        fill_segments(&place, 20);
        assert_ok(wio_log_checkpoint(place.log, flush(&place).next_lsn, &err), &err);
    }
    assert_in_range(count_segments(place.disk), 2, 4);
    append(&place, 4711, 10);
    (void)flush(&place);
    assert_ok(try_reopen(&place, &err), &err);
    struct numbers found = scan(&place);
    assert_int_equal(found.count, 1);
    assert_int_equal(found.list[0], 4711);
    end(&place);
}

/* R-LOG-6 */
static void one_block_of_the_superblock_suffices(void **state)
{
    struct place place = begin();
    struct wio_error err = WIO_ERROR_INIT;
    size_t size = 0;
    (void)state;
    fill_segments(&place, 3);
    assert_ok(wio_log_checkpoint(place.log, 3, &err), &err); /* generation 2: block 0 */
    disk_bytes(place.disk, "log/super", &size)[20] ^= 4;
    assert_ok(try_reopen(&place, &err), &err);
    assert_int_equal(scan(&place).count, 3); /* as generation 1 says */
    disk_bytes(place.disk, "log/super", &size)[REDO_BLOCK + 20] ^= 4;
    assert_status(try_reopen(&place, &err), WIO_ERR_FORMAT, &err);
    assert_string_equal(err.file, "log/super");
    end(&place);
}

static void a_full_disk_refuses_records_and_harms_nothing(void **state)
{
    struct place place = begin();
    struct wio_error err = WIO_ERROR_INIT;
    enum wio_status status = WIO_OK;
    unsigned taken = 0;
    (void)state;
    disk_limit(place.disk, 3 * SMALL);
    while ((status = try_append(&place, taken + 1, 3000, &err)) == WIO_OK) {
        taken++;
        (void)flush(&place);
    }
    assert_int_equal(status, WIO_ERR_IO);
    assert_int_equal(err.sys_errno, ENOSPC);
    assert_in_range(taken, 25, 45);
    assert_ok(wio_log_checkpoint(place.log, flush(&place).next_lsn, &err), &err);
    append(&place, 1000, 3000);
    (void)flush(&place);
    assert_ok(try_reopen(&place, &err), &err);
    assert_int_equal(scan(&place).list[0], 1000);
    end(&place);
}

static void what_waits_is_bounded(void **state)
{
    struct place place = begin();
    struct wio_error err = WIO_ERROR_INIT;
    enum wio_status status = WIO_OK;
    unsigned taken = 0;
    (void)state;
    while ((status = try_append(&place, taken + 1, 3000, &err)) == WIO_OK) {
        taken++;
    }
    assert_int_equal(status, WIO_ERR_BUSY);
    assert_in_range(taken, 15, 20);
    (void)flush(&place);
    append(&place, taken + 1, 3000);
    assert_status(try_append(&place, 1, SMALL, &err), WIO_ERR_USAGE, &err);
    (void)flush(&place);
    assert_ok(try_reopen(&place, &err), &err);
    assert_int_equal(scan(&place).count, taken + 1);
    end(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bytes_are_as_documented),
        cmocka_unit_test(one_flush_serves_all_that_came_meanwhile),
        cmocka_unit_test(what_a_torn_batch_left_never_becomes_a_record),
        cmocka_unit_test(a_damaged_record_in_the_middle_is_an_error),
        cmocka_unit_test(a_damaged_last_batch_is_a_torn_tail),
        cmocka_unit_test(a_missing_segment_is_an_error),
        cmocka_unit_test(segments_are_used_again),
        cmocka_unit_test(one_block_of_the_superblock_suffices),
        cmocka_unit_test(a_full_disk_refuses_records_and_harms_nothing),
        cmocka_unit_test(what_waits_is_bounded),
    };
    return WIO_RUN(tests);
}
