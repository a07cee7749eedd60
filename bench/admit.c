/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of all policies side by side, in virtual time.
 *
 * usage: admit_bench [--quick] [--data=FILE]
 *
 * The second half of each run counts. --quick: three seconds instead of ten, up to 10,000 clients.
 * --data: lines "table scheme x goodput p99_ms queue" for pictures.
 */
#include <stdio.h>
#include <string.h>

#include "admit_sim.h"

#define MS ((uint64_t)1000000)

struct bench {
    FILE *data;
    bool is_quick;
    struct sim_result result;
};

static void head(const char *title)
{
    printf("\n### %s\n\n"
           "| policy | load | goodput | p50 ms | p99 ms | p99.9 ms | refusals per request "
           "(p99) | pushes per request | Jain | queue mean (max) | memory MiB |\n"
           "|---|---|---|---|---|---|---|---|---|---|---|\n",
           title);
}

static void row(struct bench *bench, const char *table, const char *load, double x,
                const struct sim_config *config)
{
    sim_run(config, &bench->result);
    const struct sim_result *r = &bench->result;
    printf(
        "| %s | %s | %.1f %% | %.2f | %.1f | %.1f | %.3f (%u) | %.3f | %.4f | %.0f (%u) | %.1f |\n",
        sim_scheme_name(config->scheme), load, 100 * r->goodput, r->p50_ms, r->p99_ms, r->p999_ms,
        r->refusals, r->refusals_p99, r->pushes, r->fairness, r->queue_mean, r->queue_max,
        r->memory_mib);
    (void)fflush(stdout);
    if (bench->data != NULL) {
        fprintf(bench->data, "%s %u %g %g %g %g\n", table, (unsigned)config->scheme, x, r->goodput,
                r->p99_ms, r->queue_mean);
    }
}

static struct sim_config standard(const struct bench *bench, enum sim_scheme scheme, double load)
{
    struct sim_config config = sim_default(scheme);
    config.load = load;
    config.duration_ns = (bench->is_quick ? 3000 : 10000) * MS;
    config.warm_ns = config.duration_ns / 2;
    return config;
}

static void by_load(struct bench *bench)
{
    static const double loads[] = {0.5, 1.2, 2, 5, 10};
    head("Open loop: 1,000 clients of 10 tenants, 100 us exponential");
    for (size_t i = 0; i < sizeof(loads) / sizeof(loads[0]); i++) {
        for (unsigned scheme = 0; scheme < SIM_SCHEME_COUNT; scheme++) {
            struct sim_config config = standard(bench, (enum sim_scheme)scheme, loads[i]);
            char text[16];
            snprintf(text, sizeof(text), "%gx", loads[i]);
            row(bench, "load", text, loads[i], &config);
        }
    }
}

static void by_service(struct bench *bench)
{
    head("Service times at 2x: mean 100 us; jump: tenfold in the middle of the run");
    for (unsigned service = 0; service < SIM_SERVICE_COUNT; service++) {
        for (unsigned scheme = 0; scheme < SIM_SCHEME_COUNT; scheme++) {
            struct sim_config config = standard(bench, (enum sim_scheme)scheme, 2);
            config.service = (enum sim_service)service;
            row(bench, "service", sim_service_name(config.service), service, &config);
        }
    }
    head("Short requests: 10 us at 2x");
    for (unsigned scheme = 0; scheme < SIM_SCHEME_COUNT; scheme++) {
        struct sim_config config = standard(bench, (enum sim_scheme)scheme, 2);
        config.service_ns = 10000;
        config.duration_ns /= 2;
        config.warm_ns /= 2;
        config.timeout_ns /= 2;
        row(bench, "short", "2x", 2, &config);
    }
}

static void closed(struct bench *bench)
{
    head("Closed loop: 2,000 clients with 64 requests each; after EBUSY or a time-out 50 ms");
    for (unsigned scheme = 0; scheme < SIM_SCHEME_COUNT; scheme++) {
        struct sim_config config = standard(bench, (enum sim_scheme)scheme, 0);
        config.clients = 2000;
        config.outstanding = 64;
        row(bench, "closed", "2000 x 64", 0, &config);
    }
}

static void by_clients(struct bench *bench)
{
    static const uint32_t counts[] = {10, 100, 1000, 10000, 100000};
    size_t most = sizeof(counts) / sizeof(counts[0]) - bench->is_quick;
    head("Numbers of clients at 2x, open loop");
    for (size_t i = 0; i < most; i++) {
        static const enum sim_scheme schemes[] = {SIM_HINT, SIM_DRR, SIM_CREDIT};
        for (size_t s = 0; s < 3; s++) {
            struct sim_config config = standard(bench, schemes[s], 2);
            config.clients = counts[i];
            char text[16];
            snprintf(text, sizeof(text), "%u", counts[i]);
            row(bench, "clients", text, counts[i], &config);
        }
    }
}

static void peers(struct bench *bench)
{
    printf("\n### Peers, policy credit\n\n| case | goodput | what |\n|---|---|---|\n");
    struct sim_config config = standard(bench, SIM_CREDIT, 1.4);
    struct sim_result *r = &bench->result;
    config.warm_ns = 600 * MS;
    config.load_before = 0.5;
    config.spike_ns = 500 * MS;
    sim_run(&config, r);
    printf("| 0.5x, then 1.4x | %.1f %% | queue above 40 for the last time %g ms after |\n",
           100 * r->goodput, sim_settled_ms(r, 40));
    config = standard(bench, SIM_CREDIT, 10);
    config.small = 10;
    config.small_load = 0.002;
    sim_run(&config, r);
    printf("| 10x, 10 small tenants | %.1f %% | small: p99 %.2f ms, %.2f %% in time |\n",
           100 * r->goodput, r->small_p99_ms, 100 * r->small_goodput);
    config = standard(bench, SIM_CREDIT, 2);
    config.clients = config.tenants = 100;
    config.liars = config.ignorant = 5;
    sim_run(&config, r);
    printf("| 5 of 100 tell the highest demand, 5 ignore windows | %.1f %% | they get %.2f and "
           "%.2f of a fair share |\n",
           100 * r->goodput, r->liar_share, r->ignorant_share);
    config = standard(bench, SIM_CREDIT, 2);
    config.old = 500;
    sim_run(&config, r);
    printf("| half of the clients are old | %.1f %% | they get %.2f of a fair share |\n",
           100 * r->goodput, r->old_share);
    config = standard(bench, SIM_CREDIT, 2);
    config.restart_ns = config.duration_ns * 2 / 3;
    sim_run(&config, r);
    printf("| the server starts again at 2x | %.1f %% | refusals per request %.3f (p99 %u) |\n",
           100 * r->goodput, r->refusals, r->refusals_p99);
}

int main(int argc, char **argv)
{
    static struct bench bench;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            bench.is_quick = true;
        } else if (strncmp(argv[i], "--data=", 7) == 0) {
            bench.data = fopen(argv[i] + 7, "we");
            if (bench.data == NULL) {
                perror(argv[i] + 7);
                return 3;
            }
        } else {
            fprintf(stderr, "usage: admit_bench [--quick] [--data=FILE]\n");
            return 2;
        }
    }
    by_load(&bench);
    by_service(&bench);
    closed(&bench);
    by_clients(&bench);
    peers(&bench);
    return bench.data != NULL && fclose(bench.data) != 0 ? 3 : 0;
}
