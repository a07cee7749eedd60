/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A trace as text, one line for each process, stream, file and event: what tests/trace_reader.py
 * prints too, from the document alone.
 *
 *     trace_text DIR          print
 *     trace_text make DIR     write one: two segments, every kind of value
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "edge_fixture.h"
#include "ops/calls.h"
#include "trace_fixture.h"
#include "txn_fixture.h"

static void die(const struct wio_error *err)
{
    char text[2048];
    wio_error_format(err, text, sizeof(text));
    fprintf(stderr, "trace_text: %s\n", text);
    exit(1);
}

static void number(int64_t value, int64_t none)
{
    if (value == none) {
        printf(" -");
    } else {
        printf(" %lld", (long long)value);
    }
}

static void print_tables(const struct wio_trace *trace)
{
    for (uint32_t i = 0; i < wio_trace_process_count(trace); i++) {
        const struct wio_process_info *p = wio_trace_process(trace, i);
        printf("process %d %d %d %u %llu %llu", p->pid, p->ppid, p->rank, p->ranks,
               (unsigned long long)p->start_ns, (unsigned long long)p->end_ns);
        number(p->parent, UINT32_MAX);
        printf(" %u %d %llu %d %s %s %s %s %s\n", p->end, p->end_status,
               (unsigned long long)p->dropped, p->is_expected, p->host, p->job, p->exe, p->argv,
               p->cwd);
    }
    for (uint32_t i = 0; i < wio_trace_stream_count(trace); i++) {
        const struct wio_stream_info *s = wio_trace_stream(trace, i);
        printf("stream %u %d %llu %llu %llu %llu %llu %llu %llu\n", s->process, s->tid,
               (unsigned long long)s->thread, (unsigned long long)s->events,
               (unsigned long long)s->first_seq, (unsigned long long)s->first_ns,
               (unsigned long long)s->last_ns, (unsigned long long)s->bytes_read,
               (unsigned long long)s->bytes_written);
    }
    for (uint32_t i = 0; i < wio_trace_file_count(trace); i++) {
        const struct wio_file_info *f = wio_trace_file(trace, i);
        printf("file %s %d %u %llu %s %s %u\n", wio_trace_string(trace, f->path, NULL),
               (int)f->type, f->mode, (unsigned long long)f->size,
               wio_trace_string(trace, f->target, NULL), wio_trace_string(trace, f->fs, NULL),
               f->uses);
    }
}

static void print_event(const struct wio_trace *trace, const struct wio_event *event)
{
    struct wio_frame frames[8];
    printf("event %u %llu %llu %llu %s %s %u %u", event->stream, (unsigned long long)event->seq,
           (unsigned long long)event->t_ns, (unsigned long long)event->dur_ns,
           wio_op_name(event->op), wio_call_name(event->call), event->flags, event->error);
    number(event->fd, WIO_NO_FD);
    number(event->fd2, WIO_NO_FD);
    printf(" %s %s", wio_trace_string(trace, event->path, NULL),
           wio_trace_string(trace, event->path2, NULL));
    number(event->offset, WIO_NO_OFFSET);
    number(event->offset2, WIO_NO_OFFSET);
    if (event->size == WIO_NO_SIZE) {
        printf(" -");
    } else {
        printf(" %llu", (unsigned long long)event->size);
    }
    number(event->result, WIO_RESULT_PENDING);
    for (unsigned i = 0; i < 4; i++) {
        printf(" %lld", (long long)event->arg[i]);
    }
    printf(" %llu %u %llu %u ", (unsigned long long)event->gap_cpu_ns, event->gap_slept,
           (unsigned long long)event->dur_cpu_ns, event->dur_slept);
    uint32_t count = wio_trace_source(trace, event->source, frames, 8);
    for (uint32_t i = 0; i < count && i < 8; i++) {
        printf("%s%s+%llx", i == 0 ? "" : ",", frames[i].module,
               (unsigned long long)frames[i].address);
    }
    printf("\n");
}

static void print_clocks_and_meta(const struct wio_edge_file *file)
{
    struct wio_edge_info info;
    wio_edge_file_get_info(file, &info);
    for (size_t i = 0; i < wio_edge_file_clock_count(file); i++) {
        const struct wio_clock_row *row = wio_edge_file_clock(file, i);
        printf("clock %s %lld %lld %llu\n", row->host, (long long)row->offset_ns,
               (long long)row->rate, (unsigned long long)row->uncertainty_ns);
    }
    for (uint32_t i = 1; i <= info.objects; i++) {
        printf("object %u %s\n", i, wio_edge_file_object(file, i));
    }
    printf("unmatched %llu %llu %llu %llu\n", (unsigned long long)info.unmatched_sends,
           (unsigned long long)info.unmatched_receives,
           (unsigned long long)info.unmatched_read_bytes,
           (unsigned long long)info.unmatched_collectives);
}

