/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store's servers, coordinator and protocol in the simulated world: clients run transactions
 * that read and write cells on three targets, volatile and stable by turns of the seed. Connections
 * break and nodes are cut off; with stable transactions targets lose power and come back from
 * their log, and clients are killed.
 *
 * What must hold (history.h): what was committed is there, all of a transaction or nothing, and one
 * order explains all that was read; at the end nothing hangs.
 *
 * Every third seed is hasty: leases and votes are short beside the steps, any client may be cut off
 * from any one target, later attempts may do something else, targets lose power at the end of
 * checkpoints, and some transactions write blindly at targets that they have not touched (marks.h).
 * Then invariants.h is looked at, too.
 *
 * Targets are on memory (store_transactions_sim) or on the store's own log and segment files over
 * simulated disks that fail (store_transactions_disk_sim).
 *
 *     store_transactions_sim [--seed=N | --seeds=N | --seconds=N] [--steps=N] [--log]
 *         [--table]     how often transactions were in which state when a fault happened
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "sim/pairs.h"
#include "sim/transactions.h"
#include "store/session/intake.h"

enum { HASTY_CHECKPOINT = 32 << 10 };

uint64_t below(struct transactions *run, uint64_t limit)
{
    return wio_sim_random(run->sim) % limit;
}

/* ---- targets ------------------------------------------------------------------------------- */

static void make_target(struct transactions *run, uint16_t i)
{
    const struct txn_target_config config = {
        .sim = run->sim,
        .link = &run->link,
        .addresses = transactions_addresses,
        .self = i,
        .targets = TARGETS,
        .admission = run->admission,
        .checkpoint_bytes = run->is_hasty ? HASTY_CHECKPOINT : 0,
    };
    run->targets[i] = txn_target_create(&config);
}

/* ---- the run ------------------------------------------------------------------------------- */

static void read_cells(const struct transactions *run, uint64_t last[HISTORY_CELLS])
{
    memset(last, 0, HISTORY_CELLS * sizeof(last[0]));
    for (uint32_t cell = 0; cell < CELLS; cell++) {
        txn_target_read(run->targets[cell % TARGETS], cell % TARGETS,
                        (uint64_t)cell / TARGETS * CELL_BYTES, &last[cell], sizeof(last[cell]));
    }
}

static bool is_quiet(struct transactions *run)
{
    bool is_busy = false;
    for (unsigned i = 0; i < CLIENTS * ACTORS; i++) {
        is_busy |= run->clients[i / ACTORS].actors[i % ACTORS].txn != NULL;
    }
    for (unsigned i = 0; i < TARGETS; i++) {
        struct wio_server_stat stat = txn_target_stat(run->targets[i]);
        is_busy |= stat.txns != 0 || stat.calls != 0;
    }
    return !is_busy;
}

/* Without faults: all that is under way ends, also what a killed client has left. */
static void settle(struct transactions *run)
{
    run->is_ending = true;
    wio_sim_options(run->sim)->reset = 0;
    wio_sim_options(run->sim)->flush_fails = 0;
    wio_sim_heal(run->sim);
    uint64_t until_ns = wio_sim_now_ns(run->sim) + 60 * SECOND_NS;
    while (wio_sim_now_ns(run->sim) < until_ns && !is_quiet(run)) {
        (void)wio_sim_run(run->sim, 100);
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        for (unsigned a = 0; a < ACTORS; a++) {
            if (run->clients[i].actors[a].txn != NULL) {
                sim_fail("a transaction of client %u has not ended in 60 s", i);
            }
        }
        actors_count_client(run, &run->clients[i]);
    }
    for (unsigned i = 0; i < TARGETS; i++) {
        struct wio_server_stat stat = txn_target_stat(run->targets[i]);
        if (stat.txns != 0 || stat.calls != 0) {
            sim_fail("target %u keeps %u transactions and %u calls", i, stat.txns, stat.calls);
        }
    }
}

