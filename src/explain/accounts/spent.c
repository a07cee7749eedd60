/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/accounts/spent.h"

#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "explain/account.h"
#include "ops/calls.h"

#define SEVERAL "(several files)"

struct spent_counter {
    struct wio_explanation *explanation;
    struct wio_strtab names;
    struct wio_map index[WIO_SPENT_TABLES]; /* name's id -> row */
};

static enum wio_status find_row(struct spent_counter *counter, enum wio_spent_by by,
                                const char *name, uint32_t bytes, int32_t rank,
                                struct wio_spent_row **row_out)
{
    struct wio_spent_table *table = &counter->explanation->tables[by];
    uint64_t key = (uint32_t)rank;
    const uint64_t *known;
    void *array = table->rows;
    uint32_t id;

    if (by != WIO_SPENT_RANK) {
        WIO_TRY(wio_strtab_add(&counter->names, name, bytes, &id));
        key = id;
    }
    known = wio_map_get(&counter->index[by], key);
    if (known != NULL) {
        *row_out = &table->rows[*known];
        return WIO_OK;
    }
    WIO_TRY(wio_grow(&array, sizeof(*table->rows), &table->capacity, table->count + 1));
    table->rows = array;
    *row_out = &table->rows[table->count];
    **row_out = (struct wio_spent_row){.name = name, .name_bytes = bytes, .rank = rank};
    return wio_map_put(&counter->index[by], key, table->count++);
}

static enum wio_status add_to(struct spent_counter *counter, enum wio_spent_by by, const char *name,
                              uint32_t bytes, int32_t rank, const struct wio_step *step)
{
    const struct wio_site *site = &counter->explanation->steps.sites[step->site];
    struct wio_spent_row *row;

    WIO_TRY(find_row(counter, by, name, bytes, rank, &row));
    row->spent.by_kind[site->kind] += step->self_ns;
    row->spent.count += step->count;
    if (site->op < WIO_OP_COMPUTE && !wio_account_is_buffered(site->op)) {
        bool is_read = wio_account_kind(site->op) == WIO_IO_READ;
        row->spent.bytes_read += is_read ? step->bytes : 0;
        row->spent.bytes_written += is_read ? 0 : step->bytes;
    }
    row->spent.critical_ns += site->kind == WIO_STEP_IO ? step->critical_ns : 0;
    return WIO_OK;
}

static enum wio_status add_named(struct spent_counter *counter, enum wio_spent_by by,
                                 const char *name, const struct wio_step *step)
{
    return add_to(counter, by, name, (uint32_t)strlen(name), -1, step);
}

static enum wio_status add_file(struct spent_counter *counter, const struct wio_step *step)
{
    const struct wio_patterns *patterns = &counter->explanation->patterns;
    const char *path;
    const char *slash;
    const char *fs = "(not known)";

    if (step->path == WIO_SEVERAL_FILES) {
        WIO_TRY(add_named(counter, WIO_SPENT_FILE, SEVERAL, step));
        WIO_TRY(add_named(counter, WIO_SPENT_DIRECTORY, SEVERAL, step));
        return add_named(counter, WIO_SPENT_FS, fs, step);
    }
    path = wio_trace_string(counter->explanation->trace, step->path, NULL);
    slash = strrchr(path, '/');
    WIO_TRY(add_named(counter, WIO_SPENT_FILE, path, step));
    WIO_TRY(add_to(counter, WIO_SPENT_DIRECTORY, path,
                   slash == NULL || slash == path ? 1 : (uint32_t)(slash - path), -1, step));
    if (step->path < patterns->file_capacity && patterns->files[step->path].ops > 0 &&
        patterns->files[step->path].info != UINT32_MAX) {
        const struct wio_file_info *info =
            wio_trace_file(counter->explanation->trace, patterns->files[step->path].info);
        const char *text = wio_trace_string(counter->explanation->trace, info->fs, NULL);
        fs = text[0] != '\0' ? text : fs;
    }
    return add_named(counter, WIO_SPENT_FS, fs, step);
}

static enum wio_status add_step(struct spent_counter *counter, const struct wio_step *step)
{
    const struct wio_trace *trace = counter->explanation->trace;
    const struct wio_site *site = &counter->explanation->steps.sites[step->site];
    const struct wio_process_info *process =
        wio_trace_process(trace, wio_trace_stream(trace, step->stream)->process);

    if (site->kind == WIO_STEP_SHADOW) {
        return WIO_OK;
    }
    WIO_TRY(add_named(counter, WIO_SPENT_JOB, process->job, step));
    WIO_TRY(add_to(counter, WIO_SPENT_RANK, "", 0, process->rank, step));
    WIO_TRY(add_named(counter, WIO_SPENT_OP, wio_step_op_name(site->op), step));
    return site->kind == WIO_STEP_IO && step->path != 0 ? add_file(counter, step) : WIO_OK;
}

static int by_time(const void *a, const void *b)
{
    const struct wio_spent_row *x = a;
    const struct wio_spent_row *y = b;

    if (x->spent.by_kind[WIO_STEP_IO] != y->spent.by_kind[WIO_STEP_IO]) {
        return x->spent.by_kind[WIO_STEP_IO] > y->spent.by_kind[WIO_STEP_IO] ? -1 : 1;
    }
    return strcmp(x->name, y->name);
}

static int by_rank(const void *a, const void *b)
{
    int32_t x = ((const struct wio_spent_row *)a)->rank;
    int32_t y = ((const struct wio_spent_row *)b)->rank;

    return x < y ? -1 : x > y;
}

enum wio_status wio_spent_count(struct wio_explanation *explanation)
{
    struct spent_counter counter = {.explanation = explanation};
    enum wio_status status = WIO_OK;

    for (uint32_t i = 0; i < explanation->steps.count && status == WIO_OK; i++) {
        status = add_step(&counter, &explanation->steps.steps[i]);
    }
    for (unsigned i = 0; i < WIO_SPENT_TABLES; i++) {
        struct wio_spent_table *table = &explanation->tables[i];
        wio_map_fini(&counter.index[i]);
        if (table->count > 0) {
            qsort(table->rows, table->count, sizeof(*table->rows),
                  i == WIO_SPENT_RANK ? by_rank : by_time);
        }
    }
    wio_strtab_fini(&counter.names);
    return status;
}
