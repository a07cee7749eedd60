/* SPDX-License-Identifier: Apache-2.0 */
/* The five functions, of both logs: what one promises the other does as well. */
#include "support/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "store/log/log.h"
#include "support/store/disk.h"

enum { SMALL = 64 << 10 };

typedef enum wio_status open_log(const struct wio_log_config *config, struct wio_log **log_out,
                                 struct wio_error *err);

struct place {
    struct disk *disk;
    struct wio_log *log;
    open_log *open;
    struct wio_log_state told; /* by on_flushed */
    unsigned times;
};

static void on_flushed(void *context, const struct wio_log_state *state)
{
    struct place *place = context;
    place->told = *state;
    place->times++;
}

static enum wio_status try_open(struct place *place, bool may_create, struct wio_error *err)
{
    struct wio_log_config config = {disk_io(place->disk), SMALL, may_create, on_flushed, place};
    return place->open(&config, &place->log, err);
}

static struct place begin(void **state)
{
    struct place place = {.disk = disk_create(1), .open = *(open_log **)*state};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_io *io = disk_io(place.disk);
    assert_ok(io->ops->make_dir(io, "log", &err), &err);
    return place;
}

static void end(struct place *place)
{
    disk_turn(place->disk);
    wio_log_close(place->log);
    disk_destroy(place->disk);
}

static void open_place(struct place *place)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(try_open(place, true, &err), &err);
}

static void reopen(struct place *place)
{
    struct wio_error err = WIO_ERROR_INIT;
    wio_log_close(place->log);
    place->log = NULL;
    assert_ok(try_open(place, false, &err), &err);
}

static uint64_t append(struct place *place, uint64_t number, size_t bytes)
{
    struct wio_error err = WIO_ERROR_INIT;
    uint16_t participants[3] = {1, 2, (uint16_t)number};
    uint8_t *redo = malloc(bytes + 1);
    assert_non_null(redo);
    memset(redo, (int)number, bytes);
    struct wio_log_record record = {
        WIO_LOG_PREPARED, {7, number, 1000 + number, 3}, participants, 3, redo, (uint32_t)bytes};
    uint64_t lsn = 0;
    assert_ok(wio_log_append(place->log, &record, 1, &lsn, &err), &err);
    free(redo);
    return lsn;
}

static void flush(struct place *place)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_log_flushed(place->log, NULL, &err), &err);
    disk_turn(place->disk);
}

/* What a scan finds: records made by `append`, in their order. */
struct found {
    uint64_t first;
    uint64_t last;
    uint64_t last_lsn;
    uint64_t count;
};

static enum wio_status visit(void *context, uint64_t lsn, const struct wio_log_record *record,
                             struct wio_error *err)
{
    struct found *found = context;
    (void)err;
    assert_int_equal(record->kind, WIO_LOG_PREPARED);
    assert_int_equal(record->txn.client, 7);
    assert_int_equal(record->txn.birth_ns, 1000 + record->txn.number);
    assert_int_equal(record->txn.attempt, 3);
    assert_int_equal(record->participant_count, 3);
    assert_int_equal(record->participants[2], record->txn.number);
    for (uint32_t i = 0; i < record->redo_bytes; i++) {
        assert_int_equal(((const uint8_t *)record->redo)[i], record->txn.number & 0xff);
    }
    assert_true(lsn > found->last_lsn);
    assert_true(found->count == 0 || record->txn.number == found->last + 1);
    found->first = found->count == 0 ? record->txn.number : found->first;
    found->last = record->txn.number;
    found->last_lsn = lsn;
    found->count++;
    return WIO_OK;
}

static struct found scan(struct place *place)
{
    struct found found = {0};
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_log_scan(place->log, visit, &found, &err), &err);
    return found;
}

static void gives_back_what_was_flushed(void **state)
{
    struct place place = begin(state);
    open_place(&place);
    for (uint64_t i = 1; i <= 40; i++) {
        (void)append(&place, i, i * 97 % 5000);
        if (i % 3 == 0) {
            flush(&place);
        }
    }
    flush(&place);
    reopen(&place);
    struct found found = scan(&place);
    assert_int_equal(found.first, 1);
    assert_int_equal(found.count, 40);
    end(&place);
}

static void an_append_alone_is_not_durable(void **state)
{
    struct place place = begin(state);
    struct wio_log_state now;
    struct wio_error err = WIO_ERROR_INIT;
    open_place(&place);
    (void)append(&place, 1, 10);
    flush(&place);
    uint64_t lsn = append(&place, 2, 10);
    assert_int_equal(place.told.durable_lsn, lsn - 1);
    reopen(&place);
    assert_int_equal(scan(&place).count, 1);
    assert_ok(wio_log_flushed(place.log, &now, &err), &err);
    assert_true(now.durable_lsn + 1 == now.next_lsn);
    end(&place);
}

