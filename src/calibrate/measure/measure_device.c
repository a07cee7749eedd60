/* SPDX-License-Identifier: Apache-2.0 */
/* How large the largest write may be; what a seek costs; how fast the device reads. */
#include <math.h>

#include "base/cleanup.h"
#include "calibrate/measure/measure_sustained.h"

/* So many times the largest write is allowed at least: two thirds of what all stages write where
 * they may. A size that has fewer rounds says more than one that is missing. */
#define LARGEST_TIMES_LEAST 63
/* In this part of the time they wait for the device. */
#define TIME_SHARE 0.7
#define BLOCK UINT64_C(4096)
#define SEEKS 64
#define READ_PIECE (UINT64_C(1) << 20)
#define READ_PASSES 8
#define READ_SAMPLES 256
#define READ_WINDOWS 4

/* The better of two synchronous writes at the end of the base file. */
static enum wio_status try_size(struct wio_measure *measure, uint64_t size, double *seconds_out,
                                struct wio_error *err)
{
    *seconds_out = INFINITY;
    for (int i = 0; i < 2; i++) {
        const struct wio_rig_io io = {
            .file = WIO_RIG_BASE, .way = WIO_RIG_SYNC, .offset = measure->base_bytes, .size = size};
        double seconds;
        WIO_TRY(wio_measure_write(measure, &io, &seconds, err));
        measure->base_bytes += size;
        *seconds_out = fmin(*seconds_out, seconds);
    }
    return WIO_OK;
}

/* For a row that shows how the device goes on, where that of the largest writes is too short. */
static uint64_t hold_of(const struct wio_measure *measure, uint64_t size, double best_bw)
{
    uint64_t needed = wio_hold_bytes(measure->params->max_bytes, best_bw);
    return size * WIO_MEASURE_ROW >= needed ? 0 : needed;
}

/* What the largest writes leave of it: the last of them may have shown a faster device. */
static uint64_t hold_beside(const struct wio_measure *measure, uint64_t hold_bytes)
{
    uint64_t most = measure->params->max_bytes;
    uint64_t rest = LARGEST_TIMES_LEAST * measure->largest;
    uint64_t left = rest < most ? most - rest : 0;
    return hold_bytes < left ? hold_bytes : left;
}

static bool has_room(const struct wio_measure *measure, uint64_t size, double seconds,
                     double best_bw)
{
    const struct wio_calibrate_params *params = measure->params;
    return size <= WIO_RIG_IO_MOST &&
           size * LARGEST_TIMES_LEAST + hold_of(measure, size, best_bw) <= params->max_bytes &&
           seconds * LARGEST_TIMES_LEAST <= TIME_SHARE * params->budget_s;
}

/* Sizes are doubled as long as bytes and time allow; the base file ends up nearly 4 L long. */
enum wio_status wio_measure_base(struct wio_measure *measure, struct wio_error *err)
{
    uint64_t size = BLOCK;
    double seconds;
    measure->base_begun_s = measure->rig->now_s(measure->rig->context);
    WIO_TRY(try_size(measure, size, &seconds, err));
    double best_bw = (double)size / seconds;
    while (has_room(measure, 2 * size, 2 * seconds, best_bw)) {
        size *= 2;
        WIO_TRY(try_size(measure, size, &seconds, err));
        best_bw = fmax(best_bw, (double)size / seconds);
    }
    measure->largest = size;
    measure->hold_bytes = hold_beside(measure, hold_of(measure, size, best_bw));
    return WIO_OK;
}

