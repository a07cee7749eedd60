/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/pacing.h"

#include <stdlib.h>

#include "admit/client.h"
#include "admit/negotiate.h"
#include "base/cleanup.h"

#define SECOND_NS UINT64_C(1000000000)
#define TIMEOUT_NS (30 * SECOND_NS)
/* A request is given up so much before its caller's deadline, that the caller hears why. */
#define MARGIN_PART 64
#define MARGIN_MAX_NS UINT64_C(20000000)
/* As many as a coordinator has under way at a target. */
#define SLOTS 64

/* A request that began here; by its number modulo SLOTS, as the coordinator has them. */
struct pace_slot {
    uint64_t number; /* 0: free */
    uint64_t sender; /* its number there; valid where is_sent */
    struct wio_txn txn;
    bool is_sent;
    bool is_unsure; /* a connection was lost on which it was sent: a refusal is of a copy alone */
    bool is_ahead;  /* operations behind it are held back */
    bool is_over;   /* to be told by wio_pacing_pump */
    uint8_t reason; /* enum wio_admit_reason */
};

struct paced_target {
    struct wio_sender *sender; /* NULL: no target that knows admission was there */
    uint32_t features;         /* of the connection now */
    uint32_t held;             /* slots that wait */
    uint32_t over;             /* slots with is_over */
    struct pace_slot slots[SLOTS];
    uint64_t gone[SLOTS];   /* numbers of requests that left their slot, and are not answered .. */
    uint64_t unsure[SLOTS]; /* .. and of those with is_unsure */
};

struct wio_pacing {
    const struct wio_pacing_ops *ops;
    void *context;
    uint64_t seed;
    struct wio_pacing_counts counts;
    uint64_t wake_ns; /* nothing is due before */
    uint16_t targets;
    struct paced_target ones[];
};

struct wio_pacing *wio_pacing_create(uint16_t targets, uint64_t seed,
                                     const struct wio_pacing_ops *ops, void *context)
{
    struct wio_pacing *pacing = calloc(1, sizeof(*pacing) + targets * sizeof(pacing->ones[0]));
    if (pacing != NULL) {
        pacing->ops = ops;
        pacing->context = context;
        pacing->seed = seed;
        pacing->targets = targets;
        pacing->wake_ns = UINT64_MAX;
    }
    return pacing;
}

void wio_pacing_destroy(struct wio_pacing *pacing)
{
    for (uint16_t i = 0; pacing != NULL && i < pacing->targets; i++) {
        wio_sender_destroy(pacing->ones[i].sender);
    }
    free(pacing);
}

/* ---- slots --------------------------------------------------------------------------------- */

static struct pace_slot *slot_of(struct paced_target *one, uint64_t number)
{
    return &one->slots[number % SLOTS];
}

static bool waits(const struct pace_slot *slot)
{
    return slot->number != 0 && !slot->is_sent && !slot->is_over;
}

static void clear(struct paced_target *one, struct pace_slot *slot)
{
    one->held -= waits(slot);
    one->over -= slot->number != 0 && slot->is_over;
    *slot = (struct pace_slot){0};
}

static void set_sent(struct paced_target *one, struct pace_slot *slot, bool is_sent)
{
    one->held -= waits(slot);
    slot->is_sent = is_sent;
    one->held += waits(slot);
}

/* What becomes of it is said by its answer. */
static void let_go(struct paced_target *one, struct pace_slot *slot)
{
    one->gone[slot->number % SLOTS] = slot->number;
    one->unsure[slot->number % SLOTS] = slot->is_unsure ? slot->number : 0;
    clear(one, slot);
}

static void drop(struct paced_target *one, struct pace_slot *slot)
{
    if (slot->number != 0 && slot->is_sent) {
        wio_sender_cancel(one->sender, slot->sender);
    }
    clear(one, slot);
}

