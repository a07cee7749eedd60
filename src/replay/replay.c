/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay.h"

#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "replay/coordinate.h"
#include "replay/dry.h"
#include "replay/manifest.h"
#include "replay/pace.h"
#include "replay/prepare.h"
#include "replay/result.h"

/* Room for writes to begin at different places of the data. */
#define SOURCE_SPARE (UINT64_C(1) << 20)

static const char *const mode_names[] = {"default", "causal", "think", "timed", "afap"};

const char *wio_replay_mode_name(enum wio_replay_mode mode)
{
    return (unsigned)mode < WIO_ARRAY_SIZE(mode_names) ? mode_names[mode] : "unknown";
}

const char *wio_replay_skip_key(enum wio_replay_skip skip)
{
    static const char *const keys[] = {
#define SKIP_KEY(id, key, text) key,
        WIO_REPLAY_SKIP_LIST(SKIP_KEY)
#undef SKIP_KEY
    };
    return (unsigned)skip < WIO_ARRAY_SIZE(keys) ? keys[skip] : "unknown";
}

const char *wio_replay_skip_text(enum wio_replay_skip skip)
{
    static const char *const texts[] = {
#define SKIP_TEXT(id, key, text) text,
        WIO_REPLAY_SKIP_LIST(SKIP_TEXT)
#undef SKIP_TEXT
    };
    return (unsigned)skip < WIO_ARRAY_SIZE(texts) ? texts[skip] : "unknown";
}

/* Traces hold no edges yet: think is what there is. */
static enum wio_status choose_mode(const struct wio_replay_params *params,
                                   enum wio_replay_mode *mode_out, struct wio_error *err)
{
    *mode_out = params->mode == WIO_REPLAY_DEFAULT ? WIO_REPLAY_THINK : params->mode;
    if (*mode_out != WIO_REPLAY_CAUSAL) {
        return WIO_OK;
    }
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                         "mode causal needs edges (who waited for whom), and the trace has none: "
                         "use --mode=think, timed or afap");
}

/* ---- everything that a replay holds ---- */

struct stage {
    struct rp_plan *plan;
    struct rp_root root;
    struct rp_manifest manifest;
    struct rp_ranks ranks;
    struct rp_board *board;
    struct rp_run run;
    struct rlimit files; /* before */
    bool has_limit;
};

static void stage_fini(struct stage *stage)
{
    if (stage->has_limit) {
        (void)setrlimit(RLIMIT_NOFILE, &stage->files);
    }
    rp_bulk_destroy(&stage->run.source);
    free(stage->run.record_base);
    rp_board_destroy(stage->board);
    rp_ranks_fini(&stage->ranks);
    rp_manifest_close(&stage->manifest);
    rp_root_close(&stage->root);
    rp_plan_destroy(stage->plan);
}

static enum wio_status set_up_source(struct rp_run *run, uint64_t bytes, struct wio_error *err)
{
    uint64_t seed = 1;
    WIO_TRY(rp_bulk_create((size_t)(bytes + SOURCE_SPARE), &run->source, err));
    rp_fill(run->source.data, run->source.window, &seed);
    return WIO_OK;
}

static enum wio_status set_up_records(struct stage *stage, bool keep_events, uint64_t *records_out,
                                      struct wio_error *err)
{
    uint32_t streams = wio_trace_stream_count(stage->plan->trace);
    uint64_t total = 0;
    *records_out = 0;
    stage->run.record_base = calloc((size_t)streams + 1, sizeof(uint64_t));
    if (stage->run.record_base == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the replay");
    }
    for (uint32_t i = 0; i < streams; i++) {
        stage->run.record_base[i] = total;
        total += wio_trace_stream(stage->plan->trace, i)->events;
    }
    *records_out = keep_events ? total : 0;
    return WIO_OK;
}

static void set_up_progress(struct stage *stage)
{
    const struct rp_family *family = &stage->plan->family;
    for (uint32_t i = 0; i < family->stream_count; i++) {
        const struct wio_stream_info *stream = wio_trace_stream(stage->plan->trace, i);
        bool is_played = family->streams[i].image != RP_NONE && stream->events > 0;
        atomic_store(&stage->board->progress[i].at_ns, is_played ? stream->first_ns : UINT64_MAX);
    }
}

/* Every recorded descriptor may be open at once, in several processes. */
static void raise_file_limit(struct stage *stage)
{
    stage->has_limit = getrlimit(RLIMIT_NOFILE, &stage->files) == 0;
    if (stage->has_limit) {
        struct rlimit all = {stage->files.rlim_max, stage->files.rlim_max};
        (void)setrlimit(RLIMIT_NOFILE, &all);
    }
}