/* Blocks in their order and blocks anywhere, in turn, so that both meet the same disturbances. */
enum wio_status wio_measure_seek(struct wio_measure *measure, struct wio_error *err)
{
    double in_order[SEEKS];
    double anywhere[SEEKS];
    uint64_t blocks = measure->bypass_bytes / BLOCK;
    uint64_t most = measure->largest / BLOCK; /* in all no more than 2 L */
    size_t count = 0;
    struct wio_rig_io io = {.file = WIO_RIG_BYPASS,
                            .way = measure->out->is_direct ? WIO_RIG_DIRECT : WIO_RIG_SYNC,
                            .size = BLOCK};
    while (wio_measure_more(measure, count, most < SEEKS ? most : SEEKS, 2 * BLOCK)) {
        io.offset = wio_measure_random(measure) % blocks * BLOCK;
        WIO_TRY(wio_measure_write(measure, &io, &anywhere[count], err));
        io.offset = (io.offset + BLOCK) % (blocks * BLOCK);
        WIO_TRY(wio_measure_write(measure, &io, &in_order[count], err));
        count++;
    }
    struct wio_estimate order = wio_estimate_center(in_order, count);
    struct wio_estimate random = wio_estimate_center(anywhere, count);
    double seek = random.value - order.value;
    double error = hypot(order.spread * order.value, random.spread * random.value) /
                   sqrt((double)(count > 0 ? count : 1));
    wio_measure_set(measure, WIO_PARAM_c_sk, seek > 2 * error ? seek : 0,
                    seek > 2 * error ? error / seek : (double)NAN);
    return measure->rig->remove(measure->rig->context, WIO_RIG_BYPASS, err);
}

static uint64_t read_piece(const struct wio_measure *measure)
{
    return READ_PIECE < measure->largest ? READ_PIECE : measure->largest;
}

/* Since reading ahead makes one call wait for what many others get, a sample is some calls long:
 * several times what is read ahead at once. */
static uint64_t sample_bytes(const struct wio_measure *measure)
{
    double ahead = wio_measure_get(measure, WIO_PARAM_read_ahead);
    return READ_WINDOWS * (uint64_t)fmax(ahead, (double)read_piece(measure));
}

/* So many bytes from io->offset on: seconds of one. */
static enum wio_status read_sample(struct wio_measure *measure, struct wio_rig_io *io,
                                   uint64_t bytes, double *sample_out, struct wio_error *err)
{
    const struct wio_rig *rig = measure->rig;
    uint64_t end = io->offset + bytes;
    double sum = 0;
    while (io->offset < end) {
        double seconds;
        io->size = end - io->offset < read_piece(measure) ? end - io->offset : read_piece(measure);
        WIO_TRY(wio_measure_cancelled(measure, err));
        WIO_TRY(rig->read(rig->context, io, &seconds, err));
        sum += seconds - wio_measure_get(measure, WIO_PARAM_sc_r);
        io->offset += io->size;
    }
    *sample_out = sum / (double)bytes;
    return WIO_OK;
}

/* The base file to its end, so that nothing is read ahead in vain. */
static enum wio_status read_pass(struct wio_measure *measure, double *samples, size_t *count,
                                 struct wio_error *err)
{
    const struct wio_rig *rig = measure->rig;
    struct wio_rig_io io = {.file = WIO_RIG_BASE};
    double seconds;
    WIO_TRY(rig->fsync(rig->context, WIO_RIG_BASE, &seconds, err));
    WIO_TRY(rig->drop(rig->context, WIO_RIG_BASE, &seconds, err));
    while (io.offset < measure->base_bytes && *count < READ_SAMPLES) {
        uint64_t left = measure->base_bytes - io.offset;
        uint64_t bytes = left < 2 * sample_bytes(measure) ? left : sample_bytes(measure);
        WIO_TRY(read_sample(measure, &io, bytes, &samples[*count], err));
        (*count)++;
    }
    return WIO_OK;
}

enum wio_status wio_measure_read(struct wio_measure *measure, struct wio_error *err)
{
    double samples[READ_SAMPLES];
    size_t count = 0;
    size_t pass = 0;
    do {
        WIO_TRY(read_pass(measure, samples, &count, err));
        pass++;
    } while (pass < READ_PASSES && wio_measure_has_time(measure));
    struct wio_estimate byte = wio_estimate_center(samples, count);
    wio_measure_set(measure, WIO_PARAM_bw_rdev, 1 / fmax(byte.value, 1e-15), byte.spread);
    return WIO_OK;
}
