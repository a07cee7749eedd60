/* SPDX-License-Identifier: Apache-2.0 */
#include "calibrate/measure/measure_sustained.h"

#include <math.h>
#include <string.h>

#include "base/cleanup.h"

/* Linux' slices last 0.1 s. What lasts longer without waits is no burst .. */
#define SLICE_S 0.1
#define HELD_S 0.15
/* .. and with waits it goes on, to see some of them. */
#define WAITS_S 0.55
#define REST_S 0.2
/* Of all bytes, if they are worth it, but no more than that needs. */
#define PART 0.65
#define WORTH_BYTES (UINT64_C(8) << 20)
#define NEEDED_S 0.2
/* Small enough to tell when the waiting began, and large enough to be fast. */
#define PIECE_LEAST (UINT64_C(256) << 10)
#define PIECE_PART 8
#define PIECES_MOST 2048
/* A wait: half of the longest one. Shorter ones than that, or so little in all, are what happens to
 * a call on a busy machine; and if their distances differ so much, all of them may be. */
#define WAIT_PART 2
#define WAIT_LEAST_S 0.01
#define WAITED_LEAST_S 0.03
#define WAITS_MOST 64
#define EVEN 0.3
/* A single wait has no distances: the slice must be as long as Linux has it, and the write that
 * came too late for it. */
#define ALONE_LEAST_S 0.095
#define ALONE_MOST_S 0.13
#define TRIES 3
/* What passes at once is so many times faster than the limit. */
#define FASTER 1.5
/* As the fastest so many of these have it: the others are what a busy machine makes of them. */
#define FAST_PART 4

struct row {
    uint64_t size;
    size_t count;
    double longest_s;
    double seconds[PIECES_MOST];
    double ends_s[PIECES_MOST]; /* since the first one began */
};

uint64_t wio_hold_bytes(uint64_t max_bytes, double best_bw)
{
    return max_bytes < WORTH_BYTES ? 0
                                   : (uint64_t)fmin(PART * (double)max_bytes, NEEDED_S * best_bw);
}

/* As the middle one of them has it, which did not wait for others. */
static bool has_lasted(const struct wio_series *row)
{
    double samples[WIO_SERIES_TIMES_MOST];
    size_t level = row->levels - 1;
    size_t count = row->count[level];
    memcpy(samples, row->samples[level], count * sizeof(*samples));
    return count > 0 && WIO_MEASURE_ROW * wio_estimate_median(samples, count) >= SLICE_S;
}

static uint64_t piece_of(const struct wio_measure *measure)
{
    uint64_t piece = measure->largest / PIECE_PART;
    piece = piece > PIECE_LEAST ? piece : PIECE_LEAST;
    return piece < measure->largest ? piece : measure->largest;
}

static bool goes_on(const struct wio_measure *measure, const struct row *row, double elapsed_s)
{
    double most_s = row->longest_s >= WAIT_LEAST_S ? WAITS_S : HELD_S;
    return row->count < PIECES_MOST && (row->count + 1) * row->size <= measure->hold_bytes &&
           elapsed_s < most_s && wio_measure_more(measure, 0, 1, row->size);
}

static enum wio_status write_row(struct wio_measure *measure, const struct wio_series *like,
                                 struct row *row, struct wio_error *err)
{
    const struct wio_rig *rig = measure->rig;
    struct wio_rig_io io = {
        .file = WIO_RIG_BYPASS, .way = like->way, .size = row->size, .from_huge = like->from_huge};
    rig->rest(rig->context, REST_S);
    double begin_s = rig->now_s(rig->context);
    while (goes_on(measure, row, rig->now_s(rig->context) - begin_s)) {
        double *seconds = &row->seconds[row->count];
        WIO_TRY(wio_measure_write(measure, &io, seconds, err));
        row->longest_s = fmax(row->longest_s, *seconds);
        row->ends_s[row->count++] = rig->now_s(rig->context) - begin_s;
        io.offset += row->size;
        io.offset = io.offset + row->size > measure->bypass_bytes ? 0 : io.offset;
    }
    return WIO_OK;
}

