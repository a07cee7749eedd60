/* SPDX-License-Identifier: Apache-2.0 */
/* What a simulated run came to. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "predict/sim/sim.h"
#include "predict/sim/times.h"

#define NS 1e9

static double seconds(uint64_t begin_ns, uint64_t end_ns)
{
    return end_ns > begin_ns ? (double)(end_ns - begin_ns) / NS : 0;
}

static void join_accounts(struct wio_predict_account *to, const struct wio_predict_account *from)
{
    to->ops += from->ops;
    to->bytes_read += from->bytes_read;
    to->bytes_written += from->bytes_written;
    to->io_s += from->io_s;
    to->modelled_s += from->modelled_s;
    to->kept_s += from->kept_s;
    to->wait_s += from->wait_s;
    to->compute_s += from->compute_s;
    to->traced_io_s += from->traced_io_s;
    to->begin_ns = from->begin_ns < to->begin_ns ? from->begin_ns : to->begin_ns;
    to->end_ns = from->end_ns > to->end_ns ? from->end_ns : to->end_ns;
    to->traced_begin_ns =
        from->traced_begin_ns < to->traced_begin_ns ? from->traced_begin_ns : to->traced_begin_ns;
    to->traced_end_ns =
        from->traced_end_ns > to->traced_end_ns ? from->traced_end_ns : to->traced_end_ns;
}

static int by_rank(const void *a, const void *b)
{
    const struct wio_predict_account *x = a;
    const struct wio_predict_account *y = b;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* One account per rank that did I/O, those without a rank together, in rising order. */
static enum wio_status collect_ranks(struct sim *sim)
{
    struct wio_predict_account *ranks = calloc((size_t)sim->thread_count + 1, sizeof(*ranks));
    size_t count = 0;
    if (ranks == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < sim->thread_count; i++) {
        struct wio_predict_account *account = &sim->threads[i].account;
        if (account->end_ns > 0) {
            double life_s = seconds(account->begin_ns, account->end_ns);
            account->compute_s = fmax(life_s - account->io_s - account->wait_s, 0);
            ranks[count++] = *account;
        }
    }
    if (count > 0) {
        qsort(ranks, count, sizeof(*ranks), by_rank);
    }
    size_t last = 0;
    for (size_t i = 1; i < count; i++) {
        if (ranks[i].rank == ranks[last].rank) {
            join_accounts(&ranks[last], &ranks[i]);
        } else {
            ranks[++last] = ranks[i];
        }
    }
    sim->result.ranks = ranks;
    sim->result.rank_count = count > 0 ? last + 1 : 0;
    return WIO_OK;
}

static int by_time(const void *a, const void *b)
{
    const struct wio_predict_op_time *x = a;
    const struct wio_predict_op_time *y = b;
    if (x->time_s != y->time_s) {
        return x->time_s > y->time_s ? -1 : 1;
    }
    return strcmp(x->op, y->op);
}

/* Those operations that there were, the longest first. */
static enum wio_status collect_ops(const struct sim_sum sums[WIO_OP_COUNT],
                                   struct wio_predict_op_time **ops_out, size_t *count_out)
{
    struct wio_predict_op_time *ops = calloc(WIO_OP_COUNT, sizeof(*ops));
    size_t count = 0;
    if (ops == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (unsigned op = 0; op < WIO_OP_COUNT; op++) {
        if (sums[op].count > 0) {
            ops[count++] =
                (struct wio_predict_op_time){wio_op_name(op), sums[op].count, sums[op].time_s};
        }
    }
    if (count > 0) {
        qsort(ops, count, sizeof(*ops), by_time);
    }
    *ops_out = ops;
    *count_out = count;
    return WIO_OK;
}

enum wio_status sim_sum_up(struct sim *sim)
{
    struct wio_predict_account all = {
        .rank = -1, .begin_ns = UINT64_MAX, .traced_begin_ns = UINT64_MAX};
    WIO_TRY(collect_ranks(sim));
    for (size_t i = 0; i < sim->result.rank_count; i++) {
        struct wio_predict_account *rank = &sim->result.ranks[i];
        rank->total_s = seconds(rank->begin_ns, rank->end_ns);
        rank->traced_s = seconds(rank->traced_begin_ns, rank->traced_end_ns);
        join_accounts(&all, rank);
    }
    all.total_s = seconds(all.begin_ns, all.end_ns);
    all.traced_s = seconds(all.traced_begin_ns, all.traced_end_ns);
    struct wio_predict_result *result = &sim->result;
    WIO_TRY(collect_ops(sim->metadata, &result->metadata, &result->metadata_count));
    WIO_TRY(collect_ops(sim->kept, &result->kept, &result->kept_count));
    sim->result.all = all;
    sim->result.model = sim->params->model;
    return WIO_OK;
}

void wio_predict_result_fini(struct wio_predict_result *result)
{
    free(result->ranks);
    free(result->metadata);
    free(result->kept);
    wio_predict_times_free(result->times);
    *result = (struct wio_predict_result){0};
}
