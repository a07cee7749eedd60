/* SPDX-License-Identifier: Apache-2.0 */
#include "render_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <whyio/trace.h>

#include "base/json.h"
#include "base/text.h"
#include "ops/unseen.h"
#include "options.h"
#include "render_difference.h"

static const char *const ends[] = {
    [WIO_THROTTLE_MERGED] = "merged",       [WIO_THROTTLE_PROVEN] = "proven",
    [WIO_THROTTLE_EXPLAINED] = "explained", [WIO_THROTTLE_RUNS_OVER] = "unproven",
    [WIO_THROTTLE_FAILED] = "failed",       [WIO_THROTTLE_DIFFERS] = "differs",
    [WIO_THROTTLE_REFUSED] = "refused",     [WIO_THROTTLE_FIRST_COME] = "first_come",
};

static const char *const verdicts[] = {
    [WIO_CONDUCT_GOOD] = "",
    [WIO_CONDUCT_DIED] = "was killed while others were held",
    [WIO_CONDUCT_STRANGER] = "is a thread that run 1 did not have",
    [WIO_CONDUCT_DIFFERENT] = "does more I/O than in run 1",
    [WIO_CONDUCT_TOO_LONG] = "was held for too long",
    [WIO_CONDUCT_TOO_MANY] = "more threads than can be held",
    [WIO_CONDUCT_GONE] = "is gone before its command has ended",
    [WIO_CONDUCT_LOST] =
        "threads went on by themselves: held for too long, or this recorder was stopped",
};

static void add_throttle(struct wio_json *json, const struct wio_throttle_result *throttle)
{
    if (throttle == NULL) {
        wio_json_null(json, "throttle");
        return;
    }
    bool is_other =
        throttle->end == WIO_THROTTLE_DIFFERS || throttle->end == WIO_THROTTLE_FIRST_COME;
    wio_json_object_begin(json, "throttle");
    wio_json_string(json, "end", ends[throttle->end]);
    wio_json_u64(json, "runs", throttle->runs);
    wio_json_u64(json, "found", throttle->found);
    wio_json_u64(json, "edges", throttle->edges);
    wio_json_u64(json, "unproven", throttle->unproven);
    wio_json_u64(json, "contradicted", throttle->contradicted);
    if (throttle->period > 0) {
        wio_json_u64(json, "period", throttle->period);
    } else {
        wio_json_null(json, "period");
    }
    if (throttle->time_error >= 0) {
        wio_json_double(json, "time_error", throttle->time_error);
    } else {
        wio_json_null(json, "time_error");
    }
    wio_json_string(json, "time_root", throttle->time_root);
    render_difference_json(json, is_other ? &throttle->difference : NULL);
    wio_json_object_end(json);
}

/* What --max-size has kept. */
static void add_bound(struct wio_json *json, const struct wio_seal_totals *totals)
{
    wio_json_u64(json, "evicted", totals->evicted);
    if (totals->max_bytes > 0) {
        wio_json_u64(json, "max_size", totals->max_bytes);
        wio_json_string(json, "keep", totals->keeps_last ? "last" : "first");
    } else {
        wio_json_null(json, "max_size");
        wio_json_null(json, "keep");
    }
}

void render_record_json(const struct wio_record_result *result,
                        const struct wio_throttle_result *throttle)
{
    struct wio_json json;
    wio_json_init(&json, stderr);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.record/1");
    wio_json_string(&json, "dir", result->dir);
    wio_json_i64(&json, "exit_status", result->exit_status);
    wio_json_bool(&json, "sealed", result->seal_error.status == WIO_OK);
    wio_json_bool(&json, "cut", result->is_cut);
    wio_json_bool(&json, "tracer_killed", result->is_tracer_killed);
    wio_json_u64(&json, "images", result->totals.rings);
    wio_json_u64(&json, "events", result->totals.events);
    wio_json_u64(&json, "dropped", result->totals.dropped);
    add_bound(&json, &result->totals);
    wio_json_u64(&json, "bytes", result->totals.bytes);
    wio_json_u64(&json, "live_images", result->totals.live_rings);
    wio_json_u64(&json, "live_events", result->totals.live_events);
    wio_json_object_begin(&json, "unseen");
    for (unsigned i = 0; i < WIO_UNSEEN_COUNT; i++) {
        wio_json_u64(&json, wio_unseen_key(i), result->totals.unseen[i]);
    }
    wio_json_object_end(&json);
    add_throttle(&json, throttle);
    wio_json_object_end(&json);
    wio_json_line(&json);
}