/* The begin of this attempt, where it waits here; NULL: it does not. */
static struct pace_slot *find_begin(struct paced_target *one, const struct wio_txn *txn)
{
    if (one->held == 0 || txn->number == 0) {
        return NULL;
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        struct pace_slot *slot = &one->slots[i];
        if (waits(slot) && slot->txn.number == txn->number && slot->txn.attempt == txn->attempt) {
            return slot;
        }
    }
    return NULL;
}

/* ---- sending ------------------------------------------------------------------------------- */

/* Operations behind it that were held back. */
static void send_rest(struct wio_pacing *pacing, uint16_t target, struct pace_slot *slot)
{
    if (slot->is_ahead) {
        slot->is_ahead = false;
        pacing->ops->sent(pacing->context, target, slot->number);
    }
}

static void send(struct wio_pacing *pacing, uint16_t target, struct pace_slot *slot,
                 const struct wio_store_request *found, const struct wio_sender_action *action)
{
    struct paced_target *one = &pacing->ones[target];
    struct wio_store_request request = *found;
    slot->sender = action->number;
    set_sent(one, slot, true);
    if (one->features != 0) {
        request.flags |= WIO_STORE_FLAG_ADMIT;
        request.asks = (struct wio_store_asks){.remaining_ns = action->remaining_ns,
                                               .demand_ns = action->demand_ns,
                                               .demand = action->demand,
                                               .ticket = action->ticket};
    }
    pacing->counts.again += action->tries > 0;
    (void)pacing->ops->send(pacing->context, target, &request); /* else it is sent again */
    send_rest(pacing, target, slot);
}

/* What the target may have done has an answer to come: its caller waits for that, as it would
 * without admission. */
static void send_plainly(struct wio_pacing *pacing, uint16_t target, struct pace_slot *slot,
                         const struct wio_store_request *request)
{
    set_sent(&pacing->ones[target], slot, true);
    (void)pacing->ops->send(pacing->context, target, request);
    send_rest(pacing, target, slot);
}

static void end(struct wio_pacing *pacing, uint16_t target, struct pace_slot *slot,
                const struct wio_store_request *request, const struct wio_sender_action *action)
{
    struct paced_target *one = &pacing->ones[target];
    if (slot->is_sent || slot->is_unsure) {
        if (!slot->is_sent) {
            send_plainly(pacing, target, slot, request);
        }
        let_go(one, slot);
        return;
    }
    one->held--;
    one->over++;
    slot->is_over = true;
    slot->reason = (uint8_t)action->reason;
}

static void act(struct wio_pacing *pacing, uint16_t target, const struct wio_sender_action *action)
{
    struct paced_target *one = &pacing->ones[target];
    struct pace_slot *slot = slot_of(one, action->cookie);
    const struct wio_store_request *request =
        slot->number == action->cookie ? pacing->ops->find(pacing->context, target, action->cookie)
                                       : NULL;
    if (request == NULL && slot->number == action->cookie) {
        clear(one, slot); /* its attempt has ended */
    }
    if (request == NULL) {
        wio_sender_cancel(one->sender, action->number);
    } else if (action->end == WIO_SENDER_PENDING) {
        send(pacing, target, slot, request, action);
    } else {
        end(pacing, target, slot, request, action);
    }
}

static void work(struct wio_pacing *pacing, uint16_t target, uint64_t now_ns)
{
    struct paced_target *one = &pacing->ones[target];
    struct wio_sender_action action;
    while (wio_sender_next(one->sender, now_ns, &action)) {
        act(pacing, target, &action);
    }
    uint64_t wake_ns = one->over > 0   ? now_ns
                       : one->held > 0 ? wio_sender_wake_ns(one->sender)
                                       : UINT64_MAX;
    pacing->wake_ns = wake_ns < pacing->wake_ns ? wake_ns : pacing->wake_ns;
}

/* ---- requests ------------------------------------------------------------------------------ */

