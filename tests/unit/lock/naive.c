/* SPDX-License-Identifier: Apache-2.0 */
#include "naive.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define OWN_LOOK 8

static bool overlap(const struct wio_lock_range *a, const struct wio_lock_range *b)
{
    return a->file == b->file && a->segment == b->segment && a->from < b->to && b->from < a->to;
}

static bool conflict(enum wio_lock_mode a, enum wio_lock_mode b)
{
    return a == WIO_LOCK_EXCLUSIVE || b == WIO_LOCK_EXCLUSIVE || a != b;
}

static int age(const struct naive *naive, uint32_t a, uint32_t b)
{
    return wio_txn_compare(&naive->owners[a].txn, &naive->owners[b].txn);
}

static bool holds_against(const struct naive *naive, uint32_t owner, const struct naive_item *wait)
{
    for (uint32_t i = 0; i < naive->count; i++) {
        const struct naive_item *item = &naive->items[i];
        if (item->owner == owner && item->is_held && overlap(&item->range, &wait->range) &&
            conflict(item->mode, wait->mode)) {
            return true;
        }
    }
    return false;
}

static bool blocks(const struct naive *naive, const struct naive_item *item, uint32_t owner,
                   const struct wio_lock_range *range, enum wio_lock_mode mode)
{
    if (item->owner == owner || !overlap(&item->range, range) || !conflict(item->mode, mode)) {
        return false;
    }
    return item->is_held ||
           (age(naive, item->owner, owner) < 0 && !holds_against(naive, owner, item));
}

static const struct naive *sorting; /* qsort has no context */

static int by_rank(const void *a, const void *b)
{
    const struct naive_item *left = &sorting->items[*(const uint32_t *)a];
    const struct naive_item *right = &sorting->items[*(const uint32_t *)b];
    if (left->is_held != right->is_held) {
        return left->is_held ? -1 : 1;
    }
    int older = age(sorting, left->owner, right->owner);
    return older != 0 ? older : (left->order > right->order) - (left->order < right->order);
}

static struct wio_lock_blocker tell(const struct naive *naive, const struct naive_item *item)
{
    const struct naive_owner *owner = &naive->owners[item->owner];
    struct wio_lock_blocker blocker = {.txn = owner->txn,
                                       .job = owner->job,
                                       .source = item->source,
                                       .range = item->range,
                                       .mode = (uint8_t)item->mode,
                                       .role = WIO_LOCK_ROLE_QUEUED};
    if (item->is_held) {
        blocker.role = owner->is_prepared ? WIO_LOCK_ROLE_PREPARED : WIO_LOCK_ROLE_HOLDER;
    }
    if (owner->is_dead) {
        blocker.role = WIO_LOCK_ROLE_DEAD;
    }
    return blocker;
}

struct wio_lock_blockers naive_blockers(const struct naive *naive, uint32_t owner,
                                        const struct wio_lock_range *range, enum wio_lock_mode mode)
{
    static uint32_t found[NAIVE_ITEMS];
    struct wio_lock_blockers blockers;
    memset(&blockers, 0, sizeof(blockers));
    for (uint32_t i = 0; i < naive->count; i++) {
        if (blocks(naive, &naive->items[i], owner, range, mode)) {
            found[blockers.count++] = i;
        }
    }
    sorting = naive;
    qsort(found, blockers.count, sizeof(found[0]), by_rank);
    for (uint32_t i = 0; i < blockers.count && i < WIO_LOCK_BLOCKERS; i++) {
        blockers.list[blockers.listed++] = tell(naive, &naive->items[found[i]]);
    }
    return blockers;
}

static struct naive_event *add_event(struct naive *naive, enum wio_lock_event_kind kind,
                                     uint32_t owner)
{
    assert(naive->event_count < NAIVE_EVENTS);
    struct naive_event *event = &naive->events[naive->event_count++];
    memset(event, 0, sizeof(*event));
    event->kind = kind;
    event->owner = owner;
    return event;
}

