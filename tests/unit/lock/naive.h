/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of lock/lock.h as a list that is searched from end to end: what the lock manager is
 * compared with. No trees, no watching; everything is looked at again after every change. */
#ifndef WIO_TESTS_LOCK_NAIVE_H
#define WIO_TESTS_LOCK_NAIVE_H

#include "lock/lock.h"

#define NAIVE_ITEMS 4096
#define NAIVE_OWNERS 64
#define NAIVE_EVENTS 512

struct naive_item {
    uint32_t owner;
    struct wio_lock_range range;
    enum wio_lock_mode mode;
    bool is_held;
    uint32_t source;
    uint64_t tag;
    uint64_t order;
    uint64_t deadline_ns;
};

struct naive_owner {
    bool is_there;
    bool is_prepared;
    bool is_dead;
    bool is_wounded;
    struct wio_txn txn;
    uint32_t job;
};

struct naive_event {
    enum wio_lock_event_kind kind;
    uint32_t owner;
    uint64_t tag;
    enum wio_lock_reason reason;
    struct wio_lock_range range; /* REFUSED: of the request */
    enum wio_lock_mode mode;
    struct wio_lock_blockers blockers;
};

struct naive {
    struct wio_locks_config config;
    uint64_t orders;
    uint64_t last_deadline_ns;
    uint32_t count;
    struct naive_item items[NAIVE_ITEMS]; /* in the order of the requests */
    struct naive_owner owners[NAIVE_OWNERS];
    uint32_t event_count;
    struct naive_event events[NAIVE_EVENTS]; /* of the last call; the caller empties them */
};

void naive_begin(struct naive *naive, uint32_t owner, const struct wio_txn *txn, uint32_t job);
struct wio_lock_answer naive_acquire(struct naive *naive, uint32_t owner,
                                     const struct wio_lock_request *request, uint64_t now_ns);
void naive_release(struct naive *naive, uint32_t owner);
uint32_t naive_release_client(struct naive *naive, uint64_t client);
void naive_unlock(struct naive *naive, uint32_t owner, const struct wio_lock_range *range);
void naive_expire(struct naive *naive, uint64_t now_ns);
struct wio_lock_blockers naive_blockers(const struct naive *naive, uint32_t owner,
                                        const struct wio_lock_range *range,
                                        enum wio_lock_mode mode);
struct wio_locks_count naive_count(const struct naive *naive);
/* No two locks of different owners conflict. */
bool naive_is_sound(const struct naive *naive);

#endif
