/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of lock.h: what each request, release and event does, in order. */
#include "lock/lock.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "lock/lock_internal.h"

/* So many of an owner's last items are looked at for one that covers or touches a new request:
 * reads before writes of the same bytes, and streams, take no lock more. */
#define OWN_LOOK 8

static bool is_usable(const struct wio_locks_config *config)
{
    return config->policy < WIO_LOCK_POLICIES && config->owners_max > 0 && config->locks_max > 0 &&
           (config->policy != WIO_LOCK_TIMEOUT || config->timeout_ns > 0);
}

enum wio_status wio_locks_create(const struct wio_alloc *alloc,
                                 const struct wio_locks_config *config,
                                 struct wio_locks **locks_out)
{
    if (!is_usable(config)) {
        return WIO_ERR_USAGE;
    }
    struct wio_locks *locks = wio_alloc_array(alloc, 1, sizeof(*locks));
    if (locks == NULL) {
        return WIO_ERR_NOMEM;
    }
    locks->alloc = *alloc;
    locks->config = *config;
    RB_INIT(&locks->files);
    RB_INIT(&locks->ready);
    TAILQ_INIT(&locks->owners);
    TAILQ_INIT(&locks->deadlines);
    TAILQ_INIT(&locks->wounded);
    TAILQ_INIT(&locks->refused);
    TAILQ_INIT(&locks->granted);
    TAILQ_INIT(&locks->free_items);
    TAILQ_INIT(&locks->free_owners);
    *locks_out = locks;
    return WIO_OK;
}

void wio_locks_destroy(struct wio_locks *locks)
{
    if (locks == NULL) {
        return;
    }
    while (!TAILQ_EMPTY(&locks->owners)) {
        wio_locks_release(locks, TAILQ_FIRST(&locks->owners));
    }
    lock_memory_free(locks);
    struct wio_alloc alloc = locks->alloc;
    alloc.put(alloc.context, locks);
}

enum wio_status wio_locks_begin(struct wio_locks *locks, const struct wio_txn *txn, uint32_t job,
                                void *user, struct wio_lock_owner **owner_out)
{
    if (locks->count.owners == locks->config.owners_max) {
        return WIO_ERR_BUSY;
    }
    struct wio_lock_owner *owner = TAILQ_FIRST(&locks->free_owners);
    if (owner != NULL) {
        TAILQ_REMOVE(&locks->free_owners, owner, by_manager);
        memset(owner, 0, sizeof(*owner));
    } else if ((owner = wio_alloc_array(&locks->alloc, 1, sizeof(*owner))) == NULL) {
        return WIO_ERR_NOMEM;
    }
    owner->txn = *txn;
    owner->job = job;
    owner->user = user;
    owner->is_told = true;
    TAILQ_INIT(&owner->items);
    TAILQ_INSERT_TAIL(&locks->owners, owner, by_manager);
    locks->count.owners++;
    *owner_out = owner;
    return WIO_OK;
}

/* A lock of that segment that events have told of. */
static bool is_settled(const struct lock_item *item, const struct wio_lock_range *range)
{
    return item->state == LOCK_HELD && item->is_told && item->file->file == range->file &&
           item->file->segment == range->segment;
}

static bool covers(const struct lock_item *item, const struct wio_lock_request *request)
{
    return is_settled(item, &request->range) && item->from <= request->range.from &&
           item->to >= request->range.to &&
           (item->mode == request->mode || item->mode == WIO_LOCK_EXCLUSIVE);
}

static bool has_already(const struct wio_lock_owner *owner, const struct wio_lock_request *request)
{
    const struct lock_item *item = TAILQ_LAST(&owner->items, lock_items);
    for (int i = 0; i < OWN_LOOK && item != NULL; i++) {
        if (covers(item, request)) {
            return true;
        }
        item = TAILQ_PREV(item, lock_items, by_owner);
    }
    return false;
}

static bool touches(const struct lock_item *item, const struct wio_lock_request *request,
                    const struct wio_lock_range *range)
{
    return is_settled(item, range) && item->mode == request->mode &&
           item->source == request->source && item->from <= range->to && item->to >= range->from;
}

