/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a limit of the device's rate lets pass at once after a rest: to a model a small buffer that
 * empties at that rate. Programs that compute between their writes live on it. Large buffers are
 * found by the large writes (measure_table.c).
 */
#include <math.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "calibrate/measure.h"

#define PIECE (UINT64_C(64) << 10)
#define PIECES_MOST 1024 /* the longest write, 64 MiB */
#define TRIES 3
/* Long enough for a limit to forget: those of Linux count by the tenth of a second. */
#define REST_S 0.3
/* Less than that is noise; so is one that is hardly faster than the device. */
#define PIECES_LEAST 4
#define FASTER 1.5

struct credit {
    double bytes; /* ahead of the device at the most .. */
    double rate;  /* .. and how fast it was when it was half as far, bytes/s */
};

/* Fast pieces in a row: when each of them had ended. */
struct row {
    double ends_s[PIECES_MOST];
    size_t count;
};

static double ahead(const struct row *row, size_t i, double device)
{
    return (double)((i + 1) * PIECE) - device * row->ends_s[i];
}

static struct credit credit_of(const struct row *row, double device)
{
    struct credit credit = {0};
    for (size_t i = 0; i < row->count; i++) {
        credit.bytes = fmax(credit.bytes, ahead(row, i, device));
    }
    for (size_t i = 0; i < row->count && credit.rate == 0; i++) {
        if (ahead(row, i, device) >= credit.bytes / 2) {
            credit.rate = (double)((i + 1) * PIECE) / row->ends_s[i];
        }
    }
    return credit;
}

/* After a rest, as long as that shows something, but no more than L. */
static enum wio_status write_row(struct wio_measure *measure, struct row *row,
                                 struct wio_error *err)
{
    double device = wio_measure_get(measure, WIO_PARAM_bw_dev);
    struct wio_rig_io io = {.file = WIO_RIG_BYPASS,
                            .way = measure->out->is_direct ? WIO_RIG_DIRECT : WIO_RIG_SYNC,
                            .size = PIECE};
    uint64_t most = measure->largest / PIECE < PIECES_MOST ? measure->largest / PIECE : PIECES_MOST;
    double slack = (double)(PIECES_LEAST * PIECE);
    double best = 0;
    double now = 0;
    row->count = 0;
    measure->rig->rest(measure->rig->context, REST_S);
    /* whatever the time: a row is short, and a part of one says nothing */
    while (row->count < most && now >= best / 2 - slack && wio_measure_more(measure, 0, 1, PIECE)) {
        double seconds;
        io.offset = row->count * PIECE;
        WIO_TRY(wio_measure_write(measure, &io, &seconds, err));
        row->ends_s[row->count] = seconds + (row->count > 0 ? row->ends_s[row->count - 1] : 0);
        now = ahead(row, row->count++, device);
        best = fmax(best, now);
    }
    return WIO_OK;
}

static int by_bytes(const void *a, const void *b)
{
    double x = ((const struct credit *)a)->bytes;
    double y = ((const struct credit *)b)->bytes;
    return (x > y) - (x < y);
}

/* The middle one of all tries. */
enum wio_status wio_measure_credit(struct wio_measure *measure, struct wio_error *err)
{
    struct credit tries[TRIES] = {{0}};
    if (wio_measure_get(measure, WIO_PARAM_burst_size) > 0) {
        return WIO_OK;
    }
    for (unsigned i = 0; i < TRIES; i++) {
        struct row row;
        WIO_TRY(write_row(measure, &row, err));
        tries[i] = credit_of(&row, wio_measure_get(measure, WIO_PARAM_bw_dev));
    }
    qsort(tries, TRIES, sizeof(tries[0]), by_bytes);
    const struct credit *middle = &tries[TRIES / 2];
    if (middle->bytes >= (double)(PIECES_LEAST * PIECE) &&
        middle->rate > FASTER * wio_measure_get(measure, WIO_PARAM_bw_dev)) {
        wio_measure_set(measure, WIO_PARAM_bw_burst, middle->rate, (double)NAN);
        wio_measure_set(measure, WIO_PARAM_burst_size, middle->bytes,
                        (tries[TRIES - 1].bytes - tries[0].bytes) / (2 * middle->bytes));
    }
    return WIO_OK;
}
