/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts of a simulated run: which machine each is, and in which something happens first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "predict/sim/sim.h"
#include "trace/read/recorders.h"

#define NOWHERE UINT32_MAX

static int compare_clocks(const struct sim_clock *a, const struct sim_clock *b)
{
    if (a->next_s != b->next_s) {
        return a->next_s < b->next_s ? -1 : 1;
    }
    return (a->index > b->index) - (a->index < b->index);
}

RB_GENERATE_STATIC(sim_clocks, sim_clock, by_next, compare_clocks)

/* ---- which machine ---- */

/* The HOST.json that was given for a host of the trace; NULL: none. */
static const char *file_of(const struct wio_predict_params *params, const char *name)
{
    for (size_t i = 0; i < params->named_host_count; i++) {
        if (strcmp(params->named_hosts[i].name, name) == 0) {
            return params->named_hosts[i].file;
        }
    }
    return params->host;
}

static enum wio_status make_clocks(struct sim *sim, struct sim_host *host)
{
    host->clocks = calloc((size_t)host->machine.model_count + 1, sizeof(*host->clocks));
    if (host->clocks == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < host->machine.model_count; i++) {
        host->clocks[i] = (struct sim_clock){
            .index = sim->clock_count++, .next_s = HUGE_VAL, .model = host->machine.models[i]};
        RB_INSERT(sim_clocks, &sim->clocks, &host->clocks[i]);
    }
    return WIO_OK;
}

/* As the recorder of the host told it; of a trace that tells nothing of the machine it is not
 * known. */
static struct wio_machine_group group_of(const struct wio_trace *trace, const char *host)
{
    struct wio_machine_group group = {.limit = WIO_MODEL_UNLIMITED, .version = 2};
    for (uint32_t i = 0; i < wio_trace_recorder_count(trace) && !group.is_known; i++) {
        struct wio_recorder_info info;
        uint64_t limit;
        uint64_t usage = 0;
        uint64_t file = 0;
        uint64_t version = 2;
        if (wio_trace_recorder(trace, i, &info) != WIO_OK || info.machine_bytes == 0 ||
            info.host_bytes != strlen(host) || memcmp(info.host, host, info.host_bytes) != 0) {
            continue;
        }
        group.is_known = true;
        if (!wio_recorder_fact(&info, "memory_group_limit", &limit) || limit == 0) {
            continue;
        }
        (void)wio_recorder_fact(&info, "memory_group_usage", &usage);
        (void)wio_recorder_fact(&info, "memory_group_file", &file);
        (void)wio_recorder_fact(&info, "memory_group_version", &version);
        group.limit = fmin((double)limit, WIO_MODEL_UNLIMITED);
        group.used = fmin(usage > file ? (double)(usage - file) : 0, WIO_MODEL_UNLIMITED);
        group.version = version == 1 ? 1 : 2;
    }
    return group;
}

static enum wio_status add(struct sim *sim, const struct wio_trace *trace, const char *name,
                           struct wio_error *err)
{
    const struct wio_machine_group group = group_of(trace, name);
    const struct wio_predict_params *params = sim->params;
    const char *file = file_of(params, name);
    struct sim_host *more =
        reallocarray(sim->hosts, (size_t)sim->host_count + 1, sizeof(*sim->hosts));
    if (more == NULL) {
        return WIO_ERR_NOMEM;
    }
    sim->hosts = more;
    struct sim_host *host = &sim->hosts[sim->host_count];
    *host = (struct sim_host){.name = name};
    if (params->fit != NULL) {
        sim->host_count++;
        return make_clocks(sim, host);
    }
    if (file == NULL) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "no machine is given for host '%s' of the trace", name);
    }
    sim->host_count++;
    enum wio_status status =
        wio_machine_init(&host->machine, file, params, &group, &sim->budget, err);
    if (status != WIO_OK) {
        wio_error_add(err, "as the machine of host '%s'", name);
        return status;
    }
    sim->result.spread = fmax(sim->result.spread, host->machine.spread);
    if (host->machine.host.trust.is > sim->result.trust.is) {
        sim->result.trust = host->machine.host.trust;
    }
    if (sim->result.host_misspelt.meant == NULL) {
        sim->result.host_misspelt = host->machine.host.misspelt;
    }
    return make_clocks(sim, host);
}

static uint32_t find(const struct sim *sim, const char *name)
{
    uint32_t index = 0;
    while (index < sim->host_count && strcmp(sim->hosts[index].name, name) != 0) {
        index++;
    }
    return index;
}

