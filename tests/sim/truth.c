/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/truth.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "lock/types.h"
#include "sim/runner.h"
#include "store/server/server_internal.h"

/* A lock, or a request that waits for one. */
struct held {
    struct wio_txn txn;
    uint32_t segment;
    uint64_t from;
    uint64_t to;
    uint64_t order; /* as they came */
    uint8_t mode;
    bool is_waiting;
    bool is_answered; /* its request: what it has touched is known */
    bool is_dying;    /* it waits, and will be refused with the request at hand */
};

/* A request that waits: what was in its way when it began to. */
struct waiting {
    struct wio_txn txn;
    uint64_t request;
    struct wio_lock_blocker list[WIO_LOCK_BLOCKERS];
    uint32_t count;
};

struct touch {
    struct wio_txn txn;
    uint32_t segment;
    uint64_t from;
    uint64_t to;
};

struct listener {
    struct truth *truth;
    uint16_t target;
    enum wio_lock_policy policy;
    const struct wio_server_watch *next;
    void *next_context;
    struct held *held;
    uint32_t held_count, held_capacity;
    struct waiting *waits;
    uint32_t wait_count, wait_capacity;
    struct touch *touched;
    uint32_t touch_count, touch_capacity;
    struct wio_txn *prepared;
    uint32_t prepared_count, prepared_capacity;
};

/* One thing that refused or wounded an attempt. */
struct cause {
    struct wio_txn victim;
    struct truth_name blocker;
    uint16_t server;
    uint8_t conflict;
};

struct over {
    struct wio_txn txn;
    uint64_t at_ns; /* first */
};

struct truth {
    struct listener listeners[TRUTH_TARGETS];
    struct truth_pair *pairs;
    uint32_t pair_count, pair_capacity;
    struct cause *causes; /* of attempts that are not known to be aborted yet */
    uint32_t cause_count, cause_capacity;
    uint64_t order;
    struct over *aborted; /* attempts that have ended somewhere: what comes later is no cause */
    uint32_t aborted_count, aborted_capacity;
    uint64_t ambiguous;
};

static void *room(void *array, size_t item, uint32_t *capacity, uint32_t count)
{
    if (wio_grow(&array, item, capacity, count + 1) != WIO_OK) {
        sim_fail("out of memory");
    }
    return array;
}

static bool is_attempt(const struct wio_txn *a, const struct wio_txn *b)
{
    return a->client == b->client && a->number == b->number && a->attempt == b->attempt;
}

static bool is_txn(const struct wio_txn *a, const struct wio_txn *b)
{
    return a->client == b->client && a->number == b->number;
}

static bool exclude(uint8_t a, uint8_t b)
{
    return a != WIO_LOCK_SHARED || b != WIO_LOCK_SHARED;
}

static bool overlap(const struct held *a, const struct held *b)
{
    return a->segment == b->segment && a->from < b->to && b->from < a->to;
}

static struct held wish_of(const struct wio_store_request *request)
{
    bool is_read = request->op == WIO_STORE_READ;
    uint64_t bytes = is_read ? request->size : request->data_size;
    return (struct held){.txn = request->txn,
                         .segment = request->segment,
                         .from = request->offset,
                         .to = request->offset + bytes,
                         .mode = is_read ? WIO_LOCK_SHARED : WIO_LOCK_EXCLUSIVE};
}

static bool takes_a_lock(const struct wio_store_request *request)
{
    return request->op == WIO_STORE_READ || request->op == WIO_STORE_WRITE;
}

/* ---- the list ------------------------------------------------------------------------------ */

static bool has(const struct listener *listener, const struct held *wish)
{
    for (uint32_t i = 0; i < listener->held_count; i++) {
        const struct held *lock = &listener->held[i];
        bool is_enough = lock->mode == WIO_LOCK_EXCLUSIVE || wish->mode == WIO_LOCK_SHARED;
        if (!lock->is_waiting && is_attempt(&lock->txn, &wish->txn) && is_enough &&
            lock->segment == wish->segment && lock->from <= wish->from && lock->to >= wish->to) {
            return true;
        }
    }
    return false;
}

/* Waiting, or granted without an answer. */
static struct held *find_asked(struct listener *listener, const struct held *wish)
{
    for (uint32_t i = 0; i < listener->held_count; i++) {
        struct held *lock = &listener->held[i];
        if (!lock->is_answered && is_attempt(&lock->txn, &wish->txn) && lock->mode == wish->mode &&
            lock->segment == wish->segment && lock->from == wish->from) {
            return lock;
        }
    }
    return NULL;
}

