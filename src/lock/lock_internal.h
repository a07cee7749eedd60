/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of the lock manager, lower ones first:
 *
 *   place.c     memory, the trees of a segment (what is held, what waits), overlapping items
 *   blockers.c  what blocks an item
 *   queue.c     waiting: watching, granting, refusing
 *   lock.c      the calls of lock.h
 *
 * A waiting item *watches* one of the items that block it: a lock, or an older waiting item. As
 * long as the watched item is there the waiting one need not be looked at. When it goes, those that
 * watch it become *ready* and are looked at, oldest first: granted, or they watch another one. So a
 * lock that many wait for wakes only those that watch it, and a waiting item costs the same
 * memory however many block it.
 */
#ifndef WIO_LOCK_LOCK_INTERNAL_H
#define WIO_LOCK_LOCK_INTERNAL_H

#include <sys/queue.h>

#include "base/alloc.h"
#include "base/tree.h"
#include "lock/lock.h"

enum lock_state { LOCK_HELD, LOCK_WAITS, LOCK_REFUSED };

/* A lock, or a request that waits for one. */
struct lock_item {
    RB_ENTRY(lock_item) by_place; /* in `held` or `waiting` of its file */
    uint64_t from;
    uint64_t to;
    uint64_t last_to[WIO_LOCK_MODES]; /* the greatest `to` in the subtree, by mode; 0: none */
    uint64_t order;                   /* of the requests */
    struct lock_file *file;
    struct wio_lock_owner *owner;
    TAILQ_ENTRY(lock_item) by_owner;
    uint8_t mode;
    uint8_t state;
    uint8_t reason; /* LOCK_REFUSED: enum wio_lock_reason */
    bool is_ready;  /* in `ready` */
    bool is_told;   /* no event of it is left to be told */
    bool has_deadline;
    uint32_t source;
    uint64_t tag;
    uint64_t deadline_ns;
    LIST_HEAD(lock_watchers, lock_item) watchers;
    struct lock_item *watches;
    LIST_ENTRY(lock_item) by_watched;
    RB_ENTRY(lock_item) by_age;      /* in `ready` */
    TAILQ_ENTRY(lock_item) by_time;  /* in `deadlines` */
    TAILQ_ENTRY(lock_item) by_event; /* in `granted` or `refused`; free items: in `free` */
};

RB_HEAD(lock_places, lock_item);
RB_HEAD(lock_ages, lock_item);
TAILQ_HEAD(lock_items, lock_item);

struct lock_file {
    RB_ENTRY(lock_file) by_name;
    uint64_t file;
    uint32_t segment;
    struct lock_places held;
    struct lock_places waiting;
    uint32_t items; /* that are here, or were and are not told yet */
    struct lock_file *next_free;
};

RB_HEAD(lock_files, lock_file);

struct wio_lock_owner {
    TAILQ_ENTRY(wio_lock_owner) by_manager; /* free owners: in `free_owners` */
    TAILQ_ENTRY(wio_lock_owner) by_event;   /* in `wounded` */
    struct wio_txn txn;
    uint32_t job;
    uint32_t held; /* locks */
    void *user;
    bool is_prepared;
    bool is_dead;
    bool is_wounded;
    bool is_told; /* of its wound */
    struct wio_lock_blocker because;
    struct lock_items items; /* in the order of the requests */
};

TAILQ_HEAD(lock_owners, wio_lock_owner);

struct wio_locks {
    struct wio_alloc alloc;
    struct wio_locks_config config;
    struct wio_locks_count count;
    uint32_t items; /* held, waiting, and refused but not told */
    uint64_t orders;
    struct lock_files files;
    struct lock_owners owners;
    struct lock_ages ready;
    struct lock_items deadlines; /* those that wait with a time-out, the next one first */
    /* events */
    struct lock_owners wounded;
    struct lock_items refused;
    struct lock_items granted;
    /* memory that waits to be used again */
    struct lock_items free_items;
    struct lock_owners free_owners;
    struct lock_file *free_files;
};

/* place.c */