/* What ends or undoes something is never paced. Nor is LOCK: an UNLOCK must not overtake it. */
static bool is_paced_op(uint16_t op)
{
    bool is_of_target = op >= WIO_STORE_READ && op <= WIO_STORE_STATFS && op != WIO_STORE_UNLOCK &&
                        op != WIO_STORE_LOCK;
    bool is_of_catalogue = op >= WIO_STORE_OPEN && op <= WIO_STORE_UTIMENS;
    bool is_of_jobs = op == WIO_STORE_JOB_STATS || op == WIO_STORE_JOB_CLEAR;
    return is_of_target || is_of_catalogue || is_of_jobs;
}

static bool is_paced(const struct wio_store_request *request)
{
    return request->is_first && is_paced_op(request->op);
}

static uint64_t remaining_ns(const struct wio_store_request *request, uint64_t now_ns)
{
    uint64_t left_ns = request->deadline_ns > now_ns ? request->deadline_ns - now_ns : 1;
    uint64_t margin_ns = left_ns / MARGIN_PART;
    return left_ns - (margin_ns < MARGIN_MAX_NS ? margin_ns : MARGIN_MAX_NS);
}

static bool pace(struct wio_pacing *pacing, uint16_t target,
                 const struct wio_store_request *request, uint64_t now_ns)
{
    struct paced_target *one = &pacing->ones[target];
    struct pace_slot *slot = slot_of(one, request->number);
    if (slot->number == request->number) {
        return true; /* the connection is another one: it is sent again when it is due */
    }
    drop(one, slot);
    uint64_t timeout_ns = request->deadline_ns != 0 ? remaining_ns(request, now_ns) : 0;
    if (wio_sender_submit(one->sender, request->number, timeout_ns, now_ns) != WIO_OK) {
        return false;
    }
    *slot = (struct pace_slot){.number = request->number,
                               .txn = request->txn,
                               .is_unsure = one->gone[request->number % SLOTS] == request->number};
    one->held++;
    work(pacing, target, now_ns);
    pacing->counts.waited += waits(slot);
    return true;
}

/* At a further target: it cannot wait for a window with locks in its hands. */
static void add_holds(struct wio_store_request *request, uint64_t now_ns)
{
    request->flags |= WIO_STORE_FLAG_ADMIT;
    request->asks = (struct wio_store_asks){
        .remaining_ns = request->deadline_ns != 0 ? remaining_ns(request, now_ns) : 0,
        .flags = WIO_STORE_ASKS_HOLDS};
}

bool wio_pacing_take(struct wio_pacing *pacing, uint16_t target, struct wio_store_request *request,
                     uint64_t now_ns)
{
    struct paced_target *one = &pacing->ones[target];
    if (one->features == 0) {
        return false;
    }
    if (is_paced(request)) {
        return pace(pacing, target, request, now_ns);
    }
    bool begins = (request->flags & WIO_STORE_FLAG_BEGIN) != 0;
    struct pace_slot *ahead =
        begins || request->op >= WIO_STORE_COMMIT ? NULL : find_begin(one, &request->txn);
    if (ahead != NULL) {
        ahead->is_ahead = true;
        return true;
    }
    if (begins) {
        add_holds(request, now_ns);
    }
    return false;
}

bool wio_pacing_holds(const struct wio_pacing *pacing, uint16_t target, uint64_t number)
{
    const struct pace_slot *slot = &pacing->ones[target].slots[number % SLOTS];
    return slot->number == number && !slot->is_sent && !slot->is_unsure;
}

/* ---- replies ------------------------------------------------------------------------------- */

/* R-ADMIT-2 */
static bool is_refusal(const struct wio_store_reply *reply)
{
    return reply->result == WIO_STORE_BUSY && reply->has_told &&
           reply->told.reason != WIO_ADMIT_REASON_NONE;
}

static struct wio_admit_reply heard(const struct wio_store_reply *reply)
{
    return (struct wio_admit_reply){
        .answer = is_refusal(reply) ? WIO_ADMIT_BUSY : WIO_ADMIT_ACCEPTED,
        .reason = (enum wio_admit_reason)reply->told.reason,
        .hint = reply->told.hint,
        .window = reply->told.window,
        .has_window = reply->has_told && reply->told.has_window,
        .ticket = reply->told.ticket,
    };
}

