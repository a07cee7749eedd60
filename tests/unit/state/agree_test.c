/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One question, asked of every room that answers it: which file a name means, and what is behind a
 * descriptor. state answers for explain, and for predict, which keeps the answers per stream;
 * causal and replay have tables of their own (docs/adr/0024).
 */
#include "support/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include <whyio/edges.h>
#include <whyio/ops.h>

#include "edges/edges.h"
#include "predict/program.h"
#include "predict/trace_state.h"
#include "replay/initial/initial_state.h"
#include "support/script_open.h"

enum { NONE = -1 };

/* By room: is the file of the first open that of the last one? */
struct answers {
    bool state;
    bool predict;
    bool replay;
    bool causal;
};

static void each_event(const struct wio_trace *trace,
                       void (*see)(void *arg, const struct wio_event *event), void *arg)
{
    const struct wio_filter filter = {.struct_size = sizeof(filter), .order = WIO_ORDER_TIME};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_cursor *cursor;
    const struct wio_event *event;
    enum wio_status status;
    assert_ok(wio_cursor_create(trace, &filter, &cursor, &err), &err);
    while ((status = wio_cursor_next(cursor, &event, &err)) == WIO_OK) {
        see(arg, event);
    }
    assert_int_equal(status, WIO_END);
    wio_cursor_destroy(cursor);
}

/* ---- names ---- */

struct asking {
    struct wio_trace_state state;
    struct rp_observer observer;
    struct wio_used_files_reader *readers;
    int64_t first[3]; /* file of the first open: state, predict, replay */
    int64_t last[3];
};

static void see_name(void *arg, const struct wio_event *event)
{
    struct asking *asking = arg;
    struct wio_state_file file;
    uint32_t node;
    assert_int_equal(wio_state_event(asking->state.state, event), WIO_OK);
    assert_int_equal(rp_observe(&asking->observer, event), WIO_OK);
    if (event->op != WIO_OP_open) {
        return;
    }
    assert_int_equal(wio_state_file_of(asking->state.state, event, &file), WIO_OK);
    const char *path = wio_trace_string(asking->state.trace, event->path, NULL);
    assert_int_equal(rp_space_lookup(&asking->observer.space, path, true, &node), WIO_OK);
    const int64_t found[] = {
        file.file, wio_used_files_at(&asking->readers[event->stream], event->seq)->file,
        node == RP_NONE ? NONE : (int64_t)asking->observer.space.nodes[node].file};
    for (int i = 0; i < 3; i++) {
        asking->last[i] = found[i];
        asking->first[i] = asking->first[i] == NONE ? found[i] : asking->first[i];
    }
}

/* Does the stream that opens first hand a lock of its file on to the one that opens last? */
static bool is_handed_on(struct wio_trace *trace, uint32_t to_stream, struct wio_edge_row *row_out)
{
    const struct wio_edge_row *row;
    const struct wio_join_params params = {.struct_size = sizeof(params), .in_memory = true};
    const struct wio_edge_filter filter = {.struct_size = sizeof(filter),
                                           .kind = WIO_EDGES_IN,
                                           .has_implied = true,
                                           .has_stream = true,
                                           .stream = to_stream,
                                           .evidences = 1u << WIO_EVIDENCE_LOCK};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_edge_cursor *cursor;
    assert_ok(wio_join(trace, &params, &err), &err);
    assert_ok(wio_edge_cursor_create(wio_trace_edges(trace), &filter, &cursor, &err), &err);
    const enum wio_status status = wio_edge_cursor_next(cursor, &row, &err);
    assert_true(status == WIO_OK || status == WIO_END);
    *row_out = status == WIO_OK ? *row : (struct wio_edge_row){0};
    wio_edge_cursor_destroy(cursor);
    return status == WIO_OK;
}

