/* SPDX-License-Identifier: Apache-2.0 */
#include "store/trace/tracer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/io.h"
#include "base/system/boot_id.h"
#include "store/trace/tracer_internal.h"

#define MAX_BYTES UINT64_C(1073741824)

/* ---- rows ---------------------------------------------------------------------------------- */

static bool is_ready(struct wio_tracer *tracer, uint64_t now_ns)
{
    if (tracer->ended_count > 0 && tracer->ended[0].t_ns < now_ns) {
        tracer_put_ended(tracer);
    }
    return tracer_is_writing(tracer, now_ns);
}

static struct wio_txn_name name_of_txn(const struct wio_txn *txn)
{
    return (struct wio_txn_name){txn->client, txn->number, txn->birth_ns, txn->attempt};
}

static uint32_t put_blockers(struct wio_tracer *tracer, const struct wio_lock_blockers *from,
                             struct wio_txn_blocker *to)
{
    for (uint32_t i = 0; i < from->listed; i++) {
        const struct wio_lock_blocker *blocker = &from->list[i];
        to[i] = (struct wio_txn_blocker){
            .txn = name_of_txn(&blocker->txn),
            .range = {blocker->range.file, blocker->range.from, blocker->range.to,
                      blocker->range.segment},
            .origin = tracer_origin(tracer, blocker->txn.client, blocker->source),
            .mode = blocker->mode,
            .role = blocker->role};
    }
    return from->listed;
}

/* What a request locks, by its operation. Without a range: `to` 0. */
static void place_request(const struct wio_store_request *request, uint64_t moved,
                          struct wio_txn_row *row)
{
    uint64_t size = request->op == WIO_STORE_WRITE ? request->data_size : request->size;
    size = size == 0 ? moved : size;
    row->range.file = request->file;
    row->range.segment = request->segment;
    row->mode = WIO_LOCK_EXCLUSIVE;
    switch (request->op) {
    case WIO_STORE_READ:
    case WIO_STORE_WRITE:
        row->range.from = request->offset;
        row->range.to = request->offset + size;
        row->mode = request->op == WIO_STORE_READ ? WIO_LOCK_SHARED : WIO_LOCK_EXCLUSIVE;
        row->mode =
            (request->flags & WIO_STORE_FLAG_INCREMENT) != 0 ? WIO_LOCK_INCREMENT : row->mode;
        break;
    case WIO_STORE_SIZE:
    case WIO_STORE_TRUNCATE:
    case WIO_STORE_DROP:
        row->range.segment |= WIO_STORE_LOCK_SIZE;
        row->range.to = 1;
        row->mode = request->op == WIO_STORE_SIZE ? WIO_LOCK_SHARED : WIO_LOCK_EXCLUSIVE;
        break;
    case WIO_STORE_POINTER:
        row->range.segment = WIO_STORE_LOCK_POINTER;
        row->range.from = request->group;
        row->range.to = (uint64_t)request->group + 1;
        break;
    default:
        row->range = (struct wio_txn_range){0};
        row->mode = 0;
        break;
    }
}

static struct wio_txn_row row_of(struct wio_tracer *tracer, enum wio_txn_kind kind,
                                 const struct wio_store_request *request, uint64_t moved)
{
    struct wio_txn_row row = {.kind = (uint8_t)kind,
                              .txn = name_of_txn(&request->txn),
                              .op = request->op,
                              .flags = request->flags,
                              .origin =
                                  tracer_origin(tracer, request->txn.client, request->source)};
    place_request(request, moved, &row);
    return row;
}

static void waits(void *context, const struct wio_store_request *request,
                  const struct wio_lock_blockers *blockers, uint64_t now_ns)
{
    struct wio_tracer *tracer = context;
    struct wio_txn_blocker list[WIO_TXN_BLOCKERS];
    if (request->txn.number == 0 || !is_ready(tracer, now_ns)) {
        return;
    }
    struct wio_txn_row row = row_of(tracer, WIO_TXN_ARRIVE, request, 0);
    if (blockers != NULL) {
        row.blocker_count = blockers->count;
        row.blocker_listed = put_blockers(tracer, blockers, list);
        row.blockers = list;
    }
    tracer_put(tracer, &row, now_ns);
}