/* Of a request that waited here. True: it does so again. */
static bool take_own(struct wio_pacing *pacing, uint16_t target, struct pace_slot *slot,
                     struct wio_store_reply *reply, uint64_t now_ns)
{
    struct paced_target *one = &pacing->ones[target];
    const struct wio_admit_reply said = heard(reply);
    struct wio_sender_result result = {.end = WIO_SENDER_DONE};
    (void)wio_sender_reply(one->sender, slot->sender, &said, now_ns, &result);
    if (result.end == WIO_SENDER_PENDING) {
        set_sent(one, slot, false);
        return true;
    }
    if (result.end != WIO_SENDER_DONE && slot->is_unsure) {
        const struct wio_store_request *request =
            pacing->ops->find(pacing->context, target, slot->number);
        if (request != NULL) {
            send_plainly(pacing, target, slot, request);
        }
        let_go(one, slot);
        return true;
    }
    if (result.end != WIO_SENDER_DONE) {
        pacing->counts.over++;
        reply->result = WIO_STORE_OVERLOADED;
    }
    clear(one, slot);
    return false;
}

/* Of one that waits to be sent again since its connection was lost: what the former one carried has
 * arrived. */
static bool take_early(struct wio_pacing *pacing, uint16_t target, struct pace_slot *slot)
{
    set_sent(&pacing->ones[target], slot, true);
    send_rest(pacing, target, slot);
    drop(&pacing->ones[target], slot);
    return false;
}

/* It was sent on a lost connection before, and its time was over: what was sent then may have been
 * done. */
static bool is_unsure(const struct paced_target *one, uint64_t number)
{
    return number != 0 && one->unsure[number % SLOTS] == number;
}

/* The time of what is refused was over before the refusal came: nothing asks again behind it. */
static bool is_late(const struct paced_target *one, const struct wio_store_reply *reply)
{
    return is_refusal(reply) && is_paced_op(reply->op) &&
           (reply->txn.number == 0 || is_unsure(one, reply->number));
}

/* What such a refusal means. The one of a second copy says nothing of the first: another attempt
 * of a transaction might do it twice. To have looked twice does no harm, and the catalogue refuses
 * nothing that it has done (R-ADMIT-5). */
static enum wio_store_result ends_as(const struct paced_target *one,
                                     const struct wio_store_reply *reply)
{
    bool is_name = reply->op >= WIO_STORE_OPEN && reply->op <= WIO_STORE_UTIMENS;
    bool is_look = reply->op < WIO_STORE_OPEN && reply->op != WIO_STORE_JOB_CLEAR;
    bool is_known = reply->txn.number == 0 && (is_name || is_look);
    return is_unsure(one, reply->number) && !is_known ? WIO_STORE_NO_LEASE : WIO_STORE_OVERLOADED;
}

/* Of another one. True: it is an operation behind a begin that waits, and is sent behind it. */
static bool take_other(struct wio_pacing *pacing, uint16_t target, struct wio_store_reply *reply,
                       uint64_t now_ns)
{
    struct paced_target *one = &pacing->ones[target];
    if (one->sender != NULL && reply->has_told && reply->told.has_window) {
        wio_sender_grant(one->sender, reply->told.window, now_ns);
    }
    struct pace_slot *ahead = is_refusal(reply) ? find_begin(one, &reply->txn) : NULL;
    if (ahead != NULL) {
        ahead->is_ahead = true;
    } else if (is_late(one, reply)) {
        pacing->counts.over++;
        reply->result = (uint16_t)ends_as(one, reply);
    }
    return ahead != NULL;
}

