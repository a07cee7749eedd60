/* SPDX-License-Identifier: Apache-2.0 */
#include "store/trace/tracer.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/io.h"
#include "store/trace/origins.h"
#include "store/trace/row_ring.h"

#define MAX_BYTES UINT64_C(1073741824)
#define BOOT_ID_BYTES 40u
#define NAME_BYTES 300u

/* A finished segment. */
struct finished {
    uint32_t number;
    uint64_t bytes;
};

struct wio_tracer {
    int dir; /* of a ring: -1 until it is flushed */
    char ring_dir[PATH_MAX];
    struct row_ring ring;
    uint64_t ring_written; /* rows of it, of all that it had */
    char name[128];
    char address[128];
    char boot_id[BOOT_ID_BYTES];
    uint16_t server;
    uint64_t max_bytes;
    uint64_t segment_ns;
    struct tracer_origins origins;
    struct wio_map files;        /* that the segment has */
    struct wio_segment *segment; /* NULL: none is being written */
    struct wio_txn_writer *writer;
    uint32_t number; /* of the segment */
    uint32_t rows;   /* in it */
    uint64_t base_ns;
    uint64_t (*now_ns)(void *context); /* may be NULL */
    void *clock_context;
    uint64_t last_ns;          /* of its last row */
    struct wio_txn_row *ended; /* RELEASE of this moment: behind the answers that belong to it */
    uint32_t ended_count;
    uint32_t ended_capacity;
    struct finished *finished;
    uint32_t finished_count;
    uint32_t finished_capacity;
    uint64_t finished_bytes;
    uint64_t removed;
    enum wio_status status; /* the first failure */
    struct wio_error failure;
};

/* ---- segments ------------------------------------------------------------------------------ */

static void fail(struct wio_tracer *tracer, enum wio_status status, const struct wio_error *why)
{
    if (tracer->status == WIO_OK) {
        tracer->status = status;
        tracer->failure = *why;
    }
    wio_txn_writer_destroy(tracer->writer);
    wio_segment_abandon(tracer->segment);
    tracer->writer = NULL;
    tracer->segment = NULL;
}

static void name_of(const struct wio_tracer *tracer, uint32_t number, char *name, size_t size)
{
    (void)snprintf(name, size, "%s.%06u.seg", tracer->name, number);
}

/* `base_ns` of the loop's clock, so long ago. */
static enum wio_status begin(struct wio_tracer *tracer, uint64_t base_ns, uint64_t ago_ns,
                             struct wio_error *err)
{
    char name[NAME_BYTES];
    struct wio_segment_params params = {.struct_size = sizeof(params),
                                        .base_unix_ns = wio_clock_unix_ns() - ago_ns,
                                        .base_mono_ns = base_ns,
                                        .boot_id = tracer->boot_id};
    const struct wio_txn_server server = {tracer->address, tracer->server,
                                          tracer->server == WIO_TRACER_CATALOGUE};
    name_of(tracer, ++tracer->number, name, sizeof(name));
    tracer->rows = 0;
    tracer->base_ns = base_ns;
    tracer->last_ns = 0;
    tracer_origins_clear(&tracer->origins);
    wio_map_fini(&tracer->files);
    tracer->files = (struct wio_map){0};
    WIO_TRY(wio_segment_create_at(tracer->dir, name, &params, &tracer->segment, err));
    WIO_TRY(wio_segment_meta(tracer->segment, WIO_SEGMENT_META_RECORDER_DONE, "1", 1, err));
    WIO_TRY(wio_txn_writer_create(tracer->segment, &tracer->writer, err));
    return wio_txn_writer_server(tracer->writer, &server, err);
}

/* The oldest ones go while all together are too large. */
static void remove_oldest(struct wio_tracer *tracer)
{
    uint32_t gone = 0;
    while (gone < tracer->finished_count && tracer->finished_bytes > tracer->max_bytes) {
        char name[NAME_BYTES];
        name_of(tracer, tracer->finished[gone].number, name, sizeof(name));
        (void)unlinkat(tracer->dir, name, 0);
        tracer->finished_bytes -= tracer->finished[gone].bytes;
        tracer->removed++;
        gone++;
    }
    tracer->finished_count -= gone;
    memmove(tracer->finished, tracer->finished + gone,
            tracer->finished_count * sizeof(*tracer->finished));
}