/* Since the call of the target's logic that made the answer began. */
static uint64_t spent_ns(const struct wio_tracer *tracer, uint64_t done_ns)
{
    uint64_t now_ns = tracer->now_ns == NULL ? 0 : tracer->now_ns(tracer->clock_context);
    return now_ns > done_ns ? now_ns - done_ns : 0;
}

static void answered(void *context, const struct wio_store_request *request,
                     const struct wio_store_reply *reply, bool is_logged)
{
    struct wio_tracer *tracer = context;
    struct wio_txn_blocker list[WIO_TXN_BLOCKERS];
    bool is_ok = reply->result == WIO_STORE_OK;
    if (request->txn.number == 0 || !is_ready(tracer, reply->done_ns)) {
        return;
    }
    struct wio_txn_row row = row_of(tracer, WIO_TXN_ANSWER, request, reply->size);
    bool is_moved = request->op == WIO_STORE_READ || request->op == WIO_STORE_WRITE;
    row.bytes = is_ok && is_moved ? reply->size : 0;
    row.result = reply->result;
    row.reason = reply->reason;
    row.outcome = reply->outcome;
    row.queue_depth = reply->queue_depth;
    uint64_t before_ns = reply->locked_ns - reply->received_ns;
    uint64_t behind_ns = reply->done_ns - reply->locked_ns;
    row.lock_ns = is_ok ? before_ns : before_ns + behind_ns;
    row.storage_ns = is_ok && is_logged ? behind_ns : 0;
    row.transfer_ns = request->transfer_ns;
    uint64_t made_ns = spent_ns(tracer, reply->done_ns);
    row.run_ns = (is_ok && !is_logged ? behind_ns : 0) + made_ns;
    row.blocker_count = reply->blockers.count;
    row.blocker_listed = put_blockers(tracer, &reply->blockers, list);
    row.blockers = list;
    tracer_put(tracer, &row, reply->done_ns + made_ns);
}

static void ended(void *context, const struct wio_txn *txn, bool is_committed, uint64_t now_ns)
{
    struct wio_tracer *tracer = context;
    void *array = tracer->ended;
    if (!is_ready(tracer, now_ns) ||
        wio_grow(&array, sizeof(*tracer->ended), &tracer->ended_capacity,
                 tracer->ended_count + 1) != WIO_OK) {
        return;
    }
    tracer->ended = array;
    tracer->ended[tracer->ended_count++] = (struct wio_txn_row){
        .t_ns = now_ns,
        .kind = WIO_TXN_RELEASE,
        .txn = name_of_txn(txn),
        .outcome = is_committed ? WIO_STORE_OUTCOME_COMMITTED : WIO_STORE_OUTCOME_ABORTED};
}

static void wounded(void *context, const struct wio_store_push *push, uint64_t now_ns)
{
    struct wio_tracer *tracer = context;
    struct wio_txn_blocker list[WIO_TXN_BLOCKERS];
    const struct wio_lock_blockers because = {1, 1, {push->because}};
    if (!is_ready(tracer, now_ns)) {
        return;
    }
    struct wio_txn_row row = {
        .kind = WIO_TXN_WOUND, .op = push->op, .txn = name_of_txn(&push->txn)};
    row.blocker_count = 1;
    row.blocker_listed = put_blockers(tracer, &because, list);
    row.blockers = list;
    tracer_put(tracer, &row, now_ns);
}

const struct wio_server_watch wio_tracer_watch = {waits, answered, ended, wounded};

/* ---- life ---------------------------------------------------------------------------------- */

void wio_tracer_clock(struct wio_tracer *tracer, uint64_t (*now_ns)(void *context), void *context)
{
    tracer->now_ns = now_ns;
    tracer->clock_context = context;
}

void wio_tracer_client(struct wio_tracer *tracer, const struct wio_wire_hello *hello)
{
    tracer_origins_client(&tracer->origins, hello);
}

void wio_tracer_source(struct wio_tracer *tracer, uint64_t client,
                       const struct wio_store_request *define)
{
    tracer_origins_source(&tracer->origins, client, define);
}