static struct held *add(struct listener *listener, const struct held *wish, bool is_waiting)
{
    listener->held = room(listener->held, sizeof(*listener->held), &listener->held_capacity,
                          listener->held_count);
    struct held *lock = &listener->held[listener->held_count++];
    *lock = *wish;
    lock->is_waiting = is_waiting;
    lock->order = ++listener->truth->order;
    return lock;
}

/* What was asked for is held now. */
static void hold(struct listener *listener, const struct held *wish, bool is_answered)
{
    struct held *lock = find_asked(listener, wish);
    if (lock == NULL && !has(listener, wish)) {
        lock = add(listener, wish, false);
    }
    if (lock != NULL) {
        lock->is_waiting = false;
        lock->is_answered = lock->is_answered || is_answered;
    }
}

static void drop_waiting(struct listener *listener, const struct held *wish)
{
    struct held *waiting = find_asked(listener, wish);
    if (waiting != NULL) {
        *waiting = listener->held[--listener->held_count];
    }
}

static void drop_all(struct listener *listener, const struct wio_txn *txn)
{
    for (uint32_t i = listener->held_count; i > 0; i--) {
        if (is_attempt(&listener->held[i - 1].txn, txn)) {
            listener->held[i - 1] = listener->held[--listener->held_count];
        }
    }
}

static bool is_prepared(const struct listener *listener, const struct wio_txn *txn)
{
    for (uint32_t i = 0; i < listener->prepared_count; i++) {
        if (is_attempt(&listener->prepared[i], txn)) {
            return true;
        }
    }
    return false;
}

/* Had it been aborted before `now_ns`? */
static bool is_over(const struct truth *truth, const struct wio_txn *txn, uint64_t now_ns)
{
    for (uint32_t i = 0; i < truth->aborted_count; i++) {
        if (is_attempt(&truth->aborted[i].txn, txn) && truth->aborted[i].at_ns < now_ns) {
            return true;
        }
    }
    return false;
}

static bool has_touched(const struct listener *listener, const struct wio_txn *txn,
                        const struct held *bytes)
{
    for (uint32_t i = 0; i < listener->touch_count; i++) {
        const struct touch *touch = &listener->touched[i];
        if (is_attempt(&touch->txn, txn) && touch->segment == bytes->segment &&
            touch->from < bytes->to && bytes->from < touch->to) {
            return true;
        }
    }
    return false;
}

static void touch(struct listener *listener, const struct held *wish, uint64_t bytes)
{
    listener->touched = room(listener->touched, sizeof(*listener->touched),
                             &listener->touch_capacity, listener->touch_count);
    listener->touched[listener->touch_count++] =
        (struct touch){wish->txn, wish->segment, wish->from, wish->from + bytes};
}

/* ---- what is in the way -------------------------------------------------------------------- */

/* A request that waits for what the other one holds is passed by it. */
static bool waits_for(const struct listener *listener, const struct held *waiting,
                      const struct wio_txn *txn)
{
    for (uint32_t i = 0; i < listener->held_count; i++) {
        const struct held *lock = &listener->held[i];
        if (!lock->is_waiting && is_attempt(&lock->txn, txn) && overlap(lock, waiting) &&
            exclude(lock->mode, waiting->mode)) {
            return true;
        }
    }
    return false;
}

static bool is_in_the_way(const struct listener *listener, const struct held *lock,
                          const struct held *wish)
{
    if (lock->is_dying || is_txn(&lock->txn, &wish->txn) || !overlap(lock, wish) ||
        !exclude(lock->mode, wish->mode)) {
        return false;
    }
    return !lock->is_waiting ||
           (wio_txn_compare(&lock->txn, &wish->txn) < 0 && !waits_for(listener, lock, &wish->txn));
}

/* Those that hold before those that wait, the older first, then as they came. */
static int compare_held(const void *a, const void *b)
{
    const struct held *x = a;
    const struct held *y = b;
    if (x->is_waiting != y->is_waiting) {
        return x->is_waiting ? 1 : -1;
    }
    int age = wio_txn_compare(&x->txn, &y->txn);
    return age != 0 ? age : (x->order > y->order) - (x->order < y->order);
}

