/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/text.h"
#include "ops/calls.h"
#include "render_replay.h"
#include "report/line.h"

#define SHOWN_RANKS 16u

static uint64_t span(uint64_t begin_ns, uint64_t end_ns)
{
    return end_ns > begin_ns ? end_ns - begin_ns : 0;
}

/* "1 operation", "1,234 operations" */
static void put_operations(uint64_t count, FILE *out)
{
    char text[WIO_TEXT_MAX];
    (void)fprintf(out, "%s operation%s", wio_format_count(text, count), count == 1 ? "" : "s");
}

static void put_work(const struct wio_replay_result *result, FILE *out)
{
    char read[WIO_TEXT_MAX];
    char written[WIO_TEXT_MAX];
    (void)fputs(result->dry_run ? "would do  " : "replayed  ", out);
    put_operations(result->total.ops, out);
    (void)fprintf(
        out, ", %s read, %s written, mode %s\n", wio_format_size(read, result->total.bytes_read),
        wio_format_size(written, result->total.bytes_written), wio_replay_mode_name(result->mode));
}

static void put_times(const struct wio_replay_result *result, FILE *out)
{
    char time[WIO_TEXT_MAX];
    char traced[WIO_TEXT_MAX];
    const struct wio_replay_account *total = &result->total;
    uint64_t time_ns = span(total->begin_ns, total->end_ns);
    uint64_t traced_ns = span(total->traced_begin_ns, total->traced_end_ns);
    if (total->ops == 0) {
        return;
    }
    if (result->dry_run) {
        (void)fprintf(out, "time      traced %s\n", wio_format_time(traced, traced_ns));
        return;
    }
    (void)fprintf(out, "time      %s, traced %s", wio_format_time(time, time_ns),
                  wio_format_time(traced, traced_ns));
    if (traced_ns > 0) {
        double error = ((double)time_ns - (double)traced_ns) / (double)traced_ns;
        (void)fprintf(out, ", error %+.1f %%", 100.0 * error);
    }
    (void)fputc('\n', out);
}

static void put_prepared(const struct wio_replay_result *result, FILE *out)
{
    char files[WIO_TEXT_MAX];
    char directories[WIO_TEXT_MAX];
    char links[WIO_TEXT_MAX];
    char bytes[WIO_TEXT_MAX];
    (void)fprintf(
        out, "%s  %s file%s, %s director%s, %s link%s, %s of data%s\n",
        result->dry_run ? "to make " : "prepared", wio_format_count(files, result->prepared_files),
        result->prepared_files == 1 ? "" : "s",
        wio_format_count(directories, result->prepared_directories),
        result->prepared_directories == 1 ? "y" : "ies",
        wio_format_count(links, result->prepared_links), result->prepared_links == 1 ? "" : "s",
        wio_format_size(bytes, result->prepared_bytes),
        result->dry_run || result->prepared_bytes == 0 ? ""
        : result->keep_cache                           ? ", in the page cache"
                                                       : ", asked to leave the page cache");
}

/* Which, and why. */
static void put_cache(const struct wio_replay_result *result, FILE *out)
{
    char all[WIO_TEXT_MAX];
    char memory[WIO_TEXT_MAX];
    uint64_t first = result->memory_bytes + result->device_bytes;
    if (result->prepared_bytes == 0) {
        return;
    }
    (void)fprintf(out, "cache     %s: ", result->keep_cache ? "kept" : "dropped");
    if (result->cache != WIO_REPLAY_CACHE_AUTO) {
        (void)fputs("as asked\n", out);
    } else if (first == 0) {
        (void)fputs("no read of the trace tells where it came from\n", out);
    } else {
        (void)fprintf(out, "of %s that the run read first, %s came as fast as from memory\n",
                      wio_format_size(all, first), wio_format_size(memory, result->memory_bytes));
    }
}

static uint64_t put_classes(const uint64_t *counts, FILE *out)
{
    char count[WIO_TEXT_MAX];
    uint64_t all = 0;
    for (unsigned i = 0; i < WIO_EDGE_CLASS_COUNT; i++) {
        if (counts[i] > 0) {
            (void)fprintf(out, "%s%s %s", all > 0 ? ", " : " ", wio_format_count(count, counts[i]),
                          wio_edge_class_name(i));
            all += counts[i];
        }
    }
    return all;
}

static void put_waits(const struct wio_replay_result *result, FILE *out)
{
    char count[WIO_TEXT_MAX];
    if (result->mode != WIO_REPLAY_CAUSAL) {
        return;
    }
    (void)fputs("edges    ", out);
    if (put_classes(result->edges, out) == 0) {
        (void)fputs(" none", out);
    }
    if (!result->dry_run) {
        (void)fputs("; waits", out);
        if (put_classes(result->waits, out) == 0) {
            (void)fputs(" none", out);
        }
    }
    if (result->untied > 0) {
        (void)fprintf(out, "; %s %s broken", wio_format_count(count, result->untied),
                      result->untied == 1 ? "deadlock" : "deadlocks");
    }
    (void)fputc('\n', out);
}

