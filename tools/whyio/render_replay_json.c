/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "base/json.h"
#include "render_replay.h"

static double seconds(uint64_t begin_ns, uint64_t end_ns)
{
    return end_ns >= begin_ns ? (double)(end_ns - begin_ns) / 1e9 : (double)NAN;
}

static double time_error(double time_s, double traced_s)
{
    return traced_s > 0 ? (time_s - traced_s) / traced_s : (double)NAN;
}

static void put_account(struct wio_json *json, const struct wio_replay_account *account,
                        bool is_performed)
{
    double time_s = is_performed ? seconds(account->begin_ns, account->end_ns) : (double)NAN;
    double traced_s = seconds(account->traced_begin_ns, account->traced_end_ns);
    wio_json_u64(json, "ops", account->ops);
    wio_json_u64(json, "bytes", account->bytes_read + account->bytes_written);
    wio_json_u64(json, "bytes_read", account->bytes_read);
    wio_json_u64(json, "bytes_written", account->bytes_written);
    wio_json_double(json, "time_s", time_s);
    wio_json_double(json, "traced_s", traced_s);
    wio_json_double(json, "time_error", time_error(time_s, traced_s));
    wio_json_double(json, "io_s", is_performed ? (double)account->io_ns / 1e9 : (double)NAN);
    wio_json_double(json, "traced_io_s", (double)account->traced_io_ns / 1e9);
}

static void put_skipped(struct wio_json *json, const struct wio_replay_result *result)
{
    wio_json_object_begin(json, "skipped");
    for (unsigned i = 0; i < WIO_REPLAY_SKIP_COUNT; i++) {
        if (result->skipped[i] > 0) {
            wio_json_u64(json, wio_replay_skip_key(i), result->skipped[i]);
        }
    }
    wio_json_object_end(json);
}

/* Of mode causal; the others wait for nothing. */
static void put_classes(struct wio_json *json, const char *key, const uint64_t *counts,
                        bool is_known)
{
    wio_json_object_begin(json, key);
    for (unsigned i = 0; i < WIO_EDGE_CLASS_COUNT; i++) {
        if (is_known) {
            wio_json_u64(json, wio_edge_class_name(i), counts[i]);
        } else {
            wio_json_null(json, wio_edge_class_name(i));
        }
    }
    wio_json_object_end(json);
}

static void put_waits(struct wio_json *json, const struct wio_replay_result *result)
{
    bool is_causal = result->mode == WIO_REPLAY_CAUSAL;
    put_classes(json, "edges", result->edges, is_causal);
    put_classes(json, "waits", result->waits, is_causal && !result->dry_run);
    wio_json_u64(json, "untied", result->untied);
}

static void put_lost(struct wio_json *json, const struct wio_trace *trace)
{
    struct wio_trace_info info;
    wio_trace_get_info(trace, &info);
    wio_json_u64(json, "dropped", info.dropped);
    wio_json_object_begin(json, "unseen");
    for (uint32_t kind = 0; kind < render_replay_unseen_kinds(trace); kind++) {
        uint64_t count = render_replay_unseen(trace, kind);
        if (count > 0) {
            wio_json_u64(json, wio_unseen_key(kind), count);
        }
    }
    wio_json_object_end(json);
}

static void put_size(struct wio_json *json, uint64_t size)
{
    if (size == WIO_NO_SIZE) {
        wio_json_null(json, "size");
    } else {
        wio_json_u64(json, "size", size);
    }
}

static void put_outcome(struct wio_json *json, const char *key, int64_t result, uint16_t error)
{
    wio_json_object_begin(json, key);
    wio_json_i64(json, "result", result);
    wio_json_u64(json, "errno", error);
    wio_json_object_end(json);
}

static void put_race(struct wio_json *json, const struct wio_trace *trace,
                     const struct wio_replay_race *race)
{
    if (race->stream == UINT32_MAX) {
        wio_json_null(json, "race");
        return;
    }
    const struct wio_stream_info *stream = wio_trace_stream(trace, race->stream);
    wio_json_object_begin(json, "race");
    wio_json_i64(json, "pid", wio_trace_process(trace, stream->process)->pid);
    wio_json_i64(json, "tid", stream->tid);
    wio_json_u64(json, "seq", race->seq);
    wio_json_string(json, "op", wio_op_name(race->op));
    wio_json_double(json, "after_s", (double)race->after_ns * 1e-9);
    wio_json_object_end(json);
}

