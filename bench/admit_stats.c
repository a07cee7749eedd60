/* SPDX-License-Identifier: Apache-2.0 */
#include "admit_stats.h"

#include <stdlib.h>
#include <string.h>

#include "admit_events.h"

#define MS 1000000.0

void sim_stats_init(struct sim_stats *stats, const struct sim_config *config)
{
    *stats = (struct sim_stats){.config = config};
    stats->done_ns = calloc(config->clients, sizeof(*stats->done_ns));
}

void sim_stats_fini(struct sim_stats *stats)
{
    free(stats->ops);
    free(stats->latencies_ms);
    free(stats->small_ms);
    free(stats->done_ns);
}

static bool is_counted(const struct sim_stats *stats, const struct sim_op *op)
{
    return op->submitted_ns >= stats->config->warm_ns;
}

uint32_t sim_stats_begin(struct sim_stats *stats, uint32_t client, uint64_t now_ns,
                         uint64_t service_ns, bool is_small)
{
    void *ops = stats->ops;
    sim_room(&ops, &stats->op_room, stats->op_count + 1, sizeof(*stats->ops));
    stats->ops = ops;
    struct sim_op *op = &stats->ops[stats->op_count];
    *op = (struct sim_op){
        .submitted_ns = now_ns, .service_ns = service_ns, .client = client, .is_small = is_small};
    if (is_counted(stats, op)) {
        stats->submitted++;
        stats->submitted_ns += service_ns;
        stats->small_submitted += is_small;
    }
    return (uint32_t)stats->op_count++;
}

void sim_stats_refused(struct sim_stats *stats, uint32_t op)
{
    stats->ops[op].refusals++;
}

void sim_stats_work(struct sim_stats *stats, uint32_t op, uint64_t ns)
{
    if (stats->ops[op].is_over) {
        stats->wasted_ns += ns;
    }
    stats->ops[op].worked_ns = ns;
}

static size_t slot_of(const struct sim_stats *stats, uint64_t now_ns)
{
    if (now_ns < stats->config->spike_ns) {
        return SIM_SLOTS;
    }
    return (size_t)((double)(now_ns - stats->config->spike_ns) / MS);
}

void sim_stats_queue(struct sim_stats *stats, uint64_t now_ns, uint32_t queued,
                     uint64_t memory_bytes)
{
    size_t slot = slot_of(stats, now_ns);
    if (slot < SIM_SLOTS && queued > stats->queue_slot[slot]) {
        stats->queue_slot[slot] = queued;
    }
    stats->queue_max = queued > stats->queue_max ? queued : stats->queue_max;
    stats->memory_bytes = memory_bytes > stats->memory_bytes ? memory_bytes : stats->memory_bytes;
    stats->queue_sum += queued;
    stats->queue_samples++;
}

static void add_latency(float **array, size_t *room, size_t *count, float ms)
{
    void *grown = *array;
    sim_room(&grown, room, *count + 1, sizeof(**array));
    *array = grown;
    (*array)[(*count)++] = ms;
}

void sim_stats_end(struct sim_stats *stats, uint32_t index, uint64_t now_ns, bool is_done)
{
    struct sim_op *op = &stats->ops[index];
    op->is_over = true;
    if (now_ns < stats->config->warm_ns) {
        return;
    }
    uint32_t most = op->refusals < SIM_REFUSALS ? op->refusals : SIM_REFUSALS - 1;
    stats->refusals[most]++;
    stats->refused += op->refusals;
    if (!is_done) {
        stats->wasted_ns += op->worked_ns;
        return;
    }
    stats->useful_ns += op->worked_ns;
    size_t slot = slot_of(stats, now_ns);
    if (slot < SIM_SLOTS) {
        stats->busy_slot[slot] += (double)op->worked_ns / MS;
    }
    float ms = (float)((double)(now_ns - op->submitted_ns) / MS);
    if (op->is_small) {
        add_latency(&stats->small_ms, &stats->small_room, &stats->small_count, ms);
    } else {
        stats->done_ns[op->client] += op->worked_ns;
        add_latency(&stats->latencies_ms, &stats->latency_room, &stats->latency_count, ms);
    }
}

static int compare(const void *a, const void *b)
{
    float left = *(const float *)a;
    float right = *(const float *)b;
    return (left > right) - (left < right);
}

static void sort(float *values, size_t count)
{
    if (count > 0) {
        qsort(values, count, sizeof(*values), compare);
    }
}

