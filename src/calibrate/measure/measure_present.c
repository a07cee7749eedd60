/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What calls cost on data that is in memory: reads, writes over what is clean and over what is
 * dirty. A file made by small writes has a folio for each page, one made by large ones has few.
 */
#include <math.h>

#include "base/cleanup.h"
#include "calibrate/measure/measure.h"

#define PAGE UINT64_C(4096)
#define PAGES 1024     /* of the small file, at most: more than a processor's own cache holds */
#define VISITS 8       /* of one page in a row: as programs do that write or read little at once */
#define VISITED 128    /* pages, at most */
#define PIECES_READ 64 /* in a round */
#define FAR_PIECES 16  /* that are read at once */
#define FAR_READS 4    /* in a round */
#define PIECES 6       /* of the large one, at most */
#define PARTS 4        /* of a piece that are written into */
/* Of a call that is to move next to nothing. */
#define TINY UINT64_C(64)
#define ROUNDS 3
#define TIMES ((size_t)ROUNDS * PAGES)

struct samples {
    double values[TIMES];
    size_t count;
};

struct present {
    struct samples clean; /* a page is written over */
    struct samples write; /* next to nothing goes into it, after a first time */
    struct samples read;  /* ... is read */
    struct samples part;  /* next to nothing goes into a large folio */
    struct samples large_clean;
    struct samples large_read;
    struct samples far_read;
};

/* How many of a size, no more than a tenth of L in a round. */
static size_t count_of(const struct wio_measure *measure, uint64_t size, size_t most)
{
    uint64_t bytes = measure->largest < measure->cached ? measure->largest : measure->cached;
    uint64_t count = bytes / 10 / size;
    return count > most ? most : count > 0 ? (size_t)count : 1;
}

static size_t pages_of(const struct wio_measure *measure)
{
    return count_of(measure, PAGE, PAGES);
}

static size_t pieces_of(const struct wio_measure *measure)
{
    return count_of(measure, wio_measure_piece(measure), PIECES);
}

/* So many writes of `size`; NULL: they do not count. */
static enum wio_status write_over(struct wio_measure *measure, size_t count, uint64_t step,
                                  uint64_t size, struct samples *samples, struct wio_error *err)
{
    for (size_t i = 0; i < count; i++) {
        const struct wio_rig_io io = {.file = WIO_RIG_FRESH, .offset = i * step, .size = size};
        double seconds;
        WIO_TRY(wio_measure_write(measure, &io, &seconds, err));
        if (samples != NULL) {
            samples->values[samples->count++] = seconds;
        }
    }
    return WIO_OK;
}

/* Little goes into each of so many places, or comes out of it, and on there: the first of a row,
 * which finds the page in no cache, does not count. */
static enum wio_status visit(struct wio_measure *measure, bool is_write, size_t count,
                             uint64_t step, struct samples *samples, struct wio_error *err)
{
    const struct wio_rig *rig = measure->rig;
    for (size_t i = 0; i < count * VISITS; i++) {
        const struct wio_rig_io io = {
            .file = WIO_RIG_FRESH, .offset = i / VISITS * step + i % VISITS * TINY, .size = TINY};
        double seconds;
        WIO_TRY(is_write ? wio_measure_write(measure, &io, &seconds, err)
                         : rig->read(rig->context, &io, &seconds, err));
        if (i % VISITS > 0) {
            samples->values[samples->count++] = seconds;
        }
    }
    return WIO_OK;
}

/* The i-th read is at `i * step`; file and size are those of `io`. */
static enum wio_status read_over(struct wio_measure *measure, struct wio_rig_io io, size_t count,
                                 uint64_t step, struct samples *samples, struct wio_error *err)
{
    const struct wio_rig *rig = measure->rig;
    for (size_t i = 0; i < count; i++) {
        io.offset = i * step;
        WIO_TRY(rig->read(rig->context, &io, &samples->values[samples->count++], err));
    }
    return WIO_OK;
}

static enum wio_status make_clean(struct wio_measure *measure, struct wio_error *err)
{
    double seconds;
    return measure->rig->fsync(measure->rig->context, WIO_RIG_FRESH, &seconds, err);
}

static enum wio_status small_file(struct wio_measure *measure, struct present *present,
                                  struct wio_error *err)
{
    size_t pages = pages_of(measure);
    WIO_TRY(write_over(measure, pages, PAGE, PAGE, NULL, err));
    WIO_TRY(make_clean(measure, err));
    WIO_TRY(write_over(measure, pages, PAGE, PAGE, &present->clean, err));
    size_t visited = pages < VISITED ? pages : VISITED;
    WIO_TRY(visit(measure, true, visited, PAGE, &present->write, err));
    WIO_TRY(visit(measure, false, visited, PAGE, &present->read, err));
    return measure->rig->remove(measure->rig->context, WIO_RIG_FRESH, err);
}

static enum wio_status large_file(struct wio_measure *measure, struct present *present,
                                  struct wio_error *err)
{
    size_t pieces = pieces_of(measure);
    uint64_t size = wio_measure_piece(measure);
    WIO_TRY(write_over(measure, pieces, size, size, NULL, err));
    WIO_TRY(visit(measure, true, pieces * PARTS, size / PARTS, &present->part, err));
    WIO_TRY(make_clean(measure, err));
    WIO_TRY(write_over(measure, pieces, size, size, &present->large_clean, err));
    return measure->rig->remove(measure->rig->context, WIO_RIG_FRESH, err);
}