static uint32_t find_blockers(const struct listener *listener, const struct held *wish,
                              struct wio_lock_blocker *list)
{
    static struct held found[4096];
    uint32_t count = 0;
    for (uint32_t i = 0; i < listener->held_count; i++) {
        if (is_in_the_way(listener, &listener->held[i], wish)) {
            found[count++] = listener->held[i];
        }
    }
    qsort(found, count, sizeof(found[0]), compare_held);
    count = count < WIO_LOCK_BLOCKERS ? count : WIO_LOCK_BLOCKERS;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t holder =
            is_prepared(listener, &found[i].txn) ? WIO_LOCK_ROLE_PREPARED : WIO_LOCK_ROLE_HOLDER;
        list[i] = (struct wio_lock_blocker){
            .txn = found[i].txn, .role = found[i].is_waiting ? WIO_LOCK_ROLE_QUEUED : holder};
    }
    return count;
}

/* Has it asked for such bytes, without an answer yet? */
static bool is_asked(const struct listener *listener, const struct wio_txn *txn,
                     const struct held *bytes)
{
    for (uint32_t i = 0; i < listener->held_count; i++) {
        const struct held *lock = &listener->held[i];
        if (!lock->is_answered && is_attempt(&lock->txn, txn) && overlap(lock, bytes)) {
            return true;
        }
    }
    return false;
}

static uint8_t conflict_of(const struct listener *listener, const struct wio_lock_blocker *blocker,
                           const struct held *wish)
{
    if (blocker->role == WIO_LOCK_ROLE_QUEUED) {
        return WIO_CONFLICT_QUEUED;
    }
    if (blocker->role == WIO_LOCK_ROLE_PREPARED) {
        return WIO_CONFLICT_PREPARED;
    }
    bool is_touched =
        has_touched(listener, &blocker->txn, wish) || is_asked(listener, &blocker->txn, wish);
    return is_touched ? WIO_CONFLICT_DATA : WIO_CONFLICT_FALSE;
}

/* Wait-die: what an older transaction holds is not waited for. */
static void let_die(struct listener *listener)
{
    for (uint32_t i = 0; i < listener->held_count; i++) {
        struct held *waiting = &listener->held[i];
        for (uint32_t k = 0; waiting->is_waiting && k < listener->held_count; k++) {
            const struct held *lock = &listener->held[k];
            bool is_older = wio_txn_compare(&lock->txn, &waiting->txn) < 0;
            bool is_blocked = !lock->is_waiting && is_in_the_way(listener, lock, waiting);
            waiting->is_dying = waiting->is_dying || (is_older && is_blocked);
        }
    }
}

/* Locks that have gone are given to those that wait, the oldest first: what is told of a refusal is
 * as of then, though the grants are answered later. */
static void grant(struct listener *listener)
{
    struct wio_lock_blocker list[WIO_LOCK_BLOCKERS];
    struct held *next = NULL;
    do {
        next = NULL;
        for (uint32_t i = 0; i < listener->held_count; i++) {
            struct held *lock = &listener->held[i];
            bool is_older = next == NULL || compare_held(lock, next) < 0;
            if (lock->is_waiting && is_older && find_blockers(listener, lock, list) == 0) {
                next = lock;
            }
        }
        if (next != NULL) {
            next->is_waiting = false;
        }
    } while (next != NULL);
    if (listener->policy == WIO_LOCK_WAIT_DIE) {
        let_die(listener);
    }
}

/* ---- what comes of it ---------------------------------------------------------------------- */

static struct truth_pair *pair_of(struct truth *truth, const struct wio_txn *victim,
                                  const struct truth_name *blocker, uint16_t server)
{
    for (uint32_t i = 0; i < truth->pair_count; i++) {
        struct truth_pair *pair = &truth->pairs[i];
        if (pair->victim.client == victim->client && pair->victim.number == victim->number &&
            pair->blocker.client == blocker->client && pair->blocker.number == blocker->number &&
            pair->server == server) {
            return pair;
        }
    }
    truth->pairs =
        room(truth->pairs, sizeof(*truth->pairs), &truth->pair_capacity, truth->pair_count);
    truth->pairs[truth->pair_count] = (struct truth_pair){
        .victim = {victim->client, victim->number}, .blocker = *blocker, .server = server};
    return &truth->pairs[truth->pair_count++];
}

static void add_cause(struct listener *listener, const struct wio_txn *victim,
                      const struct wio_txn *blocker, uint8_t conflict, uint64_t now_ns)
{
    struct truth *truth = listener->truth;
    if (is_over(truth, victim, now_ns)) {
        return;
    }
    truth->causes =
        room(truth->causes, sizeof(*truth->causes), &truth->cause_capacity, truth->cause_count);
    truth->causes[truth->cause_count++] =
        (struct cause){*victim, {blocker->client, blocker->number}, listener->target, conflict};
}