static struct answers ask_of_names(const char *changes, const char *first, const char *last)
{
    char script[2048];
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_program program = {0};
    struct asking asking = {.first = {NONE, NONE, NONE}};
    struct wio_edge_row row;
    (void)snprintf(script, sizeof(script),
                   "process 10\nprocess 20\nstream 0 10\nstream 1 20\n"
                   "open stream=0 t=1000 path=%s a0=2 res=3\n"
                   "flock stream=0 t=2000 fd=3 path=%s a0=2\n"
                   "flock stream=0 t=3000 fd=3 path=%s a0=8\n"
                   "%s"
                   "open stream=1 t=90000 path=%s a0=0x42 res=3\n"
                   "flock stream=1 t=91000 fd=3 path=%s a0=2\n",
                   first, first, first, changes, last, last);
    struct wio_trace *trace = script_open(script);
    assert_ok(wio_program_init(&program, trace, &err), &err);
    assert_int_equal(wio_used_files_readers(&program.files, &asking.readers), WIO_OK);
    assert_int_equal(wio_trace_state_init(&asking.state, trace), WIO_OK);
    assert_int_equal(rp_observer_init(&asking.observer, trace), WIO_OK);
    each_event(trace, see_name, &asking);
    const struct answers answers = {.state = asking.first[0] == asking.last[0],
                                    .predict = asking.first[1] == asking.last[1],
                                    .replay = asking.first[2] == asking.last[2],
                                    .causal = is_handed_on(trace, 1, &row)};
    rp_observer_fini(&asking.observer);
    wio_trace_state_fini(&asking.state);
    free(asking.readers);
    wio_program_fini(&program);
    wio_trace_close(trace);
    return answers;
}

static void rooms_agree_on_names(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        const char *first;
        const char *changes;
        const char *last;
        bool is_same;
    } cases[] = {
        {"nothing", "/d/a", "", "/d/a", true},
        {"another file", "/d/a", "", "/d/b", false},
        {"renamed", "/d/a", "rename t=4000 path=/d/a path2=/d/b\n", "/d/b", true},
        {"the old name", "/d/a", "rename t=4000 path=/d/a path2=/d/b\n", "/d/a", false},
        {"removed", "/d/a", "unlink t=4000 path=/d/a\n", "/d/a", false},
        {"linked", "/d/a", "link t=4000 path=/d/a path2=/b\n", "/b", true},
        {"linked, the first name gone", "/d/a",
         "link t=4000 path=/d/a path2=/b\nunlink t=5000 path=/d/a\n", "/b", true},
        {"renamed directory", "/d/a", "rename t=4000 path=/d path2=/e\n", "/e/a", true},
        {"its old name", "/d/a", "rename t=4000 path=/d path2=/e\nmkdir t=5000 path=/d\n", "/d/a",
         false},
        {"renamed directory of a directory", "/d/s/a", "rename t=4000 path=/d path2=/e\n", "/e/s/a",
         true},
        {"exchanged", "/d/a", "rename t=4000 path=/d/a path2=/b a0=2\n", "/b", true},
        {"through a link", "/d/a", "symlink t=4000 path=/s path2=/d\n", "/s/a", true},
        {"of the last component", "/d/a", "symlink t=4000 path=/s path2=/d/a\n", "/s", true},
        {"replaced", "/d/a", "rename t=4000 path=/d/b path2=/d/a\n", "/d/a", false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const bool is_same = cases[i].is_same;
        const struct answers a = ask_of_names(cases[i].changes, cases[i].first, cases[i].last);
        if (a.state != is_same || a.predict != is_same || a.replay != is_same ||
            a.causal != is_same) {
            print_message("# %s: state %d, predict %d, replay %d, causal %d, expected %d\n",
                          cases[i].what, a.state, a.predict, a.replay, a.causal, is_same);
        }
        assert_int_equal(a.state, is_same);
        assert_int_equal(a.predict, is_same);
        assert_int_equal(a.replay, is_same);
        assert_int_equal(a.causal, is_same);
    }
}

/* ---- descriptors ---- */

struct descriptor {
    struct wio_trace_state state;
    bool is_open;       /* as state says where the second image begins */
    uint64_t probe_seq; /* of the read by the second image */
};

