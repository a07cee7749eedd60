/* SPDX-License-Identifier: Apache-2.0 */
#include "store/load/load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/histogram.h"

#define SECOND_NS UINT64_C(1000000000)
#define PROGRESS_NS UINT64_C(100000000)
/* Of a program that was told EBUSY. */
#define REST_NS UINT64_C(1000000)

struct load;

struct load_client {
    struct load *load;
    uint32_t index;
    pthread_t thread;
    bool is_started;
    struct wio_store *store;
    struct wio_store_file *file;
    uint8_t *data;
    uint64_t random;
    struct wio_load_access accesses[WIO_LOAD_EACH_MAX];
    struct wio_histogram latencies;
    struct wio_load_result result; /* its counts */
    struct wio_error err;          /* the first failure */
};

struct load {
    const struct wio_load_params *params;
    char path[64];
    struct load_client *clients;
    atomic_bool may_begin;
    uint64_t begin_ns; /* valid where may_begin */
    uint64_t end_ns;
};

/* ---- operations ---------------------------------------------------------------------------- */

static enum wio_status access_object(struct load_client *client,
                                     const struct wio_load_access *access,
                                     struct wio_store_txn *txn, struct wio_error *err)
{
    uint64_t bytes = client->load->params->object_bytes;
    uint64_t offset = access->object * bytes;
    size_t got = 0;
    return access->is_read
               ? wio_store_pread(client->file, txn, client->data, bytes, offset, &got, err)
               : wio_store_pwrite(client->file, txn, client->data, bytes, offset, err);
}

static enum wio_status body(struct wio_store_txn *txn, void *context, struct wio_error *err)
{
    struct load_client *client = context;
    for (uint32_t i = 0; i < client->load->params->pattern.each; i++) {
        WIO_TRY(access_object(client, &client->accesses[i], txn, err));
    }
    return WIO_OK;
}

static enum wio_status operate(struct load_client *client, uint64_t number, struct wio_error *err)
{
    const struct wio_load_params *params = client->load->params;
    const struct wio_store_txn_params txn = {.struct_size = sizeof(txn),
                                             .is_stable = params->is_stable,
                                             .timeout_ns = params->give_up_ns};
    wio_load_choose(&params->pattern, client->index, number, &client->random, client->accesses);
    return params->pattern.each == 1 ? access_object(client, &client->accesses[0], NULL, err)
                                     : wio_store_transact(client->store, &txn, body, client, err);
}

/* ---- a client ------------------------------------------------------------------------------ */

