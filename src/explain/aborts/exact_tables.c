/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/aborts/exact_tables.h"

#include <stdlib.h>

#include "base/cleanup.h"

const char *wio_cell_mark_name(enum wio_cell_mark mark)
{
    static const char *const names[WIO_MARKS] = {"light",   "shaded", "dark",
                                                 "hatched", "queued", "deadlock"};
    return mark < WIO_MARKS ? names[mark] : "?";
}

void wio_exact_tables_fini(struct wio_exact_tables *tables)
{
    free(tables->tables);
    free(tables->cells);
}

static enum wio_cell_mark mark_of(const struct wio_exact_pair *pair)
{
    double seconds[WIO_LOSSES];
    wio_losses_of(pair, seconds);
    seconds[WIO_LOSS_THINK] = 0; /* how long it was held, and no reason to wait */
    enum wio_loss most = wio_loss_most(seconds);
    if (most == WIO_LOSS_FALSE) {
        return WIO_MARK_HATCHED;
    }
    if (most == WIO_LOSS_QUEUED) {
        return WIO_MARK_QUEUED;
    }
    return most == WIO_LOSS_DEADLOCK ? WIO_MARK_DEADLOCK : WIO_MARK_SHADED;
}

static void add_cells(const struct wio_exact *exact, struct wio_exact_tables *tables)
{
    for (uint32_t i = 0; i < exact->pair_count; i++) {
        const struct wio_exact_pair *pair = &exact->pairs[i];
        tables->cells[tables->cell_count++] = (struct wio_exact_cell){.victim = pair->victim,
                                                                      .source = pair->blocker,
                                                                      .server = pair->server,
                                                                      .mark = mark_of(pair),
                                                                      .aborts = pair->aborts,
                                                                      .waits = pair->waits,
                                                                      .seconds = pair->lane_s};
    }
    for (uint32_t i = 0; i < exact->contention_count; i++) {
        const struct wio_exact_contention *row = &exact->contention[i];
        if (row->busy > 0 || row->lane_queue_s > 0) {
            tables->cells[tables->cell_count++] =
                (struct wio_exact_cell){.victim = row->source,
                                        .source = WIO_SERVER_ITSELF,
                                        .server = row->server,
                                        .mark = WIO_MARK_DARK,
                                        .aborts = row->busy,
                                        .seconds = row->lane_queue_s};
        }
    }
}

static int compare_cells(const void *a, const void *b)
{
    const struct wio_exact_cell *x = a;
    const struct wio_exact_cell *y = b;
    if (x->victim != y->victim) {
        return x->victim < y->victim ? -1 : 1;
    }
    if (x->source != y->source) {
        return x->source < y->source ? -1 : 1;
    }
    return (x->server > y->server) - (x->server < y->server);
}

static int compare_tables(const void *a, const void *b)
{
    const struct wio_exact_table *x = a;
    const struct wio_exact_table *y = b;
    if (x->seconds != y->seconds) {
        return x->seconds > y->seconds ? -1 : 1;
    }
    return (x->victim > y->victim) - (x->victim < y->victim);
}

static void add_tables(struct wio_exact_tables *tables)
{
    struct wio_exact_table *table = NULL;
    for (uint32_t i = 0; i < tables->cell_count; i++) {
        const struct wio_exact_cell *cell = &tables->cells[i];
        if (table == NULL || table->victim != cell->victim) {
            table = &tables->tables[tables->count++];
            *table = (struct wio_exact_table){.victim = cell->victim, .cells = cell};
        }
        table->seconds += cell->seconds;
        table->aborts += cell->aborts;
        table->waits += cell->waits;
        table->count++;
    }
}

enum wio_status wio_exact_tables_find(const struct wio_exact *exact,
                                      struct wio_exact_tables *tables)
{
    size_t most = (size_t)exact->pair_count + exact->contention_count + 1;
    tables->cells = calloc(most, sizeof(*tables->cells));
    tables->tables = calloc(most, sizeof(*tables->tables));
    if (tables->cells == NULL || tables->tables == NULL) {
        return WIO_ERR_NOMEM;
    }
    add_cells(exact, tables);
    qsort(tables->cells, tables->cell_count, sizeof(*tables->cells), compare_cells);
    add_tables(tables);
    qsort(tables->tables, tables->count, sizeof(*tables->tables), compare_tables);
    return WIO_OK;
}
