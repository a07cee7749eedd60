/* SPDX-License-Identifier: Apache-2.0 */
#include "store/session/accounts.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "store/wire/job_rows.h"

#define NS_PER_US 1000u

enum { ROWS_BYTES = 1 << 20 }; /* of one answer, and a row more */

_Static_assert(WIO_JOB_BUCKETS == WIO_WIRE_JOB_BUCKETS, "a histogram on the wire");
_Static_assert((unsigned)WIO_JOB_OP_COUNT <= WIO_WIRE_JOB_COUNTERS_MAX + 0u,
               "operations on the wire");

enum wio_status wio_accounts_init(struct wio_accounts *accounts, uint64_t unix_offset_ns,
                                  uint32_t admin)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    *accounts = (struct wio_accounts){.unix_offset_ns = unix_offset_ns, .admin = admin};
    return wio_job_stats_create(&heap, &accounts->stats);
}

void wio_accounts_fini(struct wio_accounts *accounts)
{
    wio_job_stats_destroy(accounts->stats);
    free(accounts->errors);
    wio_blob_fini(&accounts->rows);
}

/* ---- counting ------------------------------------------------------------------------------ */

/* The operation of Lustre's statistics: its number and one. 0: it is none. */
static uint8_t op_of(const struct wio_store_request *request)
{
#define OP(op) (WIO_JOB_OP_##op + 1)
    static const uint8_t ops[WIO_STORE_UTIMENS + 1] = {
        [WIO_STORE_READ] = OP(READ),        [WIO_STORE_WRITE] = OP(WRITE),
        [WIO_STORE_TRUNCATE] = OP(PUNCH),   [WIO_STORE_STATFS] = OP(STATFS),
        [WIO_STORE_OPEN] = OP(OPEN),        [WIO_STORE_STAT] = OP(GETATTR),
        [WIO_STORE_LIST] = OP(READDIR),     [WIO_STORE_MKDIR] = OP(MKDIR),
        [WIO_STORE_RMDIR] = OP(RMDIR),      [WIO_STORE_UNLINK] = OP(UNLINK),
        [WIO_STORE_RENAME] = OP(RENAME),    [WIO_STORE_SYMLINK] = OP(MKNOD),
        [WIO_STORE_READLINK] = OP(GETATTR), [WIO_STORE_CHMOD] = OP(SETATTR),
        [WIO_STORE_CHOWN] = OP(SETATTR),    [WIO_STORE_UTIMENS] = OP(SETATTR),
    };
#undef OP
    return request->op <= WIO_STORE_UTIMENS ? ops[request->op] : 0;
}

static void add(struct wio_accounts *accounts, uint32_t job, enum wio_job_op op, uint64_t value,
                uint64_t now_ns)
{
    (void)!wio_job_stats_add(accounts->stats, job, op, value, now_ns);
}

static size_t directory_bytes(const char *path, uint32_t bytes)
{
    const char *slash = bytes > 0 ? memrchr(path, '/', bytes) : NULL;
    return slash != NULL ? (size_t)(slash - path) : 0;
}

static bool is_same_dir(const struct wio_store_request *request)
{
    const size_t from = directory_bytes(request->path, request->path_size);
    return from == directory_bytes(request->path2, request->path2_size) &&
           memcmp(request->path, request->path2, from) == 0;
}

/* Reads and writes are two: how long, and how much; renames, too: where to. */
static void add_second(struct wio_accounts *accounts, const struct wio_store_request *request,
                       const struct wio_store_reply *reply, uint64_t usecs, uint64_t now_ns)
{
    if (request->op == WIO_STORE_READ) {
        add(accounts, request->job, WIO_JOB_OP_READ_BYTES, reply->data_size, now_ns);
    } else if (request->op == WIO_STORE_WRITE) {
        add(accounts, request->job, WIO_JOB_OP_WRITE_BYTES, reply->size, now_ns);
    } else if (request->op == WIO_STORE_RENAME) {
        add(accounts, request->job,
            is_same_dir(request) ? WIO_JOB_OP_SAMEDIR_RENAME : WIO_JOB_OP_CROSSDIR_RENAME, usecs,
            now_ns);
    }
}

