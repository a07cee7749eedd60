/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs: their numbers, and what servers have counted for each. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/sized.h"
#include "store/api/api_internal.h"
#include "store/wire/job_rows.h"

enum { CATALOGUE = WIO_STORE_PARTICIPANTS_MAX };

enum wio_status wio_store_job(struct wio_store *store, const char *job, size_t bytes,
                              uint32_t *number_out, struct wio_error *err)
{
    *number_out = 0;
    if (bytes == 0 || bytes > WIO_STORE_PATH_MAX || memchr(job, '\0', bytes) != NULL) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "the name of a job has 1 to %u bytes and no NUL", WIO_STORE_PATH_MAX);
    }
    return api_job(store, job, bytes, number_out, err);
}

/* ---- one server ---------------------------------------------------------------------------- */

static struct api_question question_for(const struct wio_store *store, uint32_t server,
                                        const struct wio_store_request *request)
{
    return (struct api_question){.request = *request,
                                 .is_for_target = server != CATALOGUE,
                                 .target = (uint16_t)(server != CATALOGUE ? server : 0),
                                 .deadline_ns = api_deadline_ns(store, 0)};
}

/* A request that is older than jobs tells whether the server is there; and then what it knows. */
static enum wio_status check_server(struct wio_store *store, uint32_t server, struct wio_error *err)
{
    WIO_CLEANUP(api_answer_fini) struct api_answer answer = {0};
    const struct wio_store_request request = {.op = WIO_STORE_PING};
    const struct api_question question = question_for(store, server, &request);
    bool knows = false;
    WIO_TRY(api_ask(store, &question, &answer, NULL, err));
    WIO_TRY(api_knows_jobs(store, server, &knows, err));
    return knows ? WIO_OK
                 : wio_error_set(err, WIO_ERR_UNSUPPORTED, NULL, WIO_ERROR_NO_OFFSET,
                                 "the servers are of an older whyio, which counts no jobs");
}

struct job_reading {
    wio_store_each_job *each;
    void *context;
    uint32_t server;
    bool is_ended;
};

static void tell(struct job_reading *reading, const struct wio_wire_job_row *row,
                 const struct wio_wire_job_counter *counter)
{
    const struct wio_store_job_op op = {
        .struct_size = sizeof(op),
        .server = reading->server != CATALOGUE ? reading->server : UINT32_MAX,
        .job = row->name,
        .job_bytes = row->name_size,
        .first_ns = row->first_ns,
        .last_ns = row->last_ns,
        .errors = row->errors,
        .op = counter != NULL ? counter->op : UINT32_MAX,
        .samples = counter != NULL ? counter->samples : 0,
        .least = counter != NULL ? counter->least : 0,
        .greatest = counter != NULL ? counter->greatest : 0,
        .sum = counter != NULL ? counter->sum : 0,
        .squares = {counter != NULL ? counter->squares[0] : 0,
                    counter != NULL ? counter->squares[1] : 0},
        .buckets = counter != NULL ? counter->buckets : NULL,
        .bucket_first = counter != NULL ? counter->bucket_first : 0,
        .bucket_count = counter != NULL ? counter->bucket_count : 0};
    reading->is_ended = reading->is_ended || !reading->each(reading->context, &op);
}

static enum wio_status read_rows(struct job_reading *reading, const struct wio_blob *data)
{
    struct wio_buf rows = wio_buf_of(data->data, data->size);
    struct wio_wire_job_row row;
    enum wio_status status = WIO_OK;
    while ((status = wio_wire_get_job_row(&rows, &row)) == WIO_OK) {
        for (unsigned i = 0; i < row.counters; i++) {
            struct wio_wire_job_counter counter;
            WIO_TRY(wio_wire_get_job_counter(&rows, &counter));
            tell(reading, &row, &counter);
        }
        if (row.counters == 0) {
            tell(reading, &row, NULL);
        }
    }
    return status == WIO_END ? WIO_OK : status;
}

