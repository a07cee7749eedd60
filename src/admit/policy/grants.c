/* SPDX-License-Identifier: Apache-2.0 */
#include "admit/policy/grants.h"

#include <math.h>

#include "admit/negotiate.h"
#include "admit/policy/lines.h"

#define TARGET_SERVICES 10
#define STEPS_PER_TARGET 4
#define TOTAL_FIRST 16.0
#define TOTAL_PER_WORKER 4.0 /* the least total */
#define SHRINK_MOST 0.5      /* of one step */
#define GROW_MOST 0.25
#define GRANT_MOST 8 /* credits for one client at a time while others wait */
#define LEASE_TARGETS 2
#define LEASE_LEAST_NS 1000000
#define TURN_NS 1600000.0                 /* of service, at most */
#define STRIKES_FREE WIO_ADMIT_WINDOW_MAX /* a window that was on its way */
#define STRIKES_MAX (STRIKES_FREE + 6)
#define LATE_PART 8 /* a credit is of no use in the last eighth of the time of a request */

void wio_grants_init(struct wio_grants *grants, const struct wio_admit_settings *settings)
{
    *grants = (struct wio_grants){
        .total = fmax(TOTAL_FIRST, TOTAL_PER_WORKER * settings->workers),
        .target_ns = settings->target_min_ns,
        .first_tenant = WIO_NO_INDEX,
        .last_tenant = WIO_NO_INDEX,
        .first_lease = WIO_NO_INDEX,
        .last_lease = WIO_NO_INDEX,
    };
    wio_fair_init(&grants->fair, settings->quantum_ns);
}

void wio_grants_forget(struct wio_admit *shard)
{
    for (uint32_t i = 0; i < shard->clients.count; i++) {
        struct wio_admit_client *item = &shard->clients.items[i];
        bool was_waiting = item->is_waiting;
        item->is_waiting = item->is_leased = item->is_active = item->is_soon = false;
        item->credit = item->demand = item->turn = 0;
        if (item->is_used && was_waiting) {
            wio_clients_release(&shard->clients, i);
        }
    }
    for (uint32_t i = 0; i < shard->tenants.count; i++) {
        struct wio_tenant *item = wio_tenants_at(&shard->tenants, i);
        item->first_waiter = item->last_waiter = item->next_granted = WIO_NO_INDEX;
        item->is_granted = false;
        item->grant_deficit_ns = item->share_seen_ns = 0;
    }
}

uint32_t wio_grants_committed(const struct wio_admit *shard)
{
    const struct wio_grants *grants = shard->state;
    return shard->queued + shard->in_flight + grants->outstanding;
}

static uint32_t spare(const struct wio_admit *shard)
{
    const struct wio_grants *grants = shard->state;
    double left = grants->total - wio_grants_committed(shard);
    return left >= 1 ? (uint32_t)left : 0;
}

static uint64_t lease_ns(const struct wio_grants *grants)
{
    uint64_t lease = LEASE_TARGETS * grants->target_ns;
    return lease > LEASE_LEAST_NS ? lease : LEASE_LEAST_NS;
}

static void aim(struct wio_admit *shard, struct wio_grants *grants)
{
    double services = TARGET_SERVICES * (double)shard->speed.mean.cost_ns;
    double least = (double)shard->settings->target_min_ns;
    double most = (double)shard->settings->target_max_ns;
    grants->target_ns = (uint64_t)fmin(fmax(services, least), most);
}

static void control(struct wio_admit *shard, struct wio_grants *grants)
{
    double excess = (double)wio_shard_wait_ns(shard) / (double)grants->target_ns - 1;
    double least = TOTAL_PER_WORKER * shard->settings->workers;
    double most = (double)WIO_ADMIT_WINDOW_MAX * shard->settings->clients_max;
    if (excess > 0) {
        grants->total *= fmax(1 - shard->settings->decrease * excess, SHRINK_MOST);
    } else if (wio_grants_committed(shard) >= grants->total / 2) {
        double more = fmax(1, shard->settings->increase * grants->active);
        grants->total += fmin(more, fmax(1, grants->total * GROW_MOST));
    }
    grants->total = fmin(fmax(grants->total, least), most);
}