/* One transaction may be in the way with several locks: an abort is counted once. */
static bool is_first(const struct truth *truth, uint32_t at)
{
    for (uint32_t i = 0; i < at; i++) {
        const struct cause *a = &truth->causes[i];
        const struct cause *b = &truth->causes[at];
        if (is_attempt(&a->victim, &b->victim) && a->server == b->server &&
            a->blocker.client == b->blocker.client && a->blocker.number == b->blocker.number) {
            return false;
        }
    }
    return true;
}

/* The attempt is aborted: what refused it by now counts. */
static void count_abort(struct truth *truth, const struct wio_txn *txn)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < truth->cause_count; i++) {
        const struct cause *cause = &truth->causes[i];
        if (is_attempt(&cause->victim, txn) && is_first(truth, i)) {
            struct truth_pair *pair =
                pair_of(truth, &cause->victim, &cause->blocker, cause->server);
            pair->aborts++;
            pair->by_conflict[cause->conflict]++;
        }
    }
    for (uint32_t i = 0; i < truth->cause_count; i++) {
        if (!is_attempt(&truth->causes[i].victim, txn)) {
            truth->causes[left++] = truth->causes[i];
        }
    }
    truth->cause_count = left;
}

/* ---- watching ------------------------------------------------------------------------------ */

static void note_wait(struct listener *listener, const struct wio_store_request *request)
{
    struct held wish = wish_of(request);
    listener->waits = room(listener->waits, sizeof(*listener->waits), &listener->wait_capacity,
                           listener->wait_count);
    struct waiting *wait = &listener->waits[listener->wait_count++];
    *wait = (struct waiting){.txn = request->txn, .request = request->number};
    wait->count = find_blockers(listener, &wish, wait->list);
    if (wait->count == 0) {
        sim_fail("a request waits, and nothing is in its way");
    }
    (void)add(listener, &wish, true);
}

static void waits(void *context, const struct wio_store_request *request,
                  const struct wio_lock_blockers *blockers, uint64_t now_ns)
{
    struct listener *listener = context;
    struct held wish = wish_of(request);
    if (blockers != NULL && takes_a_lock(request)) {
        note_wait(listener, request);
    } else if (takes_a_lock(request)) {
        hold(listener, &wish, false);
    }
    if (blockers == NULL && request->txn.number != 0) {
        listener->prepared = room(listener->prepared, sizeof(*listener->prepared),
                                  &listener->prepared_capacity, listener->prepared_count);
        listener->prepared[listener->prepared_count++] = request->txn;
    }
    listener->next->waits(listener->next_context, request, blockers, now_ns);
}

static void end_wait(struct listener *listener, const struct wio_store_request *request,
                     bool is_granted)
{
    struct held wish = wish_of(request);
    for (uint32_t i = 0; i < listener->wait_count; i++) {
        struct waiting *wait = &listener->waits[i];
        if (wait->request != request->number || !is_attempt(&wait->txn, &request->txn)) {
            continue;
        }
        for (uint32_t k = 0; is_granted && k < wait->count; k++) {
            const struct truth_name name = {wait->list[k].txn.client, wait->list[k].txn.number};
            struct truth_pair *pair = pair_of(listener->truth, &wait->txn, &name, listener->target);
            pair->waits++;
            pair->by_conflict[conflict_of(listener, &wait->list[k], &wish)]++;
        }
        *wait = listener->waits[--listener->wait_count];
        return;
    }
}

static void answered(void *context, const struct wio_store_request *request,
                     const struct wio_store_reply *reply, bool is_logged)
{
    struct listener *listener = context;
    struct held wish = wish_of(request);
    bool is_ok = reply->result == WIO_STORE_OK;
    bool is_single = (request->flags & WIO_STORE_FLAG_SINGLE) != 0;
    /* without time no wait is told: it was granted in the moment in which it began; that of an
     * attempt which is over elsewhere costs nothing */
    bool has_waited = is_ok && reply->locked_ns > reply->received_ns &&
                      !is_over(listener->truth, &request->txn, reply->done_ns);
    if (takes_a_lock(request) && reply->result == WIO_STORE_REFUSED) {
        struct wio_lock_blocker list[WIO_LOCK_BLOCKERS];
        if (find_asked(listener, &wish) == NULL) { /* of a single operation it went before */
            (void)add(listener, &wish, true);
        }
        grant(listener);
        drop_waiting(listener, &wish);
        uint32_t count = find_blockers(listener, &wish, list);
        for (uint32_t i = 0; i < count; i++) {
            add_cause(listener, &request->txn, &list[i].txn, conflict_of(listener, &list[i], &wish),
                      reply->done_ns);
        }
        if (is_single) { /* it has ended before */
            count_abort(listener->truth, &request->txn);
        }
    } else if (takes_a_lock(request) && is_ok) {
        if (!is_single) {
            hold(listener, &wish, true);
        }
        touch(listener, &wish, reply->size);
    } else if (takes_a_lock(request)) {
        drop_waiting(listener, &wish);
    }
    end_wait(listener, request, has_waited);
    listener->next->answered(listener->next_context, request, reply, is_logged);
}

