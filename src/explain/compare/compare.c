/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/compare/compare.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "explain/compare/phases.h"
#include "explain/compare/side.h"

struct wio_comparison {
    struct wio_side_tables tables;
    struct wio_phases sides[2];
    struct wio_compare_phase phases[2 * WIO_PHASES_MAX];
    size_t phase_count;
    struct wio_compare_total total;
};

void wio_comparison_destroy(struct wio_comparison *comparison)
{
    if (comparison == NULL) {
        return;
    }
    wio_side_tables_fini(&comparison->tables);
    free(comparison);
}

static void comparison_cleanup(struct wio_comparison **comparison)
{
    wio_comparison_destroy(*comparison);
}

static int by_time(const void *a, const void *b)
{
    const struct wio_compare_row *left = a;
    const struct wio_compare_row *right = b;
    uint64_t left_ns = left->a.time_ns + left->b.time_ns;
    uint64_t right_ns = right->a.time_ns + right->b.time_ns;

    if (left_ns != right_ns) {
        return left_ns < right_ns ? 1 : -1;
    }
    /* equal times: the same order whichever table the row was first seen in */
    if (left->a.count + left->b.count != right->a.count + right->b.count) {
        return left->a.count + left->b.count < right->a.count + right->b.count ? 1 : -1;
    }
    return strcmp(left->name, right->name);
}

static int by_rank(const void *a, const void *b)
{
    const struct wio_compare_row *left = a;
    const struct wio_compare_row *right = b;
    return (left->rank > right->rank) - (left->rank < right->rank);
}

static void sort_rows(struct wio_side_rows *rows, int (*order)(const void *, const void *))
{
    if (rows->count > 1) {
        qsort(rows->rows, rows->count, sizeof(*rows->rows), order);
    }
}

/* While reading, `rank` holds the key of a row. Names become pointers now that no name is added
 * any more; then rows may move. */
static void name_and_sort(struct wio_side_tables *tables)
{
    for (size_t i = 0; i < tables->ops.count; i++) {
        tables->ops.rows[i].name = wio_op_name((unsigned)tables->ops.rows[i].rank);
        tables->ops.rows[i].rank = -1;
    }
    for (size_t i = 0; i < tables->files.count; i++) {
        uint32_t name = (uint32_t)tables->files.rows[i].rank;
        tables->files.rows[i].name = wio_strtab_get(&tables->names, name, NULL);
        tables->files.rows[i].rank = -1;
    }
    sort_rows(&tables->ops, by_time);
    sort_rows(&tables->files, by_time);
    sort_rows(&tables->ranks, by_rank);
}

static void pair_phases(struct wio_comparison *self)
{
    struct wio_phase_pair pairs[2 * WIO_PHASES_MAX];

    self->phase_count = wio_phases_align(&self->sides[0], &self->sides[1], pairs);
    for (size_t i = 0; i < self->phase_count; i++) {
        struct wio_compare_phase *row = &self->phases[i];
        const struct wio_phase *shown;
        bool has_file;

        row->a = pairs[i].a >= 0 ? &self->sides[0].phases[pairs[i].a] : NULL;
        row->b = pairs[i].b >= 0 ? &self->sides[1].phases[pairs[i].b] : NULL;
        shown = row->a != NULL ? row->a : row->b;
        WIO_PRE(shown != NULL);
        row->kind = wio_phase_kind(shown);
        /* of metadata the file says little: it is the one of the few data operations among it */
        has_file = row->kind != WIO_PHASE_META && shown->file != WIO_FILE_NONE_OF;
        row->is_several = has_file && (shown->file == WIO_FILE_SEVERAL ||
                                       (row->b != NULL && row->b->file != shown->file));
        row->file = has_file && !row->is_several
                        ? wio_strtab_get(&self->tables.names, shown->file, NULL)
                        : "";
    }
}

enum wio_status wio_compare(const struct wio_trace *a, const struct wio_trace *b,
                            const struct wio_compare_params *params,
                            struct wio_comparison **comparison_out, struct wio_error *err)
{
    WIO_CLEANUP(comparison_cleanup) struct wio_comparison *self = calloc(1, sizeof(*self));
    struct wio_trace_info info[2];
    struct wio_side_params side;

    *comparison_out = NULL;
    if (self == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for a comparison");
    }
    wio_trace_get_info(a, &info[0]);
    wio_trace_get_info(b, &info[1]);
    side = (struct wio_side_params){
        .trace = a,
        .side = 0,
        .root = params->root_a,
        .tables = &self->tables,
        .progress = params->progress,
        .progress_arg = params->progress_arg,
        .progress_total = info[0].events + info[1].events,
    };
    WIO_TRY(wio_side_read(&side, &self->sides[0], &self->total.a, err));
    side.trace = b;
    side.side = 1;
    side.root = params->root_b;
    side.progress_base = info[0].events;
    WIO_TRY(wio_side_read(&side, &self->sides[1], &self->total.b, err));
    self->total.a_duration_ns = info[0].duration_ns;
    self->total.b_duration_ns = info[1].duration_ns;
    name_and_sort(&self->tables);
    pair_phases(self);
    *comparison_out = self;
    self = NULL;
    return WIO_OK;
}

size_t wio_compare_rows(const struct wio_comparison *comparison, enum wio_compare_table table,
                        const struct wio_compare_row **rows_out)
{
    const struct wio_side_rows *tables[] = {
        [WIO_COMPARE_OPS] = &comparison->tables.ops,
        [WIO_COMPARE_FILES] = &comparison->tables.files,
        [WIO_COMPARE_RANKS] = &comparison->tables.ranks,
    };

    *rows_out = tables[table]->rows;
    return tables[table]->count;
}

size_t wio_compare_phases(const struct wio_comparison *comparison,
                          const struct wio_compare_phase **phases_out)
{
    *phases_out = comparison->phases;
    return comparison->phase_count;
}

void wio_compare_get_total(const struct wio_comparison *comparison,
                           struct wio_compare_total *total_out)
{
    *total_out = comparison->total;
}

double wio_compare_ratio(uint64_t a, uint64_t b)
{
    return a != 0 ? (double)b / (double)a : (double)NAN;
}
