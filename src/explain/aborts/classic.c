/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/aborts/classic.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/grow.h"

void wio_classic_fini(struct wio_classic *classic)
{
    for (uint32_t i = 0; i < classic->count; i++) {
        free(classic->tables[i].cells);
        free(classic->tables[i].sources);
    }
    free(classic->tables);
    free(classic->scratch);
    wio_strtab_fini(&classic->index);
}

/* What is looked for beside one abort at one server. */
struct beside_victim {
    struct wio_classic *classic;
    const struct wio_attempts *attempts;
    const struct wio_attempt *victim;
    const struct wio_attempt_part *part; /* of the victim */
};

static enum wio_status scratch_cell(struct wio_classic *classic, uint32_t source, uint32_t server,
                                    enum wio_classic_cell cell)
{
    for (uint32_t i = 0; i < classic->scratch_count; i++) {
        struct wio_classic_column *at = &classic->scratch[i];
        if (at->source == source && at->server == server) {
            at->aborts[cell] = 1;
            return WIO_OK;
        }
    }
    void *array = classic->scratch;
    WIO_TRY(wio_grow(&array, sizeof(*classic->scratch), &classic->scratch_capacity,
                     classic->scratch_count + 1));
    classic->scratch = array;
    struct wio_classic_column *fresh = &classic->scratch[classic->scratch_count++];
    *fresh = (struct wio_classic_column){.source = source, .server = server};
    fresh->aborts[cell] = 1;
    return WIO_OK;
}

static enum wio_status beside(void *arg, struct wio_attempt *other,
                              const struct wio_attempt_part *part)
{
    struct beside_victim *look = arg;
    uint32_t source = 0;
    WIO_TRY(wio_attempts_source(look->attempts, other, &source));
    look->classic->named++;
    if (look->victim->waits != NULL && look->victim->waits->refusal_count > 0) {
        look->classic->judged++;
        look->classic->innocent += !wio_attempt_is_refused_by(look->victim, &other->name);
    }
    bool is_conflict = wio_attempt_parts_conflict(look->part, part);
    return scratch_cell(look->classic, source, part->server,
                        is_conflict ? WIO_CELL_SHADED : WIO_CELL_DARK);
}

static int compare_cells(const void *a, const void *b)
{
    const struct wio_classic_column *left = a;
    const struct wio_classic_column *right = b;
    if (left->source != right->source) {
        return left->source < right->source ? -1 : 1;
    }
    return (left->server > right->server) - (left->server < right->server);
}

/* The sources of the sorted cells, each once. */
static enum wio_status rows_of(const struct wio_classic *classic, uint32_t **sources_out,
                               uint32_t *count_out)
{
    uint32_t *sources = calloc((size_t)classic->scratch_count + 1, sizeof(*sources));
    uint32_t count = 0;
    if (sources == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < classic->scratch_count; i++) {
        if (count == 0 || sources[count - 1] != classic->scratch[i].source) {
            sources[count++] = classic->scratch[i].source;
        }
    }
    *sources_out = sources;
    *count_out = count;
    return WIO_OK;
}

/* Victim, number of refusals and rows: what is equal in explanations that merge. */
static enum wio_status find_table(struct wio_classic *classic, uint32_t victim, uint32_t refused,
                                  struct wio_classic_table **table_out)
{
    uint32_t *sources = NULL;
    uint32_t count = 0;
    uint32_t id = 0;
    WIO_CLEANUP(wio_blob_fini) struct wio_blob key = {0};
    WIO_TRY(rows_of(classic, &sources, &count));
    *table_out = NULL;
    enum wio_status status = wio_blob_u32(&key, victim);
    status = status == WIO_OK ? wio_blob_u32(&key, refused) : status;
    status = status == WIO_OK ? wio_blob_put(&key, sources, count * sizeof(*sources)) : status;
    if (status == WIO_OK) {
        id = wio_strtab_find(&classic->index, (const char *)key.data, key.size);
    }
    if (status == WIO_OK && id == 0 && classic->count == WIO_CLASSIC_TABLES) {
        free(sources);
        return WIO_OK;
    }
    if (status == WIO_OK && id == 0) {
        status = wio_strtab_add(&classic->index, (const char *)key.data, key.size, &id);
    }
    if (status == WIO_OK && id > classic->count) {
        void *array = classic->tables;
        status = wio_grow(&array, sizeof(*classic->tables), &classic->capacity, classic->count + 1);
        if (status == WIO_OK) {
            classic->tables = array;
            classic->tables[classic->count++] = (struct wio_classic_table){
                .victim = victim, .refused = refused, .sources = sources, .source_count = count};
            sources = NULL;
        }
    }
    free(sources);
    WIO_TRY(status);
    *table_out = &classic->tables[id - 1];
    return WIO_OK;
}

