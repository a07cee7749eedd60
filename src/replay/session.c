/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/session.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "replay/dry.h"
#include "replay/wait/pace.h"

/* Room for writes to begin at different places of the data. */
#define SOURCE_SPARE (UINT64_C(1) << 20)

void rp_stage_fini(struct rp_stage *stage)
{
    if (stage->has_limit) {
        (void)setrlimit(RLIMIT_NOFILE, &stage->files);
    }
    rp_bulk_destroy(&stage->run.source);
    free(stage->run.record_base);
    rp_pools_fini(&stage->pools);
    rp_gate_fini(&stage->gate);
    rp_far_fini(&stage->far);
    rp_machine_close(&stage->machine);
    free(stage->homes);
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

static enum wio_status set_up_records(struct rp_stage *stage, bool keep_events,
                                      uint64_t *records_out, struct wio_error *err)
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

/* Under a launcher: does this rank play the image? Streams without one belong to rank 0. */
static bool is_mine(const struct rp_stage *stage, uint32_t image)
{
    uint32_t home = image == RP_NONE ? 0 : stage->homes[stage->plan->family.images[image].group];
    return home == stage->params->link->rank;
}

/* The rank that plays a stream sets its progress; that of other machines comes as a minimum
 * (rp_crowd.far_at_ns). */
static void set_up_other(struct rp_stage *stage, uint32_t image, uint32_t stream)
{
    const struct wio_replay_link *link = stage->params->link;
    uint32_t home = image == RP_NONE ? 0 : stage->homes[stage->plan->family.images[image].group];
    if (stage->machine.is_leader && link->machine_of[home] != link->machine_of[link->rank]) {
        atomic_store(&stage->board->progress[stream].at_ns, UINT64_MAX);
    }
}

static void set_up_progress(struct rp_stage *stage)
{
    const struct rp_family *family = &stage->plan->family;
    for (uint32_t i = 0; i < family->stream_count; i++) {
        const struct wio_stream_info *stream = wio_trace_stream(stage->plan->trace, i);
        uint32_t image = family->streams[i].image;
        bool is_played = image != RP_NONE && stream->events > 0;
        if (stage->homes != NULL && !is_mine(stage, image)) {
            set_up_other(stage, image, i);
            continue;
        }
        atomic_store(&stage->board->progress[i].at_ns, is_played ? stream->first_ns : UINT64_MAX);
    }
}

/* No process plays these streams: all that they have to give is given. */
static void let_absent_pass(struct rp_stage *stage)
{
    const struct rp_family *family = &stage->plan->family;
    for (uint32_t i = 0; i < family->stream_count; i++) {
        if (family->streams[i].image == RP_NONE) {
            rp_gate_pass(&stage->gate, i);
        }
    }
}

static enum wio_status set_up_gate(struct rp_stage *stage, struct wio_error *err)
{
    const struct wio_replay_link *link = stage->params->link;
    WIO_TRY(
        rp_gate_init(&stage->gate, &stage->plan->waits, stage->board, stage->machine.gate, err));
    if (link != NULL && link->machines > 1) {
        stage->far.clock_ahead_ns = stage->machine.clock_ahead_ns;
        stage->gate.far = &stage->far;
    }
    if (link == NULL || link->rank == 0) {
        let_absent_pass(stage);
    }
    return WIO_OK;
}

static enum wio_status set_up_pools(struct rp_stage *stage, struct wio_error *err)
{
    if (stage->params->link != NULL || stage->params->keep_events) {
        return WIO_OK;
    }
    WIO_TRY(rp_pools_init(&stage->pools, stage->plan, err));
    stage->run.pools = &stage->pools;
    return WIO_OK;
}

/* Every recorded descriptor may be open at once, in several processes. */
static void raise_file_limit(struct rp_stage *stage)
{
    stage->has_limit = getrlimit(RLIMIT_NOFILE, &stage->files) == 0;
    if (stage->has_limit) {
        struct rlimit all = {stage->files.rlim_max, stage->files.rlim_max};
        (void)setrlimit(RLIMIT_NOFILE, &all);
    }
}

enum wio_status rp_stage_set_up(struct rp_stage *stage, struct wio_error *err)
{
    uint64_t records;
    const struct wio_replay_params *params = stage->params;
    struct rp_run *run = &stage->run;
    WIO_TRY(rp_ranks_init(&stage->ranks, stage->plan, err));
    WIO_TRY(set_up_records(stage, params->keep_events, &records, err));
    WIO_TRY(rp_board_create(stage->plan->family.group_count, stage->ranks.count,
                            stage->plan->family.stream_count, records, &stage->board, err));
    if (stage->machine.memory != NULL) {
        rp_machine_lend(&stage->machine, stage->board);
        if (stage->machine.is_leader) {
            bool is_alone = params->link->machines == 1;
            atomic_store(&stage->board->crowd->is_far, !is_alone);
            atomic_store(&stage->board->crowd->far_at_ns, is_alone ? UINT64_MAX : 0);
        }
    }
    set_up_progress(stage);
    if (stage->mode == WIO_REPLAY_CAUSAL) {
        WIO_TRY(set_up_gate(stage, err));
        run->gate = &stage->gate;
        stage->board->has_waits = true;
        WIO_TRY(set_up_pools(stage, err));
    }
    WIO_TRY(set_up_source(run, stage->plan->max_bytes, err));
    raise_file_limit(stage);
    run->perform = rp_worker_perform;
    run->trace = stage->plan->trace;
    run->plan = stage->plan;
    run->root = &stage->root;
    run->board = stage->board;
    run->mode = stage->mode;
    run->homes = stage->homes;
    run->link = params->link;
    run->far = stage->far.outbox == NULL ? NULL : &stage->far;
    run->scale = params->scale_compute > 0 ? params->scale_compute : 1;
    run->cpus = rp_pace_cpus();
    run->is_root_user = geteuid() == 0;
    run->rank_of_image = stage->ranks.of_image;
    return WIO_OK;
}

bool rp_stage_keeps_cache(enum wio_replay_cache asked, const struct rp_space *space)
{
    struct rp_tree_size size;
    if (asked != WIO_REPLAY_CACHE_AUTO) {
        return asked == WIO_REPLAY_CACHE_KEEP;
    }
    rp_prepare_measure(space, &size);
    return size.from_memory > size.from_device;
}

enum wio_status rp_stage_prepare(struct rp_stage *stage, struct wio_error *err)
{
    const struct wio_replay_params *params = stage->params;
    const struct rp_space *space = &stage->plan->observer.space;
    const struct rp_prepare prepare = {.root = &stage->root,
                                       .manifest = &stage->manifest,
                                       .keep_cache = rp_stage_keeps_cache(params->cache, space),
                                       .progress = params->progress,
                                       .progress_arg = params->progress_arg,
                                       .should_stop = rp_signals_is_stop};
    WIO_TRY(rp_manifest_open(&stage->manifest, &stage->root, err));
    return rp_prepare(&prepare, space, err);
}

enum wio_status rp_stage_count(const struct rp_stage *stage, struct wio_replay_result *result,
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
