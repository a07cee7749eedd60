/* SPDX-License-Identifier: Apache-2.0 */
/* The hosts of a simulated run: which machine each is, and in which something happens first. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "predict/sim.h"

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
    host->clocks = calloc(host->machine.model_count, sizeof(*host->clocks));
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

static enum wio_status add(struct sim *sim, const char *name, struct wio_error *err)
{
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
    if (file == NULL) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "no machine is given for host '%s' of the trace", name);
    }
    sim->host_count++;
    enum wio_status status =
        wio_machine_init(&host->machine, file, params->model, &params->whatif, err);
    if (status != WIO_OK) {
        wio_error_add(err, "as the machine of host '%s'", name);
        return status;
    }
    if (sim->result.host_misspelt.meant == NULL) {
        sim->result.host_misspelt = host->machine.host.misspelt;
    }
    return make_clocks(sim, host);
}

enum wio_status sim_host_need(struct sim *sim, const char *name, uint32_t *index_out,
                              struct wio_error *err)
{
    uint32_t index = 0;
    while (index < sim->host_count && strcmp(sim->hosts[index].name, name) != 0) {
        index++;
    }
    *index_out = index;
    return index < sim->host_count ? WIO_OK : add(sim, name, err);
}

enum wio_status sim_host_check(const struct sim *sim, struct wio_error *err)
{
    const struct wio_predict_params *params = sim->params;
    for (size_t i = 0; i < params->named_host_count; i++) {
        const char *name = params->named_hosts[i].name;
        uint32_t index = 0;
        while (index < sim->host_count && strcmp(sim->hosts[index].name, name) != 0) {
            index++;
        }
        if (index == sim->host_count) {
            return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                                 "a machine is given for host '%s', where nothing of the trace ran "
                                 "(on '%s' something did)",
                                 name, sim->host_count > 0 ? sim->hosts[0].name : "");
        }
    }
    return WIO_OK;
}

void sim_host_fini(struct sim *sim)
{
    for (uint32_t i = 0; i < sim->host_count; i++) {
        wio_machine_fini(&sim->hosts[i].machine);
        wio_names_fini(&sim->hosts[i].names);
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
    if (next_s != clock->next_s) {
        RB_REMOVE(sim_clocks, &sim->clocks, clock);
        clock->next_s = next_s;
        RB_INSERT(sim_clocks, &sim->clocks, clock);
    }
}
