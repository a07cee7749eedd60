/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/aborts/txn_findings.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "base/text.h"

struct maker {
    const struct wio_aborts *aborts;
    const struct wio_candidates *candidates;
    struct wio_txn_findings *findings;
    uint32_t capacity;
    struct wio_map index; /* victim << 32 | blocker, of pairs; of contention: see key_of_times */
};

static void maker_fini(struct maker *maker)
{
    wio_map_fini(&maker->index);
}

static enum wio_status find(struct maker *maker, uint64_t key, struct wio_txn_finding **out)
{
    struct wio_txn_findings *findings = maker->findings;
    const uint64_t *known = wio_map_get(&maker->index, key);
    if (known == NULL) {
        void *items = findings->items;
        WIO_TRY(wio_grow(&items, sizeof(*findings->items), &maker->capacity, findings->count + 1));
        findings->items = items;
        WIO_TRY(wio_map_put(&maker->index, key, findings->count));
        *out = &findings->items[findings->count++];
        **out = (struct wio_txn_finding){.victim = WIO_NO_SOURCE,
                                         .blocker = WIO_NO_SOURCE,
                                         .server_s = -1,
                                         .chain_root = WIO_NO_SOURCE,
                                         .gain_s = NAN,
                                         .predicted_s = NAN};
        return WIO_OK;
    }
    *out = &findings->items[*known];
    return WIO_OK;
}

static void note_server(struct wio_txn_finding *finding, uint32_t server, double seconds)
{
    finding->servers++;
    finding->lost_s += seconds;
    if (seconds > finding->server_s) {
        finding->server_s = seconds;
        finding->server = server;
    }
}

/* ---- pairs of victim and blocker ---- */

static enum wio_status add_pair(struct maker *maker, const struct wio_exact_pair *pair)
{
    struct wio_txn_finding *finding = NULL;
    double seconds[WIO_LOSSES];
    WIO_TRY(find(maker, (uint64_t)pair->victim << 32 | pair->blocker, &finding));
    double before_s = finding->server_s;
    note_server(finding, pair->server, pair->lane_s);
    if (finding->server_s > before_s) {
        finding->example = pair->example;
    }
    finding->victim = pair->victim;
    finding->blocker = pair->blocker;
    finding->aborts += pair->aborts;
    finding->deadlocks += pair->deadlocks;
    finding->waits += pair->waits;
    finding->wait_s += pair->wait_s;
    finding->passed_s += pair->passed_s;
    finding->wasted_s += pair->wasted_s;
    wio_losses_of(pair, seconds);
    for (unsigned i = 0; i < WIO_LOSSES; i++) {
        finding->by_loss_s[i] += seconds[i];
    }
    for (unsigned i = 0; i < WIO_CONFLICTS; i++) {
        finding->by_conflict[i] += pair->by_conflict[i];
    }
    if (pair->chain_max > finding->chain_max) {
        finding->chain_max = pair->chain_max;
        finding->chain_root = pair->chain_root;
    }
    return WIO_OK;
}

/* ---- contention ---- */

/* Not one of a pair: a victim is no source of that number. */
static uint64_t key_of_times(enum wio_loss loss, uint32_t source)
{
    return (uint64_t)(UINT32_MAX - loss) << 32 | source;
}

static double time_of(const struct wio_exact_contention *row, enum wio_loss loss)
{
    if (loss == WIO_LOSS_BUSY) {
        return row->lane_queue_s;
    }
    return loss == WIO_LOSS_STORAGE ? row->lane_storage_s : row->lane_run_s;
}

static double raw_time_of(const struct wio_exact_contention *row, enum wio_loss loss)
{
    if (loss == WIO_LOSS_BUSY) {
        return row->queue_s;
    }
    return loss == WIO_LOSS_STORAGE ? row->storage_s : row->run_s;
}

