/* SPDX-License-Identifier: Apache-2.0 */
/* Writes into the page cache, while the device rests and while it writes back. */
#include <math.h>

#include "base/cleanup.h"
#include "base/pick.h"
#include "calibrate/measure/measure.h"

#define SMALL UINT64_C(4096)
/* Small files in a round, and the writes into each, at most: in all more pages than a processor's
 * own cache holds, since the pages of a removed file are the next one's. All files are there at the
 * same time: the first write after a large file is gone pays for that. */
#define FILES 32
#define WRITES 32
#define LEAST 4
#define FRESH_ROUNDS 4
#define REDUCED_ROUNDS 2
#define SAMPLES 256
/* Fewer writes while the device was writing say nothing. */
#define REDUCED_LEAST 8

/* How many pieces a file in the page cache has in a round. */
static size_t pieces_of(const struct wio_measure *measure)
{
    uint64_t bytes = wio_smaller(2 * measure->largest, measure->cached);
    return (size_t)(bytes > wio_measure_piece(measure) ? bytes / wio_measure_piece(measure) : 1);
}

/* In all files no more than half of L. */
static struct wio_rig_many small_files(const struct wio_measure *measure)
{
    uint64_t pages = measure->largest / 2 / SMALL;
    uint64_t files = wio_smaller(FILES, pages / WRITES);
    uint64_t writes = files > LEAST ? WRITES : wio_smaller(WRITES, pages / LEAST);
    return (struct wio_rig_many){.files = (size_t)(files > LEAST ? files : LEAST),
                                 .writes = (size_t)(writes > LEAST ? writes : LEAST)};
}

static enum wio_status write_some(struct wio_measure *measure, enum wio_rig_file file,
                                  uint64_t *offset, uint64_t size, double *seconds_out,
                                  struct wio_error *err)
{
    const struct wio_rig_io io = {.file = file, .offset = *offset, .size = size};
    *offset += size;
    return wio_measure_write(measure, &io, seconds_out, err);
}

/* Half of a round is enough where nothing is written back beside. */
static size_t fresh_pieces_of(const struct wio_measure *measure)
{
    return (pieces_of(measure) + 1) / 2;
}

/* Of writes that make new files longer. */
struct fresh {
    double first[FRESH_ROUNDS * FILES]; /* of 4 KiB, into an empty file */
    double small[FRESH_ROUNDS * FILES * (WRITES - 1)];
    double large[FRESH_ROUNDS * SAMPLES];
    size_t firsts;
    size_t smalls;
    size_t larges;
};

static enum wio_status small_round(struct wio_measure *measure, struct fresh *fresh,
                                   struct wio_error *err)
{
    const struct wio_rig_many many = small_files(measure);
    double seconds[FILES * WRITES];
    WIO_TRY(measure->rig->many(measure->rig->context, &many, seconds, err));
    measure->bytes_left -= many.files * many.writes * SMALL;
    for (size_t i = 0; i < many.files * many.writes; i++) {
        if (i % many.writes == 0) {
            fresh->first[fresh->firsts++] = seconds[i];
        } else {
            fresh->small[fresh->smalls++] = seconds[i];
        }
    }
    return WIO_OK;
}

static enum wio_status large_file(struct wio_measure *measure, struct fresh *fresh,
                                  struct wio_error *err)
{
    uint64_t offset = 0;
    for (size_t i = 0; i < fresh_pieces_of(measure); i++) {
        WIO_TRY(write_some(measure, WIO_RIG_FRESH, &offset, wio_measure_piece(measure),
                           &fresh->large[fresh->larges++], err));
    }
    return measure->rig->remove(measure->rig->context, WIO_RIG_FRESH, err);
}

/* Files grow by small and by large writes, and are gone before they are written back. */
static enum wio_status fresh_round(struct wio_measure *measure, struct fresh *fresh,
                                   struct wio_error *err)
{
    WIO_TRY(wio_measure_cancelled(measure, err));
    WIO_TRY(small_round(measure, fresh, err));
    return large_file(measure, fresh, err);
}

