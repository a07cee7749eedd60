/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/aborts/attempts_internal.h"
#include "lock/types.h"

static enum wio_status find_server(struct wio_attempts *attempts, uint32_t number,
                                   uint32_t *server_out)
{
    const uint64_t *known = wio_map_get(&attempts->server_index, number);
    if (known != NULL) {
        *server_out = (uint32_t)*known;
        return WIO_OK;
    }
    void *array = attempts->servers;
    WIO_TRY(wio_grow(&array, sizeof(*attempts->servers), &attempts->server_capacity,
                     attempts->server_count + 1));
    attempts->servers = array;
    WIO_TRY(wio_map_put(&attempts->server_index, number, attempts->server_count));
    attempts->servers[attempts->server_count] = (struct wio_attempt_server){.server = number};
    *server_out = attempts->server_count++;
    return WIO_OK;
}

uint32_t wio_attempts_server(const struct wio_attempts *attempts, uint32_t server)
{
    return attempts->servers[server].server;
}

static enum wio_status activate(struct wio_attempts *attempts, struct wio_attempt *attempt,
                                struct wio_attempt_part *part)
{
    struct wio_attempt_server *server = &attempts->servers[part->server];
    void *array = server->active;
    WIO_TRY(wio_grow(&array, sizeof(struct wio_attempt *), &server->active_capacity,
                     server->active_count + 1));
    server->active = array;
    part->place = server->active_count;
    server->active[server->active_count++] = attempt;
    attempt->active_parts++;
    return WIO_OK;
}

static enum wio_status part_of(struct wio_attempts *attempts, struct wio_attempt *attempt,
                               const struct wio_txn_row *row, uint64_t first_ns,
                               struct wio_attempt_part **part_out)
{
    uint32_t server = 0;
    WIO_TRY(find_server(attempts, row->server, &server));
    struct wio_attempt_part *part = wio_attempt_part_at(attempt, server);
    if (part == NULL) {
        void *array = attempt->parts;
        WIO_TRY(wio_grow(&array, sizeof(*attempt->parts), &attempt->part_capacity,
                         attempt->part_count + 1));
        attempt->parts = array;
        part = &attempt->parts[attempt->part_count++];
        *part = (struct wio_attempt_part){.server = server,
                                          .place = WIO_PART_INACTIVE,
                                          .first_ns = first_ns,
                                          .last_ns = WIO_ATTEMPT_OPEN,
                                          .ranges = part->ranges,
                                          .range_capacity = part->range_capacity};
        WIO_TRY(activate(attempts, attempt, part));
    }
    *part_out = part;
    return WIO_OK;
}

/* R-TXN-1: of an ANSWER, when its request came. */
static uint64_t first_of(const struct wio_txn_row *row)
{
    uint64_t took = row->queue_ns + row->lock_ns + row->storage_ns + row->run_ns;
    bool has_times = row->kind == WIO_TXN_ANSWER || row->kind == WIO_TXN_CALL;
    return has_times && took <= row->t_ns ? row->t_ns - took : row->t_ns;
}

static void note_source(struct wio_attempts *attempts, struct wio_attempt *attempt,
                        const struct wio_txn_row *row)
{
    struct wio_abort_place place = wio_abort_sources_place(attempts->sources, row->origin);
    bool is_own = row->kind != WIO_TXN_RELEASE;
    if (is_own && attempt->source.application == 0 && place.application != 0) {
        attempt->source.application = place.application;
        attempt->source_index = attempt->line_index = WIO_NO_SOURCE;
    }
    if (is_own && attempt->source.place == 0 && place.place != 0) {
        attempt->source.place = place.place;
        attempt->source_index = attempt->line_index = WIO_NO_SOURCE;
    }
    if (row->range.to != 0 && row->range.file != attempt->last_file) {
        wio_abort_source_add_file(&attempt->source, row->range.file);
        attempt->last_file = row->range.file;
        attempt->source_index = WIO_NO_SOURCE;
    }
}

enum wio_status wio_attempts_source(const struct wio_attempts *attempts,
                                    struct wio_attempt *attempt, uint32_t *source_out)
{
    if (attempt->source_index == WIO_NO_SOURCE) {
        WIO_TRY(
            wio_abort_sources_find(attempts->sources, &attempt->source, &attempt->source_index));
    }
    *source_out = attempt->source_index;
    return WIO_OK;
}

