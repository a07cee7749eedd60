/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two traces side by side: per operation, file, rank and phase, what each did and how long it took.
 *
 *     struct wio_comparison *comparison;
 *     struct wio_compare_params params = {.struct_size = sizeof(params)};
 *     if (wio_compare(a, b, &params, &comparison, &err) != WIO_OK) ...
 *     for (size_t i = 0; i < wio_compare_rows(comparison, WIO_COMPARE_OPS, &rows); i++) ...
 *     wio_comparison_destroy(comparison);
 *
 * What is counted (explain/account.h has the rules for one event):
 *   operations  every event: the numbers of `whyio info`
 *   files       what reached the files, by path: of a stdio call the reads and writes that it
 *               caused, not the call itself (its bytes would count twice, and calls served from
 *               the buffer are not timed); pipes, sockets and other nameless things as one row of
 *               each sort
 *   ranks, phases, total   of those only files that keep data: no pipes, /proc, /dev ...;
 *               a replay leaves the same ones out
 * Phases are explained in segmenter.h.
 *
 * Memory: the string tables, one row per path, 256 runs per rank; not the number of events.
 */
#ifndef WIO_EXPLAIN_COMPARE_H
#define WIO_EXPLAIN_COMPARE_H

#include <stddef.h>
#include <stdint.h>

#include <whyio/status.h>
#include <whyio/trace.h>

#include "explain/account.h"
#include "explain/compare/segmenter.h"

struct wio_comparison;

struct wio_compare_params {
    size_t struct_size;
    /*
     * Directories that are taken off the paths of a and b before they are matched: for a replay
     * its target ("/mnt/t/home/u/x" is "/home/u/x"). NULL or "" = nothing is taken off.
     */
    const char *root_a;
    const char *root_b;
    /* Called now and then with the events read and the events of both; may be NULL. */
    void (*progress)(void *arg, uint64_t done, uint64_t total, const char *unit);
    void *progress_arg;
};

/* The caller owns the comparison; the traces may be closed afterwards. */
WIO_MUST_CHECK enum wio_status wio_compare(const struct wio_trace *a, const struct wio_trace *b,
                                           const struct wio_compare_params *params,
                                           struct wio_comparison **comparison_out,
                                           struct wio_error *err);
/* Accepts NULL. */
void wio_comparison_destroy(struct wio_comparison *comparison);

enum wio_compare_table { WIO_COMPARE_OPS, WIO_COMPARE_FILES, WIO_COMPARE_RANKS };

struct wio_compare_row {
    const char *name; /* operation or path; "" for ranks */
    int32_t rank;     /* -1 = processes without a rank */
    struct wio_tally a;
    struct wio_tally b;
};

/* Rows of a table: operations and files by time (of both together, longest first), ranks
 * ascending. Borrowed. */
size_t wio_compare_rows(const struct wio_comparison *comparison, enum wio_compare_table table,
                        const struct wio_compare_row **rows_out);

struct wio_compare_phase {
    enum wio_phase_kind kind;
    const char *file;          /* "" = no single file */
    bool is_several;           /* several files */
    const struct wio_phase *a; /* NULL = only in b */
    const struct wio_phase *b; /* NULL = only in a */
};

/* Phases in order. Borrowed. */
size_t wio_compare_phases(const struct wio_comparison *comparison,
                          const struct wio_compare_phase **phases_out);

/* Totals of I/O on files, and how long each run took (ns). */
struct wio_compare_total {
    struct wio_tally a;
    struct wio_tally b;
    uint64_t a_duration_ns;
    uint64_t b_duration_ns;
};
void wio_compare_get_total(const struct wio_comparison *comparison,
                           struct wio_compare_total *total_out);

/* b / a; NaN where a is 0 (0 / 0 too: nothing can be said). */
double wio_compare_ratio(uint64_t a, uint64_t b);

#endif