static void print_edge(const char *what, const struct wio_edge_row *row)
{
    printf("%s %u %llu %u %llu %u %u %u %d\n", what, row->from.stream,
           (unsigned long long)row->from.seq, row->to.stream, (unsigned long long)row->to.seq,
           row->object, row->edge_class, row->evidence, row->is_implied);
}

static void print_member(const char *what, const struct wio_member_row *row)
{
    printf("%s %u %u %llu %llu %u %u %u %u %d %d\n", what, row->collective, row->stream,
           (unsigned long long)row->enter_seq, (unsigned long long)row->leave_seq, row->object,
           row->members, row->givers, row->evidence, row->gives, row->takes);
}

static void print_wait(const struct wio_wait_row *row)
{
    printf("wait %u %llu %llu %llu\n", row->stream, (unsigned long long)row->first_seq,
           (unsigned long long)row->last_seq, (unsigned long long)row->looks);
}

static enum wio_status print_row(struct wio_edge_cursor *cursor, enum wio_edge_kind kind,
                                 struct wio_error *err)
{
    static const char *const names[] = {"in", "out", "member", "collective", "wait"};
    const struct wio_member_row *member = NULL;
    const struct wio_edge_row *edge = NULL;
    const struct wio_wait_row *wait = NULL;
    enum wio_status status = WIO_OK;
    if (kind == WIO_EDGES_WAITS) {
        status = wio_edge_cursor_next_wait(cursor, &wait, err);
        if (status == WIO_OK) {
            print_wait(wait);
        }
    } else if (kind == WIO_EDGES_IN || kind == WIO_EDGES_OUT) {
        status = wio_edge_cursor_next(cursor, &edge, err);
        if (status == WIO_OK) {
            print_edge(names[kind], edge);
        }
    } else {
        status = wio_edge_cursor_next_member(cursor, &member, err);
        if (status == WIO_OK) {
            print_member(names[kind], member);
        }
    }
    return status;
}

static void print_edges(const struct wio_edge_file *file)
{
    struct wio_error err = WIO_ERROR_INIT;
    for (unsigned kind = WIO_EDGES_IN; kind <= WIO_EDGES_WAITS; kind++) {
        const struct wio_edge_filter filter = {
            .struct_size = sizeof(filter), .kind = (enum wio_edge_kind)kind, .has_implied = true};
        struct wio_edge_cursor *cursor = NULL;
        enum wio_status status = wio_edge_cursor_create(file, &filter, &cursor, &err);
        while (status == WIO_OK) {
            status = print_row(cursor, filter.kind, &err);
        }
        if (status != WIO_END) {
            die(&err);
        }
        wio_edge_cursor_destroy(cursor);
    }
    print_clocks_and_meta(file);
}

static void print_name_and_range(const struct wio_txn_name *name, const struct wio_txn_range *range)
{
    printf(" %llu %llu %llu %u %llu %u %llu %llu", (unsigned long long)name->client,
           (unsigned long long)name->number, (unsigned long long)name->birth_ns, name->attempt,
           (unsigned long long)range->file, range->segment, (unsigned long long)range->from,
           (unsigned long long)range->to);
}

static void print_place(const struct wio_txn_cursor *cursor, uint32_t id)
{
    const struct wio_txn_origin *origin = wio_txn_cursor_origin(cursor, id);
    printf(" '%s' '%s' '%s' '%s'", origin->job, origin->exe, origin->host, origin->place);
}

static void print_transaction(const struct wio_txn_cursor *cursor, const struct wio_txn_row *row)
{
    printf("txn %llu %u %u", (unsigned long long)row->t_ns, row->kind, row->op);
    print_name_and_range(&row->txn, &row->range);
    number(row->server, WIO_TXN_NO_SERVER);
    printf(" %u %u %u %u %llu %llu %llu %llu %llu %u %u %llu %u", row->mode, row->result,
           row->reason, row->outcome, (unsigned long long)row->queue_ns,
           (unsigned long long)row->lock_ns, (unsigned long long)row->storage_ns,
           (unsigned long long)row->run_ns, (unsigned long long)row->bytes, row->queue_depth,
           row->flags, (unsigned long long)row->transfer_ns, row->blocker_count);
    print_place(cursor, row->origin);
    for (uint32_t i = 0; i < row->blocker_listed; i++) {
        const struct wio_txn_blocker *blocker = &row->blockers[i];
        printf(" |");
        print_name_and_range(&blocker->txn, &blocker->range);
        printf(" %u %u", blocker->mode, blocker->role);
        print_place(cursor, blocker->origin);
    }
    printf("\n");
}

