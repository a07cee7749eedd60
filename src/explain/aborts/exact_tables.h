/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables of the classic analysis by what the servers recorded: for each victim the sources that
 * stood in its way, and the servers where they did, with a mark for each. Besides the classic ones
 * (light: never there; shaded: data access conflict; dark: server contention) a cell may be hatched
 * (a false conflict: locked, and never touched), queued ahead, or a deadlock.
 */
#ifndef WIO_EXPLAIN_ABORTS_EXACT_TABLES_H
#define WIO_EXPLAIN_ABORTS_EXACT_TABLES_H

#include "explain/aborts/cure.h"

enum wio_cell_mark {
    WIO_MARK_LIGHT,
    WIO_MARK_SHADED,
    WIO_MARK_DARK,
    WIO_MARK_HATCHED,
    WIO_MARK_QUEUED,
    WIO_MARK_DEADLOCK,
    WIO_MARKS
};

#define WIO_SERVER_ITSELF (UINT32_MAX - 1) /* no transaction blocked: no source */

struct wio_exact_cell {
    uint32_t victim;
    uint32_t source; /* of the blocker; WIO_SERVER_ITSELF of a dark cell */
    uint32_t server;
    enum wio_cell_mark mark; /* what most of its seconds are */
    uint64_t aborts;
    uint64_t waits;
    double seconds; /* struct wio_exact_pair, lane_s */
};

/* Cells of one victim: by source, then server. */
struct wio_exact_table {
    uint32_t victim;
    double seconds;
    uint64_t aborts; /* an abort by several counts under each */
    uint64_t waits;
    const struct wio_exact_cell *cells;
    uint32_t count;
};

/* The dearest table first. Zero-initialise. */
struct wio_exact_tables {
    struct wio_exact_table *tables;
    uint32_t count;
    struct wio_exact_cell *cells;
    uint32_t cell_count;
};

/* WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status wio_exact_tables_find(const struct wio_exact *exact,
                                                     struct wio_exact_tables *tables);
void wio_exact_tables_fini(struct wio_exact_tables *tables);
/* "light", "shaded", "dark", "hatched", "queued", "deadlock" */
const char *wio_cell_mark_name(enum wio_cell_mark mark);

#endif
