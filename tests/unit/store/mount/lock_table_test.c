/* SPDX-License-Identifier: Apache-2.0 */
/* Locks of the processes of a mount, against a model: an array of bytes for each owner. */
#include "support/unit.h"

#include <string.h>

#include "store/mount/lock_table.h"

enum { OWNERS = 4, FILES = 2, BYTES = 40, ROUNDS = 20000 };

struct model {
    uint8_t has[OWNERS][FILES][BYTES]; /* enum mount_need */
};

static uint64_t below(uint64_t *seed, uint64_t limit)
{
    return wio_test_random(seed) % limit;
}

static struct mount_held random_lock(uint64_t *seed)
{
    struct mount_held lock = {.owner = below(seed, OWNERS), .is_exclusive = below(seed, 2) == 0};
    lock.range.file = below(seed, FILES);
    lock.range.from = below(seed, BYTES);
    lock.range.to = lock.range.from + 1 + below(seed, BYTES - lock.range.from);
    return lock;
}

static bool conflicts(const struct model *model, const struct mount_held *lock)
{
    for (unsigned owner = 0; owner < OWNERS; owner++) {
        for (uint64_t at = lock->range.from; owner != lock->owner && at < lock->range.to; at++) {
            const uint8_t has = model->has[owner][lock->range.file][at];
            if (has == MOUNT_NEED_EXCLUSIVE || (has != MOUNT_NEED_NONE && lock->is_exclusive)) {
                return true;
            }
        }
    }
    return false;
}

static void set(struct model *model, const struct mount_held *lock, enum mount_need need)
{
    memset(&model->has[lock->owner][lock->range.file][lock->range.from], (int)need,
           lock->range.to - lock->range.from);
}

static uint8_t needed(const struct model *model, uint64_t file, uint64_t at)
{
    uint8_t most = MOUNT_NEED_NONE;
    for (unsigned owner = 0; owner < OWNERS; owner++) {
        const uint8_t has = model->has[owner][file][at];
        most = has > most ? has : most;
    }
    return most;
}

static void compare(const struct mount_lock_table *table, const struct model *model)
{
    for (uint64_t file = 0; file < FILES; file++) {
        struct mount_range range = {file, 0, BYTES};
        while (range.from < range.to) {
            uint64_t to = 0;
            const enum mount_need need = mount_lock_table_need(table, &range, &to);
            assert_true(to > range.from && to <= range.to);
            for (uint64_t at = range.from; at < to; at++) {
                assert_int_equal(need, needed(model, file, at));
            }
            range.from = to;
        }
    }
}

static void random_locks(void **state)
{
    (void)state;
    uint64_t seed = 11;
    struct mount_lock_table table = {0};
    struct model model = {0};
    unsigned refused = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const struct mount_held lock = random_lock(&seed);
        if (below(&seed, 3) == 0) {
            bool had = false;
            for (uint64_t at = lock.range.from; at < lock.range.to; at++) {
                had = had || model.has[lock.owner][lock.range.file][at] != MOUNT_NEED_NONE;
            }
            assert_int_equal(mount_lock_table_has(&table, &lock.range, lock.owner), had);
            assert_int_equal(mount_lock_table_remove(&table, &lock.range, lock.owner), WIO_OK);
            set(&model, &lock, MOUNT_NEED_NONE);
        } else if (conflicts(&model, &lock)) {
            assert_non_null(mount_lock_table_conflict(&table, &lock));
            refused++;
        } else {
            assert_null(mount_lock_table_conflict(&table, &lock));
            assert_int_equal(mount_lock_table_add(&table, &lock), WIO_OK);
            set(&model, &lock, lock.is_exclusive ? MOUNT_NEED_EXCLUSIVE : MOUNT_NEED_SHARED);
        }
        compare(&table, &model);
    }
    assert_true(refused > ROUNDS / 10);
    mount_lock_table_fini(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_locks)};
    return WIO_RUN(tests);
}