static enum wio_status read_page(struct wio_store *store, struct job_reading *reading,
                                 uint64_t *cookie, struct wio_error *err)
{
    WIO_CLEANUP(api_answer_fini) struct api_answer answer = {0};
    const struct wio_store_request request = {.op = WIO_STORE_JOB_STATS, .offset = *cookie};
    const struct api_question question = question_for(store, reading->server, &request);
    WIO_TRY(api_ask(store, &question, &answer, NULL, err));
    if (read_rows(reading, &answer.data) != WIO_OK ||
        (answer.offset != 0 && answer.offset <= *cookie)) {
        return wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                             "statistics of jobs that cannot be read");
    }
    *cookie = answer.offset;
    return WIO_OK;
}

static enum wio_status read_server(struct wio_store *store, struct job_reading *reading,
                                   struct wio_error *err)
{
    uint64_t cookie = 0;
    WIO_TRY(check_server(store, reading->server, err));
    do {
        WIO_TRY(read_page(store, reading, &cookie, err));
    } while (cookie != 0 && !reading->is_ended);
    return WIO_OK;
}

/* ---- all of them --------------------------------------------------------------------------- */

enum wio_status wio_store_job_stats(struct wio_store *store, wio_store_each_job *each,
                                    void *context, struct wio_error *err)
{
    struct job_reading reading = {.each = each, .context = context, .server = CATALOGUE};
    WIO_TRY(read_server(store, &reading, err));
    for (uint32_t i = 0; i < store->targets && !reading.is_ended; i++) {
        reading.server = i;
        WIO_TRY(read_server(store, &reading, err));
    }
    return WIO_OK;
}

static enum wio_status drop_at(struct wio_store *store, uint32_t server,
                               const struct wio_store_request *request, uint64_t *dropped,
                               struct wio_error *err)
{
    WIO_CLEANUP(api_answer_fini) struct api_answer answer = {0};
    WIO_TRY(check_server(store, server, err));
    const struct api_question question = question_for(store, server, request);
    WIO_TRY(api_ask(store, &question, &answer, NULL, err));
    *dropped += answer.size;
    return WIO_OK;
}

static enum wio_status request_of(const struct wio_store_drop_params *params,
                                  struct wio_store_request *request_out, struct wio_error *err)
{
    const bool is_one = params->what == WIO_STORE_DROP_JOB;
    const bool is_old = params->what == WIO_STORE_DROP_OLD;
    if ((unsigned)params->what > WIO_STORE_DROP_OLD || params->job_bytes > WIO_STORE_PATH_MAX) {
        return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                             "no such statistics can be: %u, a name of %zu bytes",
                             (unsigned)params->what, params->job_bytes);
    }
    *request_out =
        (struct wio_store_request){.op = WIO_STORE_JOB_CLEAR, .mode = WIO_STORE_JOB_CLEAR_ALL};
    if (is_one) {
        request_out->mode = WIO_STORE_JOB_CLEAR_ONE;
        request_out->path = params->job;
        request_out->path_size = (uint32_t)params->job_bytes;
    } else if (is_old) {
        request_out->mode = WIO_STORE_JOB_CLEAR_OLD;
        request_out->size = params->age_ns;
    }
    return WIO_OK;
}

enum wio_status wio_store_job_drop(struct wio_store *store,
                                   const struct wio_store_drop_params *given, uint64_t *dropped_out,
                                   struct wio_error *err)
{
    struct wio_store_drop_params params = {0};
    struct wio_store_request request;
    *dropped_out = 0;
    WIO_TRY(wio_take_sized(&params, sizeof(params), given, "struct wio_store_drop_params", err));
    WIO_TRY(request_of(&params, &request, err));
    WIO_TRY(drop_at(store, CATALOGUE, &request, dropped_out, err));
    for (uint32_t i = 0; i < store->targets; i++) {
        WIO_TRY(drop_at(store, i, &request, dropped_out, err));
    }
    return WIO_OK;
}