static enum wio_status set_up(struct stage *stage, const struct wio_replay_params *params,
                              enum wio_replay_mode mode, struct wio_error *err)
{
    uint64_t records;
    struct rp_run *run = &stage->run;
    WIO_TRY(rp_ranks_init(&stage->ranks, stage->plan, err));
    WIO_TRY(set_up_records(stage, params->keep_events, &records, err));
    WIO_TRY(rp_board_create(stage->plan->family.group_count, stage->ranks.count,
                            stage->plan->family.stream_count, records, &stage->board, err));
    set_up_progress(stage);
    WIO_TRY(set_up_source(run, stage->plan->max_bytes, err));
    raise_file_limit(stage);
    run->trace = stage->plan->trace;
    run->plan = stage->plan;
    run->root = &stage->root;
    run->board = stage->board;
    run->mode = mode;
    run->scale = params->scale_compute > 0 ? params->scale_compute : 1;
    run->cpus = rp_pace_cpus();
    run->is_root_user = geteuid() == 0;
    run->rank_of_image = stage->ranks.of_image;
    return WIO_OK;
}

static enum wio_status prepare(struct stage *stage, const struct wio_replay_params *params,
                               struct wio_error *err)
{
    const struct rp_prepare prepare = {.root = &stage->root,
                                       .manifest = &stage->manifest,
                                       .keep_cache = params->keep_cache,
                                       .progress = params->progress,
                                       .progress_arg = params->progress_arg,
                                       .should_stop = rp_signals_is_stop};
    WIO_TRY(rp_manifest_open(&stage->manifest, &stage->root, err));
    return rp_prepare(&prepare, &stage->plan->observer.space, err);
}

/* With signals held back: prepare, perform, collect. */
static enum wio_status perform(struct stage *stage, const struct wio_replay_params *params,
                               struct wio_replay_result *result, struct wio_error *err)
{
    struct rp_watch watch = {params->progress, params->progress_arg, 0};
    enum wio_status status = prepare(stage, params, err);
    if (status == WIO_OK) {
        status = set_up(stage, params, result->mode, err);
    }
    if (status == WIO_OK) {
        status = rp_coordinate(&stage->run, &watch, err);
    } else {
        watch.signal = rp_signals_take_stop();
    }
    result->signal = watch.signal;
    WIO_TRY(status);
    WIO_TRY(rp_manifest_prune(&stage->manifest, &stage->root, err));
    return rp_result_take(result, stage->plan, &stage->board, &stage->ranks, err);
}

static enum wio_status run_dry(struct stage *stage, struct wio_replay_result *result,
                               struct wio_error *err)
{
    struct rp_tally *tally = calloc(1, sizeof(*tally));
    if (tally == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the replay");
    }
    enum wio_status status = rp_dry_count(stage->plan, tally, err);
    if (status == WIO_OK) {
        rp_result_set_totals(result, tally);
    }
    free(tally);
    return status;
}

static void set_tree_size(struct wio_replay_result *result, const struct rp_plan *plan)
{
    struct rp_tree_size size;
    rp_prepare_measure(&plan->observer.space, &size);
    result->prepared_files = size.files;
    result->prepared_directories = size.directories;
    result->prepared_links = size.links;
    result->prepared_bytes = size.bytes;
}

static enum wio_status run(struct stage *stage, const struct wio_replay_params *params,
                           struct wio_replay_result *result, struct wio_error *err)
{
    struct rp_signals signals;
    set_tree_size(result, stage->plan);
    if (params->dry_run) {
        return run_dry(stage, result, err);
    }
    WIO_TRY(rp_root_open(params->root, &stage->root, err));
    WIO_TRY(rp_signals_hold(&signals, err));
    enum wio_status status = perform(stage, params, result, err);
    rp_signals_release(&signals);
    return status;
}

enum wio_status wio_replay(const struct wio_trace *trace, const struct wio_replay_params *params,
                           struct wio_replay_result **result_out, struct wio_error *err)
{
    struct stage stage WIO_CLEANUP(stage_fini) = {.root = {.fd = -1}, .manifest = {.fd = -1}};
    enum wio_replay_mode mode;
    *result_out = NULL;
    WIO_TRY(choose_mode(params, &mode, err));
    WIO_TRY(rp_plan_create(trace, &stage.plan, err));
    struct wio_replay_result *result = calloc(1, sizeof(*result));
    if (result == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the result of the replay");
    }
    result->mode = mode;
    result->dry_run = params->dry_run;
    enum wio_status status = run(&stage, params, result, err);
    if (status == WIO_OK || result->signal != 0) {
        *result_out = result;
    } else {
        wio_replay_result_destroy(result);
    }
    return status;
}