static void say_remarks(const char *remarks)
{
    while (remarks[0] != '\0') {
        size_t bytes = strcspn(remarks, "\n");
        cmd_say("%.*s", (int)bytes, remarks);
        remarks += bytes + (remarks[bytes] == '\n');
    }
}

/* " (the last 64.0 MiB were kept)", where events were dropped for it. */
static void put_bound(const struct wio_seal_totals *totals, char *text, size_t size)
{
    char bytes[WIO_TEXT_MAX];
    text[0] = '\0';
    if (totals->max_bytes > 0 && totals->dropped > 0) {
        snprintf(text, size, " (the %s %s were kept)", totals->keeps_last ? "last" : "first",
                 wio_format_size(bytes, totals->max_bytes));
    }
}

void render_record_text(const struct wio_record_result *result)
{
    char events[WIO_TEXT_MAX];
    char dropped[WIO_TEXT_MAX];
    char images[WIO_TEXT_MAX];
    char size[WIO_TEXT_MAX];
    char bound[64];
    const struct wio_seal_totals *totals = &result->totals;
    put_bound(totals, bound, sizeof(bound));
    cmd_say("%s: %s event%s of %s program image%s, %s dropped%s, %s%s", result->dir,
            wio_format_count(events, totals->events), totals->events == 1 ? "" : "s",
            wio_format_count(images, totals->rings), totals->rings == 1 ? "" : "s",
            wio_format_count(dropped, totals->dropped), bound, wio_format_size(size, totals->bytes),
            result->is_cut ? ", cut short while processes were running" : "");
    for (unsigned i = 0; i < WIO_UNSEEN_COUNT; i++) {
        if (totals->unseen[i] > 0) {
            cmd_say("not seen (%s): %s", wio_format_count(events, totals->unseen[i]),
                    wio_unseen_text(i));
        }
    }
    say_remarks(totals->remarks);
    if (totals->live_rings > 0) {
        cmd_say("%s more event%s so far of %s program image%s that still run%s: their rings are in "
                "'%s/raw', and the next command that opens the trace takes them from there",
                wio_format_count(events, totals->live_events), totals->live_events == 1 ? "" : "s",
                wio_format_count(images, totals->live_rings), totals->live_rings == 1 ? "" : "s",
                totals->live_rings == 1 ? "s" : "", result->dir);
    } else if (totals->rings == 0) {
        cmd_say("nothing was recorded: no process loaded the capture library (a launcher alone "
                "records nothing of itself)");
    }
}

/* A trace that is not whole, or could not be sealed, is told also with -q. */
void render_record_trouble(const struct wio_record_result *result)
{
    char text[2048];
    if (result->is_tracer_killed) {
        cmd_say("the tracer was killed: what static programs did afterwards is missing");
    }
    if (result->join_error.status != WIO_OK) {
        wio_error_format(&result->join_error, text, sizeof(text));
        cmd_say("cannot tell which operation waited for which: %s", text);
    }
    if (result->seal_error.status == WIO_OK) {
        return;
    }
    wio_error_format(&result->seal_error, text, sizeof(text));
    cmd_say("cannot seal the trace: %s", text);
    cmd_say("what was recorded is in '%s/raw'; 'whyio info' and the others read it from there",
            result->dir);
}

void render_throttle_trouble(const struct wio_throttle_result *throttle)
{
    char text[2048];
    if (throttle->end == WIO_THROTTLE_REFUSED) {
        wio_error_format(&throttle->error, text, sizeof(text));
        cmd_say("holding proves nothing here: %s", text);
    } else if (throttle->end == WIO_THROTTLE_FIRST_COME) {
        cmd_say("work is taken in any order: behind a lock or queue run %" PRIu32
                " did other I/O than run %" PRIu32 ", and any order is right",
                throttle->difference.runs[1], throttle->difference.runs[0]);
    } else if (throttle->end == WIO_THROTTLE_DIFFERS) {
        render_difference_text(&throttle->difference);
    } else if (throttle->end == WIO_THROTTLE_FAILED) {
        cmd_say("run %" PRIu32 " failed: what it showed is not used", throttle->runs);
    }
    if (throttle->contradicted > 0) {
        cmd_say("%" PRIu64 " edge%s that one run showed and another did not obey are left out",
                throttle->contradicted, throttle->contradicted == 1 ? "" : "s");
    }
}

