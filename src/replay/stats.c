/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/stats.h"

#include <string.h>

#include "ops/calls.h"

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
    wio_histogram_merge(&tally->late, &other->late);
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