/* Locks of the same call site that touch the new one become part of it. */
static void absorb(struct wio_locks *locks, struct lock_item *added,
                   const struct wio_lock_request *request)
{
    struct wio_lock_range range = request->range;
    struct lock_item *item = TAILQ_PREV(added, lock_items, by_owner);
    for (int i = 0; i < OWN_LOOK && item != NULL; i++) {
        struct lock_item *before = TAILQ_PREV(item, lock_items, by_owner);
        if (touches(item, request, &range)) {
            range.from = item->from < range.from ? item->from : range.from;
            range.to = item->to > range.to ? item->to : range.to;
            lock_watch_moved(item, added);
            lock_remove(locks, item);
        }
        item = before;
    }
    added->from = range.from;
    added->to = range.to;
}

/* Until when an item may wait; never before one that came earlier, whatever the clock says. */
static void set_deadline(struct wio_locks *locks, struct lock_item *item, uint64_t now_ns)
{
    const struct lock_item *last = TAILQ_LAST(&locks->deadlines, lock_items);
    uint64_t timeout_ns = locks->config.timeout_ns;
    item->has_deadline = timeout_ns > 0;
    item->deadline_ns = timeout_ns < UINT64_MAX - now_ns ? now_ns + timeout_ns : UINT64_MAX;
    if (last != NULL && last->deadline_ns > item->deadline_ns) {
        item->deadline_ns = last->deadline_ns;
    }
}

static enum wio_lock_reason reason_to_refuse(const struct wio_locks *locks,
                                             const struct lock_view *view, bool is_try)
{
    if (is_try || locks->config.policy == WIO_LOCK_NO_WAIT) {
        return WIO_LOCK_REASON_CONFLICT;
    }
    bool dies = view->has_older_holder || view->queued != NULL;
    return locks->config.policy == WIO_LOCK_WAIT_DIE && dies ? WIO_LOCK_REASON_DIED
                                                             : WIO_LOCK_REASON_NONE;
}

/* The last one before it in the queue is watched: then a release wakes one, not all. */
static void wait_for(struct wio_locks *locks, struct lock_item *item, const struct lock_view *view,
                     uint64_t now_ns)
{
    set_deadline(locks, item, now_ns);
    lock_wait(locks, item, view->queued != NULL ? view->queued : view->holder);
    if (locks->config.policy == WIO_LOCK_WOUND_WAIT) {
        lock_wound(locks, item);
    }
}

static void hold_new(struct wio_locks *locks, struct lock_item *item,
                     const struct wio_lock_request *request)
{
    absorb(locks, item, request);
    lock_hold(locks, item);
    lock_settle(locks);
}

static bool refuse_at_once(struct wio_locks *locks, const struct wio_lock_request *request,
                           const struct lock_view *view, struct wio_lock_answer *answer)
{
    bool is_free = view->holder == NULL && view->queued == NULL;
    answer->reason =
        is_free ? WIO_LOCK_REASON_NONE : reason_to_refuse(locks, view, request->is_try);
    if (answer->reason == WIO_LOCK_REASON_NONE && locks->items >= locks->config.locks_max) {
        answer->reason = WIO_LOCK_REASON_LIMIT;
        memset(&answer->blockers, 0, sizeof(answer->blockers));
    }
    return answer->reason != WIO_LOCK_REASON_NONE;
}

enum wio_status wio_locks_acquire(struct wio_locks *locks, struct wio_lock_owner *owner,
                                  const struct wio_lock_request *request, uint64_t now_ns,
                                  struct wio_lock_answer *answer)
{
    const struct wio_lock_range *range = &request->range;
    memset(answer, 0, sizeof(*answer));
    if (range->from >= range->to || request->mode >= WIO_LOCK_MODES) {
        return WIO_ERR_USAGE;
    }
    if (has_already(owner, request)) {
        return WIO_OK;
    }
    struct lock_wish wish = {lock_file_find(locks, range->file, range->segment), owner, range->from,
                             range->to, request->mode};
    struct lock_view view = lock_look(&wish, &answer->blockers);
    if (refuse_at_once(locks, request, &view, answer)) {
        answer->outcome = WIO_LOCK_REFUSED;
        return WIO_OK;
    }
    struct lock_item *item = lock_item_add(locks, owner, range);
    if (item == NULL) {
        return WIO_ERR_NOMEM;
    }
    item->mode = (uint8_t)request->mode;
    item->source = request->source;
    item->tag = request->tag;
    if (view.holder == NULL && view.queued == NULL) {
        hold_new(locks, item, request);
    } else {
        wait_for(locks, item, &view, now_ns);
        answer->outcome = WIO_LOCK_WAITING;
    }
    return WIO_OK;
}