static enum wio_status note_finished(struct wio_tracer *tracer)
{
    char name[NAME_BYTES];
    struct stat st;
    void *array = tracer->finished;
    name_of(tracer, tracer->number, name, sizeof(name));
    WIO_TRY(wio_grow(&array, sizeof(*tracer->finished), &tracer->finished_capacity,
                     tracer->finished_count + 1));
    tracer->finished = array;
    if (fstatat(tracer->dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
        tracer->finished[tracer->finished_count++] =
            (struct finished){tracer->number, (uint64_t)st.st_size};
        tracer->finished_bytes += (uint64_t)st.st_size;
    }
    remove_oldest(tracer);
    return WIO_OK;
}

static enum wio_status finish(struct wio_tracer *tracer, struct wio_error *err)
{
    struct wio_segment *segment = tracer->segment;
    if (segment == NULL) {
        return WIO_OK;
    }
    WIO_TRY(wio_txn_writer_finish(tracer->writer, err));
    wio_txn_writer_destroy(tracer->writer);
    tracer->writer = NULL;
    tracer->segment = NULL;
    WIO_TRY(wio_segment_finish(segment, err));
    if (note_finished(tracer) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, tracer->name, WIO_ERROR_NO_OFFSET, "no memory");
    }
    return WIO_OK;
}

/* ---- rows ---------------------------------------------------------------------------------- */

/* The segment is full, or there is none. */
static bool write_another(struct wio_tracer *tracer, uint64_t now_ns)
{
    struct wio_error err = WIO_ERROR_INIT;
    enum wio_status status = finish(tracer, &err);
    status = status == WIO_OK ? begin(tracer, now_ns, 0, &err) : status;
    if (status != WIO_OK) {
        fail(tracer, status, &err);
    }
    return status == WIO_OK;
}

static bool is_writing(struct wio_tracer *tracer, uint64_t now_ns)
{
    if (tracer->status != WIO_OK || tracer->ring.entries != NULL) {
        return tracer->status == WIO_OK;
    }
    bool has_room = tracer->segment != NULL && tracer->rows < WIO_TRACER_ROWS &&
                    now_ns - tracer->base_ns < tracer->segment_ns;
    return has_room || write_another(tracer, now_ns);
}

static void write_row(struct wio_tracer *tracer, struct wio_txn_row *row, uint64_t now_ns)
{
    struct wio_error err = WIO_ERROR_INIT;
    uint64_t t_ns = now_ns > tracer->base_ns ? now_ns - tracer->base_ns : 0;
    row->t_ns = t_ns > tracer->last_ns ? t_ns : tracer->last_ns;
    row->server = tracer->server;
    tracer->last_ns = row->t_ns;
    tracer->rows++;
    enum wio_status status = wio_txn_writer_put(tracer->writer, row, &err);
    if (status != WIO_OK) {
        fail(tracer, status, &err);
    }
}

/* The ring, while no segment is made of it. */
static void put(struct wio_tracer *tracer, struct wio_txn_row *row, uint64_t now_ns)
{
    if (tracer->ring.entries == NULL || tracer->segment != NULL) {
        write_row(tracer, row, now_ns);
        return;
    }
    row->t_ns = now_ns > tracer->last_ns ? now_ns : tracer->last_ns;
    tracer->last_ns = row->t_ns;
    row_ring_put(&tracer->ring, row);
}

/* Ends of an earlier moment: nothing that belongs before them comes any more. */
static void put_ended(struct wio_tracer *tracer)
{
    bool is_kept = tracer->segment != NULL || tracer->ring.entries != NULL;
    for (uint32_t i = 0; i < tracer->ended_count && is_kept; i++) {
        put(tracer, &tracer->ended[i], tracer->ended[i].t_ns);
    }
    tracer->ended_count = 0;
}

static bool is_ready(struct wio_tracer *tracer, uint64_t now_ns)
{
    if (tracer->ended_count > 0 && tracer->ended[0].t_ns < now_ns) {
        put_ended(tracer);
    }
    return is_writing(tracer, now_ns);
}

static struct wio_txn_name name_of_txn(const struct wio_txn *txn)
{
    return (struct wio_txn_name){txn->client, txn->number, txn->birth_ns, txn->attempt};
}

/* In a ring: the call site's number, as it came. The row says whose it is. */
static uint32_t origin_of(struct wio_tracer *tracer, uint64_t client, uint32_t source)
{
    return tracer->writer == NULL
               ? source
               : tracer_origins_find(&tracer->origins, tracer->writer, client, source);
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
            .origin = origin_of(tracer, blocker->txn.client, blocker->source),
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
                              .origin = origin_of(tracer, request->txn.client, request->source)};
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
    put(tracer, &row, now_ns);
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
    uint64_t made_ns = spent_ns(tracer, reply->done_ns);
    row.run_ns = (is_ok && !is_logged ? behind_ns : 0) + made_ns;
    row.blocker_count = reply->blockers.count;
    row.blocker_listed = put_blockers(tracer, &reply->blockers, list);
    row.blockers = list;
    put(tracer, &row, reply->done_ns + made_ns);
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
    put(tracer, &row, now_ns);
}

const struct wio_server_watch wio_tracer_watch = {waits, answered, ended, wounded};

/* ---- what is there so far ------------------------------------------------------------------ */