static void ended(void *context, const struct wio_txn *txn, bool is_committed, uint64_t now_ns)
{
    struct listener *listener = context;
    drop_all(listener, txn);
    if (!is_committed) {
        struct truth *truth = listener->truth;
        count_abort(truth, txn);
        truth->aborted = room(truth->aborted, sizeof(*truth->aborted), &truth->aborted_capacity,
                              truth->aborted_count);
        truth->aborted[truth->aborted_count++] = (struct over){*txn, now_ns};
    }
    listener->next->ended(listener->next_context, txn, is_committed, now_ns);
}

/* The older request that came last of those that want what the attempt holds. */
static void wounded(void *context, const struct wio_store_push *push, uint64_t now_ns)
{
    struct listener *listener = context;
    const struct held *reason = NULL;
    uint32_t reasons = 0;
    for (uint32_t i = 0; i < listener->held_count; i++) {
        const struct held *wish = &listener->held[i];
        if (wish->is_waiting && !is_txn(&wish->txn, &push->txn) &&
            wio_txn_compare(&wish->txn, &push->txn) < 0 && waits_for(listener, wish, &push->txn)) {
            reasons++;
            reason = reason == NULL || wish->order > reason->order ? wish : reason;
        }
    }
    if (reason == NULL) {
        sim_fail("an attempt is wounded, and no older request wants what it holds");
    }
    listener->truth->ambiguous += reasons > 1;
    bool is_untouched = !has_touched(listener, &push->txn, reason);
    add_cause(listener, &push->txn, &reason->txn,
              is_untouched ? WIO_CONFLICT_FALSE : WIO_CONFLICT_DATA, now_ns);
    listener->next->wounded(listener->next_context, push, now_ns);
}

static const struct wio_server_watch watch = {waits, answered, ended, wounded};

/* ---- life ---------------------------------------------------------------------------------- */

struct truth *truth_create(void)
{
    struct truth *truth = calloc(1, sizeof(*truth));
    if (truth == NULL) {
        sim_fail("out of memory");
    }
    return truth;
}

void truth_listen(struct truth *truth, uint16_t target, struct wio_server *server)
{
    struct listener *listener = &truth->listeners[target];
    *listener = (struct listener){.truth = truth,
                                  .target = target,
                                  .policy = server->config.policy,
                                  .next = server->config.watch,
                                  .next_context = server->config.watch_context};
    server->config.watch = &watch;
    server->config.watch_context = listener;
}

int truth_compare(const void *a, const void *b)
{
    const struct truth_pair *x = a;
    const struct truth_pair *y = b;
    const uint64_t keys[][2] = {{x->victim.client, y->victim.client},
                                {x->victim.number, y->victim.number},
                                {x->blocker.client, y->blocker.client},
                                {x->blocker.number, y->blocker.number},
                                {x->server, y->server}};
    for (unsigned i = 0; i < 5; i++) {
        if (keys[i][0] != keys[i][1]) {
            return keys[i][0] < keys[i][1] ? -1 : 1;
        }
    }
    return 0;
}

const struct truth_pair *truth_pairs(struct truth *truth, uint32_t *count_out)
{
    if (truth->pair_count > 1) {
        qsort(truth->pairs, truth->pair_count, sizeof(*truth->pairs), truth_compare);
    }
    *count_out = truth->pair_count;
    return truth->pairs;
}

uint64_t truth_ambiguous(const struct truth *truth)
{
    return truth->ambiguous;
}

void truth_destroy(struct truth *truth)
{
    for (unsigned i = 0; i < TRUTH_TARGETS; i++) {
        free(truth->listeners[i].held);
        free(truth->listeners[i].waits);
        free(truth->listeners[i].touched);
        free(truth->listeners[i].prepared);
    }
    free(truth->pairs);
    free(truth->causes);
    free(truth->aborted);
    free(truth);
}