static void event_of(const struct wio_lock_owner *owner, enum wio_lock_event_kind kind,
                     struct wio_lock_event *event_out)
{
    memset(event_out, 0, sizeof(*event_out));
    event_out->kind = kind;
    event_out->user = owner->user;
    event_out->txn = owner->txn;
}

static void tell_wound(struct wio_locks *locks, struct wio_lock_event *event_out)
{
    struct wio_lock_owner *owner = TAILQ_FIRST(&locks->wounded);
    TAILQ_REMOVE(&locks->wounded, owner, by_event);
    owner->is_told = true;
    event_of(owner, WIO_LOCK_EVENT_WOUND, event_out);
    event_out->owner = owner;
    event_out->blockers = (struct wio_lock_blockers){1, 1, {owner->because}};
}

static void tell_refusal(struct wio_locks *locks, struct wio_lock_event *event_out)
{
    struct lock_item *item = TAILQ_FIRST(&locks->refused);
    struct lock_wish wish = lock_wish_of(item);
    TAILQ_REMOVE(&locks->refused, item, by_event);
    item->is_told = true;
    event_of(item->owner, WIO_LOCK_EVENT_REFUSED, event_out);
    event_out->owner = item->owner;
    event_out->tag = item->tag;
    event_out->reason = (enum wio_lock_reason)item->reason;
    (void)lock_look(&wish, &event_out->blockers);
    lock_remove(locks, item);
}

static void tell_grant(struct wio_locks *locks, struct wio_lock_event *event_out)
{
    struct lock_item *item = TAILQ_FIRST(&locks->granted);
    TAILQ_REMOVE(&locks->granted, item, by_event);
    item->is_told = true;
    event_of(item->owner, WIO_LOCK_EVENT_GRANTED, event_out);
    event_out->owner = item->owner;
    event_out->tag = item->tag;
}

bool wio_locks_next(struct wio_locks *locks, uint64_t now_ns, struct wio_lock_event *event_out)
{
    if (!TAILQ_EMPTY(&locks->wounded)) {
        tell_wound(locks, event_out);
    } else if (!TAILQ_EMPTY(&locks->refused)) {
        tell_refusal(locks, event_out);
    } else if (!TAILQ_EMPTY(&locks->granted)) {
        tell_grant(locks, event_out);
    } else if (wio_locks_deadline_ns(locks) <= now_ns && !TAILQ_EMPTY(&locks->deadlines)) {
        lock_refuse(locks, TAILQ_FIRST(&locks->deadlines), WIO_LOCK_REASON_TIMEOUT);
        tell_refusal(locks, event_out);
        lock_settle(locks);
    } else {
        return false;
    }
    return true;
}

uint64_t wio_locks_deadline_ns(const struct wio_locks *locks)
{
    const struct lock_item *next = TAILQ_FIRST(&locks->deadlines);
    return next != NULL ? next->deadline_ns : UINT64_MAX;
}

bool wio_locks_is_wounded(const struct wio_lock_owner *owner, struct wio_lock_blocker *because_out)
{
    if (owner->is_wounded && because_out != NULL) {
        *because_out = owner->because;
    }
    return owner->is_wounded;
}

void wio_locks_set_prepared(struct wio_lock_owner *owner)
{
    owner->is_prepared = true;
}

void wio_locks_set_dead(struct wio_lock_owner *owner)
{
    owner->is_dead = true;
}