/* Both lists are sorted: the columns of the two unite. */
static enum wio_status add_cells(struct wio_classic_table *table,
                                 const struct wio_classic_column *cells, uint32_t count)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        while (at < table->cell_count && compare_cells(&table->cells[at], &cells[i]) < 0) {
            at++;
        }
        if (at == table->cell_count || compare_cells(&table->cells[at], &cells[i]) != 0) {
            void *array = table->cells;
            WIO_TRY(wio_grow(&array, sizeof(*table->cells), &table->cell_capacity,
                             table->cell_count + 1));
            table->cells = array;
            memmove(&table->cells[at + 1], &table->cells[at],
                    (table->cell_count - at) * sizeof(*table->cells));
            table->cells[at] =
                (struct wio_classic_column){.source = cells[i].source, .server = cells[i].server};
            table->cell_count++;
        }
        bool is_shaded = cells[i].aborts[WIO_CELL_SHADED] > 0;
        table->cells[at].aborts[is_shaded ? WIO_CELL_SHADED : WIO_CELL_DARK]++;
    }
    return WIO_OK;
}

static enum wio_status look_beside(struct wio_classic *classic, const struct wio_attempts *attempts,
                                   const struct wio_attempt *attempt, uint32_t *refused_out,
                                   bool *is_silent_out)
{
    *refused_out = 0;
    *is_silent_out = false;
    classic->scratch_count = 0;
    for (uint32_t i = 0; i < attempt->part_count; i++) {
        const struct wio_attempt_part *part = &attempt->parts[i];
        if (part->refusal == WIO_REFUSAL_NONE) {
            continue;
        }
        struct beside_victim look = {classic, attempts, attempt, part};
        ++*refused_out;
        *is_silent_out = *is_silent_out || part->refusal == WIO_REFUSAL_SILENT;
        WIO_TRY(wio_attempts_beside(attempts, attempt, part->server, beside, &look));
    }
    return WIO_OK;
}

enum wio_status wio_classic_abort(struct wio_classic *classic, const struct wio_attempts *attempts,
                                  struct wio_attempt *attempt)
{
    struct wio_classic_table *table = NULL;
    uint32_t victim = 0;
    uint32_t refused = 0;
    bool is_silent = false;
    WIO_TRY(look_beside(classic, attempts, attempt, &refused, &is_silent));
    WIO_TRY(wio_attempts_source(attempts, attempt, &victim));
    if (classic->scratch_count > 1) {
        qsort(classic->scratch, classic->scratch_count, sizeof(*classic->scratch), compare_cells);
    }
    WIO_TRY(find_table(classic, victim, refused, &table));
    classic->aborts++;
    if (table == NULL) {
        classic->left_out++;
        return WIO_OK;
    }
    table->aborts++;
    table->silent += is_silent;
    return add_cells(table, classic->scratch, classic->scratch_count);
}

static int compare_tables(const void *a, const void *b)
{
    const struct wio_classic_table *left = a;
    const struct wio_classic_table *right = b;
    if (left->aborts != right->aborts) {
        return left->aborts > right->aborts ? -1 : 1;
    }
    return (left->victim > right->victim) - (left->victim < right->victim);
}

void wio_classic_sort(struct wio_classic *classic)
{
    if (classic->count > 1) {
        qsort(classic->tables, classic->count, sizeof(*classic->tables), compare_tables);
    }
}
