/* SPDX-License-Identifier: Apache-2.0 */
/* Edges into the file of edges: sorted by where they end and where they begin, by index only. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/bisect.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "edges/edges_internal.h"

struct store {
    const struct wio_trace *trace;
    const struct wio_join_tables *tables;
    const struct wio_join_result *result;
    struct wio_edge_writer *writer;
    struct wio_error *err;
    uint32_t *objects; /* of the inference -> stored; 0 = none */
    uint32_t *givers;  /* per collective */
};

/* Which point of an item is meant. */
typedef struct wio_point point_fn(const struct wio_join_result *result, uint32_t item);

/* Items by thread, and by operation within it. */
struct sorted {
    size_t *start; /* per thread, and one more */
    uint32_t *items;
};

struct sort_key {
    const struct wio_join_result *result;
    point_fn *point;
};

static struct wio_point edge_to(const struct wio_join_result *result, uint32_t item)
{
    const struct wio_edge *edge = &result->edges.edges[item];
    return (struct wio_point){edge->to_op, edge->to_thread};
}

static struct wio_point edge_from(const struct wio_join_result *result, uint32_t item)
{
    const struct wio_edge *edge = &result->edges.edges[item];
    return (struct wio_point){edge->from_op, edge->from_thread};
}

static struct wio_point member_at(const struct wio_join_result *result, uint32_t item)
{
    const struct wio_member *member = &result->edges.members[item];
    return (struct wio_point){member->enter_op, member->thread};
}

static struct wio_point wait_at(const struct wio_join_result *result, uint32_t item)
{
    const struct wio_infer_wait *wait = wio_infer_wait(result->infer, item);
    return (struct wio_point){wait->until.first_op, wait->thread};
}

static uint64_t op_of(const void *context, uint32_t item)
{
    const struct sort_key *key = context;
    return key->point(key->result, item).op;
}

static void sorted_fini(struct sorted *sorted)
{
    free(sorted->start);
    free(sorted->items);
}

static enum wio_status no_memory(const struct store *store)
{
    return wio_error_set(store->err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                         "no memory to sort edges");
}

static void fill(const struct store *store, size_t count, point_fn *point, struct sorted *sorted)
{
    uint32_t threads = store->result->edges.threads;
    for (size_t i = 0; i < count; i++) {
        sorted->start[point(store->result, (uint32_t)i).thread + 1]++;
    }
    for (uint32_t t = 0; t < threads; t++) {
        sorted->start[t + 1] += sorted->start[t];
    }
    for (size_t i = count; i > 0; i--) { /* from behind, so that equal ones keep their order */
        uint32_t thread = point(store->result, (uint32_t)(i - 1)).thread;
        sorted->items[--sorted->start[thread + 1]] = (uint32_t)(i - 1);
    }
    /* start[t + 1] is now where thread t begins. */
    for (uint32_t t = 0; t < threads; t++) {
        sorted->start[t] = sorted->start[t + 1];
    }
    sorted->start[threads] = count;
}

static enum wio_status sort(const struct store *store, size_t count, point_fn *point,
                            struct sorted *sorted)
{
    uint32_t threads = store->result->edges.threads;
    uint32_t *scratch = calloc(count + 1, sizeof(*scratch));
    sorted->start = calloc((size_t)threads + 2, sizeof(*sorted->start));
    sorted->items = calloc(count + 1, sizeof(*sorted->items));
    if (scratch == NULL || sorted->start == NULL || sorted->items == NULL) {
        free(scratch);
        return no_memory(store);
    }
    fill(store, count, point, sorted);
    const struct sort_key key = {store->result, point};
    for (uint32_t t = 0; t < threads; t++) {
        size_t first = sorted->start[t];
        wio_stable_sort(&sorted->items[first], scratch, sorted->start[t + 1] - first, op_of, &key);
    }
    free(scratch);
    return WIO_OK;
}

/* The first item of the thread at or behind `op`. */
static size_t find_op(const struct store *store, const struct sorted *sorted, point_fn *point,
                      uint32_t thread, uint64_t op)
{
    return WIO_FIRST(i, sorted->start[thread], sorted->start[thread + 1],
                     point(store->result, sorted->items[i]).op >= op);
}

/* All items in the order of streams and their events. */
static enum wio_status write_sorted(struct store *store, size_t count, point_fn *point,
                                    enum wio_status (*write)(struct store *store, uint32_t item))
{
    WIO_CLEANUP(sorted_fini) struct sorted sorted = {0};
    WIO_TRY(sort(store, count, point, &sorted));
    for (uint32_t s = 0; s < wio_trace_stream_count(store->trace); s++) {
        const struct wio_infer_stream *stream = &store->tables->streams[s];
        uint64_t end = stream->first_seq + stream->events;
        size_t i = find_op(store, &sorted, point, stream->thread, stream->first_seq);
        for (;
             i < sorted.start[stream->thread + 1] && point(store->result, sorted.items[i]).op < end;
             i++) {
            WIO_TRY(write(store, sorted.items[i]));
        }
    }
    return WIO_OK;
}

