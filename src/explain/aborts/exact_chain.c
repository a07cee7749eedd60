/* SPDX-License-Identifier: Apache-2.0 */
/* Waits for waits: chains and cycles. */
#include "base/cleanup.h"
#include "explain/aborts/exact_internal.h"

/* Waits are followed over so many others. */
#define LOOKS_MAX 64

enum wio_status wio_exact_source(const struct wio_attempts *attempts,
                                 const struct wio_txn_name *txn, uint32_t origin,
                                 uint32_t *source_out)
{
    struct wio_attempt *attempt = wio_attempts_find(attempts, txn);
    struct wio_abort_place place = wio_abort_sources_place(attempts->sources, origin);
    struct wio_abort_source source = {
        .application = place.application, .place = place.place, .is_line = true};
    if (attempt != NULL) {
        return wio_attempts_line(attempts, attempt, source_out);
    }
    if (origin == 0) {
        *source_out = WIO_NO_SOURCE;
        return WIO_OK;
    }
    return wio_abort_sources_find(attempts->sources, &source, source_out);
}

static bool is_among(const struct wio_attempt *const *attempts, uint32_t count,
                     const struct wio_attempt *attempt)
{
    for (uint32_t i = 0; i < count; i++) {
        if (attempts[i] == attempt) {
            return true;
        }
    }
    return false;
}

/* The first wait of an attempt that still stands; NULL: none. */
static const struct wio_attempt_wait *wait_of(const struct wio_attempt *attempt)
{
    const struct wio_attempt_waits *waits = attempt == NULL ? NULL : attempt->waits;
    for (uint32_t i = 0; waits != NULL && i < waits->now_count; i++) {
        if (!waits->now[i].is_over) {
            return &waits->now[i];
        }
    }
    return NULL;
}

enum wio_status wio_exact_chain(const struct wio_attempts *attempts, const struct wio_txn_name *txn,
                                uint32_t origin, uint32_t *length_out, uint32_t *root_out)
{
    const struct wio_attempt *seen[WIO_CHAIN_MAX];
    uint32_t length = 1;
    for (;;) {
        const struct wio_attempt *attempt = wio_attempts_find(attempts, txn);
        const struct wio_attempt_wait *wait = wait_of(attempt);
        seen[length - 1] = attempt;
        if (wait == NULL || length == WIO_CHAIN_MAX ||
            is_among(seen, length, wio_attempts_find(attempts, &wait->blockers[0]))) {
            break;
        }
        txn = &wait->blockers[0];
        origin = wait->origins[0];
        length++;
    }
    *length_out = length;
    return wio_exact_source(attempts, txn, origin, root_out);
}

static bool leads_to(const struct wio_attempts *attempts, const struct wio_txn_name *txn,
                     const struct wio_attempt *attempt, unsigned *looks);

/* Does one of the waits of `from` end, over others that wait, at `attempt`? */
static bool waits_lead_to(const struct wio_attempts *attempts, const struct wio_attempt *from,
                          const struct wio_attempt *attempt, unsigned *looks)
{
    const struct wio_attempt_waits *waits = from->waits;
    for (uint32_t i = 0; waits != NULL && i < waits->now_count; i++) {
        const struct wio_attempt_wait *wait = &waits->now[i];
        for (uint32_t k = 0; !wait->is_over && k < wait->count; k++) {
            if (leads_to(attempts, &wait->blockers[k], attempt, looks)) {
                return true;
            }
        }
    }
    return false;
}

static bool leads_to(const struct wio_attempts *attempts, const struct wio_txn_name *txn,
                     const struct wio_attempt *attempt, unsigned *looks)
{
    const struct wio_attempt *next = wio_attempts_find(attempts, txn);
    if (next == attempt) {
        return true;
    }
    return next != NULL && ++*looks < LOOKS_MAX && waits_lead_to(attempts, next, attempt, looks);
}

bool wio_exact_is_in_cycle(const struct wio_attempts *attempts, const struct wio_attempt *attempt,
                           const struct wio_txn_row *row)
{
    unsigned looks = 0;
    if (attempt->waits == NULL) {
        return false;
    }
    if (row->kind == WIO_TXN_WOUND) {
        return waits_lead_to(attempts, attempt, attempt, &looks);
    }
    bool is_refused = row->kind == WIO_TXN_ANSWER && row->result == WIO_TXN_REFUSED;
    for (uint32_t i = 0; (row->kind == WIO_TXN_ARRIVE || is_refused) && i < row->blocker_listed;
         i++) {
        if (leads_to(attempts, &row->blockers[i].txn, attempt, &looks)) {
            return true;
        }
    }
    return false;
}