static void a_checkpoint_takes_away_what_is_before(void **state)
{
    struct place place = begin(state);
    struct wio_error err = WIO_ERROR_INIT;
    uint64_t lsn = 0;
    open_place(&place);
    for (uint64_t i = 1; i <= 60; i++) {
        uint64_t at = append(&place, i, 4000);
        lsn = i == 50 ? at : lsn;
        flush(&place);
    }
    assert_ok(wio_log_checkpoint(place.log, lsn, &err), &err);
    assert_status(wio_log_checkpoint(place.log, lsn - 1, &err), WIO_ERR_USAGE, &err);
    assert_status(wio_log_checkpoint(place.log, place.told.durable_lsn + 2, &err), WIO_ERR_USAGE,
                  &err);
    reopen(&place);
    struct found found = scan(&place);
    assert_int_equal(found.first, 50);
    assert_int_equal(found.count, 11);
    end(&place);
}

static void numbers_go_on_after_all_was_checkpointed(void **state)
{
    struct place place = begin(state);
    struct wio_error err = WIO_ERROR_INIT;
    open_place(&place);
    uint64_t lsn = append(&place, 1, 4000);
    flush(&place);
    assert_ok(wio_log_checkpoint(place.log, lsn + 1, &err), &err);
    reopen(&place);
    assert_int_equal(scan(&place).count, 0);
    assert_true(append(&place, 2, 10) > lsn);
    flush(&place);
    reopen(&place);
    assert_int_equal(scan(&place).first, 2);
    end(&place);
}

static void a_failed_flush_is_for_ever(void **state)
{
    struct place place = begin(state);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_log_record record = {.kind = WIO_LOG_COMMIT};
    struct wio_log_state now;
    uint64_t lsn = 0;
    open_place(&place);
    (void)append(&place, 1, 10);
    flush(&place);
    lsn = append(&place, 2, 10);
    disk_set_fault(place.disk, (struct disk_fault){.at = 2, .sys_errno = EIO});
    (void)!wio_log_flushed(place.log, NULL, &err);
    disk_turn(place.disk);
    disk_set_fault(place.disk, (struct disk_fault){0});
    assert_status(wio_log_append(place.log, &record, 1, &lsn, &err), WIO_ERR_IO, &err);
    assert_int_equal(err.sys_errno, EIO);
    assert_status(wio_log_flushed(place.log, &now, &err), WIO_ERR_IO, &err);
    assert_true(now.has_failed);
    assert_true(now.durable_lsn < now.next_lsn - 1);
    reopen(&place);
    struct found found = scan(&place);
    assert_int_equal(found.first, 1);
    assert_true(found.count == 1 || found.count == 2);
    end(&place);
}

static void refuses_what_is_no_record(void **state)
{
    struct place place = begin(state);
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_log_record record = {.kind = WIO_LOG_KINDS};
    uint64_t lsn = 0;
    open_place(&place);
    assert_status(wio_log_append(place.log, &record, 1, &lsn, &err), WIO_ERR_USAGE, &err);
    record = (struct wio_log_record){.kind = WIO_LOG_COMMIT, .redo_bytes = WIO_LOG_REDO_MAX + 1};
    assert_status(wio_log_append(place.log, &record, 1, &lsn, &err), WIO_ERR_USAGE, &err);
    end(&place);
}

static void says_where_no_log_is(void **state)
{
    struct place place = begin(state);
    struct wio_error err = WIO_ERROR_INIT;
    assert_true(try_open(&place, false, &err) != WIO_OK);
    assert_string_not_equal(err.message, "");
    end(&place);
}

static open_log *const own = wio_log_open_own;
static open_log *const sqlite = wio_log_open_sqlite;

#define BOTH(f)                                                                                    \
    {#f " (own)", f, NULL, NULL, (void *)(uintptr_t)&own},                                         \
    {                                                                                              \
#f " (sqlite)", f, NULL, NULL, (void *)(uintptr_t)&sqlite                                  \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        BOTH(gives_back_what_was_flushed),
        BOTH(an_append_alone_is_not_durable),
        BOTH(a_checkpoint_takes_away_what_is_before),
        BOTH(numbers_go_on_after_all_was_checkpointed),
        BOTH(a_failed_flush_is_for_ever),
        BOTH(refuses_what_is_no_record),
        BOTH(says_where_no_log_is),
    };
    return WIO_RUN(tests);
}
