/* SPDX-License-Identifier: Apache-2.0 */
#include "store/mount/lock_table.h"

#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"

void mount_lock_table_fini(struct mount_lock_table *table)
{
    free(table->held);
    *table = (struct mount_lock_table){0};
}

static bool overlap(const struct mount_range *a, const struct mount_range *b)
{
    return a->file == b->file && a->from < b->to && b->from < a->to;
}

const struct mount_held *mount_lock_table_conflict(const struct mount_lock_table *table,
                                                   const struct mount_held *wanted)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const struct mount_held *held = &table->held[i];
        if (held->owner != wanted->owner && (held->is_exclusive || wanted->is_exclusive) &&
            overlap(&held->range, &wanted->range)) {
            return held;
        }
    }
    return NULL;
}

bool mount_lock_table_has(const struct mount_lock_table *table, const struct mount_range *range,
                          uint64_t owner)
{
    for (uint32_t i = 0; i < table->count; i++) {
        if (table->held[i].owner == owner && overlap(&table->held[i].range, range)) {
            return true;
        }
    }
    return false;
}

/* Room for what one range may leave: a lock that is cut in its middle, and a new one. */
static enum wio_status make_room(struct mount_lock_table *table)
{
    void *array = table->held;
    WIO_TRY(wio_make_room(&array, sizeof(*table->held), &table->room, table->count + 2));
    table->held = array;
    return WIO_OK;
}

/* An owner's locks do not overlap: at most one of them has the whole range in its middle. */
static void cut(struct mount_lock_table *table, const struct mount_range *range, uint64_t owner)
{
    const uint32_t count = table->count;
    uint32_t kept = 0;
    struct mount_held behind = {0};
    bool is_split = false;
    for (uint32_t i = 0; i < count; i++) {
        struct mount_held held = table->held[i];
        if (held.owner != owner || !overlap(&held.range, range)) {
            table->held[kept++] = held;
            continue;
        }
        if (held.range.to > range->to) {
            behind = held;
            behind.range.from = range->to;
            is_split = held.range.from < range->from;
            if (!is_split) {
                table->held[kept++] = behind;
            }
        }
        if (held.range.from < range->from) {
            held.range.to = range->from;
            table->held[kept++] = held;
        }
    }
    table->count = kept;
    if (is_split) {
        table->held[table->count++] = behind;
    }
}

enum wio_status mount_lock_table_add(struct mount_lock_table *table,
                                     const struct mount_held *wanted)
{
    WIO_TRY(make_room(table));
    cut(table, &wanted->range, wanted->owner);
    table->held[table->count++] = *wanted;
    return WIO_OK;
}

enum wio_status mount_lock_table_remove(struct mount_lock_table *table,
                                        const struct mount_range *range, uint64_t owner)
{
    WIO_TRY(make_room(table));
    cut(table, range, owner);
    return WIO_OK;
}

enum mount_need mount_lock_table_need(const struct mount_lock_table *table,
                                      const struct mount_range *range, uint64_t *to_out)
{
    enum mount_need need = MOUNT_NEED_NONE;
    uint64_t to = range->to;
    for (uint32_t i = 0; i < table->count; i++) {
        const struct mount_held *held = &table->held[i];
        if (!overlap(&held->range, range)) {
            continue;
        }
        if (held->range.from > range->from) {
            to = held->range.from < to ? held->range.from : to;
            continue;
        }
        to = held->range.to < to ? held->range.to : to;
        const enum mount_need own = held->is_exclusive ? MOUNT_NEED_EXCLUSIVE : MOUNT_NEED_SHARED;
        need = own > need ? own : need;
    }
    *to_out = to;
    return need;
}
