/* SPDX-License-Identifier: Apache-2.0 */
/* What all stages use: the account of time and bytes, the results so far, the shape of a large
 * write into the page cache. */
#include <math.h>

#include "base/cleanup.h"
#include "calibrate/measure/measure.h"

bool wio_measure_has_time(const struct wio_measure *measure)
{
    return measure->rig->now_s(measure->rig->context) < measure->stage_end_s;
}

bool wio_measure_more(const struct wio_measure *measure, size_t done, size_t wanted, uint64_t bytes)
{
    return done < wanted && bytes + measure->leaves * measure->largest <= measure->bytes_left &&
           (done < WIO_MEASURE_LEAST || wio_measure_has_time(measure));
}

enum wio_status wio_measure_cancelled(const struct wio_measure *measure, struct wio_error *err)
{
    const struct wio_calibrate_params *params = measure->params;
    if (params->is_cancelled != NULL && params->is_cancelled(params->cancel_arg)) {
        return wio_error_set(err, WIO_ERR_BUSY, params->dir, WIO_ERROR_NO_OFFSET,
                             "the measurement was interrupted");
    }
    return WIO_OK;
}

enum wio_status wio_measure_write(struct wio_measure *measure, const struct wio_rig_io *io,
                                  double *seconds_out, struct wio_error *err)
{
    WIO_TRY(wio_measure_cancelled(measure, err));
    WIO_TRY(measure->rig->write(measure->rig->context, io, seconds_out, err));
    measure->bytes_left -= io->size;
    return WIO_OK;
}

void wio_measure_set(struct wio_measure *measure, enum wio_param param, double value, double spread)
{
    struct wio_calibrate_value *out = &measure->out->params[param];
    out->value = value;
    out->spread = spread;
    out->how = WIO_CALIBRATE_MEASURED;
}

double wio_measure_get(const struct wio_measure *measure, enum wio_param param)
{
    return measure->out->params[param].value;
}

uint64_t wio_measure_random(struct wio_measure *measure)
{
    uint64_t z = measure->random += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#define PIECE (UINT64_C(1) << 20)
#define PAGE 4096.0

uint64_t wio_measure_piece(const struct wio_measure *measure)
{
    return PIECE < measure->largest ? PIECE : measure->largest;
}

double wio_measure_folios(const struct wio_measure *measure)
{
    double step = wio_measure_get(measure, WIO_PARAM_balance_step);
    return fmax((double)wio_measure_piece(measure) / fmax(step, PAGE), 1);
}

double wio_measure_far_s(const struct wio_measure *measure, uint64_t size)
{
    double far = (double)size - wio_measure_get(measure, WIO_PARAM_cache_size);
    double rate = wio_measure_get(measure, WIO_PARAM_bw_far);
    return far > 0 && rate > 0 ? far / rate : 0;
}

struct wio_measure_copy wio_measure_copy_of(const struct wio_measure *measure, double call_s,
                                            double page_s, double piece_s)
{
    double size = (double)wio_measure_piece(measure);
    double folios = wio_measure_folios(measure);
    double page = page_s - call_s;
    double piece = piece_s - call_s - wio_measure_far_s(measure, wio_measure_piece(measure));
    double bytes = size - folios * PAGE; /* that the piece has more than so many pages */
    double byte_s = bytes > 0 ? (piece - folios * page) / bytes : 0;
    if (byte_s <= 0) {
        byte_s = fmax(piece, 0.5 * piece_s) / size;
    }
    return (struct wio_measure_copy){.folio_s = fmax(page - PAGE * byte_s, 0), .byte_s = byte_s};
}