static void drop(struct naive *naive, uint32_t i)
{
    naive->count--;
    memmove(&naive->items[i], &naive->items[i + 1], (naive->count - i) * sizeof(naive->items[0]));
}

static void refuse(struct naive *naive, uint32_t i, enum wio_lock_reason reason)
{
    const struct naive_item item = naive->items[i];
    struct naive_event *event = add_event(naive, WIO_LOCK_EVENT_REFUSED, item.owner);
    event->tag = item.tag;
    event->reason = reason;
    event->range = item.range;
    event->mode = item.mode;
    drop(naive, i);
    event->blockers = naive_blockers(naive, item.owner, &item.range, item.mode);
}

struct naive_sight {
    bool older_holder;
    bool holder;
    bool queued;
};

static struct naive_sight look(const struct naive *naive, uint32_t owner,
                               const struct wio_lock_range *range, enum wio_lock_mode mode)
{
    struct naive_sight sight = {false, false, false};
    for (uint32_t i = 0; i < naive->count; i++) {
        const struct naive_item *item = &naive->items[i];
        if (blocks(naive, item, owner, range, mode)) {
            sight.holder |= item->is_held;
            sight.queued |= !item->is_held;
            sight.older_holder |= item->is_held && age(naive, item->owner, owner) < 0;
        }
    }
    return sight;
}

/* Grants or refuses the oldest waiting item that can be; false: there is none. */
static bool settle_one(struct naive *naive)
{
    uint32_t best = UINT32_MAX;
    bool is_die = false;
    for (uint32_t i = 0; i < naive->count; i++) {
        const struct naive_item *item = &naive->items[i];
        if (item->is_held) {
            continue;
        }
        struct naive_sight sight = look(naive, item->owner, &item->range, item->mode);
        bool is_free = !sight.holder && !sight.queued;
        bool dies = naive->config.policy == WIO_LOCK_WAIT_DIE && !is_free &&
                    (sight.older_holder || !sight.holder);
        if (!is_free && !dies) {
            continue;
        }
        sorting = naive;
        if (best == UINT32_MAX || by_rank(&i, &best) < 0) {
            best = i;
            is_die = dies;
        }
    }
    if (best == UINT32_MAX) {
        return false;
    }
    if (is_die) {
        refuse(naive, best, WIO_LOCK_REASON_DIED);
    } else {
        naive->items[best].is_held = true;
        add_event(naive, WIO_LOCK_EVENT_GRANTED, naive->items[best].owner)->tag =
            naive->items[best].tag;
    }
    return true;
}

/* Refusals are told when all has come to rest. */
static void settle(struct naive *naive)
{
    uint32_t first = naive->event_count;
    while (settle_one(naive)) {
    }
    for (uint32_t i = first; i < naive->event_count; i++) {
        struct naive_event *event = &naive->events[i];
        if (event->kind == WIO_LOCK_EVENT_REFUSED) {
            event->blockers = naive_blockers(naive, event->owner, &event->range, event->mode);
        }
    }
}

void naive_begin(struct naive *naive, uint32_t owner, const struct wio_txn *txn, uint32_t job)
{
    naive->owners[owner] = (struct naive_owner){.is_there = true, .txn = *txn, .job = job};
}

/* The k-th last item of the owner among the last OWN_LOOK; UINT32_MAX: none. */
static uint32_t own_item(const struct naive *naive, uint32_t owner, uint32_t k)
{
    for (uint32_t i = naive->count; i-- > 0;) {
        if (naive->items[i].owner == owner && k-- == 0) {
            return i;
        }
    }
    return UINT32_MAX;
}

static bool has_already(const struct naive *naive, uint32_t owner,
                        const struct wio_lock_request *request)
{
    for (uint32_t k = 0; k < OWN_LOOK; k++) {
        uint32_t i = own_item(naive, owner, k);
        if (i == UINT32_MAX) {
            return false;
        }
        const struct naive_item *item = &naive->items[i];
        if (item->is_held && overlap(&item->range, &request->range) &&
            item->range.from <= request->range.from && item->range.to >= request->range.to &&
            (item->mode == request->mode || item->mode == WIO_LOCK_EXCLUSIVE)) {
            return true;
        }
    }
    return false;
}

