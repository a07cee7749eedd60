/* SPDX-License-Identifier: Apache-2.0 */
/* Which programs are simulated, how many copies of each, and which of their files are the same. */
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/text.h"
#include "predict/sim/sim.h"

#define THREADS_MAX 1000000u
/* What a thread takes: its slice of the trace, how that is unpacked, its place in the models. */
#define THREAD_BYTES (UINT64_C(80) << 10)

static enum wio_status too_many(const struct sim *sim, uint64_t ranks, uint64_t threads,
                                struct wio_error *err)
{
    uint64_t most = sim->budget.limit / THREAD_BYTES;
    char need[WIO_TEXT_MAX];
    char limit[WIO_TEXT_MAX];
    return wio_error_set(
        err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
        "%llu ranks are %llu threads, which take about %s of memory; at most %llu threads can be "
        "simulated in %s (--max-memory)",
        (unsigned long long)ranks, (unsigned long long)threads,
        wio_format_size(need, threads * THREAD_BYTES),
        (unsigned long long)(most < THREADS_MAX ? most : THREADS_MAX),
        wio_format_size(limit, sim->budget.limit));
}

/* How many copies of the job there are to be. */
static enum wio_status scale(const struct sim *sim, struct sim_program *program,
                             struct wio_error *err)
{
    uint32_t wanted = sim->params->whatif.ranks;
    uint32_t ranks = program->recorded->ranks;
    if (wanted % ranks != 0) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "%u ranks: expected a multiple of the %u of the trace", wanted, ranks);
    }
    program->copies = wanted > 0 ? wanted / ranks : 1;
    return WIO_OK;
}

static enum wio_status add(struct sim *sim, const struct wio_program *recorded,
                           struct wio_error *err)
{
    struct sim_program *program = &sim->programs[sim->program_count];
    const struct sim_program *before = sim->program_count > 0 ? program - 1 : NULL;
    struct wio_trace_info info;
    *program = (struct sim_program){
        .recorded = recorded,
        .trace = recorded->trace,
        .waits = &recorded->waits,
        .converter = {&recorded->files, &sim->params->whatif},
        .first_thread = sim->thread_count,
    };
    sim->program_count++;
    WIO_TRY(scale(sim, program, err));
    if (before != NULL) {
        program->first_copy = before->first_copy + before->copies;
        program->first_rank = before->first_rank + before->copies * before->recorded->rank_span;
    }
    wio_trace_get_info(recorded->trace, &info);
    program->events = info.events * program->copies;
    sim->total_events += program->events;
    uint64_t threads = (uint64_t)wio_trace_stream_count(recorded->trace) * program->copies;
    uint64_t all = sim->thread_count + threads;
    if (all > THREADS_MAX || all > sim->budget.limit / THREAD_BYTES) {
        uint64_t ranks = (uint64_t)recorded->ranks * program->copies;
        return too_many(sim, program->first_rank + ranks, all, err);
    }
    program->thread_count = (uint32_t)threads;
    sim->thread_count = (uint32_t)all;
    return WIO_OK;
}

/* ---- files of the same name ---- */

struct sharing {
    struct wio_strtab names;
    struct wio_map numbers; /* (name, how many files had it before in the program) -> number */
};

static void sharing_fini(struct sharing *sharing)
{
    wio_strtab_fini(&sharing->names);
    wio_map_fini(&sharing->numbers);
}

static void map_cleanup(struct wio_map *map)
{
    wio_map_fini(map);
}

/* The number of the file with this first path: the n-th one of a program is the n-th of another. */
static enum wio_status share_file(const struct sim_program *program, struct sharing *sharing,
                                  struct wio_map *counts, uint32_t path, uint32_t *number_out)
{
    size_t bytes;
    uint32_t name;
    const char *text = wio_trace_string(program->trace, path, &bytes);
    WIO_TRY(wio_strtab_add(&sharing->names, text, bytes, &name));
    const uint64_t *before = wio_map_get(counts, name);
    const uint64_t count = before != NULL ? *before : 0;
    const uint64_t key = (uint64_t)name << 32 | count;
    const uint64_t *known = wio_map_get(&sharing->numbers, key);
    *number_out = (uint32_t)(known != NULL ? *known : sharing->numbers.hash.count);
    WIO_TRY(wio_map_put(counts, name, count + 1));
    return known != NULL ? WIO_OK : wio_map_put(&sharing->numbers, key, *number_out);
}

static enum wio_status share_files_of(struct sim_program *program, struct sharing *sharing)
{
    WIO_PRE(program->recorded != NULL);
    const struct wio_used_files *files = &program->recorded->files;
    WIO_CLEANUP(map_cleanup) struct wio_map counts = {0};
    program->files = calloc((size_t)files->file_count + 1, sizeof(*program->files));
    if (program->files == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < files->file_count; i++) {
        WIO_TRY(share_file(program, sharing, &counts, files->paths[i], &program->files[i]));
    }
    return WIO_OK;
}

static enum wio_status share_files(struct sim *sim)
{
    WIO_CLEANUP(sharing_fini) struct sharing sharing = {0};
    for (uint32_t i = 0; sim->program_count > 1 && i < sim->program_count; i++) {
        WIO_TRY(share_files_of(&sim->programs[i], &sharing));
    }
    return WIO_OK;
}

enum wio_status sim_program_add_all(struct sim *sim, const struct wio_program *recorded,
                                    uint32_t count, struct wio_error *err)
{
    sim->programs = calloc((size_t)count + 1, sizeof(*sim->programs));
    if (sim->programs == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    for (uint32_t i = 0; i < count; i++) {
        WIO_TRY(add(sim, &recorded[i], err));
    }
    sim->first_request = sim_part_task(sim, sim->thread_count, 0);
    sim->next_task = sim->first_request;
    return share_files(sim);
}

/* What the exchange of data costs is as on the first host. */
enum wio_status sim_program_change(struct sim *sim, struct wio_error *err)
{
    const struct wio_predict_params *params = sim->params;
    for (uint32_t i = 0; params->change_count > 0 && i < sim->program_count; i++) {
        struct sim_program *program = &sim->programs[i];
        const struct wio_host *host = &sim->hosts[0].machine.host;
        const struct wio_change_net net =
            params->fit != NULL ? sim_fit_net(sim)
                                : (struct wio_change_net){host->net_bw, host->net_lat};
        WIO_TRY(wio_change_program(program->recorded, params->changes, params->change_count, &net,
                                   &program->edits, err));
    }
    return WIO_OK;
}

void sim_program_fini(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->program_count; i++) {
        sim_gate_fini(&sim->programs[i]);
        free(sim->programs[i].files);
        free(sim->programs[i].hosts);
        wio_edits_fini(&sim->programs[i].edits);
    }
    free(sim->programs);
}
