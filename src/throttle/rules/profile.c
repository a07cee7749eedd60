/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/rules/profile.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "base/grow.h"
#include "ops/calls.h"

/* Shorter gaps are what a program does between two calls anyway. */
#define GAP_MIN_NS UINT64_C(20000)
/* Less than this part of a node's life is not worth another run. */
#define OPEN_PART 100

struct profile_reader {
    struct wio_profile *profile;
    const uint32_t *node_of; /* stream -> node */
    uint32_t stream;         /* of the last event */
    uint64_t free_ns;        /* when its last call ended */
    uint64_t point_ns;       /* the last begin of an I/O that counts, or the stream's begin */
    uint64_t first_ns;
    uint64_t last_ns;
};

uint32_t *wio_profile_nodes_of_streams(const struct wio_trace *trace,
                                       const struct wio_roster *roster)
{
    uint32_t streams = wio_trace_stream_count(trace);
    uint32_t *nodes = calloc((size_t)streams + 1, sizeof(*nodes));
    for (uint32_t s = 0; nodes != NULL && s < streams; s++) {
        const struct wio_stream_info *stream = wio_trace_stream(trace, s);
        const struct wio_process_info *process = wio_trace_process(trace, stream->process);
        nodes[s] = WIO_NO_PARTICIPANT;
        for (uint32_t n = 0; n < roster->count && nodes[s] == WIO_NO_PARTICIPANT; n++) {
            nodes[s] = wio_roster_is(roster, n, process, stream->tid) ? n : WIO_NO_PARTICIPANT;
        }
    }
    return nodes;
}

/* The gap that ends with the node's next I/O, or with its life, has lasted until `to_ns` so far. */
static enum wio_status note_gap(struct wio_profile_node *node, uint64_t from_ns, uint64_t to_ns)
{
    void *gaps_ns = node->gaps_ns;
    WIO_TRY(wio_grow(&gaps_ns, sizeof(*node->gaps_ns), &node->room, node->count + 1));
    node->gaps_ns = gaps_ns;
    uint64_t gap_ns = to_ns > from_ns ? to_ns - from_ns : 0;
    uint64_t *known_ns = &node->gaps_ns[node->count];
    *known_ns = gap_ns > *known_ns ? gap_ns : *known_ns;
    node->longest_ns = gap_ns > node->longest_ns ? gap_ns : node->longest_ns;
    return WIO_OK;
}

static void note_call(struct wio_profile_node *node, const struct wio_event *event)
{
    bool is_library = event->op == WIO_OP_MPI_Init || event->op == WIO_OP_MPI_Init_thread ||
                      event->op == WIO_OP_MPI_Finalize || event->op == WIO_OP_mpi_comm;
    if (!is_library && event->dur_ns > node->longest_call_ns) {
        node->longest_call_ns = event->dur_ns;
    }
}

static void begin_stream(struct profile_reader *reader, uint32_t index,
                         const struct wio_trace *trace, struct wio_profile_node *node)
{
    const struct wio_stream_info *stream = wio_trace_stream(trace, index);
    const struct wio_process_info *process = wio_trace_process(trace, stream->process);
    bool is_main = process->pid == stream->tid && process->start_ns < stream->first_ns;
    uint64_t begin_ns = is_main ? process->start_ns : stream->first_ns;
    reader->stream = index;
    reader->free_ns = begin_ns;
    reader->point_ns = begin_ns;
    node->life_ns += stream->last_ns - begin_ns;
}

/* A sleep between two polls of shared memory is an unobserved wait. */
static bool is_nap(const struct wio_event *event)
{
    return wio_op_class(event->op) == WIO_CLASS_SLEEP;
}

static enum wio_status read_event(struct profile_reader *reader, const struct wio_event *event,
                                  const struct wio_trace *trace)
{
    uint32_t n = reader->node_of[event->stream];
    if (n == WIO_NO_PARTICIPANT) {
        return WIO_OK;
    }
    struct wio_profile_node *node = &reader->profile->nodes[n];
    if (event->stream != reader->stream) {
        begin_stream(reader, event->stream, trace, node);
    }
    uint64_t end_ns = event->t_ns + event->dur_ns;
    if (event->t_ns > reader->free_ns + GAP_MIN_NS) {
        node->unexplained_ns += event->t_ns - reader->free_ns;
        reader->free_ns = event->t_ns; /* counted: a nap's own time is what comes next */
    }
    if (!is_nap(event)) {
        reader->free_ns = end_ns > reader->free_ns ? end_ns : reader->free_ns;
    }
    if ((event->flags & WIO_EVENT_HOLD) == 0) {
        note_call(node, event);
        return note_gap(node, reader->point_ns, end_ns); /* it may be the last event */
    }
    WIO_TRY(note_gap(node, reader->point_ns, event->t_ns));
    node->count++;
    WIO_TRY(note_gap(node, event->t_ns, end_ns));
    reader->point_ns = event->t_ns;
    reader->first_ns = event->t_ns < reader->first_ns ? event->t_ns : reader->first_ns;
    reader->last_ns = end_ns > reader->last_ns ? end_ns : reader->last_ns;
    return WIO_OK;
}

