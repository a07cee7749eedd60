/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/compare/side.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "ops/storage_path.h"

#define PROGRESS_EVERY 65536u

/* What is known of a path of this trace once it was looked at. */
struct path_note {
    uint32_t name; /* id in tables->names, 0 = not looked at yet */
    bool is_file;
};

struct rank_note {
    struct wio_segmenter segmenter;
    int32_t rank;
};

struct side_counter {
    const struct wio_side_params *params;
    struct path_note *paths; /* by string id */
    uint32_t path_count;
    uint32_t *stream_ranks; /* by stream: index into ranks */
    struct rank_note *ranks;
    size_t rank_count;
    struct wio_tally total;
};

void wio_side_tables_fini(struct wio_side_tables *tables)
{
    struct wio_side_rows *all[] = {&tables->ops, &tables->files, &tables->ranks};

    for (size_t i = 0; i < WIO_ARRAY_SIZE(all); i++) {
        free(all[i]->rows);
        wio_map_fini(&all[i]->index);
    }
    wio_strtab_fini(&tables->names);
}

static void side_fini(struct side_counter *side)
{
    for (size_t i = 0; i < side->rank_count; i++) {
        wio_segmenter_fini(&side->ranks[i].segmenter);
    }
    free(side->ranks);
    free(side->stream_ranks);
    free(side->paths);
}

/* The row of a key, made on first sight; NULL where memory is short. */
static struct wio_compare_row *find_row(struct wio_side_rows *rows, uint64_t key)
{
    const uint64_t *at = wio_map_get(&rows->index, key);
    void *array = rows->rows;

    if (at != NULL) {
        return &rows->rows[*at];
    }
    if (wio_make_room(&array, sizeof(*rows->rows), &rows->capacity, rows->count + 1) != WIO_OK) {
        return NULL;
    }
    rows->rows = array;
    if (wio_map_put(&rows->index, key, rows->count) != WIO_OK) {
        return NULL;
    }
    rows->rows[rows->count] = (struct wio_compare_row){.name = "", .rank = (int32_t)key};
    return &rows->rows[rows->count++];
}

static enum wio_status count_row(struct side_counter *side, struct wio_side_rows *rows,
                                 uint64_t key, const struct wio_event *event)
{
    struct wio_compare_row *row = find_row(rows, key);

    if (row == NULL) {
        return WIO_ERR_NOMEM;
    }
    wio_tally_add(side->params->side == 0 ? &row->a : &row->b, event);
    return WIO_OK;
}

/* "/target/home/u/x" below root "/target" is "/home/u/x". */
static const char *without_root(const char *path, const char *root)
{
    size_t bytes = root != NULL ? strlen(root) : 0;

    while (bytes > 0 && root[bytes - 1] == '/') {
        bytes--;
    }
    if (bytes == 0 || strncmp(path, root, bytes) != 0 || path[bytes] != '/') {
        return path;
    }
    return path + bytes;
}

/* "pipe:[4711]" is another number in each run: only the sort is kept. */
static size_t name_bytes(const char *path)
{
    const char *number = path[0] == '/' ? NULL : strstr(path, ":[");
    return number != NULL ? (size_t)(number - path) : strlen(path);
}

static enum wio_status look_at_path(struct side_counter *side, uint32_t id,
                                    struct path_note **note_out)
{
    struct path_note *note = &side->paths[id < side->path_count ? id : 0];

    *note_out = note;
    if (note->name == 0) {
        const char *path = wio_trace_string(side->params->trace, id, NULL);
        path = without_root(path, side->params->root);
        if (path[0] == '\0') {
            path = "(no path)";
        }
        WIO_TRY(wio_strtab_add(&side->params->tables->names, path, name_bytes(path), &note->name));
        note->is_file = wio_path_is_storage(path);
    }
    return WIO_OK;
}

static enum wio_status count_event(struct side_counter *side, const struct wio_event *event)
{
    struct wio_side_tables *tables = side->params->tables;
    struct rank_note *rank = &side->ranks[side->stream_ranks[event->stream]];
    enum wio_io_kind kind = wio_account_kind(event->op);
    struct path_note *note;