static void add_error(struct wio_accounts *accounts, uint32_t job, uint64_t now_ns)
{
    void *errors = accounts->errors;
    if (wio_grow(&errors, sizeof(*accounts->errors), &accounts->error_room, job + 1) == WIO_OK) {
        accounts->errors = errors;
        accounts->errors[job].count++;
        accounts->errors[job].last_ns = now_ns;
    }
}

/* What a client tries again by itself is no error. */
static bool is_error(uint16_t result)
{
    return result != WIO_STORE_OK && result != WIO_STORE_REFUSED && result != WIO_STORE_ABORTED &&
           result != WIO_STORE_BUSY && result != WIO_STORE_NO_LEASE;
}

void wio_accounts_count(struct wio_accounts *accounts, const struct wio_store_request *request,
                        const struct wio_store_reply *reply, uint64_t now_ns)
{
    const uint8_t op = op_of(request);
    if (op == 0) {
        return;
    }
    if (reply->result == WIO_STORE_OK) {
        const uint64_t usecs = (now_ns - reply->received_ns) / NS_PER_US;
        add(accounts, request->job, (enum wio_job_op)(op - 1), usecs, now_ns);
        add_second(accounts, request, reply, usecs, now_ns);
    } else if (is_error(reply->result)) {
        add_error(accounts, request->job, now_ns);
    }
}

/* ---- telling ------------------------------------------------------------------------------- */

static enum wio_status put_counter(struct wio_blob *rows, unsigned op,
                                   const struct wio_job_counter *from)
{
    struct wio_wire_job_counter counter = {.op = (uint8_t)op,
                                           .samples = from->samples,
                                           .least = from->least,
                                           .greatest = from->greatest,
                                           .sum = from->sum,
                                           .squares = {from->squares[0], from->squares[1]},
                                           .bucket_first = from->bucket_first,
                                           .bucket_count = from->bucket_count};
    memcpy(counter.buckets, from->buckets, from->bucket_count * sizeof(counter.buckets[0]));
    return wio_wire_put_job_counter(rows, &counter);
}

static uint64_t errors_of(const struct wio_accounts *accounts, uint32_t job)
{
    return job < accounts->error_room ? accounts->errors[job].count : 0;
}

static enum wio_status put_row(struct wio_accounts *accounts, const struct wio_store_names *names,
                               uint32_t job, const struct wio_job_row *from)
{
    size_t bytes = 0;
    struct wio_wire_job_row row = {.errors = errors_of(accounts, job)};
    row.name = wio_names_job_text(names, job, &bytes);
    row.name_size = (uint32_t)bytes;
    row.first_ns = from != NULL ? from->first_ns + accounts->unix_offset_ns : 0;
    row.last_ns = from != NULL ? from->last_ns + accounts->unix_offset_ns : 0;
    for (unsigned op = 0; from != NULL && op < WIO_JOB_OP_COUNT; op++) {
        row.counters += wio_job_stats_counter(accounts->stats, from, op) != NULL;
    }
    WIO_TRY(wio_wire_put_job_row(&accounts->rows, &row));
    for (unsigned op = 0; from != NULL && op < WIO_JOB_OP_COUNT; op++) {
        const struct wio_job_counter *counter = wio_job_stats_counter(accounts->stats, from, op);
        if (counter != NULL) {
            WIO_TRY(put_counter(&accounts->rows, op, counter));
        }
    }
    return WIO_OK;
}

/* By the numbers of jobs, which stay, so that rows that are dropped meanwhile lead to no other one
 * being left out: the cookie is the number of the next job, and one. */