static void unite_files(struct wio_abort_source *row, const struct wio_abort_source *source)
{
    for (uint32_t i = 0; i < source->file_count; i++) {
        wio_abort_source_add_file(row, source->files[i]);
    }
    row->has_more_files = row->has_more_files || source->has_more_files;
}

enum wio_status wio_attempts_line(const struct wio_attempts *attempts, struct wio_attempt *attempt,
                                  uint32_t *line_out)
{
    const struct wio_abort_source line = {.application = attempt->source.application,
                                          .place = attempt->source.place,
                                          .is_line = true};
    if (attempt->line_index == WIO_NO_SOURCE) {
        WIO_TRY(wio_abort_sources_find(attempts->sources, &line, &attempt->line_index));
    }
    unite_files(&attempts->sources->rows[attempt->line_index], &attempt->source);
    *line_out = attempt->line_index;
    return WIO_OK;
}

/* The server was too busy to begin the attempt: no RELEASE follows. Of one that it had begun, or
 * that ran against a limit of locks, there is one. */
static bool is_turned_away(const struct wio_txn_row *row)
{
    return row->kind == WIO_TXN_ANSWER && row->result == WIO_TXN_BUSY &&
           row->reason == WIO_LOCK_REASON_NONE;
}

/* COMMIT and the operations behind it (STORE-PROTOCOL.md) begin nothing. */
#define DECISIONS 32u

/* The attempt is not at the server: an ABORT came before its request, which waited to be admitted,
 * or the request came when the attempt was over. No RELEASE follows. */
static bool finds_nothing(const struct wio_attempts *attempts, struct wio_attempt *attempt,
                          const struct wio_txn_row *row)
{
    const uint64_t *server = wio_map_get(&attempts->server_index, row->server);
    bool is_there = server != NULL && wio_attempt_part_at(attempt, (uint32_t)*server) != NULL;
    return !is_there && row->kind == WIO_TXN_ANSWER &&
           (row->op >= DECISIONS || row->result == WIO_TXN_ABORTED);
}

static void note_aborted(struct wio_attempt *attempt, const struct wio_txn_row *row)
{
    attempt->aborted_ns = attempt->is_aborted ? attempt->aborted_ns : row->t_ns;
    attempt->is_aborted = true;
}

static enum wio_status at_server(struct wio_attempts *attempts, struct wio_attempt *attempt,
                                 const struct wio_txn_row *row)
{
    struct wio_attempt_part *part = NULL;
    if (row->kind == WIO_TXN_RELEASE) {
        const uint64_t *server = wio_map_get(&attempts->server_index, row->server);
        part = server == NULL ? NULL : wio_attempt_part_at(attempt, (uint32_t)*server);
        if (part != NULL) {
            part->is_told = true;
            wio_attempts_deactivate(attempts, attempt, part, row->t_ns);
        }
        return WIO_OK;
    }
    if (finds_nothing(attempts, attempt, row)) {
        return WIO_OK;
    }
    if (attempt->part_count == WIO_ATTEMPT_PARTS) {
        attempts->forgotten++;
        return WIO_OK;
    }
    WIO_TRY(part_of(attempts, attempt, row, first_of(row), &part));
    WIO_TRY(wio_attempt_note_waits(attempt, part->server, row));
    if (row->kind == WIO_TXN_ANSWER) {
        wio_attempt_note_served(attempt, row);
    }
    bool was_there = part->is_told;
    WIO_TRY(wio_attempt_part_add(part, row));
    if (is_turned_away(row) && !was_there) {
        wio_attempts_deactivate(attempts, attempt, part, row->t_ns);
        note_aborted(attempt, row);
    }
    return WIO_OK;
}

/* What only the client told of is over with its END. */
static void end_untold(struct wio_attempts *attempts, struct wio_attempt *attempt, uint64_t now_ns)
{
    for (uint32_t i = 0; i < attempt->part_count; i++) {
        if (!attempt->parts[i].is_told) {
            wio_attempts_deactivate(attempts, attempt, &attempt->parts[i], now_ns);
        }
    }
}