static void add_totals(const struct transactions *run, struct sim_totals *totals)
{
    sim_total(totals, "steps", wio_sim_steps(run->sim));
    sim_total(totals, run->is_stable ? "transactions, stable" : "transactions, volatile",
              run->history.count);
    sim_total(totals, "of these uncertain", run->uncertain);
    sim_total(totals, "attempts beyond the first", run->retries);
    sim_total(totals, "ended by a wound", run->wounds);
    sim_total(totals, "targets restarted", run->restarts);
    sim_total(totals, "clients killed", run->kills);
    sim_total(totals, "blind writes", run->marks.made);
    sim_total(totals, "targets ended at a checkpoint", run->at_moments);
    sim_total(totals, run->is_hasty ? "virtual ms, hasty" : "virtual ms",
              wio_sim_now_ns(run->sim) / 1000000);
    for (unsigned i = 0; i < TARGETS; i++) {
        txn_target_totals(run->targets[i], totals);
    }
    sim_total(totals, "waited for admission", run->paced);
    sim_total(totals, "refused for load", run->overloads);
    sim_total(totals, "given up under load", run->given_up);
    sim_total(totals, "resets", wio_sim_counts(run->sim)->resets);
    sim_total(totals, "pieces held back", wio_sim_counts(run->sim)->parted);
}

static void end(struct transactions *run)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        wio_session_destroy(run->clients[i].session);
    }
    for (unsigned i = 0; i < TARGETS; i++) {
        txn_target_destroy(run->targets[i]);
    }
    wio_admit_total_destroy(run->admission);
    wio_sim_destroy(run->sim);
}

/* Of each 32 seeds the second 16 have it, with a policy after the other. */
static void make_admission(struct transactions *run, uint64_t seed)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_admit_settings settings = wio_admit_settings_default();
    settings.shards = TARGETS;
    settings.kind = (enum wio_admit_kind)(seed % WIO_ADMIT_KIND_COUNT);
    settings.queue_total = 16; /* and so full soon */
    settings.memory_bytes = 8u << 20;
    settings.clients_max = 64;
    settings.tenants_max = 8;
    settings.incarnation = 1;
    if ((seed & 16) == 0) {
        return;
    }
    if (wio_admit_total_create(&settings, &heap, &run->admission, &err) != WIO_OK) {
        sim_fail("%s", err.message);
    }
    wio_intake_offer(&run->new_link.features);
}

static void start(struct transactions *run, const struct sim_arguments *arguments, uint64_t seed)
{
    struct wio_sim_options options = {
        .seed = seed, .late = 2000, .reset = 500, .log = arguments->log};
    memset(run, 0, sizeof(*run));
    run->is_stable = seed % 2 == 1;
    run->may_finish = seed % 5 == 0 || seed % 5 == 2; /* others are as they were */
    txn_target_faults(&options, run->is_stable);
    run->sim = wio_sim_create(&options);
    run->link.limits = wio_link_limits_default;
    run->is_hasty = seed % 3 == 2;
    run->may_kill = seed / 6 % 2 == 0;
    if (run->is_hasty &&
        run->is_stable) { /* without its lease a volatile transaction may be torn */
        run->link.limits.silence_ns = HASTY_LEASE_NS;
    }
    run->link.auth = seed % 4 < 2 ? WIO_WIRE_AUTH_OPEN : sim_auth_with_key();
    run->new_link = run->link;
    make_admission(run, seed);
    for (uint16_t i = 0; i < TARGETS; i++) {
        make_target(run, i);
    }
    for (unsigned i = 0; i < CLIENTS; i++) {
        actors_start_client(run, i);
    }
    actors_begin(run);
    if (run->is_stable) {
        wio_sim_later(run->sim, SECOND_NS / 100, disturb, run);
    }
}

static void run_seed(const struct sim_arguments *arguments, uint64_t seed,
                     struct sim_totals *totals)
{
    static struct transactions run;
    uint64_t last[HISTORY_CELLS];
    start(&run, arguments, seed);
    for (uint64_t i = 0; i < arguments->steps && run.fault == NULL; i++) {
        disturb_step(&run);
    }
    if (run.fault == NULL) {
        settle(&run);
        read_cells(&run, last);
        run.fault = run.fault != NULL ? run.fault : history_check(&run.history, last);
        run.fault =
            run.fault != NULL ? run.fault : marks_check(&run.marks, &run.history, run.targets);
    }
    if (run.fault != NULL) {
        sim_fail("%s", run.fault);
    }
    add_totals(&run, totals);
    end(&run);
}

int main(int argc, char **argv)
{
    return sim_main(argc, argv, run_seed, pairs_print);
}
