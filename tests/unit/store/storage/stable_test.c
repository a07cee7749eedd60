/* SPDX-License-Identifier: Apache-2.0 */
/* Votes that wait to be logged: a checkpoint that begins does not put them before what was
 * submitted earlier, and an earlier attempt stays aborted, also where the log has no room. */
#include "support/unit.h"

#include <errno.h>
#include <string.h>

#include "store/storage/root.h"
#include "support/store/disk.h"

enum { LOG_SEGMENT = 64 << 10, BYTES = 6000, LARGE = 40 << 10, SEEDS = 8 };

struct place {
    struct disk *disk;
    struct wio_storage *storage;
    struct wio_stable *stable;
};

struct told {
    unsigned times;
    enum wio_status status;
    int sys_errno;
};

static const struct wio_txn the_vote = {5, 9, 9, 2};
static const struct wio_txn an_earlier_attempt = {5, 9, 9, 1};
static const struct wio_txn another = {5, 10, 10, 1};

static void done(void *context, enum wio_status status, int sys_errno)
{
    struct told *told = context;
    told->times++;
    told->status = status;
    told->sys_errno = sys_errno;
}

static struct place open_on(struct disk *disk)
{
    struct place place = {.disk = disk};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_io *io = disk_io(disk);
    struct wio_store_root root;
    struct wio_storage_config storage = {.io = io, .keep_free_bytes = 1, .open_files = 4};
    assert_ok(wio_store_root_open(io, WIO_LOG_OWN, true, &root, &err), &err);
    assert_ok(wio_storage_open(&storage, &place.storage, &err), &err);
    struct wio_stable_config config = {.io = io,
                                       .storage = place.storage,
                                       .log = WIO_LOG_OWN,
                                       .may_create = root.is_new,
                                       .segment_bytes = LOG_SEGMENT};
    assert_ok(wio_stable_open(&config, &place.stable, &err), &err);
    if (root.is_new) {
        assert_ok(wio_store_root_finish(io, &root, &err), &err);
    }
    return place;
}

static void end(struct place *place)
{
    disk_stop(place->disk);
    (void)disk_turn(place->disk); /* nothing may be in flight when files are closed */
    wio_stable_close(place->stable);
    wio_storage_close(place->storage);
    disk_destroy(place->disk);
}

static void commit(struct place *place, uint64_t file, struct told *told)
{
    static uint8_t data[BYTES];
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_txn txn = {5, file, file, 1};
    struct wio_redo_change change = {WIO_CHANGE_WRITE, {file, 0}, 0, data, BYTES};
    memset(data, (int)file, sizeof(data));
    assert_ok(wio_stable_commit(place->stable, &txn, &change, 1, done, told, &err), &err);
}

static void prepare(struct place *place, const struct wio_txn *txn, uint32_t bytes,
                    struct told *told)
{
    static const uint16_t both[] = {0, 1};
    static const uint8_t data[LARGE] = {1};
    struct wio_error err = WIO_ERROR_INIT;
    bool vote = false;
    struct wio_redo_change change = {WIO_CHANGE_WRITE, {3, 0}, 0, data, bytes};
    assert_ok(wio_stable_prepare(place->stable, txn, both, 2, &change, 1, done, told, &vote, &err),
              &err);
    assert_true(vote);
}

static uint64_t size_of(struct place *place, uint64_t file)
{
    uint64_t bytes = 0;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_storage_size(place->storage, (struct wio_segment_id){file, 0}, &bytes, &err),
              &err);
    return bytes;
}

static void turn(struct place *place)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_stable_kick(place->stable, &err), &err);
    disk_turn(place->disk);
}

/* A new store, where the earlier attempt was aborted, durably. */
static struct place begin(void)
{
    struct place place = open_on(disk_create(3));
    struct wio_error err = WIO_ERROR_INIT;
    struct told aborted = {0};
    assert_ok(wio_stable_decide(place.stable, &an_earlier_attempt, false, done, &aborted, &err),
              &err);
    turn(&place);
    assert_int_equal(aborted.times, 1);
    return place;
}

/* A checkpoint is to begin when the first commit is durable. Behind it wait another one and the
 * vote. */
static struct place begin_checkpoint(struct told told[3])
{
    struct place place = begin();
    struct wio_error err = WIO_ERROR_INIT;
    commit(&place, 1, &told[0]);
    assert_ok(wio_stable_kick(place.stable, &err), &err);
    assert_ok(wio_stable_checkpoint(place.stable, &err), &err);
    commit(&place, 2, &told[1]);
    prepare(&place, &the_vote, 100, &told[2]);
    return place;
}

static void check_order(const struct disk *disk, size_t at, uint64_t seed)
{
    struct place place = open_on(disk_crash(disk, at, seed, DISK_SECTORS));
    enum wio_stable_outcome outcome = wio_stable_outcome(place.stable, &the_vote);
    if (outcome == WIO_STABLE_PREPARED) {
        assert_int_equal(size_of(&place, 2), BYTES);
    }
    /* Before and behind the vote: the earlier attempt can do nothing here any more. */
    assert_int_equal(wio_stable_outcome(place.stable, &an_earlier_attempt), WIO_STABLE_ABORTED);
    end(&place);
}

/* R-LOG-8: whatever a crash leaves, the vote is not there without the commit that preceded it. */
static void a_checkpoint_carries_no_vote_that_waits(void **state)
{
    struct told told[3] = {{0}};
    struct wio_stable_stats stats;
    struct place place = begin_checkpoint(told);
    size_t begun = disk_events(place.disk);
    (void)state;
    disk_turn(place.disk);
    wio_stable_stats(place.stable, &stats);
    assert_int_equal(stats.checkpoints, 1);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(told[i].times, 1);
        assert_int_equal(told[i].status, WIO_OK);
    }
    assert_int_equal(wio_stable_outcome(place.stable, &the_vote), WIO_STABLE_PREPARED);
    for (size_t at = begun; at <= disk_events(place.disk); at++) {
        for (uint64_t seed = 1; seed <= SEEDS; seed++) {
            check_order(place.disk, at, seed);
        }
    }
    end(&place);
}

/* The log has no room to become longer: the vote fails, and nothing of it is known. */
static void a_vote_without_room_leaves_what_was_known(void **state)
{
    struct place place = begin();
    struct told told[2] = {{0}};
    (void)state;
    prepare(&place, &another, LARGE, &told[0]);
    turn(&place);
    assert_int_equal(told[0].status, WIO_OK);
    disk_limit(place.disk, 1);
    prepare(&place, &the_vote, LARGE, &told[1]);
    assert_int_equal(wio_stable_outcome(place.stable, &the_vote), WIO_STABLE_PREPARED);
    turn(&place);
    assert_int_equal(told[1].times, 1);
    assert_int_equal(told[1].sys_errno, ENOSPC);
    assert_int_equal(wio_stable_outcome(place.stable, &the_vote), WIO_STABLE_UNKNOWN);
    assert_int_equal(wio_stable_outcome(place.stable, &an_earlier_attempt), WIO_STABLE_ABORTED);
    end(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_checkpoint_carries_no_vote_that_waits),
        cmocka_unit_test(a_vote_without_room_leaves_what_was_known),
    };
    return WIO_RUN(tests);
}