static char *format_us(char *text, double us)
{
    return wio_format_time(text, us > 0 ? (uint64_t)(us * 1000) : 0);
}

static void put_late(const struct wio_replay_result *result, FILE *out)
{
    char p50[WIO_TEXT_MAX];
    char p99[WIO_TEXT_MAX];
    char most[WIO_TEXT_MAX];
    if (result->has_late) {
        (void)fprintf(out, "late      p50 %s, p99 %s, at most %s\n",
                      format_us(p50, result->late_p50_us), format_us(p99, result->late_p99_us),
                      format_us(most, result->late_max_us));
    }
}

static void put_skipped(const struct wio_replay_result *result, FILE *out)
{
    for (unsigned i = 0; i < WIO_REPLAY_SKIP_COUNT; i++) {
        if (result->skipped[i] > 0) {
            (void)fputs("skipped   ", out);
            put_operations(result->skipped[i], out);
            (void)fprintf(out, ": %s\n", wio_replay_skip_text(i));
        }
    }
}

static void put_lost(const struct wio_trace *trace, FILE *out)
{
    char count[WIO_TEXT_MAX];
    struct wio_trace_info info;
    wio_trace_get_info(trace, &info);
    if (info.dropped > 0) {
        (void)fputs("missing   ", out);
        (void)fprintf(out, "%s event%s dropped\n", wio_format_count(count, info.dropped),
                      info.dropped == 1 ? "" : "s");
    }
    if (info.evicted > 0) {
        (void)fprintf(out, "missing   the begin: %s of these events were overwritten\n",
                      wio_format_count(count, info.evicted));
    }
    for (uint32_t kind = 0; kind < render_replay_unseen_kinds(trace); kind++) {
        uint64_t times = render_replay_unseen(trace, kind);
        if (times > 0) {
            (void)fprintf(out, "missing   %s time%s: %s\n", wio_format_count(count, times),
                          times == 1 ? "" : "s", wio_unseen_text(kind));
        }
    }
}

static void put_row(const struct wio_replay_account *account, FILE *out)
{
    char ops[WIO_TEXT_MAX];
    char read[WIO_TEXT_MAX];
    char written[WIO_TEXT_MAX];
    char time[WIO_TEXT_MAX];
    char traced[WIO_TEXT_MAX];
    uint64_t time_ns = span(account->begin_ns, account->end_ns);
    uint64_t traced_ns = span(account->traced_begin_ns, account->traced_end_ns);
    (void)fprintf(out, "%12s %11s %11s %11s %11s", wio_format_count(ops, account->ops),
                  wio_format_size(read, account->bytes_read),
                  wio_format_size(written, account->bytes_written),
                  wio_format_time(traced, traced_ns), wio_format_time(time, time_ns));
    if (traced_ns > 0) {
        (void)fprintf(out, " %7.2f", (double)time_ns / (double)traced_ns);
    }
    (void)fputc('\n', out);
}

static void put_head(const char *what, FILE *out)
{
    (void)fprintf(out, "\n%-6s %12s %11s %11s %11s %11s %7s\n", what, "operations", "read",
                  "written", "traced", "replayed", "ratio");
}

static void put_ranks(const struct wio_replay_result *result, FILE *out)
{
    if (result->rank_count < 2) {
        return;
    }
    put_head("rank", out);
    for (uint32_t i = 0; i < result->rank_count && i < SHOWN_RANKS; i++) {
        if (result->ranks[i].rank < 0) {
            (void)fprintf(out, "%-6s ", "none");
        } else {
            (void)fprintf(out, "%-6d ", result->ranks[i].rank);
        }
        put_row(&result->ranks[i].account, out);
    }
    if (result->rank_count > SHOWN_RANKS) {
        (void)fprintf(out, "       and %u more (--format=json has all)\n",
                      result->rank_count - SHOWN_RANKS);
    }
}

static void put_phases(const struct wio_replay_result *result, FILE *out)
{
    if (result->phase_count < 2) {
        return;
    }
    put_head("phase", out);
    for (uint32_t i = 0; i < result->phase_count; i++) {
        (void)fprintf(out, "%-6u ", i + 1);
        put_row(&result->phases[i], out);
    }
}

void render_replay_text(const struct wio_trace *trace, const struct wio_replay_result *result,
                        FILE *out)
{
    put_work(result, out);
    put_times(result, out);
    put_prepared(result, out);
    put_cache(result, out);
    put_waits(result, out);
    put_late(result, out);
    put_skipped(result, out);
    put_lost(trace, out);
    put_ranks(result, out);
    put_phases(result, out);
    render_replay_mismatches(trace, result, out);
}
