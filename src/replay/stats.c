/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/stats.h"

#include <string.h>

#include "ops/calls.h"

static unsigned bucket_of(uint64_t ns)
{
    if (ns < RP_LATE_STEPS) {
        return (unsigned)ns;
    }
    unsigned power = 63u - (unsigned)__builtin_clzll(ns);
    unsigned step = (unsigned)(ns >> (power - 3)) & (RP_LATE_STEPS - 1);
    return (power - 2) * RP_LATE_STEPS + step;
}

/* The middle of a bucket. */
static double value_of(unsigned bucket)
{
    if (bucket < RP_LATE_STEPS) {
        return bucket;
    }
    unsigned power = bucket / RP_LATE_STEPS + 2;
    double low = (double)(UINT64_C(1) << power);
    return low * (1.0 + ((double)(bucket % RP_LATE_STEPS) + 0.5) / RP_LATE_STEPS);
}

void rp_late_add(struct rp_late *late, uint64_t ns)
{
    late->buckets[bucket_of(ns)]++;
    late->count++;
    if (ns > late->max_ns) {
        late->max_ns = ns;
    }
}

void rp_late_merge(struct rp_late *late, const struct rp_late *other)
{
    for (unsigned i = 0; i < RP_LATE_BUCKETS; i++) {
        late->buckets[i] += other->buckets[i];
    }
    late->count += other->count;
    late->max_ns = other->max_ns > late->max_ns ? other->max_ns : late->max_ns;
}

double rp_late_quantile(const struct rp_late *late, double share)
{
    double wanted = share * (double)late->count;
    double seen = 0;
    for (unsigned i = 0; i < RP_LATE_BUCKETS; i++) {
        seen += (double)late->buckets[i];
        if (seen >= wanted && late->buckets[i] > 0) {
            double value = value_of(i);
            return value < (double)late->max_ns ? value : (double)late->max_ns;
        }
    }
    return 0;
}

void rp_account_init(struct wio_replay_account *account)
{
    *account = (struct wio_replay_account){.begin_ns = UINT64_MAX, .traced_begin_ns = UINT64_MAX};
}

void rp_account_merge(struct wio_replay_account *account, const struct wio_replay_account *other)
{
    account->ops += other->ops;
    account->bytes_read += other->bytes_read;
    account->bytes_written += other->bytes_written;
    account->io_ns += other->io_ns;
    account->traced_io_ns += other->traced_io_ns;
    account->mismatches += other->mismatches;
    if (other->begin_ns < account->begin_ns) {
        account->begin_ns = other->begin_ns;
    }
    if (other->end_ns > account->end_ns) {
        account->end_ns = other->end_ns;
    }
    if (other->traced_begin_ns < account->traced_begin_ns) {
        account->traced_begin_ns = other->traced_begin_ns;
    }
    if (other->traced_end_ns > account->traced_end_ns) {
        account->traced_end_ns = other->traced_end_ns;
    }
}

void rp_tally_init(struct rp_tally *tally)
{
    memset(tally, 0, sizeof(*tally));
    rp_account_init(&tally->total);
    for (unsigned i = 0; i < WIO_REPLAY_PHASES; i++) {
        rp_account_init(&tally->phases[i]);
    }
}

void rp_tally_merge(struct rp_tally *tally, const struct rp_tally *other)
{
    rp_account_merge(&tally->total, &other->total);
    for (unsigned i = 0; i < WIO_REPLAY_PHASES; i++) {
        rp_account_merge(&tally->phases[i], &other->phases[i]);
    }
    for (unsigned i = 0; i < WIO_REPLAY_SKIP_COUNT; i++) {
        tally->skipped[i] += other->skipped[i];
    }
    tally->covered += other->covered;
    tally->control += other->control;
    for (unsigned i = 0; i < WIO_EDGE_CLASS_COUNT; i++) {
        tally->waits[i] += other->waits[i];
    }
    rp_late_merge(&tally->late, &other->late);
}

static void add_bytes(struct wio_replay_account *account, const struct rp_performed *performed)
{
    if (performed->result <= 0) {
        return;
    }
    switch ((int)wio_op_class(performed->event->op)) {
    case WIO_CLASS_READ:
    case WIO_CLASS_ASYNC_READ:
        account->bytes_read += (uint64_t)performed->result;
        break;
    case WIO_CLASS_WRITE:
    case WIO_CLASS_ASYNC_WRITE:
        account->bytes_written += (uint64_t)performed->result;
        break;
    case WIO_CLASS_COPY:
        account->bytes_read += performed->half == RP_HALF_WRITTEN ? 0 : (uint64_t)performed->result;
        account->bytes_written += performed->half == RP_HALF_READ ? 0 : (uint64_t)performed->result;
        break;
    default:
        break;
    }
}

static void add(struct wio_replay_account *account, const struct rp_performed *performed)
{
    const struct wio_event *event = performed->event;
    bool is_pending = event->result == WIO_RESULT_PENDING;
    uint64_t traced_ns = is_pending ? 0 : event->dur_ns;
    uint64_t traced_end = event->t_ns + traced_ns;
    account->ops++;
    account->io_ns += performed->end_ns - performed->begin_ns;
    account->traced_io_ns += traced_ns;
    account->mismatches += performed->is_mismatch;
    if (performed->begin_ns < account->begin_ns) {
        account->begin_ns = performed->begin_ns;
    }
    if (performed->end_ns > account->end_ns) {
        account->end_ns = performed->end_ns;
    }
    if (event->t_ns < account->traced_begin_ns) {
        account->traced_begin_ns = event->t_ns;
    }
    if (traced_end > account->traced_end_ns) {
        account->traced_end_ns = traced_end;
    }
    add_bytes(account, performed);
}

void rp_tally_add(struct rp_tally *tally, uint32_t phase, const struct rp_performed *performed)
{
    add(&tally->total, performed);
    add(&tally->phases[phase], performed);
}
