/* SPDX-License-Identifier: Apache-2.0 */
/* What blocks a request: conflicting locks of others, and conflicting requests of older ones that
 * wait. */
#include <string.h>

#include "lock/lock_internal.h"

static struct lock_window window_of(const struct lock_wish *wish)
{
    return (struct lock_window){wish->from, wish->to, lock_conflicts(wish->mode)};
}

/* Does the waiting item wait for a lock that `owner` has? Then `owner` need not queue behind it,
 * and must not: they would wait for each other. */
static bool waits_for(struct lock_item *waiting, const struct wio_lock_owner *owner)
{
    if (owner->held == 0) {
        return false;
    }
    struct lock_window window = {waiting->from, waiting->to, lock_conflicts(waiting->mode)};
    struct lock_item *held = lock_place_first(&waiting->file->held, &window);
    while (held != NULL && held->owner != owner) {
        held = lock_place_next(held, &window);
    }
    return held != NULL;
}

static bool is_ahead(struct lock_item *waiting, const struct lock_wish *wish)
{
    return waiting->owner != wish->owner &&
           wio_txn_compare(&waiting->owner->txn, &wish->owner->txn) < 0 &&
           !waits_for(waiting, wish->owner);
}

struct lock_item *lock_look_one(const struct lock_wish *wish)
{
    if (wish->file == NULL) {
        return NULL;
    }
    struct lock_window window = window_of(wish);
    struct lock_item *item = lock_place_first(&wish->file->held, &window);
    while (item != NULL && item->owner == wish->owner) {
        item = lock_place_next(item, &window);
    }
    if (item != NULL) {
        return item;
    }
    item = lock_place_first(&wish->file->waiting, &window);
    while (item != NULL && !is_ahead(item, wish)) {
        item = lock_place_next(item, &window);
    }
    return item;
}

struct wio_lock_blocker lock_blocker_of(const struct lock_item *item)
{
    const struct wio_lock_owner *owner = item->owner;
    enum wio_lock_role role =
        item->state == LOCK_HELD ? WIO_LOCK_ROLE_HOLDER : WIO_LOCK_ROLE_QUEUED;
    if (owner->is_dead) {
        role = WIO_LOCK_ROLE_DEAD;
    } else if (item->state == LOCK_HELD && owner->is_prepared) {
        role = WIO_LOCK_ROLE_PREPARED;
    }
    return (struct wio_lock_blocker){
        .txn = owner->txn,
        .job = owner->job,
        .source = item->source,
        .range = {item->file->file, item->file->segment, item->from, item->to},
        .mode = item->mode,
        .role = (uint8_t)role};
}

/* Negative: `a` is told before `b`. */
static int compare_blockers(const struct lock_item *a, const struct lock_item *b)
{
    if (a->state != b->state) {
        return a->state == LOCK_HELD ? -1 : 1;
    }
    int age = wio_txn_compare(&a->owner->txn, &b->owner->txn);
    return age != 0 ? age : (a->order > b->order) - (a->order < b->order);
}

/* The first WIO_LOCK_BLOCKERS of those that were added, in their order. */
struct lock_first {
    uint32_t count;
    uint32_t listed;
    const struct lock_item *items[WIO_LOCK_BLOCKERS];
};

static void add_first(struct lock_first *first, const struct lock_item *item)
{
    first->count++;
    uint32_t at = first->listed;
    while (at > 0 && compare_blockers(item, first->items[at - 1]) < 0) {
        at--;
    }
    if (at == WIO_LOCK_BLOCKERS) {
        return;
    }
    uint32_t last = first->listed < WIO_LOCK_BLOCKERS ? first->listed++ : WIO_LOCK_BLOCKERS - 1;
    for (uint32_t i = last; i > at; i--) {
        first->items[i] = first->items[i - 1];
    }
    first->items[at] = item;
}

static void look_at_held(const struct lock_wish *wish, struct lock_view *view,
                         struct lock_first *first)
{
    struct lock_window window = window_of(wish);
    struct lock_item *item = lock_place_first(&wish->file->held, &window);
    for (; item != NULL; item = lock_place_next(item, &window)) {
        if (item->owner == wish->owner) {
            continue;
        }
        bool is_older = wio_txn_compare(&item->owner->txn, &wish->owner->txn) < 0;
        if (view->holder == NULL || (is_older && !view->has_older_holder)) {
            view->holder = item;
        }
        view->has_older_holder |= is_older;
        add_first(first, item);
    }
}

static void look_at_waiting(const struct lock_wish *wish, struct lock_view *view,
                            struct lock_first *first)
{
    struct lock_window window = window_of(wish);
    struct lock_item *item = lock_place_first(&wish->file->waiting, &window);
    for (; item != NULL; item = lock_place_next(item, &window)) {
        if (is_ahead(item, wish)) {
            if (view->queued == NULL || compare_blockers(item, view->queued) > 0) {
                view->queued = item;
            }
            add_first(first, item);
        }
    }
}

struct lock_view lock_look(const struct lock_wish *wish, struct wio_lock_blockers *blockers_out)
{
    struct lock_view view = {NULL, NULL, false};
    struct lock_first first = {0, 0, {NULL}};
    if (wish->file != NULL) {
        look_at_held(wish, &view, &first);
        look_at_waiting(wish, &view, &first);
    }
    if (blockers_out != NULL) {
        memset(blockers_out, 0, sizeof(*blockers_out));
        blockers_out->count = first.count;
        blockers_out->listed = first.listed;
        for (uint32_t i = 0; i < first.listed; i++) {
            blockers_out->list[i] = lock_blocker_of(first.items[i]);
        }
    }
    return view;
}

void lock_wound(struct wio_locks *locks, const struct lock_item *item)
{
    struct lock_wish wish = lock_wish_of(item);
    struct lock_window window = window_of(&wish);
    struct lock_item *held = lock_place_first(&item->file->held, &window);
    for (; held != NULL; held = lock_place_next(held, &window)) {
        struct wio_lock_owner *owner = held->owner;
        if (owner == item->owner || owner->is_wounded || owner->is_prepared ||
            wio_txn_compare(&owner->txn, &item->owner->txn) < 0) {
            continue;
        }
        owner->is_wounded = true;
        owner->is_told = false;
        owner->because = lock_blocker_of(item);
        TAILQ_INSERT_TAIL(&locks->wounded, owner, by_event);
    }
}