void wio_grants_step(struct wio_admit *shard, uint64_t now_ns)
{
    struct wio_grants *grants = shard->state;
    if (now_ns < grants->stepped_ns + grants->target_ns / STEPS_PER_TARGET) {
        return;
    }
    grants->stepped_ns = now_ns;
    aim(shard, grants);
    control(shard, grants);
    wio_lease_expire(shard, now_ns, lease_ns(grants));
}

static bool has_credits(const struct wio_admit_client *client)
{
    return (client->features & WIO_ADMIT_FEATURE_CREDIT) != 0;
}

static void tell(struct wio_admit_client *client, uint32_t window, struct wio_admit_reply *reply)
{
    client->window = window < WIO_ADMIT_WINDOW_MAX ? window : WIO_ADMIT_WINDOW_MAX;
    reply->window = (uint16_t)client->window;
    reply->has_window = true;
}

/* Until when a credit is of use for what waits in the client, this one included if it is refused.
 */
static uint64_t useful_until(const struct wio_grants *grants, const struct wio_arrival *arrival)
{
    uint64_t most_ns = arrival->request->demand_ns > arrival->remaining_ns
                           ? arrival->request->demand_ns
                           : arrival->remaining_ns;
    uint64_t late_ns = most_ns / LATE_PART;
    late_ns = late_ns > grants->target_ns ? late_ns : grants->target_ns;
    uint64_t left_ns = most_ns > late_ns ? most_ns - late_ns : 0;
    return left_ns < WIO_ADMIT_NEVER - arrival->now_ns ? arrival->now_ns + left_ns
                                                       : WIO_ADMIT_NEVER;
}

static void set_demand(struct wio_admit_client *client, uint32_t demand)
{
    uint32_t most = demand < WIO_ADMIT_WINDOW_MAX ? demand : WIO_ADMIT_WINDOW_MAX;
    client->demand = most > client->credit ? most - client->credit : 0;
}

/* Some requests beyond the window may have been on their way when it shrank. */
static uint64_t pause_ns(const struct wio_grants *grants, struct wio_admit_client *client,
                         uint64_t now_ns)
{
    if (now_ns >= client->probe_ns || client->in_shard < client->window) {
        return 0;
    }
    client->strikes += client->strikes < STRIKES_MAX;
    return client->strikes > STRIKES_FREE ? grants->target_ns << (client->strikes - STRIKES_FREE)
                                          : 0;
}

static void register_refused(struct wio_admit *shard, const struct wio_arrival *arrival,
                             struct wio_admit_reply *reply)
{
    struct wio_admit_client *client = arrival->client;
    client->turn = 0;
    reply->pause_ns = pause_ns(shard->state, client, arrival->now_ns);
    client->probe_ns = arrival->now_ns + wio_hint_ns(reply->hint);
    if (client->demand > 0) {
        wio_line_join(shard, arrival->request->client);
    }
    uint32_t window = client->in_shard + client->credit;
    tell(client, window == 0 && !client->is_waiting ? 1 : window, reply);
}

void wio_grants_arrived(struct wio_admit *shard, const struct wio_arrival *arrival,
                        enum wio_admit_reason reason, struct wio_admit_reply *reply)
{
    struct wio_grants *grants = shard->state;
    struct wio_admit_client *client = arrival->client;
    wio_grants_step(shard, arrival->now_ns);
    if (client == NULL || !has_credits(client) || arrival->is_must) {
        return;
    }
    uint32_t number = arrival->request->client;
    bool is_refused = reason != WIO_ADMIT_REASON_NONE;
    bool comes_again = is_refused && reason != WIO_ADMIT_REASON_TIMEOUT;
    if (client->credit > 0) {
        wio_lease_spend(shard, number);
    }
    client->is_soon =
        client->replied_ns != 0 && arrival->now_ns < client->replied_ns + lease_ns(grants);
    set_demand(client, (uint32_t)arrival->request->demand + comes_again);
    client->demand_until_ns = useful_until(grants, arrival);
    if (is_refused) {
        register_refused(shard, arrival, reply);
    } else {
        client->strikes = 0;
    }
    wio_lease_note(shard, number);
}

/* In a turn a client has the next credit with each reply; one whose requests follow closely also
 * ahead of its demand. */
static void go_on(struct wio_admit *shard, uint32_t number, uint64_t now_ns)
{
    struct wio_admit_client *client = &shard->clients.items[number];
    bool wants = client->demand > 0 || client->is_soon;
    if (client->turn > 0 && wants && spare(shard) > 0) {
        client->turn--;
        client->demand -= client->demand > 0;
        wio_lease_give(shard, number, 1, now_ns);
    } else if (client->demand > 0) {
        wio_line_join(shard, number);
    }
}