static void print_transactions(const struct wio_trace *trace)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_txn_cursor *cursor = NULL;
    const struct wio_txn_row *row = NULL;
    enum wio_status status = wio_txn_cursor_create(trace, &cursor, &err);
    while (status == WIO_OK && (status = wio_txn_cursor_next(cursor, &row, &err)) == WIO_OK) {
        print_transaction(cursor, row);
    }
    if (status != WIO_END) {
        die(&err);
    }
    const struct wio_txn_file *file = wio_txn_cursor_file(cursor, 77);
    const struct wio_txn_server *server = wio_txn_cursor_server(cursor, 3);
    printf("parafile %llu %s %u %u\nserver %u %s %d\n", (unsigned long long)file->file, file->path,
           file->segments, file->stripe_unit, server->server, server->name, server->is_catalogue);
    wio_txn_cursor_destroy(cursor);
}

static void print_trace(const char *dir)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    struct wio_cursor *cursor = NULL;
    const struct wio_event *event = NULL;
    struct wio_filter filter = {.struct_size = sizeof(filter), .order = WIO_ORDER_STREAM};
    enum wio_status status = wio_trace_open(dir, &trace, &err);
    if (status != WIO_OK || wio_cursor_create(trace, &filter, &cursor, &err) != WIO_OK) {
        die(&err);
    }
    print_tables(trace);
    while ((status = wio_cursor_next(cursor, &event, &err)) == WIO_OK) {
        print_event(trace, event);
    }
    if (status != WIO_END) {
        die(&err);
    }
    if (wio_trace_edges(trace) != NULL) {
        print_edges(wio_trace_edges(trace));
    }
    if (wio_trace_has_transactions(trace)) {
        print_transactions(trace);
    }
    wio_cursor_destroy(cursor);
    wio_trace_close(trace);
}

/* With a clock that is wrong: the times of its host are corrected by both readers. */
static void make_edges(const char *dir)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace = NULL;
    if (wio_trace_open(dir, &trace, &err) != WIO_OK) {
        die(&err);
    }
    struct edge_rows rows = random_edge_rows(trace, 9000, 7);
    const struct wio_clock_row clock = {.host = wio_trace_process(trace, 0)->host,
                                        .offset_ns = -12345,
                                        .rate = -987654321,
                                        .uncertainty_ns = 99};
    write_edge_rows(trace, &rows, &clock);
    edge_rows_fini(&rows);
    wio_trace_close(trace);
}

static void make_wild(const char *name)
{
    struct random_source random = {99};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_segment *segment = begin_segment(name, 3, 300);
    struct wio_file_info file = {
        .path = 3, .type = WIO_FILE_SYMLINK, .mode = 0777, .size = 11, .target = 4, .fs = 5};
    uint64_t clock_ns[3] = {0, 50, 70};
    bool is_ok = wio_segment_file(segment, &file, &err) == WIO_OK;
    for (uint32_t i = 0; i < 15000 && is_ok; i++) {
        struct wio_event event = random_event(&random, EVENTS_WILD, i % 3, 300, &clock_ns[i % 3]);
        is_ok = wio_segment_append(segment, &event, &err) == WIO_OK;
    }
    if (!is_ok || wio_segment_finish(segment, &err) != WIO_OK) {
        die(&err);
    }
}

static void make_transactions(const char *name)
{
    struct txn_rows rows = txn_rows_make(9000, 11);
    txn_rows_write(name, "job7", &rows, 0, 1);
    txn_rows_fini(&rows);
}

static void make_trace(const char *dir)
{
    char name[4096];
    (void)snprintf(name, sizeof(name), "%s/a.seg", dir);
    make_wild(name);
    (void)snprintf(name, sizeof(name), "%s/b.seg", dir);
    write_ordinary_segment(name, 2, 5000, 4);
    (void)snprintf(name, sizeof(name), "%s/c.seg", dir);
    make_transactions(name);
    make_edges(dir);
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "make") == 0) {
        make_trace(argv[2]);
        return 0;
    }
    if (argc != 2) {
        fprintf(stderr, "usage: trace_text [make] DIR\n");
        return 2;
    }
    print_trace(argv[1]);
    return 0;
}