/* The stream of the trace in which a thread did an operation. */
static uint32_t stream_of(const struct store *store, uint32_t thread, uint64_t op)
{
    uint32_t s = thread;
    while (store->tables->next_stream[s] != UINT32_MAX &&
           op >= store->tables->streams[s].first_seq + store->tables->streams[s].events) {
        s = store->tables->next_stream[s];
    }
    return s;
}

static struct wio_edge_row row_of(const struct store *store, uint32_t item)
{
    const struct wio_edge *edge = &store->result->edges.edges[item];
    return (struct wio_edge_row){
        .from = {edge->from_op, stream_of(store, edge->from_thread, edge->from_op)},
        .to = {edge->to_op, stream_of(store, edge->to_thread, edge->to_op)},
        .object = store->objects[edge->object],
        .edge_class = edge->class,
        .evidence = edge->evidence,
        .is_implied = store->result->is_implied[item],
    };
}

static enum wio_status write_in(struct store *store, uint32_t item)
{
    const struct wio_edge_row row = row_of(store, item);
    return wio_edge_writer_edge(store->writer, WIO_BLOCK_EDGES_IN, &row, store->err);
}

/* R-EDGE-4: those that nothing else implies, once more from where they begin. */
static enum wio_status write_out(struct store *store, uint32_t item)
{
    const struct wio_edge_row row = row_of(store, item);
    return row.is_implied
               ? WIO_OK
               : wio_edge_writer_edge(store->writer, WIO_BLOCK_EDGES_OUT, &row, store->err);
}

/* How many members of each collective give. */
static enum wio_status count_givers(struct store *store)
{
    const struct wio_edges *edges = &store->result->edges;
    store->givers = calloc(edges->collective_count + 1, sizeof(*store->givers));
    if (store->givers == NULL) {
        return no_memory(store);
    }
    for (size_t c = 0; c < edges->collective_count; c++) {
        for (size_t i = 0; i < edges->collectives[c].count; i++) {
            const struct wio_member *member = &edges->members[edges->collectives[c].first + i];
            store->givers[c] += member->gives ? 1 : 0;
        }
    }
    return WIO_OK;
}

static struct wio_member_row member_row(const struct store *store, uint32_t number,
                                        const struct wio_member *member)
{
    const struct wio_collective *collective = &store->result->edges.collectives[number];
    return (struct wio_member_row){
        .enter_seq = member->enter_op,
        .leave_seq = member->leave_op,
        .stream = stream_of(store, member->thread, member->enter_op),
        .collective = number,
        .object = store->objects[collective->object],
        .members = (uint32_t)collective->count,
        .givers = store->givers[number],
        .evidence = collective->evidence,
        .gives = member->gives,
        .takes = member->takes,
    };
}

/* Members of a collective come as they did; in the file they are sorted by stream. */
static int by_stream(const void *a, const void *b)
{
    const struct wio_member_row *left = a;
    const struct wio_member_row *right = b;
    return (left->stream > right->stream) - (left->stream < right->stream);
}

static enum wio_status write_collective(struct store *store, uint32_t number)
{
    const struct wio_edges *edges = &store->result->edges;
    const struct wio_collective *collective = &edges->collectives[number];
    struct wio_member_row *rows = calloc(collective->count + 1, sizeof(*rows));
    if (rows == NULL) {
        return no_memory(store);
    }
    for (size_t i = 0; i < collective->count; i++) {
        rows[i] = member_row(store, number, &edges->members[collective->first + i]);
    }
    qsort(rows, collective->count, sizeof(*rows), by_stream);
    enum wio_status status = WIO_OK;
    for (size_t i = 0; i < collective->count && status == WIO_OK; i++) {
        status = wio_edge_writer_member(store->writer, WIO_BLOCK_COLLECTIVES, &rows[i], store->err);
    }
    free(rows);
    return status;
}

/* Members lie in the order of collectives, so the collective of one is found by a search. */
static uint32_t collective_of(const struct wio_edges *edges, size_t member)
{
    size_t behind = WIO_FIRST(i, 1, edges->collective_count, edges->collectives[i].first > member);
    return (uint32_t)behind - 1;
}

static enum wio_status write_member(struct store *store, uint32_t item)
{
    const struct wio_edges *edges = &store->result->edges;
    uint32_t number = collective_of(edges, item);
    const struct wio_member_row row = member_row(store, number, &edges->members[item]);
    return wio_edge_writer_member(store->writer, WIO_BLOCK_MEMBERS, &row, store->err);
}

static enum wio_status write_wait(struct store *store, uint32_t item)
{
    const struct wio_infer_wait *wait = wio_infer_wait(store->result->infer, item);
    const struct wio_wait_row row = {
        .first_seq = wait->until.first_op,
        .last_seq = wait->until.last_op,
        .looks = wait->until.looks,
        .stream = stream_of(store, wait->thread, wait->until.first_op),
    };
    return wio_edge_writer_wait(store->writer, &row, store->err);
}