void wio_tracer_file(struct wio_tracer *tracer, const struct wio_store_stat *stat, const char *path,
                     uint32_t path_bytes, uint64_t now_ns)
{
    struct wio_error err = WIO_ERROR_INIT;
    char text[WIO_STORE_PATH_MAX + 1];
    if (!is_ready(tracer, now_ns) || tracer->ring.entries != NULL ||
        wio_map_get(&tracer->files, stat->file) != NULL || path_bytes > WIO_STORE_PATH_MAX) {
        return;
    }
    (void)snprintf(text, sizeof(text), "%.*s", (int)path_bytes, path);
    const struct wio_txn_file file = {stat->file, text, stat->segments, stat->stripe_unit};
    enum wio_status status = wio_txn_writer_file(tracer->writer, &file, &err);
    if (status != WIO_OK) {
        tracer_fail(tracer, status, &err);
        return;
    }
    (void)!wio_map_put(&tracer->files, stat->file, 1);
    tracer->rows++;
}

static void tracer_free(struct wio_tracer *tracer)
{
    row_ring_fini(&tracer->ring);
    tracer_origins_fini(&tracer->origins);
    wio_map_fini(&tracer->files);
    wio_fd_cleanup(&tracer->dir);
    free(tracer->ended);
    free(tracer->finished);
    free(tracer);
}

/* The directory, or the ring. */
static enum wio_status open_place(struct wio_tracer *tracer, const struct wio_tracer_config *config,
                                  struct wio_error *err)
{
    tracer->dir = -1;
    if (config->ring_rows > 0) {
        (void)snprintf(tracer->ring_dir, sizeof(tracer->ring_dir), "%s", config->dir);
        return row_ring_init(&tracer->ring, config->ring_rows) == WIO_OK
                   ? WIO_OK
                   : wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "no memory");
    }
    tracer->dir = open(config->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return tracer->dir >= 0 ? WIO_OK : wio_error_sys(err, config->dir, "cannot open the trace");
}

enum wio_status wio_tracer_create(const struct wio_tracer_config *config,
                                  struct wio_tracer **tracer_out, struct wio_error *err)
{
    struct wio_tracer *tracer = calloc(1, sizeof(*tracer));
    if (tracer == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, config->dir, WIO_ERROR_NO_OFFSET, "no memory");
    }
    tracer_origins_init(&tracer->origins);
    tracer->server = config->server;
    tracer->max_bytes = config->max_bytes == 0 ? MAX_BYTES : config->max_bytes;
    tracer->segment_ns = config->segment_ns == 0 ? WIO_TRACER_NS : config->segment_ns;
    (void)snprintf(tracer->name, sizeof(tracer->name), "%s", config->name);
    (void)snprintf(tracer->address, sizeof(tracer->address), "%s",
                   config->address == NULL ? "" : config->address);
    wio_boot_id(tracer->boot_id);
    enum wio_status status = open_place(tracer, config, err);
    if (status != WIO_OK) {
        tracer_free(tracer);
        return status;
    }
    *tracer_out = tracer;
    return WIO_OK;
}

/* A server that had nothing to do is in the trace, too: a segment without rows. */
static enum wio_status begin_unused(struct wio_tracer *tracer, struct wio_error *err)
{
    bool is_left_out = tracer->number != 0 || tracer->ring.entries != NULL ||
                       tracer->server == WIO_TRACER_CATALOGUE;
    return is_left_out ? WIO_OK : tracer_begin(tracer, wio_clock_mono_ns(), 0, err);
}

enum wio_status wio_tracer_close(struct wio_tracer *tracer, uint64_t *removed_out,
                                 struct wio_error *err)
{
    struct wio_error finding = WIO_ERROR_INIT;
    if (tracer == NULL) {
        return WIO_OK;
    }
    if (tracer->status == WIO_OK) {
        tracer_put_ended(tracer);
        enum wio_status finished = begin_unused(tracer, &finding);
        finished = finished == WIO_OK ? tracer_finish(tracer, &finding) : finished;
        if (finished != WIO_OK) {
            tracer_fail(tracer, finished, &finding);
        }
    }
    if (removed_out != NULL) {
        *removed_out = tracer->removed;
    }
    enum wio_status status =
        tracer->status == WIO_OK ? WIO_OK : wio_error_pass(err, &tracer->failure);
    tracer_free(tracer);
    return status;
}