static enum wio_status open_ring_dir(struct wio_tracer *tracer, struct wio_error *err)
{
    if (tracer->dir < 0) {
        WIO_TRY(wio_io_mkdirs(tracer->ring_dir, err));
        tracer->dir = open(tracer->ring_dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    }
    return tracer->dir >= 0 ? WIO_OK
                            : wio_error_sys(err, tracer->ring_dir, "cannot open the directory");
}

/* Into the segment: call sites become origins of it. */
static enum wio_status put_kept(struct wio_tracer *tracer, uint64_t index, struct wio_error *err)
{
    struct wio_txn_blocker blockers[WIO_TXN_BLOCKERS];
    struct wio_txn_row row = row_ring_get(&tracer->ring, index, blockers);
    for (uint32_t i = 0; i < row.blocker_listed; i++) {
        blockers[i].origin = origin_of(tracer, blockers[i].txn.client, blockers[i].origin);
    }
    if (row.kind == WIO_TXN_ARRIVE || row.kind == WIO_TXN_ANSWER) {
        row.origin = origin_of(tracer, row.txn.client, row.origin);
    }
    put(tracer, &row, row.t_ns);
    return tracer->status == WIO_OK ? WIO_OK : wio_error_pass(err, &tracer->failure);
}

static enum wio_status write_ring(struct wio_tracer *tracer, uint64_t now_ns, struct wio_error *err)
{
    struct wio_txn_blocker ignored[WIO_TXN_BLOCKERS];
    const struct row_ring *ring = &tracer->ring;
    uint64_t first = row_ring_first(ring);
    first = first > tracer->ring_written ? first : tracer->ring_written;
    uint64_t base_ns = row_ring_get(ring, first, ignored).t_ns;
    WIO_TRY(open_ring_dir(tracer, err));
    WIO_TRY(begin(tracer, base_ns, now_ns > base_ns ? now_ns - base_ns : 0, err));
    for (uint64_t i = first; i < ring->count; i++) {
        WIO_TRY(put_kept(tracer, i, err));
    }
    WIO_TRY(finish(tracer, err));
    tracer->ring_written = ring->count;
    return WIO_OK;
}

/* A ring stays one where it could not be written: there may be another time. */
static enum wio_status flush_ring(struct wio_tracer *tracer, uint64_t now_ns, struct wio_error *err)
{
    uint64_t last_ns = tracer->last_ns;
    enum wio_status status = write_ring(tracer, now_ns, err);
    if (status != WIO_OK) {
        fail(tracer, status, err);
        tracer->status = WIO_OK;
    }
    tracer->last_ns = last_ns;
    return status;
}

enum wio_status wio_tracer_flush(struct wio_tracer *tracer, uint64_t now_ns, struct wio_error *err)
{
    struct wio_error why = WIO_ERROR_INIT;
    enum wio_status status = WIO_OK;
    if (tracer->status != WIO_OK) {
        return wio_error_pass(err, &tracer->failure);
    }
    put_ended(tracer);
    if (tracer->ring.count > tracer->ring_written) {
        status = flush_ring(tracer, now_ns, &why);
    } else if (tracer->ring.entries == NULL) {
        status = finish(tracer, &why);
        if (status != WIO_OK) {
            fail(tracer, status, &why);
        }
    }
    return status == WIO_OK ? WIO_OK : wio_error_pass(err, &why);
}

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
        fail(tracer, status, &err);
        return;
    }
    (void)!wio_map_put(&tracer->files, stat->file, 1);
    tracer->rows++;
}

static void read_boot_id(char out[BOOT_ID_BYTES])
{
    WIO_CLEANUP(wio_blob_fini) struct wio_blob blob = {0};
    if (wio_io_read_file("/proc/sys/kernel/random/boot_id", BOOT_ID_BYTES, &blob, NULL) == WIO_OK) {
        (void)snprintf(out, BOOT_ID_BYTES, "%.*s", (int)strcspn((const char *)blob.data, "\n"),
                       (const char *)blob.data);
    }
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
    read_boot_id(tracer->boot_id);
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
    return tracer->server == WIO_TRACER_CATALOGUE ? WIO_OK
                                                  : begin(tracer, wio_clock_mono_ns(), err);
}

enum wio_status wio_tracer_close(struct wio_tracer *tracer, uint64_t *removed_out,
                                 struct wio_error *err)
{
    struct wio_error finding = WIO_ERROR_INIT;
    if (tracer == NULL) {
        return WIO_OK;
    }
    if (tracer->status == WIO_OK) {
        put_ended(tracer);
        enum wio_status finished = tracer->number == 0 ? begin_unused(tracer, &finding) : WIO_OK;
        finished = finished == WIO_OK ? finish(tracer, &finding) : finished;
        if (finished != WIO_OK) {
            fail(tracer, finished, &finding);
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