static enum wio_status add_times(struct maker *maker, const struct wio_exact_contention *row,
                                 enum wio_loss loss)
{
    struct wio_txn_finding *finding = NULL;
    double seconds = time_of(row, loss);
    if (!(seconds > 0) && !(loss == WIO_LOSS_BUSY && row->busy > 0)) {
        return WIO_OK;
    }
    WIO_TRY(find(maker, key_of_times(loss, row->source), &finding));
    note_server(finding, row->server, seconds);
    finding->victim = row->source;
    finding->by_loss_s[loss] += seconds;
    finding->requests += row->requests;
    finding->aborts += loss == WIO_LOSS_BUSY ? row->busy : 0;
    finding->wasted_s += loss == WIO_LOSS_BUSY ? row->busy_s : 0;
    finding->wait_s += raw_time_of(row, loss);
    return WIO_OK;
}

/* The source that a server has worked for the longest, its storage included. */
static uint32_t busiest_at(const struct wio_exact *exact, uint32_t server)
{
    const struct wio_exact_contention *most = NULL;
    for (uint32_t i = 0; i < exact->contention_count; i++) {
        const struct wio_exact_contention *row = &exact->contention[i];
        bool is_more = most == NULL || row->run_s + row->storage_s > most->run_s + most->storage_s;
        most = row->server == server && is_more ? row : most;
    }
    return most == NULL ? WIO_NO_SOURCE : most->source;
}

static enum wio_status add_contention(struct maker *maker)
{
    const struct wio_exact *exact = &maker->aborts->exact;
    for (uint32_t i = 0; i < exact->contention_count; i++) {
        WIO_TRY(add_times(maker, &exact->contention[i], WIO_LOSS_BUSY));
        WIO_TRY(add_times(maker, &exact->contention[i], WIO_LOSS_STORAGE));
        WIO_TRY(add_times(maker, &exact->contention[i], WIO_LOSS_SERVED));
    }
    return WIO_OK;
}

/* ---- words and gains ---- */

static bool is_contention(const struct wio_txn_finding *finding)
{
    return finding->loss == WIO_LOSS_BUSY || finding->loss == WIO_LOSS_STORAGE ||
           finding->loss == WIO_LOSS_SERVED;
}

/* To the detail, as far as it has room. */
static WIO_PRINTF(2, 3) void append(struct wio_txn_finding *finding, const char *format, ...)
{
    size_t used = strlen(finding->detail);
    va_list list;
    va_start(list, format);
    (void)vsnprintf(finding->detail + used, sizeof(finding->detail) - used, format, list);
    va_end(list);
}

static const char *time_text(char *text, double seconds)
{
    return wio_format_time(text, (uint64_t)(seconds * 1e9));
}

/* "1 abort", "1,840 aborts" */
static void append_count(struct wio_txn_finding *finding, uint64_t count, const char *word)
{
    char text[WIO_TEXT_MAX];
    append(finding, "%s %s%s", wio_format_count(text, count), word, count == 1 ? "" : "s");
}

static void describe_contention(struct wio_txn_finding *finding)
{
    char text[2][WIO_TEXT_MAX];
    const char *where = finding->loss == WIO_LOSS_BUSY      ? "in queues"
                        : finding->loss == WIO_LOSS_STORAGE ? "for log and storage"
                                                            : "being worked on";
    double each_s =
        finding->requests > 0 ? finding->wait_s / (double)finding->requests : finding->wait_s;
    append_count(finding, finding->requests, "request");
    append(finding, ", %s each %s", time_text(text[0], each_s), where);
    if (finding->aborts > 0) {
        append(finding, "; ");
        append_count(finding, finding->aborts, "attempt");
        append(finding, " turned away or not answered in time threw away %s",
               time_text(text[1], finding->wasted_s));
    }
}

/* What the pair's time was lost by, the most first. */
static void append_losses(struct wio_txn_finding *finding)
{
    bool is_told[WIO_LOSSES] = {false};
    for (unsigned told = 0; told < 3; told++) {
        double left_s[WIO_LOSSES];
        for (unsigned i = 0; i < WIO_LOSSES; i++) {
            left_s[i] = is_told[i] ? 0 : finding->by_loss_s[i];
        }
        enum wio_loss most = wio_loss_most(left_s);
        if (!(left_s[most] >= 0.005 * finding->lost_s) || !(finding->lost_s > 0)) {
            return;
        }
        append(finding, "%s%.0f %% %s", told == 0 ? "; " : ", ",
               100 * left_s[most] / finding->lost_s, wio_loss_words(most)->kind);
        is_told[most] = true;
    }
}

