/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose calls are made. Requests carry one number, `source`, that a server knows as call site and
 * job (docs/STORE-PROTOCOL.md, DEFINE_CALLER). A job has a number of the store's, from 1, which
 * each of the two sessions knows by another one.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "store/api/api_internal.h"

/* What the calls of this thread are made for; of another store it says nothing. */
struct acting {
    const struct wio_store *store;
    uint32_t job;
};
static _Thread_local struct acting acting; /* NOLINT(*-avoid-non-const-global-variables) */

void wio_store_act_for(struct wio_store *store, uint32_t job)
{
    acting = (struct acting){store, job};
}

uint32_t api_acting(const struct wio_store *store)
{
    return acting.store == store ? acting.job : store->own_job;
}

void api_callers_init(struct api_callers *callers)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    wio_pair_map_init(&callers->sites, &heap);
}

void api_callers_fini(struct api_callers *callers)
{
    free(callers->jobs);
    wio_strtab_fini(&callers->names);
    wio_pair_map_fini(&callers->sites);
}

uint32_t api_caller_of_name(const struct wio_store *store, uint32_t job)
{
    return job > 0 && job <= store->callers.count ? store->callers.jobs[job - 1].names : 0;
}

uint32_t api_caller_of_data(struct wio_store *store, uint32_t site, uint32_t job)
{
    struct api_callers *callers = &store->callers;
    if (job == 0 || job > callers->count) {
        return site;
    }
    const struct api_caller *caller = &callers->jobs[job - 1];
    if (site == 0) {
        return caller->data;
    }
    uint32_t known = wio_pair_map_get(&callers->sites, site, job);
    if (known == WIO_NO_INDEX) {
        size_t bytes = 0;
        const char *name = wio_strtab_get(&callers->names, job, &bytes);
        known = wio_session_caller(store->data, site, name, bytes);
        (void)!wio_pair_map_put(&callers->sites, site, job, known);
    }
    return known;
}

uint32_t api_caller_add(struct wio_store *store, const char *job, size_t bytes)
{
    struct api_callers *callers = &store->callers;
    uint32_t id = wio_strtab_find(&callers->names, job, bytes);
    void *array = callers->jobs;
    if (id != 0) {
        return id;
    }
    const struct api_caller caller = {.names = wio_session_caller(store->names, 0, job, bytes),
                                      .data = wio_session_caller(store->data, 0, job, bytes)};
    if (caller.names == 0 || caller.data == 0 ||
        wio_grow(&array, sizeof(*callers->jobs), &callers->room, callers->count + 1) != WIO_OK) {
        return 0;
    }
    callers->jobs = array;
    if (wio_strtab_add(&callers->names, job, bytes, &id) != WIO_OK) {
        return 0;
    }
    callers->jobs[callers->count++] = caller; /* ids are 1, 2, 3, .. */
    return id;
}

struct wio_store_request api_op_request(const struct api_op *op, const struct api_request *one)
{
    struct wio_store_request request = api_plan_request(op, one);
    request.source = api_caller_of_data(op->store, op->place.source, op->job);
    request.deadline_ns = op->deadline_ns;
    return request;
}
