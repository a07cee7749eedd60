/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The classic analysis of aborts: Transaction Analysis of W. Meira et al., "Cause-Effect Analysis
 * of Parallel Applications" (Carnival over PIOUS), sentence by sentence in docs/ABORTS.md.
 *
 * For an aborted attempt T, R(T) are the servers that refused it. Its explanation are the
 * transactions that were active on these servers between its begin and its end. Each (source,
 * server) is light (not active there), shaded (a data access conflict: bytes overlap) or dark
 * (server contention: active, no overlap). Explanations merge where victim, sources and the number
 * of servers that refused are equal; their tables unite their columns.
 *
 * Memory: source places x servers of each explanation.
 */
#ifndef WIO_EXPLAIN_ABORTS_CLASSIC_H
#define WIO_EXPLAIN_ABORTS_CLASSIC_H

#include "explain/aborts/attempts.h"

/* How dark a cell of one abort is; larger ones hide smaller ones of the same source. */
enum wio_classic_cell { WIO_CELL_LIGHT, WIO_CELL_DARK, WIO_CELL_SHADED, WIO_CELLS };

struct wio_classic_column {
    uint32_t source; /* of the table's row */
    uint32_t server; /* of wio_attempts_server */
    uint64_t
        aborts[WIO_CELLS]; /* in how many of the aborts the cell was so: light is not counted */
};

/* One table: a kind of victim. */
struct wio_classic_table {
    uint32_t victim;  /* source */
    uint32_t refused; /* servers that refused each of the aborts */
    uint64_t aborts;
    uint64_t silent;                  /* of them: a server gave no answer in time */
    struct wio_classic_column *cells; /* by source, then server */
    uint32_t cell_count;
    uint32_t cell_capacity;
    uint32_t *sources; /* rows: rising */
    uint32_t source_count;
};

/* Tables behind these are not made; their aborts are counted (`left_out`). */
#define WIO_CLASSIC_TABLES 4096u

/* Zero-initialise. */
struct wio_classic {
    struct wio_classic_table *tables;
    uint32_t count;
    uint32_t capacity;
    struct wio_strtab index;
    uint64_t aborts;
    uint64_t left_out; /* of the aborts: in no table */
    uint64_t named;    /* transactions in the explanations of all aborts */
    uint64_t judged;   /* of them: in explanations of aborts whose blockers are recorded */
    uint64_t innocent; /* of these: no blocker of the abort */
    /* of the abort at hand */
    struct wio_classic_column *scratch;
    uint32_t scratch_count;
    uint32_t scratch_capacity;
};

void wio_classic_fini(struct wio_classic *classic);
/* `attempt` is over and was aborted. */
WIO_MUST_CHECK enum wio_status wio_classic_abort(struct wio_classic *classic,
                                                 const struct wio_attempts *attempts,
                                                 struct wio_attempt *attempt);
/* The most aborts first. After the last abort. */
void wio_classic_sort(struct wio_classic *classic);

#endif
