/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Crashes at every point of a workload: whatever of the unflushed sectors and names survives,
 * recovery gives the first m steps for some m that is not before the last acknowledged one, all of
 * each or nothing; the same m after a crash within recovery, once its epoch is durable; and the
 * store goes on from there. The own log and the reference, in the same runs (R-LOG-4, R-LOG-5,
 * R-LOG-7, R-LOG-8, R-REDO-2, R-REDO-3).
 */
#include "support/unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"
#include "store/storage/root.h"
#include "support/store/disk.h"

enum { LOG_SEGMENT = 64 << 10, CHECKPOINT = 150 << 10 };

/* A store that runs on a disk. */
struct world {
    struct disk *disk;
    struct wio_storage *storage;
    struct wio_stable *stable;
    enum wio_log_choice log;
    unsigned failures;
    bool refused[SCRIPT_STEPS + 1]; /* steps that the log had no room for */
};

struct ack {
    struct world *world;
    unsigned step;
    struct ack *next;
};

static void failed(void *context, const struct wio_error *why)
{
    struct world *world = context;
    assert_string_not_equal(why->message, "");
    world->failures++;
}

static enum wio_status try_open(struct world *world, bool may_create, struct wio_error *err)
{
    struct wio_io *io = disk_io(world->disk);
    struct wio_store_root root;
    enum wio_status status = wio_store_root_open(io, world->log, may_create, &root, err);
    if (status != WIO_OK) {
        return status;
    }
    struct wio_storage_config storage = {.io = io, .keep_free_bytes = 1, .open_files = 4};
    status = wio_storage_open(&storage, &world->storage, err);
    if (status != WIO_OK) {
        return status;
    }
    struct wio_stable_config config = {.io = io,
                                       .storage = world->storage,
                                       .log = world->log,
                                       .may_create = root.is_new,
                                       .segment_bytes = LOG_SEGMENT,
                                       .checkpoint_bytes = CHECKPOINT,
                                       .failed = failed,
                                       .context = world};
    status = wio_stable_open(&config, &world->stable, err);
    return status == WIO_OK && root.is_new ? wio_store_root_finish(io, &root, err) : status;
}

/* What is in memory goes; the disk stays as it is. */
static void die(struct world *world)
{
    disk_stop(world->disk);
    (void)disk_turn(world->disk); /* nothing may be in flight when files are closed */
    wio_stable_close(world->stable);
    wio_storage_close(world->storage);
    world->stable = NULL;
    world->storage = NULL;
}

static void acknowledged(void *context, enum wio_status status, int sys_errno)
{
    struct ack *ack = context;
    if (status == WIO_OK) {
        disk_note(ack->world->disk, ack->step);
    } else {
        assert_int_equal(sys_errno, ENOSPC);
        ack->world->refused[ack->step] = true;
    }
}

static enum wio_status do_step(struct world *world, const struct script *script, struct ack *ack,
                               struct wio_error *err)
{
    static const uint16_t both[] = {0, 1};
    const struct step *step = &script->steps[ack->step];
    bool vote = false;
    if (step->is_checkpoint && wio_stable_checkpoint(world->stable, err) != WIO_OK) {
        return err->status;
    }
    switch (step->kind) {
    case STEP_COMMIT:
        return wio_stable_commit(world->stable, &step->txn, step->changes, step->count,
                                 acknowledged, ack, err);
    case STEP_PREPARE:
        return wio_stable_prepare(world->stable, &step->txn, both, 2, step->changes, step->count,
                                  acknowledged, ack, &vote, err);
    case STEP_APPLY:
        return wio_stable_apply(world->stable, step->changes, step->count, acknowledged, ack, err);
    case STEP_FORGET:
        return wio_stable_forget(world->stable, &step->txn, NULL, NULL, err);
    case STEP_DECIDE:
    case STEP_TOMBSTONE:
        break;
    }
    return wio_stable_decide(world->stable, &step->txn, step->is_committed, acknowledged, ack, err);
}

