/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts the sequence of one rank's operations into phases.
 *
 * A phase is a stretch of operations that is dominated by one kind of work on one file: writing
 * checkpoint.1, reading input, looking at directories. Where the kind or the file changes and
 * the new stretch is not just a short excursion, a new phase begins.
 *
 * The cut depends on the order and the sizes of the operations only, never on time: the same
 * program on slower storage, or a replay without the pauses, has the same phases. That is what
 * makes them comparable. Rules:
 *   - operations of one kind on one file that follow each other form a run;
 *   - what finishes (fsync, fflush, close) belongs to the run before it and counts for nothing;
 *   - a run that has less than 2 % of the rank's operations and less than 2 % of its bytes is an
 *     excursion (an operation on metadata counts 1/16), and so is one of fewer than 16 operations
 *     on metadata: it joins the run behind it (the last one joins the run before it), so that
 *     open joins what follows;
 *   - what a phase is called follows from what it holds, with weight 64 KiB + its bytes for an
 *     operation on data and 4 KiB for one on metadata: read or write if that is at least 90 % of
 *     the data, read+write else, metadata if that is at least 90 % of all;
 *   - at most 24 phases: neighbours of one kind on different files join first, then the lightest.
 *
 * Memory: at most 256 runs whatever the number of operations; when they are used up, light
 * neighbours are joined, so that a boundary may be off by about 1/100 of the whole.
 */
#ifndef WIO_EXPLAIN_SEGMENTER_H
#define WIO_EXPLAIN_SEGMENTER_H

#include <stdint.h>

#include <whyio/status.h>

#include "explain/account.h"

#define WIO_PHASES_PER_RANK 24u

#define WIO_FILE_NONE_OF 0u /* no file in particular */
#define WIO_FILE_SEVERAL UINT32_MAX

enum wio_phase_kind { WIO_PHASE_READ, WIO_PHASE_WRITE, WIO_PHASE_BOTH, WIO_PHASE_META };

/* A run of operations, later a phase. */
struct wio_phase {
    uint64_t weight[WIO_IO_KINDS]; /* bytes, see above */
    uint64_t units;                /* operations on data x 16 + operations on metadata */
    struct wio_tally tally;
    uint64_t first_ns; /* begin of the first operation, end of the last: since trace start */
    uint64_t last_ns;
    uint32_t file;  /* the caller's number of the file, or one of the two above */
    uint32_t ranks; /* how many ranks take part */
};

/* Zero-initialise; release with _fini. */
struct wio_segmenter {
    struct wio_phase *phases; /* after _finish: the result */
    uint32_t count;
    uint32_t capacity;
};

void wio_segmenter_fini(struct wio_segmenter *segmenter);

/* The next operation of the rank in order of begin. `kind` is not WIO_IO_NONE. */
WIO_MUST_CHECK enum wio_status wio_segmenter_add(struct wio_segmenter *segmenter,
                                                 enum wio_io_kind kind, uint32_t file,
                                                 const struct wio_event *event);

/* After the last operation: leaves the phases in segmenter->phases. */
void wio_segmenter_finish(struct wio_segmenter *segmenter);

enum wio_phase_kind wio_phase_kind(const struct wio_phase *phase);
const char *wio_phase_kind_name(enum wio_phase_kind kind);

/* Put all of `other` into `phase`. */
void wio_phase_merge(struct wio_phase *phase, const struct wio_phase *other);

#endif