struct waits {
    size_t count;
    double distances_s[WAITS_MOST]; /* of their ends; of the first one from the first write */
    double sum_s;
    double first_s; /* when they ended */
    double last_s;
    double first_bytes; /* that were written then */
    double last_bytes;
    double most_bw; /* what one had waited for, in bytes/s since the first write */
};

/* The first one waited for what was before, too, if that was not forgotten, and for the system's
 * coarse clock. */
static double bandwidth_of(const struct waits *waits)
{
    double between_s = waits->last_s - waits->first_s;
    double between = between_s > 0 ? (waits->last_bytes - waits->first_bytes) / between_s : 0;
    return fmax(waits->most_bw, between);
}

static struct waits waits_of(const struct row *row)
{
    struct waits waits = {0};
    double least_s = fmax(row->longest_s / WAIT_PART, WAIT_LEAST_S);
    for (size_t i = 0; i < row->count && waits.count < WAITS_MOST; i++) {
        if (row->seconds[i] >= least_s) {
            double bytes = (double)(i + 1) * (double)row->size;
            waits.distances_s[waits.count++] = row->ends_s[i] - waits.last_s;
            waits.last_s = row->ends_s[i];
            waits.sum_s += row->seconds[i];
            waits.last_bytes = bytes;
            waits.most_bw = fmax(waits.most_bw, bytes / waits.last_s);
            if (waits.count == 1) {
                waits.first_s = waits.last_s;
                waits.first_bytes = bytes;
            }
        }
    }
    return waits;
}

static bool are_slices(const struct waits *waits)
{
    double mean_s = waits->last_s / (double)waits->count;
    if (waits->count == 1) {
        return mean_s >= ALONE_LEAST_S && mean_s <= ALONE_MOST_S;
    }
    for (size_t i = 0; i < waits->count; i++) {
        if (fabs(waits->distances_s[i] - mean_s) > EVEN * mean_s) {
            return false;
        }
    }
    return true;
}

/* The waits for a limit tell its rate exactly, however few there were. */
static struct wio_sustained_rate judge(struct row *row)
{
    struct wio_sustained_rate hold = {.byte_s = (double)NAN, .is_unclear = true, .is_short = true};
    struct waits waits = waits_of(row);
    if (row->count == 0) {
        return hold;
    }
    hold.is_short = row->ends_s[row->count - 1] < HELD_S;
    (void)wio_estimate_median(row->seconds, row->count); /* sorts */
    double piece_bw = (double)row->size / row->seconds[row->count / FAST_PART];
    if (waits.sum_s < WAITED_LEAST_S || waits.most_bw * FASTER > piece_bw) {
        hold.is_unclear = hold.is_short;
    } else if (are_slices(&waits)) {
        hold.is_unclear = false;
        hold.is_short = false;
        hold.byte_s = 1 / bandwidth_of(&waits);
        hold.slice_s = waits.last_s / (double)waits.count;
        hold.burst_bw = piece_bw;
        hold.spread = waits.count > 1 ? wio_estimate_center(waits.distances_s, waits.count).spread
                                      : (double)NAN;
    }
    return hold;
}

/* Where something disturbed it, again, as long as bytes are left: too few they are only if no row
 * lasted. */
enum wio_status wio_measure_hold(struct wio_measure *measure, const struct wio_series *like,
                                 struct wio_sustained_rate *hold_out, struct wio_error *err)
{
    *hold_out = (struct wio_sustained_rate){.byte_s = (double)NAN};
    if (has_lasted(like)) {
        return WIO_OK;
    }
    bool is_short = true;
    hold_out->is_unclear = true;
    for (size_t i = 0; i < TRIES && hold_out->is_unclear && measure->hold_bytes > 0; i++) {
        struct row row = {.size = piece_of(measure)};
        WIO_TRY(write_row(measure, like, &row, err));
        *hold_out = judge(&row);
        is_short = is_short && hold_out->is_short;
        uint64_t written = row.count * row.size;
        measure->hold_bytes -= written;
        if (written == 0) {
            break;
        }
    }
    hold_out->is_short = is_short;
    return WIO_OK;
}