static void set_fresh(struct wio_measure *measure, struct fresh *fresh)
{
    struct wio_estimate first = wio_estimate_mean(fresh->first, fresh->firsts);
    struct wio_estimate small = wio_estimate_mean(fresh->small, fresh->smalls);
    struct wio_estimate piece = wio_estimate_middle(fresh->large, fresh->larges);
    double call_s = wio_measure_get(measure, WIO_PARAM_c_call);
    struct wio_measure_copy copy = wio_measure_copy_of(measure, call_s, small.value, piece.value);
    wio_measure_set(measure, WIO_PARAM_bw_ramdisk, 1 / copy.byte_s, piece.spread);
    wio_measure_set(measure, WIO_PARAM_c_folio, copy.folio_s, small.spread);
    /* models with one cost of a write have that of one that makes a page */
    wio_measure_set(measure, WIO_PARAM_sc_w, call_s + copy.folio_s, small.spread);
    wio_measure_set(measure, WIO_PARAM_c_new, fmax(first.value - small.value, 0), first.spread);
}

/* The first round is not counted: it gets memory that the system may have to find first. */
enum wio_status wio_measure_fresh(struct wio_measure *measure, struct wio_error *err)
{
    struct fresh fresh = {0};
    const struct wio_rig_many many = small_files(measure);
    uint64_t bytes =
        fresh_pieces_of(measure) * wio_measure_piece(measure) + many.files * many.writes * SMALL;
    WIO_TRY(fresh_round(measure, &fresh, err));
    for (size_t i = 0; wio_measure_more(measure, i, FRESH_ROUNDS - 1, bytes); i++) {
        if (i == 0) {
            fresh = (struct fresh){0};
        }
        WIO_TRY(fresh_round(measure, &fresh, err));
    }
    set_fresh(measure, &fresh);
    return WIO_OK;
}

/* While another file is written back a new one grows. */
static enum wio_status reduced_round(struct wio_measure *measure, double *samples, size_t *count,
                                     struct wio_error *err)
{
    const struct wio_rig *rig = measure->rig;
    uint64_t ahead = 0;
    uint64_t offset = 0;
    double seconds;
    for (size_t i = 0; i < pieces_of(measure); i++) {
        WIO_TRY(
            write_some(measure, WIO_RIG_AHEAD, &ahead, wio_measure_piece(measure), &seconds, err));
    }
    WIO_TRY(rig->flush_begin(rig->context, WIO_RIG_AHEAD, err));
    for (size_t i = 0; i < pieces_of(measure) && rig->is_flushing(rig->context); i++) {
        WIO_TRY(
            write_some(measure, WIO_RIG_FRESH, &offset, wio_measure_piece(measure), &seconds, err));
        if (rig->is_flushing(rig->context)) {
            samples[(*count)++] = seconds;
        }
    }
    WIO_TRY(rig->flush_end(rig->context, WIO_RIG_AHEAD, err));
    WIO_TRY(rig->remove(rig->context, WIO_RIG_AHEAD, err));
    return offset > 0 ? rig->remove(rig->context, WIO_RIG_FRESH, err) : WIO_OK;
}

enum wio_status wio_measure_reduced(struct wio_measure *measure, struct wio_error *err)
{
    double samples[REDUCED_ROUNDS * SAMPLES];
    double ramdisk = wio_measure_get(measure, WIO_PARAM_bw_ramdisk);
    uint64_t bytes = 2 * pieces_of(measure) * wio_measure_piece(measure);
    size_t count = 0;
    for (size_t i = 0; wio_measure_more(measure, i, REDUCED_ROUNDS, bytes); i++) {
        WIO_TRY(reduced_round(measure, samples, &count, err));
    }
    if (count < REDUCED_LEAST) { /* write-back is too short to be seen */
        measure->out->params[WIO_PARAM_bw_reduced].value = ramdisk;
        return WIO_OK;
    }
    struct wio_estimate piece = wio_estimate_middle(samples, count);
    double seconds = piece.value - wio_measure_get(measure, WIO_PARAM_c_call) -
                     wio_measure_far_s(measure, wio_measure_piece(measure)) -
                     wio_measure_folios(measure) * wio_measure_get(measure, WIO_PARAM_c_folio);
    double rate = seconds > 0 ? (double)wio_measure_piece(measure) / seconds : ramdisk;
    wio_measure_set(measure, WIO_PARAM_bw_reduced, fmin(rate, ramdisk), piece.spread);
    return WIO_OK;
}