/* A turn saves messages where requests are short; where they are long, others would wait for it. */
static uint32_t turn_of(const struct wio_admit *shard)
{
    double requests = TURN_NS / fmax((double)shard->speed.mean.cost_ns, 1);
    return requests < 1                       ? 1
           : requests < shard->settings->turn ? (uint32_t)requests
                                              : shard->settings->turn;
}

/* No other client waits: what it demands, and more than that as far as there is some for all. */
static uint32_t open_up(struct wio_admit *shard, uint32_t number, uint64_t now_ns)
{
    const struct wio_grants *grants = shard->state;
    struct wio_admit_client *client = &shard->clients.items[number];
    uint32_t left = spare(shard);
    uint32_t given = client->demand < left ? client->demand : left;
    client->turn = turn_of(shard);
    if (given > 0) {
        client->demand -= given;
        wio_lease_give(shard, number, given, now_ns);
    }
    if (client->demand > 0) {
        wio_line_join(shard, number);
        return 0;
    }
    return (left - given) / (grants->active > 0 ? grants->active : 1);
}

void wio_grants_done(struct wio_admit *shard, uint32_t number, uint64_t now_ns,
                     struct wio_admit_reply *reply)
{
    struct wio_grants *grants = shard->state;
    struct wio_admit_client *client = &shard->clients.items[number];
    wio_grants_step(shard, now_ns);
    if (!has_credits(client)) {
        return;
    }
    client->replied_ns = now_ns;
    uint32_t ahead = 0;
    if (grants->waiters > (client->is_waiting ? 1u : 0u)) {
        go_on(shard, number, now_ns);
    } else {
        ahead = open_up(shard, number, now_ns);
    }
    uint32_t window = client->in_shard + client->credit;
    if (!client->is_waiting) {
        /* It has no unmet demand: its next request may come without a credit. */
        window += ahead > 1 ? ahead : client->credit == 0;
    }
    tell(client, window, reply);
    wio_lease_note(shard, number);
}

/* Credits for the client whose turn it is; 0: its demand has gone by. */
static uint32_t begin_turn(struct wio_admit *shard, uint32_t number, uint64_t now_ns)
{
    const struct wio_grants *grants = shard->state;
    struct wio_admit_client *client = &shard->clients.items[number];
    if (client->has_left || client->demand == 0 || now_ns > client->demand_until_ns) {
        client->demand = 0;
        wio_lease_note(shard, number);
        wio_clients_release(&shard->clients, number);
        return 0;
    }
    uint32_t each = spare(shard) / (grants->waiters + 1);
    uint32_t most = each < 1 ? 1 : each < GRANT_MOST ? each : GRANT_MOST;
    uint32_t given = client->demand < most ? client->demand : most;
    client->demand -= given;
    uint32_t turn = turn_of(shard);
    client->turn = turn > given ? turn - given : 0;
    wio_lease_give(shard, number, given, now_ns);
    wio_lease_note(shard, number);
    return given;
}

bool wio_grants_next(struct wio_admit *shard, uint64_t now_ns, struct wio_admit_grant *grant_out)
{
    wio_grants_step(shard, now_ns);
    while (spare(shard) > 0) {
        uint32_t number = wio_line_take(shard);
        if (number == WIO_NO_INDEX) {
            return false;
        }
        if (begin_turn(shard, number, now_ns) == 0) {
            continue;
        }
        struct wio_admit_client *client = &shard->clients.items[number];
        if (client->in_shard == 0) { /* else the reply to what it has here says so */
            struct wio_admit_reply told;
            tell(client, client->credit, &told);
            *grant_out = (struct wio_admit_grant){.client = number, .window = told.window};
            return true;
        }
    }
    return false;
}

void wio_grants_left(struct wio_admit *shard, uint32_t number)
{
    wio_lease_revoke(shard, number);
    shard->clients.items[number].demand = 0;
    wio_lease_note(shard, number);
}

uint64_t wio_grants_wake_ns(const struct wio_admit *shard)
{
    const struct wio_grants *grants = shard->state;
    return grants->waiters > 0 ? grants->stepped_ns + grants->target_ns / STEPS_PER_TARGET
                               : WIO_ADMIT_NEVER;
}
