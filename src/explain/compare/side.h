/* SPDX-License-Identifier: Apache-2.0 */
/* One of the two traces of a comparison: reads it once and counts (compare.h). Private. */
#ifndef WIO_EXPLAIN_SIDE_H
#define WIO_EXPLAIN_SIDE_H

#include "base/map.h"
#include "explain/compare/compare.h"
#include "explain/compare/phases.h"

/* A row for each name or rank that either side has; `side` 0 or 1 counts into it. */
struct wio_side_rows {
    struct wio_compare_row *rows;
    uint32_t count;
    uint32_t capacity;
    struct wio_map index; /* key -> row */
};

/* What both sides share. */
struct wio_side_tables {
    struct wio_side_rows ops;   /* by enum wio_op */
    struct wio_side_rows files; /* by id of the name in `names` */
    struct wio_side_rows ranks; /* by rank */
    struct wio_strtab names;    /* of files, without root */
};

struct wio_side_params {
    const struct wio_trace *trace;
    unsigned side; /* 0 = a, 1 = b */
    const char *root;
    struct wio_side_tables *tables;
    void (*progress)(void *arg, uint64_t done, uint64_t total, const char *unit);
    void *progress_arg;
    uint64_t progress_base; /* events of the side before */
    uint64_t progress_total;
};

void wio_side_tables_fini(struct wio_side_tables *tables);

/* Read the trace; leaves its phases in `phases_out` and the sum of its file I/O in `total_out`. */
WIO_MUST_CHECK enum wio_status wio_side_read(const struct wio_side_params *params,
                                             struct wio_phases *phases_out,
                                             struct wio_tally *total_out, struct wio_error *err);

#endif
