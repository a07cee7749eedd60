/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/job_accounts.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/account.h"
#include "ops/storage_path.h"

#define NS_PER_US 1000u
#define PROGRESS_EVERY 65536u

enum path_kind { PATH_NEW, PATH_FILE, PATH_OTHER };

/* One trace while it is read. */
struct reading {
    struct wio_job_accounts *accounts;
    const struct wio_trace *trace;
    uint64_t start_unix_ns;
    uint32_t *jobs; /* by process */
    uint8_t *paths; /* enum path_kind by string id */
    uint32_t path_count;
};

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "no memory to count jobs");
}

enum wio_status wio_job_accounts_create(struct wio_job_accounts **accounts_out,
                                        struct wio_error *err)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_job_accounts *accounts = calloc(1, sizeof(*accounts));
    *accounts_out = NULL;
    if (accounts == NULL || wio_job_names_create(&heap, 0, &accounts->names) != WIO_OK ||
        wio_job_stats_create(&heap, &accounts->stats) != WIO_OK) {
        wio_job_accounts_destroy(accounts);
        return no_memory(err);
    }
    *accounts_out = accounts;
    return WIO_OK;
}

void wio_job_accounts_destroy(struct wio_job_accounts *accounts)
{
    if (accounts != NULL) {
        wio_job_names_destroy(accounts->names);
        wio_job_stats_destroy(accounts->stats);
        free(accounts->errors);
        free(accounts);
    }
}

uint64_t wio_job_accounts_errors(const struct wio_job_accounts *accounts, uint32_t job)
{
    return job < accounts->error_room ? accounts->errors[job] : 0;
}

static void reading_fini(struct reading *reading)
{
    free(reading->jobs);
    free(reading->paths);
}

/* The job of each process as a number. A name that is too long to be one in a table of jobs is an
 * error here: a trace has none. */
static enum wio_status number_jobs(struct reading *reading, struct wio_error *err)
{
    const uint32_t count = wio_trace_process_count(reading->trace);
    reading->jobs = calloc((size_t)count + 1, sizeof(*reading->jobs));
    if (reading->jobs == NULL) {
        return no_memory(err);
    }
    for (uint32_t i = 0; i < count; i++) {
        const char *job = wio_trace_process(reading->trace, i)->job;
        const enum wio_status status =
            wio_job_names_add(reading->accounts->names, job, strlen(job), &reading->jobs[i]);
        if (status == WIO_ERR_NOMEM) {
            return no_memory(err);
        }
        if (status != WIO_OK) {
            return wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                                 "the job id of process %u has %zu bytes, at most %u are expected",
                                 i, strlen(job), WIO_JOB_BYTES);
        }
    }
    const uint32_t jobs = wio_job_names_count(reading->accounts->names) + 1;
    void *errors = reading->accounts->errors;
    const enum wio_status status =
        wio_grow(&errors, sizeof(uint64_t), &reading->accounts->error_room, jobs);
    reading->accounts->errors = errors;
    return status == WIO_OK ? WIO_OK : no_memory(err);
}

enum wio_status wio_job_accounts_add_errors(struct wio_job_accounts *accounts, uint32_t job,
                                            uint64_t errors)
{
    void *array = accounts->errors;
    WIO_TRY(wio_grow(&array, sizeof(uint64_t), &accounts->error_room, job + 1));
    accounts->errors = array;
    accounts->errors[job] += errors;
    return WIO_OK;
}

static bool is_file(struct reading *reading, uint32_t path)
{
    uint8_t *kind = &reading->paths[path < reading->path_count ? path : 0];
    if (*kind == PATH_NEW) {
        const char *text = wio_trace_string(reading->trace, path, NULL);
        *kind = wio_path_is_storage(text) ? PATH_FILE : PATH_OTHER;
    }
    return *kind == PATH_FILE;
}

static bool is_same_dir(const struct wio_trace *trace, uint32_t a, uint32_t b)
{
    const char *from = wio_trace_string(trace, a, NULL);
    const char *to = wio_trace_string(trace, b, NULL);
    const char *from_end = strrchr(from, '/');
    const char *to_end = strrchr(to, '/');
    return from_end != NULL && to_end != NULL && from_end - from == to_end - to &&
           memcmp(from, to, (size_t)(from_end - from)) == 0;
}

static uint64_t value_of(const struct wio_event *event, enum wio_job_op op)
{
    return op == WIO_JOB_OP_READ_BYTES || op == WIO_JOB_OP_WRITE_BYTES ? wio_account_bytes(event)
                                                                       : event->dur_ns / NS_PER_US;
}

static enum wio_status count_event(struct reading *reading, const struct wio_event *event)
{
    enum wio_job_op ops[WIO_JOB_OPS_MOST];
    struct wio_job_event_facts facts = {.is_file = is_file(reading, event->path),
                                        .is_file2 = is_file(reading, event->path2)};
    facts.is_same_dir = facts.is_file2 && is_same_dir(reading->trace, event->path, event->path2);
    const uint32_t process = wio_trace_stream(reading->trace, event->stream)->process;
    const uint32_t job = reading->jobs[process];
    const unsigned count = wio_job_event_ops(event, &facts, ops);
    if (count > 0 && event->error != 0) {
        reading->accounts->errors[job]++;
        return WIO_OK;
    }
    const uint64_t now_ns = reading->start_unix_ns + event->t_ns + event->dur_ns;
    const bool is_done = event->result != WIO_RESULT_PENDING;
    for (unsigned i = 0; i < count && is_done; i++) {
        WIO_TRY(wio_job_stats_add(reading->accounts->stats, job, ops[i], value_of(event, ops[i]),
                                  now_ns));
    }
    return WIO_OK;
}

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

static enum wio_status read_events(struct reading *reading, wio_progress_fn *progress,
                                   void *progress_arg, struct wio_error *err)
{
    WIO_CLEANUP(cursor_cleanup) struct wio_cursor *cursor = NULL;
    const struct wio_filter filter = {
        .struct_size = sizeof(filter),
        .order = WIO_ORDER_STREAM,
        .columns = WIO_COLUMN_TIME | WIO_COLUMN_PATH | WIO_COLUMN_SECOND | WIO_COLUMN_RESULT |
                   WIO_COLUMN_ERROR | WIO_COLUMN_ARGS | WIO_COLUMN_FLAGS | WIO_COLUMN_SIZE};
    struct wio_trace_info info;
    const struct wio_event *event;
    enum wio_status status;
    uint64_t done = 0;
    wio_trace_get_info(reading->trace, &info);
    reading->start_unix_ns = info.start_unix_ns;
    WIO_TRY(wio_cursor_create(reading->trace, &filter, &cursor, err));
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        if (count_event(reading, event) != WIO_OK) {
            return no_memory(err);
        }
        if (++done % PROGRESS_EVERY == 0 && progress != NULL) {
            progress(progress_arg, done, info.events, "events");
        }
    }
    return status == WIO_END ? WIO_OK : status;
}

enum wio_status wio_job_accounts_add(struct wio_job_accounts *accounts,
                                     const struct wio_trace *trace, wio_progress_fn *progress,
                                     void *progress_arg, struct wio_error *err)
{
    WIO_CLEANUP(reading_fini) struct reading reading = {.accounts = accounts, .trace = trace};
    reading.path_count = wio_trace_string_count(trace) + 1;
    reading.paths = calloc(reading.path_count, sizeof(*reading.paths));
    if (reading.paths == NULL) {
        return no_memory(err);
    }
    WIO_TRY(number_jobs(&reading, err));
    return read_events(&reading, progress, progress_arg, err);
}