static void absorb(struct naive *naive, struct naive_item *added)
{
    uint32_t k = 0;
    for (uint32_t looked = 0; looked < OWN_LOOK; looked++) {
        uint32_t i = own_item(naive, added->owner, k);
        if (i == UINT32_MAX) {
            return;
        }
        const struct naive_item *item = &naive->items[i];
        if (item->is_held && item->range.file == added->range.file &&
            item->range.segment == added->range.segment && item->mode == added->mode &&
            item->source == added->source && item->range.from <= added->range.to &&
            item->range.to >= added->range.from) {
            if (item->range.from < added->range.from) {
                added->range.from = item->range.from;
            }
            if (item->range.to > added->range.to) {
                added->range.to = item->range.to;
            }
            drop(naive, i);
        } else {
            k++;
        }
    }
}

static void wound(struct naive *naive, const struct naive_item *waiting)
{
    for (uint32_t i = 0; i < naive->count; i++) {
        const struct naive_item *item = &naive->items[i];
        struct naive_owner *owner = &naive->owners[item->owner];
        if (item->is_held && blocks(naive, item, waiting->owner, &waiting->range, waiting->mode) &&
            age(naive, item->owner, waiting->owner) >= 0 && !owner->is_wounded &&
            !owner->is_prepared) {
            owner->is_wounded = true;
            struct naive_event *event = add_event(naive, WIO_LOCK_EVENT_WOUND, item->owner);
            event->blockers.count = event->blockers.listed = 1;
            event->blockers.list[0] = tell(naive, waiting);
        }
    }
}

static enum wio_lock_reason reason_of(const struct naive *naive, struct naive_sight sight,
                                      bool is_try)
{
    bool is_free = !sight.holder && !sight.queued;
    if (!is_free && (is_try || naive->config.policy == WIO_LOCK_NO_WAIT)) {
        return WIO_LOCK_REASON_CONFLICT;
    }
    if (naive->config.policy == WIO_LOCK_WAIT_DIE && (sight.older_holder || sight.queued)) {
        return WIO_LOCK_REASON_DIED;
    }
    return naive->count >= naive->config.locks_max ? WIO_LOCK_REASON_LIMIT : WIO_LOCK_REASON_NONE;
}

static uint64_t deadline_of(struct naive *naive, uint64_t now_ns)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < naive->count; i++) {
        if (!naive->items[i].is_held && naive->items[i].deadline_ns > last) {
            last = naive->items[i].deadline_ns;
        }
    }
    uint64_t own = now_ns + naive->config.timeout_ns;
    return own > last ? own : last;
}

struct wio_lock_answer naive_acquire(struct naive *naive, uint32_t owner,
                                     const struct wio_lock_request *request, uint64_t now_ns)
{
    struct wio_lock_answer answer;
    memset(&answer, 0, sizeof(answer));
    if (has_already(naive, owner, request)) {
        return answer;
    }
    struct naive_sight sight = look(naive, owner, &request->range, request->mode);
    answer.reason = reason_of(naive, sight, request->is_try);
    if (answer.reason != WIO_LOCK_REASON_LIMIT) {
        answer.blockers = naive_blockers(naive, owner, &request->range, request->mode);
    }
    if (answer.reason != WIO_LOCK_REASON_NONE) {
        answer.outcome = WIO_LOCK_REFUSED;
        return answer;
    }
    struct naive_item item = {.owner = owner,
                              .range = request->range,
                              .mode = request->mode,
                              .is_held = !sight.holder && !sight.queued,
                              .source = request->source,
                              .tag = request->tag,
                              .order = naive->orders++};
    if (item.is_held) {
        absorb(naive, &item);
    } else {
        item.deadline_ns = naive->config.timeout_ns > 0 ? deadline_of(naive, now_ns) : 0;
        answer.outcome = WIO_LOCK_WAITING;
    }
    assert(naive->count < NAIVE_ITEMS);
    naive->items[naive->count++] = item;
    if (!item.is_held && naive->config.policy == WIO_LOCK_WOUND_WAIT) {
        wound(naive, &item);
    }
    settle(naive);
    return answer;
}