/* A new item of the owner, not yet in a tree; NULL: no memory. */
struct lock_item *lock_item_add(struct wio_locks *locks, struct wio_lock_owner *owner,
                                const struct wio_lock_range *range);
/* Out of memory's books: it is in no tree, list or queue but its owner's. */
void lock_item_drop(struct wio_locks *locks, struct lock_item *item);
void lock_item_enter(struct wio_locks *locks, struct lock_item *item, enum lock_state state);
void lock_item_leave(struct wio_locks *locks, struct lock_item *item);
/* NULL where nothing of the segment is locked. */
struct lock_file *lock_file_find(const struct wio_locks *locks, uint64_t file, uint32_t segment);
void lock_memory_free(struct wio_locks *locks);

/* Modes of other transactions that conflict with `mode`, one bit each. */
static inline unsigned lock_conflicts(unsigned mode)
{
    static const uint8_t conflicts[WIO_LOCK_MODES] = {
        [WIO_LOCK_SHARED] = 1u << WIO_LOCK_EXCLUSIVE | 1u << WIO_LOCK_INCREMENT,
        [WIO_LOCK_EXCLUSIVE] =
            1u << WIO_LOCK_SHARED | 1u << WIO_LOCK_EXCLUSIVE | 1u << WIO_LOCK_INCREMENT,
        [WIO_LOCK_INCREMENT] = 1u << WIO_LOCK_SHARED | 1u << WIO_LOCK_EXCLUSIVE};
    return conflicts[mode];
}

/* Items that overlap [from, to) in one of `modes`. */
struct lock_window {
    uint64_t from;
    uint64_t to;
    unsigned modes;
};

/* The first of them in the tree, by (from, order), and the one behind `item`; NULL: no more.
 * Nothing may enter or leave the tree meanwhile. */
struct lock_item *lock_place_first(const struct lock_places *places,
                                   const struct lock_window *window);
struct lock_item *lock_place_next(struct lock_item *item, const struct lock_window *window);

/* blockers.c */

struct lock_wish {
    const struct lock_file *file; /* NULL: nothing is locked there */
    const struct wio_lock_owner *owner;
    uint64_t from;
    uint64_t to;
    unsigned mode;
};

static inline struct lock_wish lock_wish_of(const struct lock_item *item)
{
    return (struct lock_wish){item->file, item->owner, item->from, item->to, item->mode};
}

/* What one look at all blockers says. */
struct lock_view {
    struct lock_item *holder; /* any of the locks; an older one where there is one */
    struct lock_item *queued; /* the youngest of the older waiting items */
    bool has_older_holder;
};

/* `blockers_out` may be NULL. */
struct lock_view lock_look(const struct lock_wish *wish, struct wio_lock_blockers *blockers_out);
/* Is there any? The cheapest answer: one that blocks, or NULL. */
struct lock_item *lock_look_one(const struct lock_wish *wish);
struct wio_lock_blocker lock_blocker_of(const struct lock_item *item);
/* The locks in the way of the item whose owners are younger, may be wounded and were not: they are.
 */
void lock_wound(struct wio_locks *locks, const struct lock_item *item);

/* queue.c */

/* The item waits, and watches. */
void lock_wait(struct wio_locks *locks, struct lock_item *item, struct lock_item *watched);
/* The item holds its bytes: by the policy others may be refused for it. */
void lock_hold(struct wio_locks *locks, struct lock_item *item);
/* A waiting item is refused. */
void lock_refuse(struct wio_locks *locks, struct lock_item *item, enum wio_lock_reason reason);
/* What watches the item is ready. */
void lock_awaken(struct wio_locks *locks, struct lock_item *item);
/* What watches `from` watches `to`, which blocks it as well. */
void lock_watch_moved(struct lock_item *from, struct lock_item *to);
/* The item leaves all trees and queues, and memory; what it blocked is ready. */
void lock_remove(struct wio_locks *locks, struct lock_item *item);
/* Look at all that is ready. */
void lock_settle(struct wio_locks *locks);

#endif