static bool is_over(const struct wio_attempt *attempt, const struct wio_txn_row *row)
{
    bool is_end = row->kind == WIO_TXN_END || row->kind == WIO_TXN_RELEASE || is_turned_away(row);
    return is_end && attempt->active_parts == 0 && (attempt->has_ended || !attempt->has_begun);
}

static bool begins(const struct wio_attempts *attempts, const struct wio_txn_row *row)
{
    bool is_request = row->kind == WIO_TXN_ARRIVE || row->kind == WIO_TXN_ANSWER;
    bool can_begin = row->kind == WIO_TXN_BEGIN || (is_request && row->op < DECISIONS);
    return can_begin && !wio_attempts_is_past(attempts, &row->txn);
}

/* A single operation whose answer was lost is asked for again, and a read is performed again. */
static bool is_again(const struct wio_attempt *attempt, const struct wio_txn_row *row)
{
    bool is_request = row->kind == WIO_TXN_ARRIVE || row->kind == WIO_TXN_ANSWER;
    return is_request && !attempt->is_aborted && row->op < DECISIONS &&
           (row->flags & WIO_TXN_SINGLE) != 0;
}

enum wio_status wio_attempts_row(struct wio_attempts *attempts, const struct wio_txn_row *row,
                                 struct wio_attempt **attempt_out, struct wio_attempt **over_out)
{
    struct wio_attempt *attempt = wio_attempts_find(attempts, &row->txn);
    *over_out = NULL;
    *attempt_out = NULL;
    if (attempt == NULL && !begins(attempts, row)) {
        return WIO_OK; /* its begin is not in the trace, or it is over long since */
    }
    if (attempt != NULL && attempt->end_ns != WIO_ATTEMPT_OPEN && !is_again(attempt, row)) {
        return WIO_OK; /* it is over: an answer that was late */
    }
    if (attempt != NULL && attempt->end_ns != WIO_ATTEMPT_OPEN) {
        attempt = NULL;
    }
    if (attempt == NULL) {
        WIO_TRY(wio_attempts_new(attempts, &row->txn, first_of(row), &attempt));
    }
    attempt->has_begun = attempt->has_begun || row->kind == WIO_TXN_BEGIN;
    note_source(attempts, attempt, row);
    if (row->server != WIO_TXN_NO_SERVER && row->kind != WIO_TXN_END) {
        WIO_TRY(at_server(attempts, attempt, row));
    }
    if (row->kind == WIO_TXN_END) {
        attempt->has_ended = true;
        end_untold(attempts, attempt, row->t_ns);
    }
    if (row->kind == WIO_TXN_END || row->kind == WIO_TXN_RELEASE) {
        if (row->outcome == WIO_TXN_ENDED_ABORTED) {
            note_aborted(attempt, row);
        }
    }
    *attempt_out = attempt;
    if (is_over(attempt, row)) {
        attempt->end_ns = row->t_ns;
        *over_out = attempt;
    }
    return WIO_OK;
}

static bool is_other(const struct wio_attempt *a, const struct wio_attempt *b)
{
    return a->name.client != b->name.client || a->name.number != b->name.number;
}

static enum wio_status look_at(const struct wio_attempt *attempt, struct wio_attempt *other,
                               uint32_t server, wio_attempt_look_fn *look, void *arg)
{
    const struct wio_attempt_part *part = wio_attempt_part_at(other, server);
    if (part == NULL || part->last_ns < attempt->begin_ns || part->first_ns > attempt->end_ns ||
        !is_other(attempt, other)) {
        return WIO_OK;
    }
    return look(arg, other, part);
}

enum wio_status wio_attempts_beside(const struct wio_attempts *attempts,
                                    const struct wio_attempt *attempt, uint32_t server,
                                    wio_attempt_look_fn *look, void *arg)
{
    const struct wio_attempt_server *place = &attempts->servers[server];
    for (uint32_t i = 0; i < place->active_count; i++) {
        WIO_TRY(look_at(attempt, place->active[i], server, look, arg));
    }
    for (struct wio_attempt *at = attempts->ended.youngest;
         at != NULL && at->end_ns >= attempt->begin_ns; at = at->older) {
        WIO_TRY(look_at(attempt, at, server, look, arg));
    }
    return WIO_OK;
}