    WIO_TRY(count_row(side, &tables->ops, event->op, event));
    if (kind == WIO_IO_NONE || wio_account_is_buffered(event->op)) {
        return WIO_OK;
    }
    WIO_TRY(look_at_path(side, event->path, &note));
    WIO_TRY(count_row(side, &tables->files, note->name, event));
    if (!note->is_file) {
        return WIO_OK;
    }
    WIO_TRY(count_row(side, &tables->ranks, (uint32_t)rank->rank, event));
    wio_tally_add(&side->total, event);
    return wio_segmenter_add(&rank->segmenter, kind, note->name, event);
}

/* Number the ranks, and note which one each stream belongs to. */
static enum wio_status number_ranks(struct side_counter *side)
{
    const struct wio_trace *trace = side->params->trace;
    uint32_t streams = wio_trace_stream_count(trace);
    WIO_CLEANUP(wio_map_fini) struct wio_map index = {0};

    side->stream_ranks = calloc((size_t)streams + 1, sizeof(*side->stream_ranks));
    side->ranks = calloc((size_t)streams + 1, sizeof(*side->ranks));
    if (side->stream_ranks == NULL || side->ranks == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < streams; i++) {
        uint32_t process = wio_trace_stream(trace, i)->process;
        int32_t rank = wio_trace_process(trace, process)->rank;
        const uint64_t *at = wio_map_get(&index, (uint32_t)rank);
        if (at != NULL) {
            side->stream_ranks[i] = (uint32_t)*at;
            continue;
        }
        WIO_TRY(wio_map_put(&index, (uint32_t)rank, side->rank_count));
        side->stream_ranks[i] = (uint32_t)side->rank_count;
        side->ranks[side->rank_count++].rank = rank;
    }
    return WIO_OK;
}

static enum wio_status side_init(struct side_counter *side)
{
    side->path_count = wio_trace_string_count(side->params->trace) + 1;
    side->paths = calloc(side->path_count, sizeof(*side->paths));
    if (side->paths == NULL) {
        return WIO_ERR_NOMEM;
    }
    return number_ranks(side);
}

static void cursor_cleanup(struct wio_cursor **cursor)
{
    wio_cursor_destroy(*cursor);
}

static enum wio_status read_events(struct side_counter *side, struct wio_error *err)
{
    WIO_CLEANUP(cursor_cleanup) struct wio_cursor *cursor = NULL;
    const struct wio_side_params *params = side->params;
    const struct wio_event *event;
    enum wio_status status;
    uint64_t done = 0;

    /* by time: a rank's threads are cut into phases together */
    WIO_TRY(wio_cursor_create(params->trace, NULL, &cursor, err));
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        status = count_event(side, event);
        if (status != WIO_OK) {
            return wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                                 "no memory to count files");
        }
        if (++done % PROGRESS_EVERY == 0 && params->progress != NULL) {
            params->progress(params->progress_arg, params->progress_base + done,
                             params->progress_total, "events");
        }
    }
    return status == WIO_END ? WIO_OK : status;
}

static int compare_ranks(const void *a, const void *b)
{
    const struct rank_note *left = a;
    const struct rank_note *right = b;
    return (left->rank > right->rank) - (left->rank < right->rank);
}

static enum wio_status read_side(struct side_counter *side, struct wio_phases *phases,
                                 struct wio_error *err)
{
    if (side_init(side) != WIO_OK) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "no memory for the paths of a trace");
    }
    WIO_TRY(read_events(side, err));
    /* rank 0 first: its sequence is the one that the others are laid beside */
    qsort(side->ranks, side->rank_count, sizeof(*side->ranks), compare_ranks);
    for (size_t i = 0; i < side->rank_count; i++) {
        wio_segmenter_finish(&side->ranks[i].segmenter);
        wio_phases_add(phases, &side->ranks[i].segmenter);
    }
    return WIO_OK;
}

enum wio_status wio_side_read(const struct wio_side_params *params, struct wio_phases *phases_out,
                              struct wio_tally *total_out, struct wio_error *err)
{
    struct side_counter side = {.params = params};
    enum wio_status status = read_side(&side, phases_out, err);

    *total_out = side.total;
    side_fini(&side);
    return status;
}