static void tell(struct wio_accounts *accounts, const struct wio_store_names *names,
                 const struct wio_store_request *request, struct wio_store_reply *reply)
{
    const uint64_t end = (uint64_t)names->jobs.count + 1;
    uint64_t job = request->offset > 0 ? request->offset - 1 : 0;
    enum wio_status status = WIO_OK;
    wio_blob_clear(&accounts->rows);
    for (; job < end && accounts->rows.size < ROWS_BYTES && status == WIO_OK; job++) {
        const struct wio_job_row *row = wio_job_stats_find(accounts->stats, (uint32_t)job);
        if (row != NULL || errors_of(accounts, (uint32_t)job) > 0) {
            status = put_row(accounts, names, (uint32_t)job, row);
        }
    }
    if (status != WIO_OK) {
        reply->result = WIO_STORE_BUSY;
        return;
    }
    reply->offset = job < end ? job + 1 : 0;
    reply->data = accounts->rows.data;
    reply->data_size = (uint32_t)accounts->rows.size;
}

/* ---- dropping ------------------------------------------------------------------------------ */

/* Gives 1 where the job had nothing but errors: it is in no count of dropped rows. */
static size_t forget_errors(struct wio_accounts *accounts, uint32_t job)
{
    if (errors_of(accounts, job) == 0) {
        return 0;
    }
    accounts->errors[job] = (struct wio_job_errors){0};
    return wio_job_stats_find(accounts->stats, job) == NULL ? 1 : 0;
}

/* A name may have several numbers: one for each project. */
static size_t clear_one(struct wio_accounts *accounts, const struct wio_store_names *names,
                        const struct wio_store_request *request)
{
    size_t dropped = 0;
    for (uint32_t job = 0; job <= names->jobs.count; job++) {
        size_t bytes = 0;
        const char *name = wio_names_job_text(names, job, &bytes);
        if (bytes == request->path_size && memcmp(name, request->path, bytes) == 0) {
            dropped += forget_errors(accounts, job);
            dropped += wio_job_stats_clear(accounts->stats, job);
        }
    }
    return dropped;
}

/* Errors go with the samples of their job, where none of both is younger. */
static size_t clear_older(struct wio_accounts *accounts, uint64_t before_ns)
{
    size_t dropped = 0;
    for (uint32_t job = 0; job < accounts->error_room; job++) {
        const struct wio_job_row *row = wio_job_stats_find(accounts->stats, job);
        if (accounts->errors[job].last_ns < before_ns &&
            (row == NULL || row->last_ns < before_ns)) {
            dropped += forget_errors(accounts, job);
        }
    }
    return dropped + wio_job_stats_purge(accounts->stats, before_ns);
}

static size_t clear_all(struct wio_accounts *accounts)
{
    size_t dropped = 0;
    for (uint32_t job = 0; job < accounts->error_room; job++) {
        dropped += forget_errors(accounts, job);
    }
    return dropped + wio_job_stats_clear_all(accounts->stats);
}

static size_t clear(struct wio_accounts *accounts, const struct wio_store_names *names,
                    const struct wio_store_request *request, uint64_t now_ns)
{
    switch (request->mode) {
    case WIO_STORE_JOB_CLEAR_ONE:
        return clear_one(accounts, names, request);
    case WIO_STORE_JOB_CLEAR_OLD:
        return clear_older(accounts, now_ns > request->size ? now_ns - request->size : 0);
    default:
        return clear_all(accounts);
    }
}

bool wio_accounts_is_asked(const struct wio_store_request *request)
{
    return request->op == WIO_STORE_JOB_STATS || request->op == WIO_STORE_JOB_CLEAR;
}

void wio_accounts_answer(struct wio_accounts *accounts, const struct wio_store_names *names,
                         const struct wio_store_request *request, uint32_t uid, uint64_t now_ns,
                         struct wio_store_reply *reply)
{
    if (request->op == WIO_STORE_JOB_STATS) {
        tell(accounts, names, request, reply);
    } else if (uid != 0 && uid != accounts->admin) {
        reply->result = WIO_STORE_DENIED;
    } else {
        reply->size = clear(accounts, names, request, now_ns);
    }
}