static void sleep_until(uint64_t ns)
{
    const struct timespec until = {(time_t)(ns / SECOND_NS), (long)(ns % SECOND_NS)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {
    }
}

/* Open: the clients take turns, each operation when it is due, however late the ones before it
 * were. Closed: at once. */
static uint64_t due_ns(const struct load_client *client, uint64_t number)
{
    const struct load *load = client->load;
    const struct wio_load_params *params = load->params;
    if (params->rate <= 0) {
        return wio_clock_mono_ns();
    }
    double turn = (double)(number * params->clients + client->index);
    return load->begin_ns + (uint64_t)(turn * (double)SECOND_NS / params->rate);
}

static void count(struct load_client *client, enum wio_status status, const struct wio_error *err,
                  uint64_t took_ns)
{
    const struct wio_load_params *params = client->load->params;
    struct wio_load_result *result = &client->result;
    result->offered++;
    if (status != WIO_OK) {
        result->busy += err->sys_errno == EBUSY;
        if (result->failed++ == 0) {
            client->err = *err;
        }
        return;
    }
    result->done++;
    result->in_time += params->deadline_ns == 0 || took_ns <= params->deadline_ns;
    result->bytes += params->object_bytes * params->pattern.each;
    wio_histogram_add(&client->latencies, took_ns);
}

static void *run_client(void *context)
{
    struct load_client *client = context;
    struct load *load = client->load;
    while (!atomic_load(&load->may_begin)) {
        sleep_until(wio_clock_mono_ns() + SECOND_NS / 1000);
    }
    for (uint64_t number = 0;; number++) {
        struct wio_error err = WIO_ERROR_INIT;
        uint64_t due = due_ns(client, number);
        if (due >= load->end_ns) {
            return NULL;
        }
        uint64_t now_ns = wio_clock_mono_ns();
        if (now_ns < due) {
            sleep_until(due);
        } else if (now_ns >= load->end_ns) {
            client->result.offered++; /* due, and not reached any more */
            continue;
        }
        enum wio_status status = operate(client, number, &err);
        count(client, status, &err, wio_clock_mono_ns() - due);
        if (status == WIO_ERR_BUSY && err.sys_errno == EBUSY) {
            sleep_until(wio_clock_mono_ns() + REST_NS);
        }
    }
}

static enum wio_status open_client(struct load_client *client, struct wio_error *err)
{
    const struct wio_load_params *params = client->load->params;
    const struct wio_store_open_params how = {.struct_size = sizeof(how),
                                              .flags = O_RDWR | O_CREAT,
                                              .mode = 0600,
                                              .view = WIO_VIEW_INDEPENDENT,
                                              .segments = params->segments,
                                              .stripe_unit = (uint32_t)params->object_bytes,
                                              .is_stable = params->is_stable,
                                              .source = "whyio load",
                                              .timeout_ns = client->load->params->give_up_ns};
    client->random = client->index + UINT64_C(1);
    client->data = malloc(params->object_bytes);
    if (client->data == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    memset(client->data, 'a' + (int)(client->index % 26), params->object_bytes);
    WIO_TRY(wio_store_connect(&params->connect, &client->store, err));
    return wio_store_file_open(client->store, client->load->path, &how, &client->file, err);
}

/* ---- all of them --------------------------------------------------------------------------- */

static void load_fini(struct load *load)
{
    for (uint32_t i = 0; load->clients != NULL && i < load->params->clients; i++) {
        struct load_client *client = &load->clients[i];
        wio_store_file_close(client->file);
        wio_store_disconnect(client->store);
        free(client->data);
    }
    free(load->clients);
}

/* Each object is there, so that reads have something to read. */
static enum wio_status fill(struct load *load, struct wio_error *err)
{
    const struct wio_load_params *params = load->params;
    struct load_client *first = &load->clients[0];
    uint64_t objects = wio_load_objects(&params->pattern, params->clients);
    for (uint64_t i = 0; i < objects; i++) {
        WIO_TRY(wio_store_pwrite(first->file, NULL, first->data, params->object_bytes,
                                 i * params->object_bytes, err));
    }
    return WIO_OK;
}

static enum wio_status begin(struct load *load, struct wio_error *err)
{
    for (uint32_t i = 0; i < load->params->clients; i++) {
        struct load_client *client = &load->clients[i];
        client->load = load;
        client->index = i;
        WIO_TRY(open_client(client, err));
    }
    WIO_TRY(fill(load, err));
    for (uint32_t i = 0; i < load->params->clients; i++) {
        struct load_client *client = &load->clients[i];
        struct wio_store_info info = {.struct_size = sizeof(info)};
        wio_store_get_info(client->store, &info);
        client->result.committed = info.committed; /* those before do not count */
        client->result.overloads = info.overloads;
        client->result.held_back = info.held_back;
        client->is_started = pthread_create(&client->thread, NULL, run_client, client) == 0;
    }
    return WIO_OK;
}

static void wait_for_end(struct load *load)
{
    const struct wio_load_params *params = load->params;
    load->begin_ns = wio_clock_mono_ns() + SECOND_NS / 100;
    load->end_ns = load->begin_ns + params->duration_ns;
    atomic_store(&load->may_begin, true);
    for (uint64_t now_ns = wio_clock_mono_ns(); now_ns < load->end_ns && params->progress != NULL;
         now_ns = wio_clock_mono_ns()) {
        uint64_t done_ns = now_ns > load->begin_ns ? now_ns - load->begin_ns : 0;
        params->progress(params->progress_arg, done_ns / 1000000, params->duration_ns / 1000000,
                         "ms");
        sleep_until(now_ns + PROGRESS_NS < load->end_ns ? now_ns + PROGRESS_NS : load->end_ns);
    }
    for (uint32_t i = 0; i < params->clients; i++) {
        if (load->clients[i].is_started) {
            (void)pthread_join(load->clients[i].thread, NULL);
        }
    }
}

static void add(struct load_client *client, struct wio_load_result *sum,
                struct wio_histogram *latencies)
{
    struct wio_store_info info = {.struct_size = sizeof(info)};
    wio_store_get_info(client->store, &info);
    sum->offered += client->result.offered;
    sum->done += client->result.done;
    sum->in_time += client->result.in_time;
    sum->failed += client->result.failed;
    sum->bytes += client->result.bytes;
    sum->committed += info.committed - client->result.committed;
    sum->attempts += info.attempts;
    sum->wounds += info.wounds;
    sum->refused += info.refused;
    sum->overloads += info.overloads - client->result.overloads;
    sum->held_back += info.held_back - client->result.held_back;
    sum->busy += client->result.busy;
    sum->least = client->result.in_time < sum->least ? client->result.in_time : sum->least;
    wio_histogram_merge(latencies, &client->latencies);
}

/* Jain's index. */
static double fairness(const struct load *load)
{
    double sum = 0;
    double squares = 0;
    for (uint32_t i = 0; i < load->params->clients; i++) {
        double got = (double)load->clients[i].result.in_time;
        sum += got;
        squares += got * got;
    }
    return squares > 0 ? sum * sum / (squares * load->params->clients) : 0;
}

static enum wio_status sum_up(struct load *load, struct wio_load_result *result_out,
                              struct wio_error *err)
{
    struct wio_histogram *latencies = calloc(1, sizeof(*latencies));
    const struct wio_error *first = NULL;
    if (latencies == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    *result_out = (struct wio_load_result){
        .duration_s = (double)(wio_clock_mono_ns() - load->begin_ns) / (double)SECOND_NS,
        .least = UINT64_MAX};
    for (uint32_t i = 0; i < load->params->clients; i++) {
        struct load_client *client = &load->clients[i];
        add(client, result_out, latencies);
        first = first == NULL && client->result.failed > 0 ? &client->err : first;
    }
    result_out->p50_us = wio_histogram_quantile(latencies, 0.5) / 1e3;
    result_out->p99_us = wio_histogram_quantile(latencies, 0.99) / 1e3;
    result_out->p999_us = wio_histogram_quantile(latencies, 0.999) / 1e3;
    result_out->fairness = fairness(load);
    result_out->max_us = (double)latencies->max / 1e3;
    free(latencies);
    return result_out->done == 0 && first != NULL ? wio_error_pass(err, first) : WIO_OK;
}

static enum wio_status check(const struct wio_load_params *params, struct wio_error *err)
{
    const struct wio_load_pattern *pattern = &params->pattern;
    if (params->clients == 0 || pattern->each == 0 || pattern->each > WIO_LOAD_EACH_MAX ||
        pattern->objects < pattern->each || params->object_bytes == 0 ||
        params->object_bytes > UINT32_MAX || pattern->order >= WIO_LOAD_ORDERS) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "a load has clients, objects with bytes, and no more objects in a "
                             "transaction (at most %d) than there are",
                             WIO_LOAD_EACH_MAX);
    }
    return WIO_OK;
}

enum wio_status wio_load_run(const struct wio_load_params *params,
                             struct wio_load_result *result_out, struct wio_error *err)
{
    WIO_CLEANUP(load_fini) struct load load = {.params = params};
    WIO_TRY(check(params, err));
    (void)snprintf(load.path, sizeof(load.path), "/whyio-load-%d-%" PRIu64, (int)getpid(),
                   wio_clock_mono_ns());
    load.clients = calloc(params->clients, sizeof(*load.clients));
    if (load.clients == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    enum wio_status status = begin(&load, err);
    if (status == WIO_OK) {
        wait_for_end(&load);
        status = sum_up(&load, result_out, err);
    }
    if (load.clients[0].file != NULL) {
        (void)!wio_store_unlink(load.clients[0].store, load.path, NULL);
    }
    return status;
}
