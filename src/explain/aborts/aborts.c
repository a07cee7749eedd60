/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/aborts/aborts.h"

#include <stdlib.h>

#include "base/cleanup.h"

void wio_aborts_init(struct wio_aborts *aborts)
{
    wio_attempts_init(&aborts->attempts, &aborts->sources);
}

void wio_aborts_fini(struct wio_aborts *aborts)
{
    wio_txn_cursor_destroy(aborts->cursor);
    wio_attempts_fini(&aborts->attempts);
    wio_classic_fini(&aborts->classic);
    wio_exact_fini(&aborts->exact);
    wio_replays_fini(&aborts->replays);
    wio_presence_fini(&aborts->presence);
    wio_abort_sources_fini(&aborts->sources);
}

void wio_aborts_destroy(struct wio_aborts *aborts)
{
    if (aborts != NULL) {
        wio_aborts_fini(aborts);
        free(aborts);
    }
}

/* How many servers refused the attempt, and why. */
static unsigned count_refusals(struct wio_abort_totals *totals, const struct wio_attempt *attempt)
{
    unsigned count = 0;
    for (uint32_t i = 0; i < attempt->part_count; i++) {
        enum wio_refusal refusal = attempt->parts[i].refusal;
        totals->by_refusal[refusal] += refusal != WIO_REFUSAL_NONE;
        count += refusal != WIO_REFUSAL_NONE;
    }
    return count;
}

static enum wio_status aborted(struct wio_aborts *aborts, struct wio_attempt *attempt)
{
    struct wio_abort_totals *totals = &aborts->totals;
    totals->wasted_s += (double)(attempt->end_ns - attempt->begin_ns) / 1e9;
    totals->wasted_bytes += attempt->bytes;
    totals->used_s += (double)attempt->used_ns / 1e9;
    if (count_refusals(totals, attempt) == 0) {
        totals->given_up++;
        return WIO_OK;
    }
    totals->aborts++;
    totals->deadlocks += attempt->waits != NULL && attempt->waits->is_deadlock;
    WIO_TRY(wio_classic_abort(&aborts->classic, &aborts->attempts, attempt));
    return wio_exact_abort(&aborts->exact, &aborts->attempts, attempt);
}

static enum wio_status is_over(struct wio_aborts *aborts, struct wio_attempt *attempt)
{
    aborts->totals.attempts++;
    aborts->totals.committed += !attempt->is_aborted;
    aborts->totals.wait_s += (double)attempt->wait_ns / 1e9;
    if (attempt->is_aborted) {
        WIO_TRY(aborted(aborts, attempt));
    }
    wio_presence_end(&aborts->presence, attempt->name.client, attempt->end_ns);
    wio_attempts_retire(&aborts->attempts, attempt);
    return WIO_OK;
}

static enum wio_status begins(struct wio_aborts *aborts, struct wio_attempt *attempt)
{
    struct wio_abort_totals *totals = &aborts->totals;
    bool is_first = aborts->presence.count == 0 || attempt->begin_ns < totals->first_ns;
    totals->first_ns = is_first ? attempt->begin_ns : totals->first_ns;
    attempt->is_present = true;
    return wio_presence_begin(&aborts->presence, attempt->name.client, attempt->begin_ns);
}

enum wio_status wio_aborts_row(struct wio_aborts *aborts, const struct wio_txn_row *row)
{
    struct wio_attempt *attempt = NULL;
    struct wio_attempt *over = NULL;
    aborts->totals.rows++;
    WIO_TRY(wio_replays_row(&aborts->replays, row));
    WIO_TRY(wio_attempts_row(&aborts->attempts, row, &attempt, &over));
    aborts->totals.last_ns = row->t_ns;
    if (attempt != NULL && !attempt->is_present) {
        WIO_TRY(begins(aborts, attempt));
    }
    if (attempt != NULL) {
        WIO_TRY(wio_exact_row(&aborts->exact, &aborts->attempts, attempt, row));
    }
    return over == NULL ? WIO_OK : is_over(aborts, over);
}

void wio_aborts_finish(struct wio_aborts *aborts)
{
    aborts->totals.open = aborts->attempts.open.count;
    aborts->totals.forgotten = aborts->attempts.forgotten;
    wio_classic_sort(&aborts->classic);
    wio_exact_sort(&aborts->exact);
}

static enum wio_status read_rows(struct wio_aborts *aborts, struct wio_error *err)
{
    const struct wio_txn_row *row = NULL;
    enum wio_status status = WIO_OK;
    while ((status = wio_txn_cursor_next(aborts->cursor, &row, err)) == WIO_OK) {
        if (wio_aborts_row(aborts, row) != WIO_OK) {
            return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                                 "no memory to explain transactions");
        }
    }
    return status == WIO_END ? WIO_OK : status;
}

/* Those at which no transaction was belong to the store as well. */
static void count_servers(struct wio_aborts *aborts)
{
    for (uint32_t i = aborts->replays.servers; i < WIO_REPLAY_SERVERS; i++) {
        const struct wio_txn_server *server = wio_txn_cursor_server(aborts->cursor, i);
        if (server != NULL && !server->is_catalogue) {
            aborts->replays.servers = i + 1;
        }
    }
}

static void destroy_cleanup(struct wio_aborts **aborts)
{
    wio_aborts_destroy(*aborts);
}

enum wio_status wio_aborts_of(const struct wio_trace *trace, struct wio_aborts **aborts_out,
                              struct wio_error *err)
{
    *aborts_out = NULL;
    if (!wio_trace_has_transactions(trace)) {
        return WIO_OK;
    }
    WIO_CLEANUP(destroy_cleanup) struct wio_aborts *aborts = calloc(1, sizeof(*aborts));
    if (aborts == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory to explain transactions");
    }
    wio_aborts_init(aborts);
    WIO_TRY(wio_txn_cursor_create(trace, &aborts->cursor, err));
    if (wio_abort_sources_begin(&aborts->sources, aborts->cursor) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory to explain transactions");
    }
    WIO_TRY(read_rows(aborts, err));
    count_servers(aborts);
    wio_aborts_finish(aborts);
    *aborts_out = aborts;
    aborts = NULL;
    return WIO_OK;
}