bool wio_pacing_reply(struct wio_pacing *pacing, uint16_t target, struct wio_store_reply *reply,
                      uint64_t now_ns)
{
    struct paced_target *one = &pacing->ones[target];
    struct pace_slot *slot = slot_of(one, reply->number);
    bool is_own = reply->number != 0 && slot->number == reply->number;
    bool is_kept = false;
    pacing->counts.refused += is_refusal(reply);
    if (is_own && slot->is_sent) {
        is_kept = take_own(pacing, target, slot, reply, now_ns);
    } else if (is_own && slot->is_unsure && !is_refusal(reply)) {
        is_kept = take_early(pacing, target, slot);
    } else {
        is_kept = take_other(pacing, target, reply, now_ns);
    }
    if (one->sender != NULL) {
        work(pacing, target, now_ns);
    }
    return is_kept;
}

void wio_pacing_window(struct wio_pacing *pacing, uint16_t target, uint16_t window, uint64_t now_ns)
{
    struct paced_target *one = &pacing->ones[target];
    if (one->sender != NULL) {
        wio_sender_grant(one->sender, window, now_ns);
        work(pacing, target, now_ns);
    }
}

/* ---- connections --------------------------------------------------------------------------- */

static void make_sender(struct wio_pacing *pacing, uint16_t target, uint32_t features)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_sender_settings settings = wio_sender_settings_default();
    settings.seed = pacing->seed + target;
    settings.features = features;
    settings.timeout_ns = TIMEOUT_NS;
    if (wio_sender_create(&settings, &heap, &pacing->ones[target].sender) != WIO_OK) {
        pacing->ones[target].sender = NULL;
    }
}

void wio_pacing_connected(struct wio_pacing *pacing, uint16_t target, uint32_t features,
                          bool is_known, uint64_t now_ns)
{
    struct paced_target *one = &pacing->ones[target];
    if (one->sender == NULL && features != 0) {
        make_sender(pacing, target, features);
    }
    one->features = one->sender != NULL ? features : 0;
    if (one->sender == NULL) {
        return;
    }
    for (unsigned i = 0; i < SLOTS; i++) {
        struct pace_slot *slot = &one->slots[i];
        if (slot->number != 0 && (slot->is_sent || slot->is_unsure) && !is_known) {
            drop(one, slot); /* the coordinator says what becomes of it */
        } else if (slot->number != 0 && slot->is_sent) {
            slot->is_unsure = true;
            set_sent(one, slot, false);
        }
    }
    wio_sender_reconnect(one->sender, features, now_ns);
    work(pacing, target, now_ns);
}

/* ---- time ---------------------------------------------------------------------------------- */

static void tell_over(struct wio_pacing *pacing, uint16_t target)
{
    struct paced_target *one = &pacing->ones[target];
    for (unsigned i = 0; i < SLOTS && one->over > 0; i++) {
        struct pace_slot *slot = &one->slots[i];
        if (slot->number == 0 || !slot->is_over) {
            continue;
        }
        const struct wio_store_request *request =
            pacing->ops->find(pacing->context, target, slot->number);
        struct wio_store_reply reply = {.result = WIO_STORE_OVERLOADED,
                                        .number = slot->number,
                                        .txn = slot->txn,
                                        .has_told = true,
                                        .told = {.reason = slot->reason}};
        clear(one, slot);
        if (request != NULL) {
            reply.op = request->op;
            pacing->counts.over++;
            pacing->ops->over(pacing->context, target, &reply);
        }
    }
}

void wio_pacing_pump(struct wio_pacing *pacing, uint64_t now_ns)
{
    if (now_ns < pacing->wake_ns) {
        return;
    }
    pacing->wake_ns = UINT64_MAX;
    for (uint16_t i = 0; i < pacing->targets; i++) {
        if (pacing->ones[i].sender != NULL) {
            tell_over(pacing, i);
            work(pacing, i, now_ns);
            tell_over(pacing, i);
        }
    }
}

uint64_t wio_pacing_wake_ns(const struct wio_pacing *pacing)
{
    return pacing->wake_ns;
}

struct wio_pacing_counts wio_pacing_counts(const struct wio_pacing *pacing)
{
    return pacing->counts;
}