static double part(const float *sorted, size_t count, double share)
{
    return count > 0 ? sorted[(size_t)(share * (double)(count - 1))] : 0;
}

/* Jain, Chiu, Hawe 1984: 1 where all have the same. */
static double jain(const uint64_t *values, size_t count)
{
    double sum = 0;
    double squares = 0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)values[i];
        squares += (double)values[i] * (double)values[i];
    }
    return squares > 0 ? sum * sum / (squares * (double)count) : 0;
}

/* What the clients from `first` on got, of what they would have with equal shares. */
static double share_of(const struct sim_stats *stats, uint32_t first, uint32_t count)
{
    double own = 0;
    double all = 0;
    uint32_t large = stats->config->clients - stats->config->small;
    for (uint32_t i = 0; i < large; i++) {
        all += (double)stats->done_ns[i];
        own += i >= first && i < first + count ? (double)stats->done_ns[i] : 0;
    }
    return all > 0 && count > 0 ? own / all * large / count : 0;
}

/* Fairness is between tenants, or between clients where each is its own. */
static double fairness(const struct sim_stats *stats)
{
    const struct sim_config *config = stats->config;
    uint64_t *tenants = calloc(config->tenants, sizeof(*tenants));
    for (uint32_t i = 0; i < config->clients - config->small; i++) {
        tenants[i % config->tenants] += stats->done_ns[i];
    }
    double result = jain(tenants, config->tenants);
    free(tenants);
    return result;
}

static void fill_times(struct sim_stats *stats, struct sim_result *result)
{
    sort(stats->latencies_ms, stats->latency_count);
    sort(stats->small_ms, stats->small_count);
    result->p50_ms = part(stats->latencies_ms, stats->latency_count, 0.5);
    result->p99_ms = part(stats->latencies_ms, stats->latency_count, 0.99);
    result->p999_ms = part(stats->latencies_ms, stats->latency_count, 0.999);
    result->small_p99_ms = part(stats->small_ms, stats->small_count, 0.99);
    if (stats->small_submitted > 0) {
        result->small_goodput = (double)stats->small_count / (double)stats->small_submitted;
    }
}

static uint32_t refusals_part(const struct sim_stats *stats, double share)
{
    uint64_t all = 0;
    for (uint32_t i = 0; i < SIM_REFUSALS; i++) {
        all += stats->refusals[i];
    }
    uint64_t seen = 0;
    for (uint32_t i = 0; i < SIM_REFUSALS; i++) {
        seen += stats->refusals[i];
        if ((double)seen >= share * (double)all) {
            return i;
        }
    }
    return SIM_REFUSALS;
}

void sim_stats_result(struct sim_stats *stats, struct sim_result *result)
{
    const struct sim_config *config = stats->config;
    double counted_ns = (double)(config->duration_ns - config->warm_ns);
    fill_times(stats, result);
    result->goodput = (double)stats->useful_ns / counted_ns;
    result->offered = (double)stats->submitted_ns / counted_ns;
    result->fairness = fairness(stats);
    result->submitted = stats->submitted;
    result->done = stats->latency_count + stats->small_count;
    result->refusals = stats->submitted > 0 ? (double)stats->refused / (double)stats->submitted : 0;
    result->refusals_p99 = refusals_part(stats, 0.99);
    result->pushes = result->done > 0 ? (double)stats->pushes / (double)result->done : 0;
    result->queue_max = stats->queue_max;
    result->queue_mean =
        stats->queue_samples > 0 ? (double)stats->queue_sum / (double)stats->queue_samples : 0;
    result->memory_mib = (double)stats->memory_bytes / (1 << 20);
    result->wasted = (double)stats->wasted_ns / (double)config->duration_ns;
    result->refusing = (double)stats->refusing_ns / (double)config->duration_ns;
    result->old_share = share_of(stats, 0, config->old);
    result->liar_share = share_of(stats, config->old, config->liars);
    result->ignorant_share = share_of(stats, config->old + config->liars, config->ignorant);
    memcpy(result->queue_slot, stats->queue_slot, sizeof(result->queue_slot));
    memcpy(result->busy_slot, stats->busy_slot, sizeof(result->busy_slot));
}

double sim_settled_ms(const struct sim_result *result, uint32_t queue)
{
    size_t last = 0;
    for (size_t i = 0; i < SIM_SLOTS; i++) {
        last = result->queue_slot[i] > queue ? i + 1 : last;
    }
    return (double)last;
}
