/* SPDX-License-Identifier: Apache-2.0 */
#include "support/script_edges.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <whyio/trace.h>

#include "trace/edges/edge_file.h"

static _Noreturn void die(const char *what, const char *word)
{
    (void)fprintf(stderr, "script: %s '%s'\n", what, word);
    exit(2);
}

static void must(enum wio_status status, const struct wio_error *err)
{
    if (status != WIO_OK) {
        die("cannot write the edges:", err->message);
    }
}

/* STREAM:SEQ */
static struct wio_edge_point point(const char *word)
{
    unsigned stream;
    unsigned long long seq;
    if (word == NULL || sscanf(word, "%u:%llu", &stream, &seq) != 2) {
        die("expected STREAM:SEQ, not", word == NULL ? "" : word);
    }
    return (struct wio_edge_point){seq, stream};
}

static unsigned find(const char *name, const char *(*name_of)(unsigned), unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(name, name_of(i)) == 0) {
            return i;
        }
    }
    die("unknown", name);
}

static void put_edge(struct script_edges *edges, char **save)
{
    struct wio_edge_row row = {.evidence = WIO_EVIDENCE_MPI};
    row.from = point(strtok_r(NULL, " ", save));
    row.to = point(strtok_r(NULL, " ", save));
    for (char *word; (word = strtok_r(NULL, " ", save)) != NULL;) {
        if (strncmp(word, "class=", 6) == 0) {
            row.edge_class = (uint8_t)find(word + 6, wio_edge_class_name, WIO_EDGE_CLASS_COUNT);
        } else if (strncmp(word, "evidence=", 9) == 0) {
            row.evidence = (uint8_t)find(word + 9, wio_evidence_name, WIO_EVIDENCE_COUNT);
        } else if (strncmp(word, "object=", 7) == 0) {
            row.object = (uint32_t)atoi(word + 7);
        } else {
            die("unknown", word);
        }
    }
    edges->object_count = row.object > edges->object_count ? row.object : edges->object_count;
    edges->edges[edges->edge_count++] = row;
}

/* STREAM:SEQ[-LEAVE][<|>] */
static struct wio_member_row member(const char *word)
{
    const char *leave = strchr(word, '-');
    struct wio_edge_point enter = point(word);
    struct wio_member_row row = {.enter_seq = enter.seq, .stream = enter.stream};
    row.leave_seq = leave == NULL ? enter.seq : strtoull(leave + 1, NULL, 10);
    row.gives = strchr(word, '<') == NULL;
    row.takes = strchr(word, '>') == NULL;
    return row;
}

static void put_collective(struct script_edges *edges, char **save)
{
    uint32_t first = edges->member_count;
    uint32_t givers = 0;
    for (char *word; (word = strtok_r(NULL, " ", save)) != NULL;) {
        edges->members[edges->member_count] = member(word);
        givers += edges->members[edges->member_count++].gives;
    }
    for (uint32_t i = first; i < edges->member_count; i++) {
        edges->members[i].collective = edges->collective_count;
        edges->members[i].members = edges->member_count - first;
        edges->members[i].givers = givers;
    }
    edges->collective_count++;
}

static void put_poll(struct script_edges *edges, char **save)
{
    struct wio_edge_point first = point(strtok_r(NULL, " ", save));
    const char *last = strtok_r(NULL, " ", save);
    if (last == NULL) {
        die("expected the number of the last look behind", "poll");
    }
    struct wio_wait_row row = {.first_seq = first.seq, .stream = first.stream};
    row.last_seq = strtoull(last, NULL, 10);
    row.looks = row.last_seq - row.first_seq;
    edges->polls[edges->poll_count++] = row;
}

