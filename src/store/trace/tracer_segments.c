/* SPDX-License-Identifier: Apache-2.0 */
/* A tracer's segments, and rows into them or into its ring. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/grow.h"
#include "store/trace/tracer_internal.h"

#define NAME_BYTES 300u

/* ---- segments ------------------------------------------------------------------------------ */

void tracer_fail(struct wio_tracer *tracer, enum wio_status status, const struct wio_error *why)
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

enum wio_status tracer_begin(struct wio_tracer *tracer, uint64_t base_ns, uint64_t ago_ns,
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

enum wio_status tracer_finish(struct wio_tracer *tracer, struct wio_error *err)
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
    enum wio_status status = tracer_finish(tracer, &err);
    status = status == WIO_OK ? tracer_begin(tracer, now_ns, 0, &err) : status;
    if (status != WIO_OK) {
        tracer_fail(tracer, status, &err);
    }
    return status == WIO_OK;
}

bool tracer_is_writing(struct wio_tracer *tracer, uint64_t now_ns)
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
        tracer_fail(tracer, status, &err);
    }
}

void tracer_put(struct wio_tracer *tracer, struct wio_txn_row *row, uint64_t now_ns)
{
    if (tracer->ring.entries == NULL || tracer->segment != NULL) {
        write_row(tracer, row, now_ns);
        return;
    }
    row->t_ns = now_ns > tracer->last_ns ? now_ns : tracer->last_ns;
    tracer->last_ns = row->t_ns;
    row_ring_put(&tracer->ring, row);
}

void tracer_put_ended(struct wio_tracer *tracer)
{
    bool is_kept = tracer->segment != NULL || tracer->ring.entries != NULL;
    for (uint32_t i = 0; i < tracer->ended_count && is_kept; i++) {
        tracer_put(tracer, &tracer->ended[i], tracer->ended[i].t_ns);
    }
    tracer->ended_count = 0;
}

uint32_t tracer_origin(struct wio_tracer *tracer, uint64_t client, uint32_t source)
{
    return tracer->writer == NULL
               ? source
               : tracer_origins_find(&tracer->origins, tracer->writer, client, source);
}
