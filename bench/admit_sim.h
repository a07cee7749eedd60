/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server under load, simulated: one core that reads messages before it works, clients that send
 * through struct wio_sender, and src/admit between them, the same objects that a server links.
 * Reading a message is free where the request is accepted; a refusal, an expired request and a
 * pushed window take time of the core. The same configuration gives the same result.
 */
#ifndef WIO_BENCH_ADMIT_SIM_H
#define WIO_BENCH_ADMIT_SIM_H

#include <stdbool.h>
#include <stdint.h>

#include "admit/admit.h"
#include "admit/client.h"

enum sim_service { SIM_CONSTANT, SIM_EXPONENTIAL, SIM_BIMODAL, SIM_JUMP, SIM_SERVICE_COUNT };

/* As shipped: hint with a constant for the speed, and clients that ignore the hint. */
enum sim_scheme {
    SIM_FIFO,
    SIM_SHIPPED,
    SIM_HINT,
    SIM_HINT_HEAP,
    SIM_DRR,
    SIM_TBF,
    SIM_MCLOCK,
    SIM_CREDIT,
    SIM_SCHEME_COUNT
};

struct sim_config {
    enum sim_scheme scheme;
    enum sim_service service;
    uint64_t service_ns; /* mean */
    uint64_t duration_ns;
    uint64_t warm_ns; /* what is submitted, or ends, before is not counted */
    uint64_t timeout_ns;
    uint64_t refuse_ns;
    uint64_t push_ns;
    uint64_t network_ns; /* one way */
    uint32_t clients;
    uint32_t tenants;     /* job of a client: its number modulo this */
    double load;          /* open loop: offered, x what the core can do; 0: closed loop */
    double load_before;   /* until spike_ns */
    uint64_t spike_ns;    /* 0: none */
    uint32_t outstanding; /* closed loop: requests of each client */
    uint64_t think_ns;    /* closed loop: mean time before the next */
    uint32_t small;       /* the last clients: tenants of their own, each with small_load */
    double small_load;
    uint32_t old;        /* the first clients know no features */
    uint32_t liars;      /* the next ones tell the highest demand */
    uint32_t ignorant;   /* the next ones ignore windows: 64 in flight whatever they are told */
    uint64_t restart_ns; /* the server forgets everything; 0: never */
    bool is_old_server;  /* agrees on no features */
    uint64_t seed;
};

#define SIM_SLOTS 4096 /* of a millisecond, after the spike or the start */

struct sim_result {
    double goodput;  /* time of the core for what was done in time, of all its time */
    double offered;  /* the same of what was submitted */
    double fairness; /* Jain, over the clients that are not small */
    double p50_ms;   /* from submitting to the result, of what was done in time */
    double p99_ms;
    double p999_ms;
    double refusals; /* per request that was submitted */
    uint32_t refusals_p99;
    double pushes; /* per request that was done */
    uint32_t queue_max;
    double queue_mean;
    double memory_mib;    /* highest, of requests */
    double small_goodput; /* share of small tenants' requests that were done in time */
    double small_p99_ms;
    double wasted;   /* time of the core for requests that were too late */
    double refusing; /* time of the core for refusals and pushes */
    uint64_t submitted;
    uint64_t done;
    uint64_t sent;
    double old_share; /* of their fair share, what these clients got */
    double liar_share;
    double ignorant_share;
    uint32_t queue_slot[SIM_SLOTS]; /* longest queue in that ms */
    double busy_slot[SIM_SLOTS];    /* useful part of that ms */
    struct wio_admit_counts counts; /* of the server (after the last start) */
};

struct sim_config sim_default(enum sim_scheme scheme);
const char *sim_scheme_name(enum sim_scheme scheme);
const char *sim_service_name(enum sim_service service);
void sim_run(const struct sim_config *config, struct sim_result *result_out);

/* Milliseconds after the spike from which on the queue is no longer than `queue`. */
double sim_settled_ms(const struct sim_result *result, uint32_t queue);

#endif
