/* SPDX-License-Identifier: Apache-2.0 */
/* Mismatches in groups: how many of one operation differ in the same way, and the first of them. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "ops/calls.h"
#include "render_replay.h"
#include "report/line.h"

#define SHOWN_GROUPS 20u

static bool is_in_bytes(unsigned op)
{
    switch ((int)wio_op_class(op)) {
    case WIO_CLASS_READ:
    case WIO_CLASS_WRITE:
    case WIO_CLASS_COPY:
    case WIO_CLASS_ASYNC_READ:
    case WIO_CLASS_ASYNC_WRITE:
    case WIO_CLASS_STAT:
    case WIO_CLASS_SEEK:
    case WIO_CLASS_READLINK:
    case WIO_CLASS_XATTR:
        return true;
    default:
        return false;
    }
}

/* Sizes of files are compared, and known, where both looks succeeded. */
static void put_outcome(unsigned op, int64_t value, uint16_t error, uint16_t other_error, FILE *out)
{
    bool has_size = wio_op_class(op) != WIO_CLASS_STAT || other_error == 0;
    if (error != 0) {
        (void)fprintf(out, "%s", strerrorname_np(error) != NULL ? strerrorname_np(error) : "error");
    } else if (is_in_bytes(op) && has_size) {
        (void)fprintf(out, "%lld B", (long long)value);
    } else if (wio_op_class(op) == WIO_CLASS_READDIR) {
        (void)fputs(value > 0 ? "a name" : "the end", out);
    } else {
        (void)fputs("success", out);
    }
}

/* ", which tid 7 changed 1.2 ms later in the trace (pwrite, seq 61)" */
static void put_race(const struct wio_trace *trace, const struct wio_replay_race *race, FILE *out)
{
    char time[WIO_TEXT_MAX];
    if (race->stream == UINT32_MAX) {
        return;
    }
    uint64_t ns = race->after_ns < 0 ? (uint64_t)-race->after_ns : (uint64_t)race->after_ns;
    (void)fprintf(out, ", which tid %d changed %s %s in the trace (%s, seq %llu)",
                  wio_trace_stream(trace, race->stream)->tid, wio_format_time(time, ns),
                  race->after_ns < 0 ? "before" : "later", wio_op_name(race->op),
                  (unsigned long long)race->seq);
}

static void put_mismatch(const struct wio_trace *trace, const struct wio_replay_mismatch *mismatch,
                         FILE *out)
{
    const struct wio_stream_info *stream = wio_trace_stream(trace, mismatch->stream);
    const struct wio_process_info *process = wio_trace_process(trace, stream->process);
    (void)fprintf(out, "      pid %d tid %d seq %llu", process->pid, stream->tid,
                  (unsigned long long)mismatch->seq);
    if (process->rank >= 0) {
        (void)fprintf(out, " rank %d", process->rank);
    }
    (void)fprintf(out, ": %s", wio_op_name(mismatch->op));
    if (mismatch->size != WIO_NO_SIZE) {
        (void)fprintf(out, " %llu bytes", (unsigned long long)mismatch->size);
    }
    if (mismatch->offset != WIO_NO_OFFSET) {
        (void)fprintf(out, " at %lld", (long long)mismatch->offset);
    }
    (void)fputs(": expected ", out);
    put_outcome(mismatch->op, mismatch->expected, mismatch->expected_error, mismatch->got_error,
                out);
    (void)fputs(", got ", out);
    put_outcome(mismatch->op, mismatch->got, mismatch->got_error, mismatch->expected_error, out);
    (void)fputs(": ", out);
    wio_print_plain(out, wio_trace_string(trace, mismatch->path, NULL));
    put_race(trace, &mismatch->race, out);
    (void)fputc('\n', out);
}

struct group {
    const struct wio_replay_mismatch *first;
    uint32_t count;
};

static bool is_alike(const struct wio_replay_mismatch *a, const struct wio_replay_mismatch *b)
{
    return a->op == b->op && a->expected_error == b->expected_error && a->got_error == b->got_error;
}

/* Into room for as many as there are mismatches. */
static uint32_t find_groups(const struct wio_replay_result *result, struct group *groups)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < result->mismatch_listed; i++) {
        const struct wio_replay_mismatch *mismatch = &result->mismatches[i];
        uint32_t at = 0;
        while (at < count && !is_alike(groups[at].first, mismatch)) {
            at++;
        }
        if (at == count) {
            groups[count++] = (struct group){mismatch, 0};
        }
        groups[at].count++;
    }
    return count;
}

/* The most first; groups of one size as they were found. */
static int by_count(const void *a, const void *b)
{
    const struct group *x = a;
    const struct group *y = b;
    if (x->count != y->count) {
        return x->count > y->count ? -1 : 1;
    }
    return x->first < y->first ? -1 : 1;
}

static void put_error(uint16_t error, FILE *out)
{
    const char *name = error == 0 ? "success" : strerrorname_np(error);
    (void)fputs(name != NULL ? name : "error", out);
}

/* "12 x ftruncate: EINVAL there, success here" */
static void put_group(const struct wio_trace *trace, const struct group *group, FILE *out)
{
    char count[WIO_TEXT_MAX];
    const struct wio_replay_mismatch *first = group->first;
    (void)fprintf(out, "  %s x %s: ", wio_format_count(count, group->count),
                  wio_op_name(first->op));
    if (first->expected_error == first->got_error) {
        (void)fputs("another size", out);
    } else {
        put_error(first->expected_error, out);
        (void)fputs(" there, ", out);
        put_error(first->got_error, out);
        (void)fputs(" here", out);
    }
    (void)fputs(group->count > 1 ? "; the first:\n" : ":\n", out);
    put_mismatch(trace, first, out);
}

static void put_groups(const struct wio_trace *trace, const struct wio_replay_result *result,
                       struct group *groups, FILE *out)
{
    char text[WIO_TEXT_MAX];
    uint32_t count = find_groups(result, groups);
    uint64_t shown = 0;
    qsort(groups, count, sizeof(*groups), by_count);
    for (uint32_t i = 0; i < count && i < SHOWN_GROUPS; i++) {
        put_group(trace, &groups[i], out);
        shown += groups[i].count;
    }
    if (result->total.mismatches > shown) {
        (void)fprintf(out, "  and %s more (--format=json lists the first 1,000)\n",
                      wio_format_count(text, result->total.mismatches - shown));
    }
}

void render_replay_mismatches(const struct wio_trace *trace, const struct wio_replay_result *result,
                              FILE *out)
{
    char count[WIO_TEXT_MAX];
    uint64_t all = result->total.mismatches;
    if (all == 0) {
        return;
    }
    struct group *groups = calloc((size_t)result->mismatch_listed + 1, sizeof(*groups));
    (void)fprintf(out, "\n%s operation%s had another size, success or errno than in the trace",
                  wio_format_count(count, all), all == 1 ? "" : "s");
    if (result->race_count != 0) {
        (void)fprintf(out, "; %s of them by races, which the trace does not order",
                      result->race_count == all ? "all"
                                                : wio_format_count(count, result->race_count));
    }
    (void)fputs(":\n", out);
    if (groups != NULL) {
        put_groups(trace, result, groups, out);
    }
    free(groups);
}