static void leave(struct naive *naive, uint32_t owner)
{
    for (uint32_t i = naive->count; i-- > 0;) {
        if (naive->items[i].owner == owner) {
            drop(naive, i);
        }
    }
    naive->owners[owner].is_there = false;
}

void naive_release(struct naive *naive, uint32_t owner)
{
    leave(naive, owner);
    settle(naive);
}

uint32_t naive_release_client(struct naive *naive, uint64_t client)
{
    uint32_t released = 0;
    for (uint32_t i = 0; i < NAIVE_OWNERS; i++) {
        struct naive_owner *owner = &naive->owners[i];
        if (!owner->is_there || owner->txn.client != client) {
            continue;
        }
        if (owner->is_prepared) {
            owner->is_dead = true;
        } else {
            leave(naive, i);
            released++;
        }
    }
    settle(naive);
    return released;
}

void naive_unlock(struct naive *naive, uint32_t owner, const struct wio_lock_range *range)
{
    uint32_t count = naive->count; /* what is added below lies behind the range */
    for (uint32_t i = 0; i < count; i++) {
        struct naive_item *item = &naive->items[i];
        if (item->owner != owner || !item->is_held || !overlap(&item->range, range)) {
            continue;
        }
        struct naive_item rest = *item;
        bool is_left = item->range.from < range->from;
        bool is_right = item->range.to > range->to;
        rest.range.from = range->to;
        if (is_left) {
            item->range.to = range->from;
        }
        if (is_left && is_right) {
            rest.order = naive->orders++;
            assert(naive->count < NAIVE_ITEMS);
            naive->items[naive->count++] = rest;
        } else if (is_right) {
            item->range.from = range->to;
        } else if (!is_left) {
            drop(naive, i--);
            count--;
        }
    }
    settle(naive);
}

void naive_expire(struct naive *naive, uint64_t now_ns)
{
    for (;;) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < naive->count; i++) {
            const struct naive_item *item = &naive->items[i];
            if (!item->is_held && item->deadline_ns > 0 && item->deadline_ns <= now_ns &&
                (best == UINT32_MAX || item->deadline_ns < naive->items[best].deadline_ns)) {
                best = i;
            }
        }
        if (best == UINT32_MAX) {
            return;
        }
        refuse(naive, best, WIO_LOCK_REASON_TIMEOUT);
        settle(naive);
    }
}

struct wio_locks_count naive_count(const struct naive *naive)
{
    struct wio_locks_count count = {0, 0, 0, 0};
    for (uint32_t i = 0; i < NAIVE_OWNERS; i++) {
        count.owners += naive->owners[i].is_there;
    }
    for (uint32_t i = 0; i < naive->count; i++) {
        const struct wio_lock_range *range = &naive->items[i].range;
        bool is_new = true;
        count.held += naive->items[i].is_held;
        count.waiting += !naive->items[i].is_held;
        for (uint32_t j = 0; j < i; j++) {
            is_new &= naive->items[j].range.file != range->file ||
                      naive->items[j].range.segment != range->segment;
        }
        count.files += is_new;
    }
    return count;
}

bool naive_is_sound(const struct naive *naive)
{
    for (uint32_t i = 0; i < naive->count; i++) {
        for (uint32_t j = 0; j < i; j++) {
            const struct naive_item *a = &naive->items[i];
            const struct naive_item *b = &naive->items[j];
            if (a->is_held && b->is_held && a->owner != b->owner && overlap(&a->range, &b->range) &&
                conflict(a->mode, b->mode)) {
                return false;
            }
        }
    }
    return true;
}