static enum wio_status run_steps(struct world *world, const struct script *script,
                                 struct ack acks[SCRIPT_STEPS + 1], struct wio_error *err)
{
    enum wio_status status = WIO_OK;
    for (unsigned i = 1; i <= SCRIPT_STEPS && status == WIO_OK; i++) {
        acks[i] = (struct ack){world, i, NULL};
        status = do_step(world, script, &acks[i], err);
        if (status == WIO_OK) {
            status = wio_stable_kick(world->stable, err);
        }
        if (script->steps[i].has_turn || i == SCRIPT_STEPS) {
            disk_turn(world->disk);
        }
    }
    return status;
}

/* ---- after a crash ---- */

/* What other participants would say: the transaction is decided as the script has it. */
static void resolve_doubts(struct world *world, const struct script *script)
{
    struct wio_stable_doubt doubt;
    uint32_t place = 0;
    while (wio_stable_in_doubt(world->stable, &place, &doubt)) {
        struct wio_error err = WIO_ERROR_INIT;
        struct wio_txn txn = doubt.txn;
        assert_int_equal(doubt.participant_count, 2);
        assert_ok(wio_stable_decide(world->stable, &txn, script->steps[txn.number].is_committed,
                                    NULL, NULL, &err),
                  &err);
        place = 0;
    }
}

/* An outcome that was acknowledged and not forgotten is known. */
static void check_outcomes(const struct world *world, const struct script *script, unsigned acked)
{
    bool is_forgotten[SCRIPT_STEPS + 1] = {false};
    for (unsigned i = 1; i <= SCRIPT_STEPS; i++) {
        if (script->steps[i].kind == STEP_FORGET) {
            is_forgotten[script->steps[i].other] = true;
        }
    }
    for (unsigned i = 1; i <= acked; i++) {
        const struct step *step = &script->steps[i];
        enum wio_stable_outcome outcome = wio_stable_outcome(world->stable, &step->txn);
        if (step->kind == STEP_PREPARE) {
            assert_int_not_equal(outcome, WIO_STABLE_UNKNOWN);
        }
        if (step->kind == STEP_TOMBSTONE && !is_forgotten[i]) {
            assert_int_equal(outcome, WIO_STABLE_ABORTED);
        }
    }
}

static bool is_expected(const struct script *script, uint32_t contents, unsigned acked)
{
    for (unsigned m = acked; m <= SCRIPT_STEPS; m++) {
        if (script->expected[m] == contents) {
            return true;
        }
    }
    return false;
}

/* Recover and give what is there. */
static uint32_t recover(struct world *world, const struct script *script, unsigned acked)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(try_open(world, false, &err), &err);
    check_outcomes(world, script, acked);
    resolve_doubts(world, script);
    return script_contents(world->storage);
}

/* The store takes another transaction, which survives the next crash. */
static void go_on(struct world *world, const struct script *script, uint64_t seed)
{
    struct wio_error err = WIO_ERROR_INIT;
    uint8_t data[900];
    struct wio_txn txn = {6, 1, 1, 1};
    struct wio_redo_change change = {WIO_CHANGE_WRITE, {2, 1}, 3500, data, sizeof(data)};
    struct ack ack = {world, 1, NULL};
    size_t before = disk_events(world->disk);
    memset(data, (int)seed, sizeof(data));
    assert_ok(wio_stable_commit(world->stable, &txn, &change, 1, acknowledged, &ack, &err), &err);
    assert_ok(wio_stable_kick(world->stable, &err), &err);
    disk_turn(world->disk);
    assert_int_equal(disk_noted(world->disk, disk_events(world->disk)), 1);
    assert_true(disk_events(world->disk) > before);
    uint32_t contents = script_contents(world->storage);
    struct world again = {.log = world->log,
                          .disk = disk_crash(world->disk, disk_events(world->disk), seed,
                                             (enum disk_tear)(seed % 4))};
    assert_int_equal(recover(&again, script, 0), contents);
    die(&again);
    disk_destroy(again.disk);
}

static void nothing_to_do(void *context, const struct wio_log_state *state)
{
    (void)context;
    (void)state;
}

