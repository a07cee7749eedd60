/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "replay/launcher/linked.h"
#include "replay/session.h"

static const char *const mode_names[] = {"default", "causal", "think", "timed", "afap"};

const char *wio_replay_mode_name(enum wio_replay_mode mode)
{
    return (unsigned)mode < WIO_ARRAY_SIZE(mode_names) ? mode_names[mode] : "unknown";
}

const char *wio_replay_cache_name(enum wio_replay_cache cache)
{
    static const char *const names[] = {"auto", "drop", "keep"};
    return (unsigned)cache < WIO_ARRAY_SIZE(names) ? names[cache] : "unknown";
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

static enum wio_status choose_mode(const struct wio_trace *trace,
                                   const struct wio_replay_params *params,
                                   enum wio_replay_mode *mode_out, struct wio_error *err)
{
    struct wio_edge_info info = {0};
    const struct wio_edge_file *edges = wio_trace_edges(trace);
    *mode_out = params->mode;
    if (edges != NULL) {
        wio_edge_file_get_info(edges, &info);
    }
    if (params->mode == WIO_REPLAY_DEFAULT) {
        bool is_any = info.edges + info.collectives > 0;
        *mode_out = is_any ? WIO_REPLAY_CAUSAL : WIO_REPLAY_THINK;
    }
    if (*mode_out != WIO_REPLAY_CAUSAL || edges != NULL) {
        return WIO_OK;
    }
    return wio_error_set(
        err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
        "mode causal needs edges (which operation waited for which), and the trace has none: "
        "use --mode=think, timed or afap");
}

/* With signals held back: prepare, perform, collect. */
static enum wio_status perform(struct rp_stage *stage, struct wio_replay_result *result,
                               struct wio_error *err)
{
    struct rp_watch watch = {stage->params->progress, stage->params->progress_arg, 0};
    enum wio_status status = rp_stage_prepare(stage, err);
    if (status == WIO_OK) {
        status = rp_stage_set_up(stage, err);
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

static void set_tree_size(struct wio_replay_result *result, const struct rp_plan *plan)
{
    struct rp_tree_size size;
    rp_prepare_measure(&plan->observer.space, &size);
    result->prepared_files = size.files;
    result->prepared_directories = size.directories;
    result->prepared_links = size.links;
    result->prepared_bytes = size.bytes;
    result->memory_bytes = size.from_memory;
    result->device_bytes = size.from_device;
}

static enum wio_status run(struct rp_stage *stage, struct wio_replay_result *result,
                           struct wio_error *err)
{
    struct rp_signals signals;
    const struct wio_replay_params *params = stage->params;
    WIO_PRE(stage->plan != NULL);
    set_tree_size(result, stage->plan);
    result->keep_cache = rp_stage_keeps_cache(params->cache, &stage->plan->observer.space);
    memcpy(result->edges, stage->plan->waits.by_class, sizeof(result->edges));
    if (params->link != NULL) {
        return rp_linked_replay(stage, result, err);
    }
    if (params->dry_run) {
        return rp_stage_count(stage, result, err);
    }
    WIO_TRY(rp_root_open(params->root, &stage->root, err));
    WIO_TRY(rp_signals_hold(&signals, err));
    enum wio_status status = perform(stage, result, err);
    rp_signals_release(&signals);
    return status;
}

static enum wio_status make_plan(struct rp_stage *stage, const struct wio_trace *trace,
                                 struct wio_error *err)
{
    WIO_TRY(choose_mode(trace, stage->params, &stage->mode, err));
    bool is_causal = stage->mode == WIO_REPLAY_CAUSAL;
    bool has_order = stage->mode != WIO_REPLAY_TIMED && !stage->params->no_order;
    WIO_TRY(rp_plan_create(trace, is_causal, &stage->plan, err));
    return has_order ? rp_plan_order(stage->plan, is_causal, err) : WIO_OK;
}

enum wio_status wio_replay(const struct wio_trace *trace, const struct wio_replay_params *params,
                           struct wio_replay_result **result_out, struct wio_error *err)
{
    struct rp_stage stage WIO_CLEANUP(rp_stage_fini) = RP_STAGE_INIT;
    *result_out = NULL;
    stage.params = params;
    enum wio_status planned = make_plan(&stage, trace, err);
    WIO_TRY(params->link == NULL ? planned : wio_replay_agree(params->link, planned, err));
    struct wio_replay_result *result = calloc(1, sizeof(*result));
    if (result == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the result of the replay");
    }
    result->mode = stage.mode;
    result->dry_run = params->dry_run;
    result->cache = params->cache;
    enum wio_status status = run(&stage, result, err);
    if (status == WIO_OK || result->signal != 0) {
        *result_out = result;
    } else {
        wio_replay_result_destroy(result);
    }
    return status;
}