static void say_merged(const struct wio_throttle_result *throttle)
{
    char edges[WIO_TEXT_MAX];
    cmd_say("%s: %" PRIu32 " runs, period %" PRIu64 ", %s edge%s", throttle->record.dir,
            throttle->runs, throttle->period, wio_format_count(edges, throttle->edges),
            throttle->edges == 1 ? "" : "s");
    if (throttle->time_error >= 0) {
        bool is_target = throttle->time_root != NULL;
        cmd_say("replay%s%s takes as long as the command, but for %.1f %%",
                is_target ? " below " : "", is_target ? throttle->time_root : "",
                100 * throttle->time_error);
    }
}

void render_throttle_text(const struct wio_throttle_result *throttle)
{
    char edges[WIO_TEXT_MAX];
    char unproven[WIO_TEXT_MAX];
    if (throttle->end == WIO_THROTTLE_MERGED) {
        say_merged(throttle);
        return;
    }
    if (throttle->end == WIO_THROTTLE_EXPLAINED) {
        cmd_say("nothing is unexplained: no run was held");
        return;
    }
    cmd_say("%" PRIu32 " run%s, %s edge%s that only holding shows, %s", throttle->runs,
            throttle->runs == 1 ? "" : "s", wio_format_count(edges, throttle->edges),
            throttle->edges == 1 ? "" : "s",
            throttle->end == WIO_THROTTLE_PROVEN ? "proven complete" : "not proven complete");
    if (throttle->unproven > 0) {
        cmd_say("%s pairs of an operation and a thread are unproven: whether the one waits for "
                "more of the other is not known",
                wio_format_count(unproven, throttle->unproven));
    }
}

static void say_begin(const struct wio_throttle_news *news)
{
    char limit[WIO_TEXT_MAX];
    if (news->nodes == 0) {
        cmd_say("run 1: no thread is held");
        return;
    }
    wio_format_time(limit, news->limit_ns);
    if (news->period > 0) {
        char subject[64];
        if (news->throttled_rank >= 0) {
            snprintf(subject, sizeof(subject), "rank %d", (int)news->throttled_rank);
        } else {
            snprintf(subject, sizeof(subject), "thread %d of run 1", (int)news->throttled_tid);
        }
        cmd_say("run %" PRIu32 ": throttling %s, period %" PRIu64 ", no hold longer than %s",
                news->run, subject, news->period, limit);
        return;
    }
    cmd_say("run %" PRIu32 " of at most %" PRIu32 ": holding %" PRIu32
            " threads, none for longer than %s",
            news->run, news->runs, news->nodes, limit);
}

static void say_end(const struct wio_throttle_news *news)
{
    char subject[160] = "";
    if (news->verdict == WIO_CONDUCT_GOOD) {
        cmd_say("run %" PRIu32 ": %" PRIu64 " holds, %" PRIu64 " edges so far", news->run,
                news->held, news->edges);
        return;
    }
    if (news->rank >= 0) {
        snprintf(subject, sizeof(subject), "rank %d ", (int)news->rank);
    } else if (news->verdict == WIO_CONDUCT_GONE) {
        snprintf(subject, sizeof(subject), "the recorder ");
    }
    if (news->pid > 0) {
        snprintf(subject + strlen(subject), sizeof(subject) - strlen(subject), "(process %d%s%s) ",
                 (int)news->pid, news->host != NULL ? " of host " : "",
                 news->host != NULL ? news->host : "");
    }
    cmd_say("run %" PRIu32 " ends holding: %s%s", news->run, subject, verdicts[news->verdict]);
}

void render_throttle_news(const struct wio_throttle_news *news)
{
    if (news->is_begin) {
        say_begin(news);
    } else {
        say_end(news);
    }
}
