/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a piece of data takes into a folio of memory and out of it, by its size: into pages that are
 * new there, over dirty ones, over clean ones, and read. One file for each size, made by writes of
 * that size, so that its folios are as long; from one buffer, as programs do. All files lie there
 * at the same time and take turns, so that each finds its pages where a program finds them that did
 * something else meanwhile. Means: what is predicted of programs are sums.
 */
#include <math.h>
#include <string.h>

#include "base/cleanup.h"
#include "calibrate/measure/measure.h"

#define PAGE UINT64_C(4096)
/* Pages of a file, at most; the part of L that it is, and of what may be dirty. */
#define PAGES 1024
#define LARGEST_PART 16
#define CACHED_PART 5
/* A line through fewer sizes, which every larger one goes on, says less than the parameters that
 * tables stand in for. */
#define LEVELS_LEAST 3
/* As good as nothing of a page. */
#define TINY 64
#define ROUNDS 3 /* besides the first, which gets memory that the system may have to find */
#define SAMPLES ((size_t)ROUNDS * PAGES)

static const uint64_t sizes[WIO_RIG_COPIES_COUNT] = {PAGE, 65536, 262144, UINT64_C(1) << 20};

enum page_state { NEW, DIRTY, CLEAN, HIT, STATES };

struct copies {
    double samples[STATES][WIO_RIG_COPIES_COUNT][SAMPLES];
    size_t count[STATES][WIO_RIG_COPIES_COUNT];
    size_t levels;
};

static uint64_t bytes_of(const struct wio_measure *measure)
{
    uint64_t bytes = measure->largest / LARGEST_PART;
    uint64_t cached = measure->cached / CACHED_PART;
    bytes = cached < bytes ? cached : bytes;
    return bytes < PAGES * PAGE ? bytes : PAGES * PAGE;
}

static size_t count_of(const struct wio_measure *measure, size_t level)
{
    return (size_t)(bytes_of(measure) / sizes[level]);
}

/* A file of one piece would say what its first write takes. */
static size_t levels_of(const struct wio_measure *measure)
{
    size_t levels = 0;
    while (levels < WIO_RIG_COPIES_COUNT && count_of(measure, levels) > 1) {
        levels++;
    }
    return levels;
}

/* Each piece of a level's file once. The first does not count: it makes more than pages of a new
 * file, and brings the buffer into the processor's cache, of which shorter pieces used a part. */
static enum wio_status pass(struct wio_measure *measure, struct copies *copies,
                            enum page_state state, size_t level, struct wio_error *err)
{
    const struct wio_rig *rig = measure->rig;
    enum wio_rig_file file = (enum wio_rig_file)(WIO_RIG_COPIES + level);
    for (size_t i = 0; i < count_of(measure, level); i++) {
        const struct wio_rig_io io = {
            .file = file, .offset = i * sizes[level], .size = sizes[level]};
        double seconds;
        WIO_TRY(state == HIT ? rig->read(rig->context, &io, &seconds, err)
                             : wio_measure_write(measure, &io, &seconds, err));
        if (i > 0) {
            copies->samples[state][level][copies->count[state][level]++] = seconds;
        }
    }
    return WIO_OK;
}

static enum wio_status make_clean(const struct wio_measure *measure, size_t level,
                                  struct wio_error *err)
{
    double seconds;
    return measure->rig->fsync(measure->rig->context, (enum wio_rig_file)(WIO_RIG_COPIES + level),
                               &seconds, err);
}

static enum wio_status copy_round(struct wio_measure *measure, struct copies *copies,
                                  struct wio_error *err)
{
    for (enum page_state state = NEW; state < STATES; state++) {
        for (size_t level = 0; level < copies->levels; level++) {
            WIO_TRY(pass(measure, copies, state, level, err));
        }
        for (size_t level = 0; level < copies->levels && state >= DIRTY && state < HIT; level++) {
            WIO_TRY(make_clean(measure, level, err));
        }
    }
    for (size_t level = 0; level < copies->levels; level++) {
        enum wio_rig_file file = (enum wio_rig_file)(WIO_RIG_COPIES + level);
        WIO_TRY(measure->rig->remove(measure->rig->context, file, err));
    }
    return WIO_OK;
}

/* Of little in a page: a new page is made as a whole, and what is not written is filled with zeros;
 * else small writes or reads go on in the page, and all parts together take what the page does. */
static double tiny_s(double page_s, enum page_state state)
{
    return state == NEW ? page_s : page_s * TINY / (double)PAGE;
}

/* Without the call, and without what a buffer takes that is longer than a processor's cache; no
 * size takes less than a smaller one. */
static void set_table(struct wio_measure *measure, struct copies *copies, enum page_state state,
                      double call_s)
{
    static const enum wio_calibrate_table tables[STATES] = {
        [NEW] = WIO_CALIBRATE_NEW,
        [DIRTY] = WIO_CALIBRATE_DIRTY,
        [CLEAN] = WIO_CALIBRATE_CLEAN,
        [HIT] = WIO_CALIBRATE_HIT,
    };
    struct wio_model_table *table = wio_calibration_table_of(measure->out, tables[state]);
    double least_s = 0;
    for (size_t level = 0; level < copies->levels; level++) {
        struct wio_estimate cost =
            wio_estimate_mean(copies->samples[state][level], copies->count[state][level]);
        double far_s = wio_measure_far_s(measure, sizes[level]);
        least_s = fmax(cost.value - call_s - far_s, least_s);
        table->points[level + 1] = (struct wio_model_point){(double)sizes[level], least_s};
        measure->out->table_spread[tables[state]][level + 1] = cost.spread;
    }
    table->points[0] = (struct wio_model_point){TINY, tiny_s(table->points[1].seconds, state)};
    measure->out->table_spread[tables[state]][0] = measure->out->table_spread[tables[state]][1];
    table->count = copies->levels + 1;
}

enum wio_status wio_measure_copies(struct wio_measure *measure, struct wio_error *err)
{
    static struct copies copies; /* too large for a stack */
    memset(&copies, 0, sizeof(copies));
    copies.levels = levels_of(measure);
    uint64_t bytes = copies.levels * 3 * bytes_of(measure);
    if (copies.levels < LEVELS_LEAST || !wio_measure_more(measure, 0, 1, 2 * bytes)) {
        return WIO_OK;
    }
    WIO_TRY(copy_round(measure, &copies, err));
    memset(copies.count, 0, sizeof(copies.count));
    for (size_t i = 0; i == 0 || wio_measure_more(measure, i, ROUNDS, bytes); i++) {
        WIO_TRY(copy_round(measure, &copies, err));
    }
    double call_s = wio_measure_get(measure, WIO_PARAM_c_call);
    for (enum page_state state = NEW; state < HIT; state++) {
        set_table(measure, &copies, state, call_s);
    }
    set_table(measure, &copies, HIT, wio_measure_get(measure, WIO_PARAM_sc_r));
    return WIO_OK;
}