/* Nothing is looked at before all of the owner's items are gone. */
static void leave(struct wio_locks *locks, struct wio_lock_owner *owner)
{
    struct lock_item *item;
    while ((item = TAILQ_FIRST(&owner->items)) != NULL) {
        lock_remove(locks, item);
    }
    if (!owner->is_told) {
        TAILQ_REMOVE(&locks->wounded, owner, by_event);
    }
    TAILQ_REMOVE(&locks->owners, owner, by_manager);
    TAILQ_INSERT_HEAD(&locks->free_owners, owner, by_manager);
    locks->count.owners--;
}

void wio_locks_release(struct wio_locks *locks, struct wio_lock_owner *owner)
{
    if (owner != NULL) {
        leave(locks, owner);
        lock_settle(locks);
    }
}

uint32_t wio_locks_release_client(struct wio_locks *locks, uint64_t client)
{
    uint32_t released = 0;
    struct wio_lock_owner *owner = TAILQ_FIRST(&locks->owners);
    while (owner != NULL) {
        struct wio_lock_owner *next = TAILQ_NEXT(owner, by_manager);
        if (owner->txn.client == client && owner->is_prepared) {
            owner->is_dead = true;
        } else if (owner->txn.client == client) {
            leave(locks, owner);
            released++;
        }
        owner = next;
    }
    lock_settle(locks);
    return released;
}

/* The part of the lock behind `from` becomes a lock of its own. */
static enum wio_status cut(struct wio_locks *locks, struct lock_item *item, uint64_t from)
{
    struct wio_lock_range range = {item->file->file, item->file->segment, from, item->to};
    struct lock_item *rest = lock_item_add(locks, item->owner, &range);
    if (rest == NULL) {
        return WIO_ERR_NOMEM;
    }
    rest->mode = item->mode;
    rest->source = item->source;
    rest->tag = item->tag;
    lock_item_enter(locks, rest, LOCK_HELD);
    return WIO_OK;
}

static void shrink(struct wio_locks *locks, struct lock_item *item, uint64_t from, uint64_t to)
{
    lock_item_leave(locks, item);
    item->from = from;
    item->to = to;
    lock_item_enter(locks, item, LOCK_HELD);
    lock_awaken(locks, item);
}

static void give_back(struct wio_locks *locks, struct lock_item *item,
                      const struct wio_lock_range *range)
{
    if (item->from < range->from) {
        shrink(locks, item, item->from, range->from);
    } else if (item->to > range->to) {
        shrink(locks, item, range->to, item->to);
    } else {
        lock_remove(locks, item);
    }
}

static bool is_hit(const struct lock_item *item, const struct wio_lock_range *range)
{
    return item->state == LOCK_HELD && item->file->file == range->file &&
           item->file->segment == range->segment && item->from < range->to &&
           item->to > range->from;
}

enum wio_status wio_locks_unlock(struct wio_locks *locks, struct wio_lock_owner *owner,
                                 const struct wio_lock_range *range)
{
    struct lock_item *item;
    struct lock_item *next;
    /* What needs memory first: the rest behind the range. It touches the lock until that shrinks.
     */
    TAILQ_FOREACH(item, &owner->items, by_owner)
    {
        if (is_hit(item, range) && item->from < range->from && item->to > range->to) {
            WIO_TRY(cut(locks, item, range->to));
        }
    }
    for (item = TAILQ_FIRST(&owner->items); item != NULL; item = next) {
        next = TAILQ_NEXT(item, by_owner);
        if (is_hit(item, range)) {
            give_back(locks, item, range);
        }
    }
    lock_settle(locks);
    return WIO_OK;
}

void wio_locks_explain(const struct wio_locks *locks, const struct wio_lock_owner *owner,
                       const struct wio_lock_range *range, enum wio_lock_mode mode,
                       struct wio_lock_blockers *blockers_out)
{
    struct lock_wish wish = {lock_file_find(locks, range->file, range->segment), owner, range->from,
                             range->to, mode};
    (void)lock_look(&wish, blockers_out);
}

struct wio_locks_count wio_locks_count(const struct wio_locks *locks)
{
    return locks->count;
}