static void see_descriptor(void *arg, const struct wio_event *event)
{
    struct descriptor *it = arg;
    struct wio_state_file file;
    assert_int_equal(wio_state_event(it->state.state, event), WIO_OK);
    if (event->op == WIO_OP_fsync) {
        wio_state_fd(it->state.state, 1, 3, &file);
        it->is_open = file.file != WIO_NO_INDEX;
    }
    it->probe_seq = event->op == WIO_OP_pread ? event->seq : it->probe_seq;
}

/* Is descriptor 3, on which the first image has locked a file, open in the image that it execs? For
 * predict: are its flags known there? For causal: what does another process that gets the lock wait
 * for, the close by the second image? Replay has real descriptors. */
static struct answers ask_of_descriptors(const char *flags, const char *changes)
{
    char script[2048];
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_program program = {0};
    struct descriptor it = {0};
    struct wio_used_files_reader *readers;
    struct wio_edge_row row;
    (void)snprintf(script, sizeof(script),
                   "process 10\nprocess 10 parent=0 start=49500\nprocess 20\n"
                   "stream 0 10\nstream 1 10\nstream 2 20\n"
                   "open stream=2 t=500 path=/a a0=2 res=3\n"
                   "open stream=0 t=1000 path=/a a0=%s res=3\n"
                   "flock stream=0 t=2000 fd=3 path=/a a0=2\n"
                   "%s"
                   "flock stream=2 t=30000 dur=60000 fd=3 path=/a a0=2\n"
                   "execve stream=0 t=40000 dur=9000 path=/x\n"
                   "fsync stream=1 t=50000 fd=9 path=/b\n"
                   "pread stream=1 t=60000 fd=3 path=/a off=0 size=10\n"
                   "close stream=1 t=70000 fd=3 path=/a\n"
                   "lseek stream=1 t=95000 fd=9 path=/b\n",
                   flags, changes);
    struct wio_trace *trace = script_open(script);
    assert_ok(wio_program_init(&program, trace, &err), &err);
    assert_int_equal(wio_used_files_readers(&program.files, &readers), WIO_OK);
    assert_int_equal(wio_trace_state_init(&it.state, trace), WIO_OK);
    each_event(trace, see_descriptor, &it);
    assert_true(is_handed_on(trace, 2, &row));
    const struct answers answers = {
        .state = it.is_open,
        .predict = (wio_used_files_at(&readers[1], it.probe_seq)->flags & O_SYNC) == O_SYNC,
        .causal = row.from.stream == 1};
    free(readers);
    wio_trace_state_fini(&it.state);
    wio_program_fini(&program);
    wio_trace_close(trace);
    return answers;
}

static void rooms_agree_on_descriptors(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        const char *flags; /* O_SYNC | O_RDWR, with O_CLOEXEC or without */
        const char *changes;
        bool is_open;
    } cases[] = {
        {"nothing", "0x101002", "", true},
        {"close-on-exec", "0x181002", "", false},
        {"close-on-exec, set later", "0x101002", "fcntl stream=0 t=4000 fd=3 path=/a a0=2 a1=1\n",
         false},
        {"close-on-exec, taken back", "0x181002", "fcntl stream=0 t=4000 fd=3 path=/a a0=2 a1=0\n",
         true},
        {"close_range of others", "0x101002", "close_range stream=0 t=4000 a0=4 a1=9\n", true},
        {"close_range that marks", "0x101002", "close_range stream=0 t=4000 a0=3 a1=9 a2=4\n",
         false},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const bool is_open = cases[i].is_open;
        const struct answers a = ask_of_descriptors(cases[i].flags, cases[i].changes);
        if (a.state != is_open || a.predict != is_open || a.causal != is_open) {
            print_message("# %s: state %d, predict %d, causal %d, expected %d\n", cases[i].what,
                          a.state, a.predict, a.causal, is_open);
        }
        assert_int_equal(a.state, is_open);
        assert_int_equal(a.predict, is_open);
        assert_int_equal(a.causal, is_open);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rooms_agree_on_names),
        cmocka_unit_test(rooms_agree_on_descriptors),
    };
    return WIO_RUN(tests);
}
