/* SPDX-License-Identifier: Apache-2.0 */
/* What an attempt waits for, what refused it, when its requests were served. */
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "explain/aborts/attempts_internal.h"

void wio_attempt_note_served(struct wio_attempt *attempt, const struct wio_txn_row *row)
{
    uint64_t took = row->storage_ns + row->run_ns;
    attempt->served[attempt->served_count++ % WIO_ATTEMPT_SPANS] =
        (struct wio_attempt_span){row->t_ns - (took < row->t_ns ? took : row->t_ns), row->t_ns};
    attempt->bytes += row->bytes;
    attempt->used_ns += took;
    attempt->wait_ns += row->lock_ns;
}

uint64_t wio_attempt_idle_ns(const struct wio_attempt *attempt, uint64_t from_ns, uint64_t to_ns)
{
    uint64_t idle = to_ns - from_ns;
    uint32_t known = attempt->served_count;
    known = known < WIO_ATTEMPT_SPANS ? known : WIO_ATTEMPT_SPANS;
    for (uint32_t i = 0; i < known; i++) {
        uint64_t from = attempt->served[i].from_ns;
        uint64_t to = attempt->served[i].to_ns;
        from = from < from_ns ? from_ns : from;
        to = to > to_ns ? to_ns : to;
        uint64_t both = to > from ? to - from : 0;
        idle -= both < idle ? both : idle;
    }
    return idle;
}

static enum wio_status waits_of(struct wio_attempt *attempt, struct wio_attempt_waits **waits_out)
{
    if (attempt->waits == NULL) {
        attempt->waits = calloc(1, sizeof(*attempt->waits));
    }
    *waits_out = attempt->waits;
    return attempt->waits == NULL ? WIO_ERR_NOMEM : WIO_OK;
}

static bool is_refusal(const struct wio_txn_row *row)
{
    return row->kind == WIO_TXN_WOUND ||
           (row->kind == WIO_TXN_ANSWER &&
            (row->result == WIO_TXN_REFUSED || row->result == WIO_TXN_VOTED_NO));
}

static void add_refusals(struct wio_attempt_waits *waits, uint32_t server,
                         const struct wio_txn_row *row)
{
    waits->refused = row->range;
    for (uint32_t i = 0; i < row->blocker_listed && waits->refusal_count < WIO_TXN_BLOCKERS; i++) {
        waits->refusal_at[waits->refusal_count] = server;
        waits->refusals[waits->refusal_count++] = row->blockers[i];
    }
}

enum wio_status wio_attempt_note_waits(struct wio_attempt *attempt, uint32_t server,
                                       const struct wio_txn_row *row)
{
    struct wio_attempt_waits *waits = attempt->waits;
    bool is_wait = row->kind == WIO_TXN_ARRIVE && row->blocker_listed > 0;
    if (is_wait || is_refusal(row)) {
        WIO_TRY(waits_of(attempt, &waits));
    }
    if (is_wait) {
        memcpy(waits->now, row->blockers, row->blocker_listed * sizeof(waits->now[0]));
        waits->now_count = row->blocker_listed;
        waits->now_at = server;
    } else if (row->kind == WIO_TXN_ANSWER && waits != NULL && waits->now_at == server) {
        waits->now_count = 0;
    }
    if (is_refusal(row)) {
        add_refusals(waits, server, row);
    }
    return WIO_OK;
}

bool wio_attempt_is_refused_by(const struct wio_attempt *attempt, const struct wio_txn_name *name)
{
    const struct wio_attempt_waits *waits = attempt->waits;
    for (uint32_t i = 0; waits != NULL && i < waits->refusal_count; i++) {
        if (waits->refusals[i].txn.client == name->client &&
            waits->refusals[i].txn.number == name->number) {
            return true;
        }
    }
    return false;
}