static void describe_pair(struct wio_txn_finding *finding)
{
    char text[2][WIO_TEXT_MAX];
    if (finding->aborts > 0) {
        append_count(finding, finding->aborts, "abort");
        append(finding, " (");
        append_count(finding, finding->deadlocks, "deadlock");
        append(finding, ") threw away %s", time_text(text[0], finding->wasted_s));
    }
    if (finding->waits > 0) {
        append(finding, "%s", finding->aborts > 0 ? "; " : "");
        append_count(finding, finding->waits, "wait");
        append(finding, " took %s", time_text(text[1], finding->wait_s));
    }
    append_losses(finding);
}

/* By the same simulation as the run as it was. */
static void find_gain(const struct maker *maker, struct wio_txn_finding *finding)
{
    const struct wio_loss_words *words = wio_loss_words(finding->loss);
    const struct wio_candidates *candidates = maker->candidates;
    if (!words->has_candidate || candidates->count != WIO_CANDIDATES_MAX) {
        return;
    }
    const struct wio_whatif_result *then = &candidates->rows[WIO_CANDIDATE_AS_IT_WAS].result;
    const struct wio_whatif_result *with = &candidates->rows[words->tried].result;
    if (then->is_cut || with->is_cut || with->requests_cut > 0 || !(then->duration_s > 0)) {
        return;
    }
    finding->gain_s =
        (then->duration_s - with->duration_s) / then->duration_s * maker->findings->duration_s;
    finding->predicted_s = with->duration_s;
    finding->aborts_then = then->aborts;
    finding->aborts_with = with->aborts;
}

static void complete(struct maker *maker, struct wio_txn_finding *finding)
{
    struct wio_txn_findings *findings = maker->findings;
    double part = findings->present_s > 0 ? finding->lost_s / findings->present_s : 0;
    finding->loss = wio_loss_most(finding->by_loss_s);
    finding->share = part < 1 ? part : 1;
    finding->seconds = finding->share * findings->duration_s;
    if (is_contention(finding)) {
        finding->blocker = busiest_at(&maker->aborts->exact, finding->server);
        describe_contention(finding);
    } else {
        describe_pair(finding);
    }
    find_gain(maker, finding);
}

static int by_seconds(const void *a, const void *b)
{
    const struct wio_txn_finding *x = a;
    const struct wio_txn_finding *y = b;
    if (x->lost_s != y->lost_s) {
        return x->lost_s > y->lost_s ? -1 : 1;
    }
    if (x->aborts != y->aborts) {
        return x->aborts > y->aborts ? -1 : 1;
    }
    return x->victim != y->victim ? (x->victim < y->victim ? -1 : 1)
                                  : (x->blocker > y->blocker) - (x->blocker < y->blocker);
}

static enum wio_status make(struct maker *maker)
{
    const struct wio_aborts *aborts = maker->aborts;
    struct wio_txn_findings *findings = maker->findings;
    findings->present_s = wio_presence_seconds(&aborts->presence);
    findings->duration_s = (double)(aborts->totals.last_ns - aborts->totals.first_ns) / 1e9;
    for (uint32_t i = 0; i < aborts->exact.pair_count; i++) {
        WIO_TRY(add_pair(maker, &aborts->exact.pairs[i]));
    }
    WIO_TRY(add_contention(maker));
    for (uint32_t i = 0; i < findings->count; i++) {
        complete(maker, &findings->items[i]);
    }
    if (findings->count > 1) {
        qsort(findings->items, findings->count, sizeof(*findings->items), by_seconds);
    }
    return WIO_OK;
}

enum wio_status wio_txn_findings_find(const struct wio_aborts *aborts,
                                      const struct wio_candidates *candidates,
                                      struct wio_txn_findings *findings)
{
    WIO_CLEANUP(maker_fini)
    struct maker maker = {.aborts = aborts, .candidates = candidates, .findings = findings};
    return make(&maker);
}

void wio_txn_findings_fini(struct wio_txn_findings *findings)
{
    free(findings->items);
}