/* The base file lies in memory since it was made, and is so long that a processor's cache has
 * little of it. */
static enum wio_status read_base(struct wio_measure *measure, struct present *present,
                                 struct wio_error *err)
{
    uint64_t size = wio_measure_piece(measure);
    uint64_t pieces = measure->base_bytes / size;
    const struct wio_rig_io piece = {.file = WIO_RIG_BASE, .size = size};
    return read_over(measure, piece, (size_t)(pieces < PIECES_READ ? pieces : PIECES_READ), size,
                     &present->large_read, err);
}

/* Many pieces at once: more than a processor's cache holds of the buffer. */
static enum wio_status read_far(struct wio_measure *measure, struct present *present,
                                struct wio_error *err)
{
    uint64_t size = FAR_PIECES * wio_measure_piece(measure);
    uint64_t count = measure->base_bytes / size;
    const struct wio_rig_io io = {.file = WIO_RIG_BASE, .size = size};
    return read_over(measure, io, (size_t)(count < FAR_READS ? count : FAR_READS), size,
                     &present->far_read, err);
}

static struct wio_estimate middle(struct samples *samples)
{
    return wio_estimate_middle(samples->values, samples->count);
}

/* How much longer a byte takes whose place in the buffer is in no cache. What is read at once has
 * more of them than the pieces alone, which have some, too, where the cache is smaller. */
static void set_far(struct wio_measure *measure, struct present *present)
{
    double near = wio_measure_get(measure, WIO_PARAM_cache_size);
    double piece = (double)wio_measure_piece(measure);
    double size = FAR_PIECES * piece;
    struct wio_estimate one = middle(&present->large_read);
    struct wio_estimate many = middle(&present->far_read);
    if (near <= 0 || near > size / 2 || many.kept == 0) {
        return;
    }
    double more_s = many.value - FAR_PIECES * one.value;
    bool is_seen = more_s > 0.01 * many.value;
    double far = size - near - FAR_PIECES * fmax(piece - near, 0);
    wio_measure_set(measure, WIO_PARAM_bw_far, is_seen ? far / more_s : 0, many.spread);
}

static void set_writes(struct wio_measure *measure, struct present *present)
{
    struct wio_estimate clean = middle(&present->clean);
    struct wio_estimate call = wio_estimate_mean(present->write.values, present->write.count);
    struct wio_estimate part = middle(&present->part);
    struct wio_estimate large = middle(&present->large_clean);
    double touched = (double)TINY / wio_measure_get(measure, WIO_PARAM_bw_mem);
    wio_measure_set(measure, WIO_PARAM_c_call, fmax(call.value - touched, 0), call.spread);
    double quick_s = middle(&present->write).value; /* what a median is to be compared with */
    struct wio_measure_copy copy =
        wio_measure_copy_of(measure, fmax(quick_s - touched, 0), clean.value, large.value);
    /* a few pieces written again lie in a processor's cache: what a program writes mostly does not
     */
    double byte_s = fmax(copy.byte_s, 1 / wio_measure_get(measure, WIO_PARAM_bw_mem));
    double folio_s = copy.folio_s - (double)PAGE * (byte_s - copy.byte_s);
    wio_measure_set(measure, WIO_PARAM_bw_clean, 1 / byte_s, large.spread);
    wio_measure_set(measure, WIO_PARAM_c_clean, fmax(folio_s, 0), clean.spread);
    double pages = (double)wio_measure_piece(measure) / PAGE / wio_measure_folios(measure);
    double walk_s = fmax(part.value - quick_s, 0);
    wio_measure_set(measure, WIO_PARAM_c_walk, pages > 1 ? walk_s / (pages - 1) : 0, part.spread);
}

static void set_reads(struct wio_measure *measure, struct present *present)
{
    struct wio_estimate call = wio_estimate_mean(present->read.values, present->read.count);
    struct wio_estimate large = middle(&present->large_read);
    double bytes = (double)(wio_measure_piece(measure) - TINY);
    double large_s = large.value - wio_measure_far_s(measure, wio_measure_piece(measure));
    double rate = large_s > call.value ? bytes / (large_s - call.value)
                                       : wio_measure_get(measure, WIO_PARAM_bw_mem);
    wio_measure_set(measure, WIO_PARAM_bw_hit, rate, large.spread);
    wio_measure_set(measure, WIO_PARAM_sc_r, fmax(call.value - (double)TINY / rate, 0),
                    call.spread);
}

enum wio_status wio_measure_present(struct wio_measure *measure, struct wio_error *err)
{
    struct present present = {0};
    uint64_t bytes = pieces_of(measure) * (2 * wio_measure_piece(measure) + TINY * PARTS * VISITS) +
                     pages_of(measure) * 2 * PAGE + TINY * VISITED * VISITS;
    for (size_t i = 0; wio_measure_more(measure, i, ROUNDS, bytes); i++) {
        WIO_TRY(small_file(measure, &present, err));
        WIO_TRY(large_file(measure, &present, err));
        WIO_TRY(read_base(measure, &present, err));
        WIO_TRY(read_far(measure, &present, err));
    }
    set_far(measure, &present); /* the others take off what it says */
    set_writes(measure, &present);
    set_reads(measure, &present);
    return WIO_OK;
}