/* The events until a recovery has opened the log: its epoch is durable, no segment was changed. */
static size_t events_of_opening(const struct world *ran, size_t at, uint64_t seed,
                                enum disk_tear tear)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_log *log = NULL;
    struct disk *disk = disk_crash(ran->disk, at, seed, tear);
    struct wio_log_config config = {
        .io = disk_io(disk), .segment_bytes = LOG_SEGMENT, .on_flushed = nothing_to_do};
    assert_ok(ran->log == WIO_LOG_SQLITE ? wio_log_open_sqlite(&config, &log, &err)
                                         : wio_log_open_own(&config, &log, &err),
              &err);
    size_t events = disk_events(disk);
    disk_stop(disk);
    (void)disk_turn(disk);
    wio_log_close(log);
    disk_destroy(disk);
    return events;
}

static void check_crash(const struct world *ran, const struct script *script, size_t at,
                        uint64_t seed, enum disk_tear tear)
{
    struct world world = {.log = ran->log, .disk = disk_crash(ran->disk, at, seed, tear)};
    unsigned acked = (unsigned)disk_noted(ran->disk, at);
    size_t begun = disk_events(world.disk);
    uint32_t contents = recover(&world, script, acked);
    if (!is_expected(script, contents, acked)) {
        fail_msg("crash at event %zu, seed %llu, tear %d: not what %u acknowledged steps or more "
                 "give",
                 at, (unsigned long long)seed, (int)tear, acked);
    }
    size_t within = begun + (size_t)(seed / 7 % (disk_events(world.disk) - begun + 1));
    struct world twice = {.log = ran->log,
                          .disk = disk_crash(world.disk, within, seed + 1, DISK_GARBAGE)};
    uint32_t again = recover(&twice, script, acked);
    if (again != contents) {
        /* The epoch was not durable: a record that the first recovery did not reach, as the header
         * of its segment was torn, may count now that the header was written again (R-LOG-4). */
        assert_true(within < events_of_opening(ran, at, seed, tear));
        assert_true(is_expected(script, again, acked));
    }
    go_on(&twice, script, seed);
    die(&twice);
    disk_destroy(twice.disk);
    die(&world);
    disk_destroy(world.disk);
}

static size_t begin_world(struct world *world, enum wio_log_choice log, uint64_t seed)
{
    struct wio_error err = WIO_ERROR_INIT;
    *world = (struct world){.log = log, .disk = disk_create(seed)};
    assert_ok(try_open(world, true, &err), &err);
    return disk_events(world->disk);
}

/* All prefixes; at each, nothing and all and a few seeded subsets of what was not flushed. */
static void crash_everywhere(enum wio_log_choice log, uint64_t seed, unsigned stride)
{
    struct world world;
    struct script script;
    struct ack acks[SCRIPT_STEPS + 1];
    struct wio_error err = WIO_ERROR_INIT;
    script_make(&script, seed);
    size_t begun = begin_world(&world, log, seed);
    assert_ok(run_steps(&world, &script, acks, &err), &err);
    assert_int_equal(disk_noted(world.disk, disk_events(world.disk)), SCRIPT_STEPS);
    size_t end = disk_events(world.disk);
    uint64_t state = seed;
    unsigned states = 0;
    for (size_t at = begun; at <= end; at++) {
        for (unsigned n = 0; n < 4; n++) {
            if (++states % stride == 0) {
                check_crash(&world, &script, at, wio_test_random(&state), (enum disk_tear)n);
            }
        }
    }
    die(&world);
    disk_destroy(world.disk);
    script_fini(&script);
}

/* How much of all is tried: with the argument `long` everything, and more seeds. */
struct extent {
    uint64_t seeds;
    unsigned own_stride;
    unsigned reference_stride;
    uint64_t call_step;
};

static const struct extent short_extent = {2, 11, 29, 4};
static const struct extent long_extent = {20, 1, 1, 1};

static const struct extent *extent_of(void **state)
{
    return *state;
}

static void own_log_survives_crashes(void **state)
{
    for (uint64_t seed = 1; seed <= extent_of(state)->seeds; seed++) {
        crash_everywhere(WIO_LOG_OWN, seed, extent_of(state)->own_stride);
    }
}