static enum wio_status read_events(struct profile_reader *reader, const struct wio_trace *trace,
                                   struct wio_error *err)
{
    struct wio_cursor *cursor;
    const struct wio_event *event;
    const struct wio_filter filter = {.struct_size = sizeof(filter),
                                      .order = WIO_ORDER_STREAM,
                                      .columns = WIO_COLUMN_TIME | WIO_COLUMN_FLAGS};
    WIO_TRY(wio_cursor_create(trace, &filter, &cursor, err));
    enum wio_status status;
    while ((status = wio_cursor_next(cursor, &event, err)) == WIO_OK) {
        status = read_event(reader, event, trace);
        if (status != WIO_OK) {
            break;
        }
    }
    wio_cursor_destroy(cursor);
    return status == WIO_END ? WIO_OK : status;
}

/* Whatever counted as I/O for holding is in the trace, or numbers would not mean the same. */
static enum wio_status check_counts(const struct wio_profile *profile,
                                    const struct wio_roster *roster, struct wio_error *err)
{
    for (uint32_t n = 0; n < profile->count; n++) {
        const struct wio_roster_node *node = &roster->nodes[n];
        if (profile->nodes[n].count != node->ops) {
            return wio_error_set(err, WIO_ERR_FORMAT, NULL, WIO_ERROR_NO_OFFSET,
                                 "expected %" PRIu32 " operations by which pid %d thread %d could "
                                 "be held, found %" PRIu32 " in the trace",
                                 node->ops, (int)node->pid, (int)node->tid,
                                 profile->nodes[n].count);
        }
    }
    return WIO_OK;
}

enum wio_status wio_profile_read(const struct wio_trace *trace, const struct wio_roster *roster,
                                 struct wio_profile *profile_out, struct wio_error *err)
{
    struct wio_trace_info info;
    wio_trace_get_info(trace, &info);
    *profile_out = (struct wio_profile){.count = roster->count, .dropped = info.dropped};
    profile_out->nodes = calloc((size_t)roster->count + 1, sizeof(*profile_out->nodes));
    uint32_t *node_of = wio_profile_nodes_of_streams(trace, roster);
    struct profile_reader reader = {
        .profile = profile_out, .node_of = node_of, .stream = UINT32_MAX, .first_ns = UINT64_MAX};
    enum wio_status status = profile_out->nodes == NULL || node_of == NULL ? WIO_ERR_NOMEM : WIO_OK;
    if (status == WIO_OK) {
        status = read_events(&reader, trace, err);
    }
    free(node_of);
    if (status == WIO_ERR_NOMEM) {
        return wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    WIO_TRY(status);
    profile_out->duration_ns =
        reader.last_ns > reader.first_ns ? reader.last_ns - reader.first_ns : 0;
    return check_counts(profile_out, roster, err);
}

uint64_t wio_profile_gap(const struct wio_profile *profile, uint32_t node, uint32_t asked)
{
    const struct wio_profile_node *it = &profile->nodes[node];
    return asked < it->room && asked <= it->count ? it->gaps_ns[asked] : 0;
}

uint64_t wio_profile_phase(const struct wio_profile *profile, uint32_t node, uint32_t asked)
{
    const struct wio_profile_node *it = &profile->nodes[node];
    uint64_t longest_ns = wio_profile_gap(profile, node, asked);
    for (uint32_t i = 1; asked > 0 && asked < it->count && i < it->count; i++) {
        uint64_t gap_ns = wio_profile_gap(profile, node, i);
        longest_ns = gap_ns > longest_ns ? gap_ns : longest_ns;
    }
    return longest_ns;
}

void wio_profile_fini(struct wio_profile *profile)
{
    for (uint32_t n = 0; profile->nodes != NULL && n < profile->count; n++) {
        free(profile->nodes[n].gaps_ns);
    }
    free(profile->nodes);
    *profile = (struct wio_profile){0};
}

bool wio_profile_is_open(const struct wio_profile *profile)
{
    uint32_t with_io = 0;
    bool is_open = false;
    for (uint32_t n = 0; n < profile->count; n++) {
        const struct wio_profile_node *node = &profile->nodes[n];
        with_io += node->count > 0 ? 1 : 0;
        is_open = is_open || node->unexplained_ns > node->life_ns / OPEN_PART;
    }
    return is_open && with_io > 1;
}
