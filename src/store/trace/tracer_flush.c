/* SPDX-License-Identifier: Apache-2.0 */
/* What a tracer has so far becomes segments: the one at hand, or the rows of its ring. */
#include <fcntl.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "store/trace/tracer_internal.h"

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
        blockers[i].origin = tracer_origin(tracer, blockers[i].txn.client, blockers[i].origin);
    }
    if (row.kind == WIO_TXN_ARRIVE || row.kind == WIO_TXN_ANSWER) {
        row.origin = tracer_origin(tracer, row.txn.client, row.origin);
    }
    tracer_put(tracer, &row, row.t_ns);
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
    WIO_TRY(tracer_begin(tracer, base_ns, now_ns > base_ns ? now_ns - base_ns : 0, err));
    for (uint64_t i = first; i < ring->count; i++) {
        WIO_TRY(put_kept(tracer, i, err));
    }
    WIO_TRY(tracer_finish(tracer, err));
    tracer->ring_written = ring->count;
    return WIO_OK;
}

/* A ring stays one where it could not be written: there may be another time. */
static enum wio_status flush_ring(struct wio_tracer *tracer, uint64_t now_ns, struct wio_error *err)
{
    uint64_t last_ns = tracer->last_ns;
    enum wio_status status = write_ring(tracer, now_ns, err);
    if (status != WIO_OK) {
        tracer_fail(tracer, status, err);
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
    tracer_put_ended(tracer);
    if (tracer->ring.count > tracer->ring_written) {
        status = flush_ring(tracer, now_ns, &why);
    } else if (tracer->ring.entries == NULL) {
        status = tracer_finish(tracer, &why);
        if (status != WIO_OK) {
            tracer_fail(tracer, status, &why);
        }
    }
    return status == WIO_OK ? WIO_OK : wio_error_pass(err, &why);
}