/* The first host that no process of the program is on so far. */
static uint32_t first_free(const struct sim *sim, const struct sim_program *program)
{
    uint32_t processes = wio_trace_process_count(program->trace);
    for (uint32_t host = 0; host < sim->host_count; host++) {
        uint32_t i = 0;
        while (i < processes && program->hosts[i] != host) {
            i++;
        }
        if (i == processes) {
            return host;
        }
    }
    return sim->host_count;
}

/* As another process of the program that is on this host; NOWHERE: none is so far. */
static uint32_t as_others(const struct sim_program *program, const char *name)
{
    uint32_t processes = wio_trace_process_count(program->trace);
    for (uint32_t i = 0; i < processes; i++) {
        if (program->hosts[i] != NOWHERE &&
            strcmp(wio_trace_process(program->trace, i)->host, name) == 0) {
            return program->hosts[i];
        }
    }
    return NOWHERE;
}

static enum wio_status add_process(struct sim *sim, struct sim_program *program, uint32_t process,
                                   struct wio_error *err)
{
    const char *name = wio_trace_process(program->trace, process)->host;
    uint32_t host = as_others(program, name);
    if (host == NOWHERE) {
        bool may_share = program != sim->programs;
        host = find(sim, name);
        host = host == sim->host_count && may_share ? first_free(sim, program) : host;
    }
    program->hosts[process] = host;
    return host < sim->host_count ? WIO_OK : add(sim, program->trace, name, err);
}

static enum wio_status check(const struct sim *sim, struct wio_error *err)
{
    const struct wio_predict_params *params = sim->params;
    for (size_t i = 0; i < params->named_host_count; i++) {
        const char *name = params->named_hosts[i].name;
        if (find(sim, name) == sim->host_count) {
            return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                                 "a machine is given for host '%s', where nothing of the trace ran "
                                 "(on '%s' something did)",
                                 name, sim->host_count > 0 ? sim->hosts[0].name : "");
        }
    }
    return WIO_OK;
}

static enum wio_status add_processes(struct sim *sim, struct sim_program *program,
                                     struct wio_error *err)
{
    uint32_t processes = wio_trace_process_count(program->trace);
    program->hosts = calloc((size_t)processes + 1, sizeof(*program->hosts));
    if (program->hosts == NULL) {
        return WIO_ERR_NOMEM;
    }
    memset(program->hosts, 0xff, processes * sizeof(*program->hosts)); /* NOWHERE */
    for (uint32_t i = 0; i < wio_trace_stream_count(program->trace); i++) {
        uint32_t process = wio_trace_stream(program->trace, i)->process;
        if (program->hosts[process] == NOWHERE) {
            WIO_TRY(add_process(sim, program, process, err));
        }
    }
    return WIO_OK;
}

enum wio_status sim_host_add_all(struct sim *sim, struct wio_error *err)
{
    for (uint32_t i = 0; i < sim->program_count; i++) {
        WIO_TRY(add_processes(sim, &sim->programs[i], err));
    }
    return check(sim, err);
}

void sim_host_fini(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->host_count; i++) {
        wio_machine_fini(&sim->hosts[i].machine);
        wio_map_fini(&sim->hosts[i].ends);
        wio_map_fini(&sim->hosts[i].emptied);
        free(sim->hosts[i].clocks);
    }
    free(sim->hosts);
}

/* ---- time ---- */

struct sim_clock *sim_host_first(struct sim *sim, double *others_out)
{
    struct sim_clock *first = RB_MIN(sim_clocks, &sim->clocks);
    *others_out = HUGE_VAL;
    if (first == NULL || first->next_s == HUGE_VAL) {
        return NULL;
    }
    const struct sim_clock *second = RB_NEXT(sim_clocks, &sim->clocks, first);
    *others_out = second != NULL ? second->next_s : HUGE_VAL;
    return first;
}

void sim_host_moved(struct sim *sim, struct sim_clock *clock)
{
    double next_s = wio_model_next(clock->model);
    if (sim->clock_count == 1) {
        clock->next_s = next_s; /* the only one is always the first */
    } else if (next_s != clock->next_s) {
        RB_REMOVE(sim_clocks, &sim->clocks, clock);
        clock->next_s = next_s;
        RB_INSERT(sim_clocks, &sim->clocks, clock);
    }
}
