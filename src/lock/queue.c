/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting: what watches what, and what happens when something goes. */
#include "base/cleanup.h"
#include "lock/lock_internal.h"

static int compare_ages(const struct lock_item *a, const struct lock_item *b)
{
    int age = wio_txn_compare(&a->owner->txn, &b->owner->txn);
    return age != 0 ? age : (a->order > b->order) - (a->order < b->order);
}

RB_GENERATE_STATIC(lock_ages, lock_item, by_age, compare_ages)

static void watch(struct lock_item *item, struct lock_item *watched)
{
    item->watches = watched;
    LIST_INSERT_HEAD(&watched->watchers, item, by_watched);
}

static void unwatch(struct lock_item *item)
{
    if (item->watches != NULL) {
        LIST_REMOVE(item, by_watched);
        item->watches = NULL;
    }
}

void lock_awaken(struct wio_locks *locks, struct lock_item *item)
{
    struct lock_item *watcher;
    while ((watcher = LIST_FIRST(&item->watchers)) != NULL) {
        unwatch(watcher);
        watcher->is_ready = true;
        RB_INSERT(lock_ages, &locks->ready, watcher);
    }
}

void lock_watch_moved(struct lock_item *from, struct lock_item *to)
{
    struct lock_item *watcher;
    while ((watcher = LIST_FIRST(&from->watchers)) != NULL) {
        unwatch(watcher);
        watch(watcher, to);
    }
}

void lock_wait(struct wio_locks *locks, struct lock_item *item, struct lock_item *watched)
{
    lock_item_enter(locks, item, LOCK_WAITS);
    watch(item, watched);
    if (item->has_deadline) {
        TAILQ_INSERT_TAIL(&locks->deadlines, item, by_time);
    }
}

/* Out of what only waiting items are in. */
static void end_wait(struct wio_locks *locks, struct lock_item *item)
{
    lock_item_leave(locks, item);
    unwatch(item);
    if (item->is_ready) {
        RB_REMOVE(lock_ages, &locks->ready, item);
        item->is_ready = false;
    }
    if (item->has_deadline) {
        TAILQ_REMOVE(&locks->deadlines, item, by_time);
        item->has_deadline = false;
    }
}

void lock_refuse(struct wio_locks *locks, struct lock_item *item, enum wio_lock_reason reason)
{
    end_wait(locks, item);
    lock_awaken(locks, item);
    item->state = LOCK_REFUSED;
    item->reason = (uint8_t)reason;
    item->is_told = false;
    TAILQ_INSERT_TAIL(&locks->refused, item, by_event);
}

/* Wait-die at a grant: what waits for the new lock and is younger waits no more. */
static void refuse_younger(struct wio_locks *locks, struct lock_item *held)
{
    struct lock_window window = {held->from, held->to, lock_conflicts(held->mode)};
    struct lock_item *item = lock_place_first(&held->file->waiting, &window);
    while (item != NULL) {
        if (item->owner != held->owner &&
            wio_txn_compare(&held->owner->txn, &item->owner->txn) < 0) {
            lock_refuse(locks, item, WIO_LOCK_REASON_DIED);
            item = lock_place_first(&held->file->waiting, &window); /* the tree has changed */
        } else {
            item = lock_place_next(item, &window);
        }
    }
}

void lock_hold(struct wio_locks *locks, struct lock_item *item)
{
    lock_item_enter(locks, item, LOCK_HELD);
    if (locks->config.policy == WIO_LOCK_WAIT_DIE) {
        refuse_younger(locks, item);
    }
}

void lock_remove(struct wio_locks *locks, struct lock_item *item)
{
    if (item->state == LOCK_WAITS) {
        end_wait(locks, item);
    } else if (item->state == LOCK_HELD) {
        lock_item_leave(locks, item);
    }
    lock_awaken(locks, item);
    if (!item->is_told && item->state == LOCK_HELD) {
        TAILQ_REMOVE(&locks->granted, item, by_event);
    } else if (!item->is_told) {
        TAILQ_REMOVE(&locks->refused, item, by_event);
    }
    lock_item_drop(locks, item);
}

static void grant(struct wio_locks *locks, struct lock_item *item)
{
    end_wait(locks, item);
    lock_hold(locks, item);
    item->is_told = false;
    TAILQ_INSERT_TAIL(&locks->granted, item, by_event);
}

/* Granted, refused, or it watches another one. */
static void look_again(struct wio_locks *locks, struct lock_item *item)
{
    struct lock_wish wish = lock_wish_of(item);
    if (locks->config.policy != WIO_LOCK_WAIT_DIE) {
        struct lock_item *blocker = lock_look_one(&wish);
        if (blocker != NULL) {
            watch(item, blocker);
        } else {
            grant(locks, item);
        }
        return;
    }
    struct lock_view view = lock_look(&wish, NULL);
    WIO_PRE(!view.has_older_holder);
    if (view.holder != NULL) {
        watch(item, view.holder);
    } else if (view.queued != NULL) {
        lock_refuse(locks, item, WIO_LOCK_REASON_DIED);
    } else {
        grant(locks, item);
    }
}

void lock_settle(struct wio_locks *locks)
{
    struct lock_item *item;
    while ((item = RB_MIN(lock_ages, &locks->ready)) != NULL) {
        RB_REMOVE(lock_ages, &locks->ready, item);
        item->is_ready = false;
        look_again(locks, item);
    }
}