bool script_edges_line(struct script_edges *edges, const char *word, char **save)
{
    if (edges->edge_count == SCRIPT_EDGES_MAX || edges->poll_count == SCRIPT_EDGES_MAX ||
        edges->member_count > SCRIPT_EDGES_MAX - 64) {
        die("too many edges at", word);
    }
    if (strcmp(word, "edge") == 0) {
        put_edge(edges, save);
    } else if (strcmp(word, "collective") == 0) {
        put_collective(edges, save);
    } else if (strcmp(word, "poll-loop") == 0) {
        put_poll(edges, save);
    } else if (strcmp(word, "edges") != 0) {
        return false;
    }
    edges->is_wanted = true;
    return true;
}

static int by_points(const struct wio_edge_point *a, const struct wio_edge_point *b)
{
    if (a->stream != b->stream) {
        return a->stream < b->stream ? -1 : 1;
    }
    return (a->seq > b->seq) - (a->seq < b->seq);
}

static int by_to(const void *a, const void *b)
{
    return by_points(&((const struct wio_edge_row *)a)->to, &((const struct wio_edge_row *)b)->to);
}

static int by_from(const void *a, const void *b)
{
    return by_points(&((const struct wio_edge_row *)a)->from,
                     &((const struct wio_edge_row *)b)->from);
}

static int by_enter(const void *a, const void *b)
{
    const struct wio_member_row *x = a;
    const struct wio_member_row *y = b;
    const struct wio_edge_point p = {x->enter_seq, x->stream};
    const struct wio_edge_point q = {y->enter_seq, y->stream};
    return by_points(&p, &q);
}

static int by_collective(const void *a, const void *b)
{
    const struct wio_member_row *x = a;
    const struct wio_member_row *y = b;
    if (x->collective != y->collective) {
        return x->collective < y->collective ? -1 : 1;
    }
    return (x->stream > y->stream) - (x->stream < y->stream);
}

static void write_edges(struct script_edges *edges, struct wio_edge_writer *writer,
                        struct wio_error *err)
{
    size_t size = sizeof(edges->edges[0]);
    qsort(edges->edges, edges->edge_count, size, by_to);
    for (uint32_t i = 0; i < edges->edge_count; i++) {
        must(wio_edge_writer_edge(writer, WIO_BLOCK_EDGES_IN, &edges->edges[i], err), err);
    }
    qsort(edges->edges, edges->edge_count, size, by_from);
    for (uint32_t i = 0; i < edges->edge_count; i++) {
        must(wio_edge_writer_edge(writer, WIO_BLOCK_EDGES_OUT, &edges->edges[i], err), err);
    }
}

static void write_members(struct script_edges *edges, struct wio_edge_writer *writer,
                          struct wio_error *err)
{
    size_t size = sizeof(edges->members[0]);
    qsort(edges->members, edges->member_count, size, by_enter);
    for (uint32_t i = 0; i < edges->member_count; i++) {
        must(wio_edge_writer_member(writer, WIO_BLOCK_MEMBERS, &edges->members[i], err), err);
    }
    qsort(edges->members, edges->member_count, size, by_collective);
    for (uint32_t i = 0; i < edges->member_count; i++) {
        must(wio_edge_writer_member(writer, WIO_BLOCK_COLLECTIVES, &edges->members[i], err), err);
    }
}

void script_edges_write(struct script_edges *edges, const char *dir)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_trace *trace;
    struct wio_edge_writer *writer;
    must(wio_trace_open(dir, &trace, &err), &err);
    must(wio_edge_writer_create(trace, &writer, &err), &err);
    for (uint32_t i = 1; i <= edges->object_count; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "object %u", i);
        must(wio_edge_writer_object(writer, name, &err), &err);
    }
    write_edges(edges, writer, &err);
    write_members(edges, writer, &err);
    for (uint32_t i = 0; i < edges->poll_count; i++) { /* a script gives them in order */
        must(wio_edge_writer_wait(writer, &edges->polls[i], &err), &err);
    }
    must(wio_edge_writer_finish(writer, NULL, &err), &err);
    wio_trace_close(trace);
}
