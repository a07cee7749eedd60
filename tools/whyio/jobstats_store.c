/* SPDX-License-Identifier: Apache-2.0 */
#include "jobstats_store.h"

#include <string.h>

#include "base/cleanup.h"
#include "job/quote.h"

struct job_rows {
    struct wio_job_accounts *accounts;
    enum wio_status status;
    uint32_t server; /* of the last row .. */
    uint32_t job;    /* .. and its job */
};

static enum wio_status add(struct job_rows *reading, const struct wio_store_job_op *op)
{
    uint32_t job = 0;
    WIO_TRY(wio_job_names_add(reading->accounts->names, op->job, op->job_bytes, &job));
    bool is_new = op->server != reading->server || job != reading->job;
    reading->server = op->server;
    reading->job = job;
    if (is_new && op->errors > 0) {
        WIO_TRY(wio_job_accounts_add_errors(reading->accounts, job, op->errors));
    }
    if (op->op >= WIO_JOB_OP_COUNT) { /* none, or one of a newer server */
        return WIO_OK;
    }
    uint64_t buckets[WIO_JOB_BUCKETS];
    memcpy(buckets, op->buckets, op->bucket_count * sizeof(*buckets));
    const struct wio_job_counter counter = {.samples = op->samples,
                                            .least = op->least,
                                            .greatest = op->greatest,
                                            .sum = op->sum,
                                            .squares = {op->squares[0], op->squares[1]},
                                            .buckets = buckets,
                                            .bucket_first = (uint8_t)op->bucket_first,
                                            .bucket_count = (uint8_t)op->bucket_count};
    return wio_job_stats_add_counter(reading->accounts->stats, job, (enum wio_job_op)op->op,
                                     &counter, op->first_ns, op->last_ns);
}

static bool each(void *context, const struct wio_store_job_op *op)
{
    struct job_rows *reading = context;
    reading->status = add(reading, op);
    return reading->status == WIO_OK;
}

static enum wio_status show(struct wio_store *store, struct wio_job_accounts *accounts,
                            struct wio_error *err)
{
    struct job_rows reading = {.accounts = accounts, .job = UINT32_MAX};
    WIO_TRY(wio_store_job_stats(store, each, &reading, err));
    return reading.status == WIO_OK ? WIO_OK
                                    : wio_error_set(err, reading.status, NULL, WIO_ERROR_NO_OFFSET,
                                                    "no memory to count jobs");
}

static enum wio_status drop(struct wio_store *store, struct jobstats_store *what,
                            struct wio_error *err)
{
    char name[WIO_JOB_BYTES];
    struct wio_store_drop_params params = {.struct_size = sizeof(params),
                                           .what = WIO_STORE_DROP_ALL,
                                           .job = name,
                                           .age_ns = what->age_ns};
    if (what->action == JOBSTATS_PURGE) {
        params.what = WIO_STORE_DROP_OLD;
    } else if (what->action == JOBSTATS_CLEAR_JOB) {
        params.what = WIO_STORE_DROP_JOB;
        /* "" is the name of what has no job */
        if (strcmp(what->job, "\"\"") != 0 &&
            !wio_job_unquote(what->job, strlen(what->job), name, sizeof(name), &params.job_bytes)) {
            return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                                 "--clear: '%s' is no name of a job", what->job);
        }
    }
    return wio_store_job_drop(store, &params, &what->dropped, err);
}

enum wio_status jobstats_store_run(struct jobstats_store *what, struct wio_job_accounts *accounts,
                                   struct wio_error *err)
{
    WIO_CLEANUP(cmd_disconnect_cleanup) struct wio_store *store = NULL;
    WIO_TRY(cmd_connect(&what->connect, &store, err));
    return what->action == JOBSTATS_SHOW ? show(store, accounts, err) : drop(store, what, err);
}