/* Only objects that an edge or a collective names are stored. */
static enum wio_status write_objects(struct store *store)
{
    const struct wio_edges *edges = &store->result->edges;
    uint32_t count = wio_infer_object_count(store->result->infer);
    uint32_t stored = 0;
    store->objects = calloc((size_t)count + 1, sizeof(*store->objects));
    if (store->objects == NULL) {
        return no_memory(store);
    }
    for (size_t i = 0; i < edges->edge_count; i++) {
        store->objects[edges->edges[i].object] = 1;
    }
    for (size_t i = 0; i < edges->collective_count; i++) {
        store->objects[edges->collectives[i].object] = 1;
    }
    store->objects[0] = 0;
    for (uint32_t i = 1; i <= count; i++) {
        char text[4200];
        if (store->objects[i] == 0) {
            continue;
        }
        const struct wio_infer_object object = wio_infer_object(store->result->infer, i);
        store->objects[i] = ++stored;
        wio_join_name_object(store->trace, &object, text, sizeof(text));
        WIO_TRY(wio_edge_writer_object(store->writer, text, store->err));
    }
    return WIO_OK;
}

/* A line for each thing that is missing or doubtful. */
static void notes(const struct store *store, char *text, size_t room)
{
    struct wio_error first = WIO_ERROR_INIT;
    uint64_t contradictions = wio_infer_contradictions(store->result->infer, &first);
    uint64_t lost = store->result->held->lost;
    uint64_t unfollowed = wio_infer_unfollowed(store->result->infer);
    uint64_t ranges = wio_infer_unkept_ranges(store->result->infer);
    int at = 0;
    text[0] = '\0';
    if (contradictions > 0) {
        at +=
            snprintf(text, room,
                     "%" PRIu64 " members of collectives contradict others and were left out: %s\n",
                     contradictions, first.message);
    }
    if (lost > 0) {
        at += snprintf(text + at, room - (size_t)at,
                       "%" PRIu64 " edges that were found by holding lead to segments that are not "
                       "in the directory any more and are left out; " WIO_HELD_NAME " keeps them\n",
                       lost);
    }
    if (unfollowed > 0) {
        at +=
            snprintf(text + at, room - (size_t)at,
                     "directories were renamed so often that names below them are not followed "
                     "through the last %" PRIu64 " renames: waits for such files may be missing\n",
                     unfollowed);
    }
    if (ranges > 0) {
        at +=
            snprintf(text + at, room - (size_t)at,
                     "%" PRIu64 " locks of ranges came when thousands of the same file were held: "
                     "waits for them are missing\n",
                     ranges);
    }
    at += snprintf(text + at, room - (size_t)at, "%s%s", store->result->cycle_note,
                   store->result->clock_note);
    if (at > 0 && text[at - 1] == '\n') {
        text[at - 1] = '\0';
    }
}

static enum wio_status write_meta(struct store *store)
{
    const struct wio_match_left left = wio_infer_left(store->result->infer);
    const struct {
        enum wio_edges_meta key;
        uint64_t value;
    } numbers[] = {
        {WIO_EDGES_META_SENDS, left.sends},
        {WIO_EDGES_META_RECEIVES, left.receives},
        {WIO_EDGES_META_READ_BYTES, left.read_bytes},
        {WIO_EDGES_META_COLLECTIVES, left.collectives},
    };
    char text[1900 + 2 * WIO_JOIN_NOTE_BYTES];
    for (size_t i = 0; i < WIO_ARRAY_SIZE(numbers); i++) {
        (void)snprintf(text, sizeof(text), "%" PRIu64, numbers[i].value);
        WIO_TRY(wio_edge_writer_meta(store->writer, numbers[i].key, text, store->err));
    }
    notes(store, text, sizeof(text));
    return text[0] == '\0'
               ? WIO_OK
               : wio_edge_writer_meta(store->writer, WIO_EDGES_META_NOTES, text, store->err);
}

static enum wio_status write_all(struct store *store)
{
    const struct wio_edges *edges = &store->result->edges;
    size_t waits = wio_infer_wait_count(store->result->infer);
    WIO_TRY(write_objects(store));
    WIO_TRY(count_givers(store));
    WIO_TRY(write_sorted(store, edges->edge_count, edge_to, write_in));
    WIO_TRY(write_sorted(store, edges->edge_count, edge_from, write_out));
    for (size_t i = 0; i < edges->collective_count; i++) {
        WIO_TRY(write_collective(store, (uint32_t)i));
    }
    WIO_TRY(write_sorted(store, edges->member_count, member_at, write_member));
    WIO_TRY(write_sorted(store, waits, wait_at, write_wait));
    for (uint32_t i = 0; i < store->result->clock_count; i++) {
        WIO_TRY(wio_edge_writer_clock(store->writer, &store->result->clocks[i], store->err));
    }
    return write_meta(store);
}

enum wio_status wio_join_store(const struct wio_trace *trace, const struct wio_join_tables *tables,
                               const struct wio_join_result *result, struct wio_edge_writer *writer,
                               struct wio_error *err)
{
    struct store store = {
        .trace = trace, .tables = tables, .result = result, .writer = writer, .err = err};
    enum wio_status status = write_all(&store);
    free(store.objects);
    free(store.givers);
    return status;
}
