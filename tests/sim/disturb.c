/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of transactions.c. */
#include "sim/invariants.h"
#include "sim/pairs.h"
#include "sim/transactions.h"

/* ---- faults ---- */

static struct wio_sim_node *node_of(const struct transactions *run, uint64_t target)
{
    return wio_sim_node(run->sim, transactions_addresses[target] + sizeof("unix:") - 1);
}

static struct wio_coord *coord_of(const struct transactions *run, unsigned client)
{
    return wio_session_coord(run->clients[client].session);
}

/* Of all that is under way. */
static void note_everywhere(const struct transactions *run, enum pair_fault fault)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        pairs_coord(fault, coord_of(run, i));
    }
    for (unsigned i = 0; i < TARGETS; i++) {
        pairs_server(fault, txn_target_server(run->targets[i]));
    }
}

static void cut_off(struct transactions *run, unsigned client)
{
    pairs_coord(PAIR_CLIENT_CUT_OFF, coord_of(run, client));
    for (unsigned i = 0; i < TARGETS; i++) {
        pairs_server(PAIR_CLIENT_CUT_OFF, txn_target_server(run->targets[i]));
    }
    wio_sim_part(run->sim, wio_sim_node(run->sim, actors_client_name(client)), NULL);
}

static void end_target(struct transactions *run, unsigned target)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        pairs_coord(PAIR_TARGET_ENDS, coord_of(run, i));
    }
    pairs_server(PAIR_TARGET_ENDS, txn_target_server(run->targets[target]));
    txn_target_crash(run->targets[target]);
    run->restarts++;
}

static void end_client(struct transactions *run, unsigned client)
{
    pairs_coord(PAIR_CLIENT_KILLED, coord_of(run, client));
    for (unsigned i = 0; i < TARGETS; i++) {
        pairs_server(PAIR_CLIENT_KILLED, txn_target_server(run->targets[i]));
    }
    actors_kill_client(run, client);
}

/* Of the two alone. */
static void part_client(struct transactions *run, unsigned client, unsigned target)
{
    pairs_coord(PAIR_CLIENT_CUT_OFF, coord_of(run, client));
    pairs_server(PAIR_CLIENT_CUT_OFF, txn_target_server(run->targets[target]));
    wio_sim_part(run->sim, wio_sim_node(run->sim, actors_client_name(client)),
                 node_of(run, target));
}

/* ---- hasty runs: between two events ---- */

static void look(struct transactions *run)
{
    for (unsigned i = 0; run->fault == NULL && i < TARGETS; i++) {
        const struct wio_server *server = txn_target_server(run->targets[i]);
        run->fault = server != NULL ? invariants_of(server, wio_sim_now_ns(run->sim)) : NULL;
    }
}

/* A target has ended a checkpoint: now and then it loses power soon. */
static void end_at_moment(struct transactions *run, unsigned target)
{
    uint64_t moment = txn_target_moment(run->targets[target]);
    bool is_new = moment != run->moments[target];
    run->moments[target] = moment;
    if (is_new && moment > 0 && below(run, 3) == 0) {
        end_target(run, target);
        run->moments[target] = txn_target_moment(run->targets[target]);
        run->at_moments++;
    }
}

static void look_around(struct transactions *run)
{
    if (run->is_hasty && wio_sim_steps(run->sim) % 8 == 0) {
        look(run);
        for (unsigned i = 0; run->is_stable && i < TARGETS; i++) {
            end_at_moment(run, i);
        }
    }
}

/* One step, in which the world may fail by itself. */
void disturb_step(struct transactions *run)
{
    const struct wio_sim_counts *counts = wio_sim_counts(run->sim);
    uint64_t resets = counts->resets;
    uint64_t failures = counts->flush_failures;
    (void)wio_sim_run(run->sim, 1);
    if (counts->resets > resets) {
        note_everywhere(run, PAIR_RESET);
    }
    if (counts->flush_failures > failures) {
        note_everywhere(run, PAIR_FLUSH_FAILS);
    }
    look_around(run);
}

/* Faults that last longer than leases, and between any two nodes. */
static void disturb_hasty(struct transactions *run)
{
    uint64_t target = below(run, TARGETS);
    switch (below(run, 10)) {
    case 0:
        cut_off(run, (unsigned)below(run, CLIENTS));
        break;
    case 1:
    case 2:
    case 3:
        part_client(run, (unsigned)below(run, CLIENTS), (unsigned)target);
        break;
    case 4:
        note_everywhere(run, PAIR_TARGETS_CUT);
        wio_sim_part(run->sim, node_of(run, target), node_of(run, (target + 1) % TARGETS));
        break;
    case 5:
        if (run->may_kill) {
            end_client(run, (unsigned)below(run, CLIENTS));
        }
        break;
    case 6:
        end_target(run, (unsigned)target);
        break;
    default:
        wio_sim_heal(run->sim);
        break;
    }
    wio_sim_later(run->sim, below(run, below(run, 4) == 0 ? 12 * HASTY_LEASE_NS : SECOND_NS / 100),
                  disturb, run);
}

void disturb(void *context)
{
    struct transactions *run = context;
    struct wio_sim *sim = run->sim;
    if (run->is_ending) {
        return;
    }
    if (run->is_hasty) {
        disturb_hasty(run);
        return;
    }
    switch (below(run, 6)) {
    case 0:
        cut_off(run, (unsigned)below(run, CLIENTS));
        break;
    case 1:
        note_everywhere(run, PAIR_TARGETS_CUT);
        wio_sim_part(sim, wio_sim_node(sim, "target0"), wio_sim_node(sim, "target1"));
        break;
    case 2:
        end_client(run, (unsigned)below(run, CLIENTS));
        break;
    case 3:
        end_target(run, (unsigned)below(run, TARGETS));
        break;
    default:
        wio_sim_heal(sim);
        break;
    }
    /* Mostly some milliseconds, now and then longer than a lease. */
    wio_sim_later(sim, below(run, below(run, 16) == 0 ? 5 * SECOND_NS : SECOND_NS / 50), disturb,
                  run);
}