static void reference_survives_crashes(void **state)
{
    for (uint64_t seed = 1; seed <= extent_of(state)->seeds; seed++) {
        crash_everywhere(WIO_LOG_SQLITE, seed, extent_of(state)->reference_stride);
    }
}

/* ---- failures ---- */

/* The n-th write or flush fails, and all behind it: what was acknowledged is there afterwards. */
static bool fail_at(enum wio_log_choice log, uint64_t n, struct disk_fault fault)
{
    struct world world;
    struct script script;
    struct ack acks[SCRIPT_STEPS + 1];
    struct wio_error err = WIO_ERROR_INIT;
    script_make(&script, 5);
    (void)begin_world(&world, log, 5);
    fault.at = n;
    disk_set_fault(world.disk, fault);
    enum wio_status status = run_steps(&world, &script, acks, &err);
    bool was_hit = status != WIO_OK || world.failures > 0;
    assert_true(world.failures <= 1);
    size_t end = disk_events(world.disk);
    unsigned acked = (unsigned)disk_noted(world.disk, end);
    die(&world);
    for (unsigned i = 1; i <= SCRIPT_STEPS; i++) {
        if (world.refused[i]) {
            script_refuse(&script, i);
            was_hit = true;
        }
    }
    for (unsigned tear = 0; tear < 4; tear++) {
        struct world after = {.log = log,
                              .disk = disk_crash(world.disk, end, n + tear, (enum disk_tear)tear)};
        uint32_t contents = recover(&after, &script, acked);
        if (!is_expected(&script, contents, acked)) {
            fail_msg("call %llu fails by errno %d, tear %u: not what %u acknowledged steps give",
                     (unsigned long long)n, fault.sys_errno, tear, acked);
        }
        die(&after);
        disk_destroy(after.disk);
    }
    disk_destroy(world.disk);
    script_fini(&script);
    return was_hit;
}

/* Each call in its turn, until the workload ends before its turn comes. */
static void fail_everywhere(enum wio_log_choice log, struct disk_fault fault, uint64_t step)
{
    uint64_t n = 1 + (uint64_t)fault.sys_errno % step;
    while (fail_at(log, n, fault) || n < 20) {
        n += step;
        assert_true(n < 2000);
    }
    assert_true(n > 60);
}

static void an_io_error_stops_the_store(void **state)
{
    fail_everywhere(WIO_LOG_OWN, (struct disk_fault){.sys_errno = EIO, .is_lasting = true},
                    extent_of(state)->call_step);
}

/* A later flush that succeeds mends nothing. */
static void a_single_io_error_stops_the_store(void **state)
{
    fail_everywhere(WIO_LOG_OWN, (struct disk_fault){.sys_errno = EIO},
                    extent_of(state)->call_step);
}

static void a_short_write_stops_the_store(void **state)
{
    fail_everywhere(WIO_LOG_OWN, (struct disk_fault){.sys_errno = ENOSPC, .is_short_write = true},
                    extent_of(state)->call_step);
}

static void an_io_error_stops_the_reference(void **state)
{
    for (uint64_t n = 1; n < 120; n += 7 * extent_of(state)->call_step) {
        (void)fail_at(WIO_LOG_SQLITE, n,
                      (struct disk_fault){.sys_errno = EIO, .is_lasting = n % 2 == 0});
    }
}

#define WITH(f) cmocka_unit_test_prestate(f, (void *)(uintptr_t)extent)

int main(int argc, char **argv)
{
    const struct extent *extent =
        argc > 1 && strcmp(argv[1], "long") == 0 ? &long_extent : &short_extent;
    const struct CMUnitTest tests[] = {
        WITH(own_log_survives_crashes),      WITH(reference_survives_crashes),
        WITH(an_io_error_stops_the_store),   WITH(a_single_io_error_stops_the_store),
        WITH(a_short_write_stops_the_store), WITH(an_io_error_stops_the_reference),
    };
    return WIO_RUN(tests);
}