static void put_mismatch(struct wio_json *json, const struct wio_trace *trace,
                         const struct wio_replay_mismatch *mismatch)
{
    const struct wio_stream_info *stream = wio_trace_stream(trace, mismatch->stream);
    const struct wio_process_info *process = wio_trace_process(trace, stream->process);
    size_t bytes;
    const char *path = wio_trace_string(trace, mismatch->path, &bytes);
    wio_json_object_begin(json, NULL);
    if (process->rank < 0) {
        wio_json_null(json, "rank");
    } else {
        wio_json_i64(json, "rank", process->rank);
    }
    wio_json_i64(json, "pid", process->pid);
    wio_json_i64(json, "tid", stream->tid);
    wio_json_u64(json, "seq", mismatch->seq);
    wio_json_string(json, "op", wio_op_name(mismatch->op));
    wio_json_text(json, "path", path, bytes);
    if (mismatch->offset == WIO_NO_OFFSET) {
        wio_json_null(json, "offset");
    } else {
        wio_json_i64(json, "offset", mismatch->offset);
    }
    put_size(json, mismatch->size);
    put_outcome(json, "expected", mismatch->expected, mismatch->expected_error);
    put_outcome(json, "got", mismatch->got, mismatch->got_error);
    put_race(json, trace, &mismatch->race);
    wio_json_bool(json, "is_race", mismatch->is_race);
    wio_json_object_end(json);
}

static void put_mismatches(struct wio_json *json, const struct wio_trace *trace,
                           const struct wio_replay_result *result)
{
    wio_json_u64(json, "mismatch_count", result->total.mismatches);
    wio_json_u64(json, "race_count", result->race_count);
    wio_json_array_begin(json, "mismatches");
    for (uint32_t i = 0; i < result->mismatch_listed; i++) {
        put_mismatch(json, trace, &result->mismatches[i]);
    }
    wio_json_array_end(json);
}

static void put_late(struct wio_json *json, const struct wio_replay_result *result)
{
    wio_json_object_begin(json, "late");
    wio_json_double(json, "p50_us", result->has_late ? result->late_p50_us : (double)NAN);
    wio_json_double(json, "p99_us", result->has_late ? result->late_p99_us : (double)NAN);
    wio_json_double(json, "max_us", result->has_late ? result->late_max_us : (double)NAN);
    wio_json_object_end(json);
}

static void put_ranks(struct wio_json *json, const struct wio_replay_result *result)
{
    wio_json_array_begin(json, "per_rank");
    for (uint32_t i = 0; i < result->rank_count; i++) {
        const struct wio_replay_rank *rank = &result->ranks[i];
        wio_json_object_begin(json, NULL);
        if (rank->rank < 0) {
            wio_json_null(json, "rank");
        } else {
            wio_json_i64(json, "rank", rank->rank);
        }
        wio_json_u64(json, "processes", rank->processes);
        put_account(json, &rank->account, true);
        wio_json_u64(json, "mismatch_count", rank->account.mismatches);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
}

static void put_phases(struct wio_json *json, const struct wio_replay_result *result)
{
    wio_json_array_begin(json, "phases");
    for (uint32_t i = 0; i < result->phase_count; i++) {
        wio_json_object_begin(json, NULL);
        wio_json_u64(json, "phase", i);
        wio_json_double(json, "start_s", (double)result->phases[i].begin_ns / 1e9);
        put_account(json, &result->phases[i], true);
        wio_json_u64(json, "mismatch_count", result->phases[i].mismatches);
        wio_json_object_end(json);
    }
    wio_json_array_end(json);
}

static void put_cache(struct wio_json *json, const struct wio_replay_result *result)
{
    wio_json_object_begin(json, "cache");
    wio_json_string(json, "asked", wio_replay_cache_name(result->cache));
    wio_json_string(
        json, "chosen",
        wio_replay_cache_name(result->keep_cache ? WIO_REPLAY_CACHE_KEEP : WIO_REPLAY_CACHE_DROP));
    wio_json_u64(json, "memory_bytes", result->memory_bytes);
    wio_json_u64(json, "device_bytes", result->device_bytes);
    wio_json_object_end(json);
}

static void put_prepared(struct wio_json *json, const struct wio_replay_result *result)
{
    wio_json_object_begin(json, "prepared");
    wio_json_u64(json, "files", result->prepared_files);
    wio_json_u64(json, "directories", result->prepared_directories);
    wio_json_u64(json, "links", result->prepared_links);
    wio_json_u64(json, "bytes", result->prepared_bytes);
    wio_json_object_end(json);
}

void render_replay_json(const struct wio_trace *trace, const struct wio_replay_result *result,
                        FILE *out)
{
    struct wio_json json;
    wio_json_init(&json, out);
    wio_json_object_begin(&json, NULL);
    wio_json_string(&json, "schema", "whyio.replay/1");
    wio_json_string(&json, "mode", wio_replay_mode_name(result->mode));
    wio_json_bool(&json, "dry_run", result->dry_run);
    put_account(&json, &result->total, !result->dry_run);
    wio_json_u64(&json, "operations", result->total.ops);
    put_skipped(&json, result);
    put_lost(&json, trace);
    wio_json_u64(&json, "stdio_calls", result->covered);
    wio_json_u64(&json, "control", result->control);
    put_prepared(&json, result);
    put_cache(&json, result);
    put_mismatches(&json, trace, result);
    put_waits(&json, result);
    put_late(&json, result);
    put_ranks(&json, result);
    put_phases(&json, result);
    wio_json_object_end(&json);
    wio_json_line(&json);
}
