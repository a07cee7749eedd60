/* SPDX-License-Identifier: Apache-2.0 */
/* What a simulation of admission has seen. */
#ifndef WIO_BENCH_ADMIT_STATS_H
#define WIO_BENCH_ADMIT_STATS_H

#include <stddef.h>

#include "admit_sim.h"

struct sim_op {
    uint64_t submitted_ns;
    uint64_t service_ns; /* as drawn */
    uint64_t worked_ns;  /* time of the core */
    uint32_t client;
    uint32_t refusals;
    uint32_t next; /* free one */
    bool is_small;
    bool is_over;
};

#define SIM_REFUSALS 256

struct sim_stats {
    const struct sim_config *config;
    struct sim_op *ops;
    size_t op_room;
    size_t op_count;
    float *latencies_ms;
    size_t latency_room;
    size_t latency_count;
    float *small_ms;
    size_t small_room;
    size_t small_count;
    uint64_t *done_ns; /* per client */
    uint64_t refusals[SIM_REFUSALS];
    uint64_t refused;
    uint64_t submitted;
    uint64_t submitted_ns;
    uint64_t small_submitted;
    uint64_t useful_ns;
    uint64_t wasted_ns;
    uint64_t refusing_ns;
    uint64_t pushes;
    uint64_t memory_bytes;
    uint64_t queue_sum;
    uint64_t queue_samples;
    uint32_t queue_max;
    uint32_t queue_slot[SIM_SLOTS];
    double busy_slot[SIM_SLOTS];
};

void sim_stats_init(struct sim_stats *stats, const struct sim_config *config);
void sim_stats_fini(struct sim_stats *stats);
uint32_t sim_stats_begin(struct sim_stats *stats, uint32_t client, uint64_t now_ns,
                         uint64_t service_ns, bool is_small);
void sim_stats_refused(struct sim_stats *stats, uint32_t op);
void sim_stats_work(struct sim_stats *stats, uint32_t op, uint64_t ns);
void sim_stats_queue(struct sim_stats *stats, uint64_t now_ns, uint32_t queued,
                     uint64_t memory_bytes);
void sim_stats_end(struct sim_stats *stats, uint32_t index, uint64_t now_ns, bool is_done);
void sim_stats_result(struct sim_stats *stats, struct sim_result *result);

#endif
