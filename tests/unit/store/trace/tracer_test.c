/* SPDX-License-Identifier: Apache-2.0 */
/* What a target does, traced, and explained from the trace. */
#include "store/trace/tracer.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "explain/aborts/aborts.h"
#include "rig.h"
#include "support/unit.h"

#define SEGMENT_NS UINT64_C(50000000)

static struct rig rig;
static struct wio_tracer *tracer;
static char dir[300];
static uint32_t ring_rows; /* of the tracer that begins */

static void define(uint64_t client, const char *line)
{
    struct wio_wire_hello hello = {.client = client};
    (void)snprintf(hello.job, sizeof(hello.job), "job%llu", (unsigned long long)client);
    (void)snprintf(hello.executable, sizeof(hello.executable), "/bin/sim");
    (void)snprintf(hello.host, sizeof(hello.host), "node1");
    wio_tracer_client(tracer, &hello);
    struct wio_store_request define = {.op = WIO_STORE_DEFINE_SOURCE,
                                       .source = 5,
                                       .path = line,
                                       .path_size = (uint32_t)strlen(line)};
    if (client == 2) { /* its requests are another job's */
        define.op = WIO_STORE_DEFINE_CALLER;
        define.path2 = "night";
        define.path2_size = 5;
    }
    wio_tracer_source(tracer, client, &define);
}

static void begin(enum wio_lock_policy policy, uint64_t max_bytes)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)snprintf(dir, sizeof(dir), "%s/trace", wio_test_dir());
    if (ring_rows == 0) {
        assert_int_equal(wio_io_mkdirs(dir, NULL), WIO_OK);
    }
    const struct wio_tracer_config config = {.dir = dir,
                                             .name = "target0",
                                             .address = "unix:/tmp/s",
                                             .server = 0,
                                             .max_bytes = max_bytes,
                                             .segment_ns = SEGMENT_NS,
                                             .ring_rows = ring_rows};
    assert_int_equal(wio_tracer_create(&config, &tracer, &err), WIO_OK);
    rig_init(&rig, 1);
    rig.config.policy = policy;
    rig.config.watch = &wio_tracer_watch;
    rig.config.watch_context = tracer;
    rig_start(&rig);
    define(1, "solve (sim.c:10)");
    define(2, "post (sim.c:20)");
}

static void end(void)
{
    struct wio_error err = WIO_ERROR_INIT;
    rig_fini(&rig);
    assert_int_equal(wio_tracer_close(tracer, NULL, &err), WIO_OK);
}

static int clean(void **state)
{
    WIO_CLEANUP(wio_dir_cleanup) DIR *list = opendir(dir);
    const struct dirent *entry = NULL;
    (void)state;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        (void)unlinkat(dirfd(list), entry->d_name, 0);
    }
    return 0;
}

static unsigned segments(void)
{
    WIO_CLEANUP(wio_dir_cleanup) DIR *list = opendir(dir);
    const struct dirent *entry = NULL;
    unsigned count = 0;
    while (list != NULL && (entry = readdir(list)) != NULL) {
        count += strstr(entry->d_name, ".seg") != NULL;
    }
    return count;
}

static struct wio_store_request from_line(struct wio_store_request request)
{
    request.source = 5;
    return request;
}

static void send_write(uint64_t client, uint64_t txn, uint64_t offset, const char *text)
{
    (void)rig_send(&rig, 0, from_line(rig_write(client, txn, offset, text)));
    rig_tick(&rig, 1000000);
}

static void send_op(enum wio_store_op op, uint64_t client, uint64_t txn)
{
    (void)rig_send(&rig, 0, rig_request(op, client, txn));
    rig_tick(&rig, 1000000);
}

static struct wio_aborts *explain(struct wio_trace **trace_out)
{
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_aborts *aborts = NULL;
    assert_int_equal(wio_trace_open(dir, trace_out, &err), WIO_OK);
    assert_int_equal(wio_aborts_of(*trace_out, &aborts, &err), WIO_OK);
    assert_non_null(aborts);
    return aborts;
}

static const char *place_of(const struct wio_aborts *aborts, uint32_t source)
{
    return wio_abort_sources_place_text(&aborts->sources, aborts->sources.rows[source].place);
}

/* The older client's write wounds the younger one's transaction, and waits until it is aborted. */
static void wounds_and_waits_are_explained(void **state)
{
    struct wio_trace *trace = NULL;
    (void)state;
    begin(WIO_LOCK_WOUND_WAIT, 0);
    send_write(2, 1, 0, "young");
    send_write(1, 1, 2, "old");
    assert_int_equal(rig.inbox[0][2].wounds, 1);
    send_op(WIO_STORE_ABORT, 2, 1);
    send_op(WIO_STORE_COMMIT, 1, 1);
    end();

    struct wio_aborts *aborts = explain(&trace);
    assert_int_equal(aborts->totals.committed, 1);
    assert_int_equal(aborts->totals.aborts, 1);
    assert_int_equal(aborts->totals.by_refusal[WIO_REFUSAL_WOUND], 1);
    assert_int_equal(aborts->totals.open, 0);
    assert_int_equal(aborts->exact.pair_count, 2);
    for (uint32_t i = 0; i < aborts->exact.pair_count; i++) {
        const struct wio_exact_pair *pair = &aborts->exact.pairs[i];
        bool is_abort = pair->aborts == 1;
        assert_string_equal(place_of(aborts, pair->victim),
                            is_abort ? "post (sim.c:20)" : "solve (sim.c:10)");
        assert_string_equal(place_of(aborts, pair->blocker),
                            is_abort ? "solve (sim.c:10)" : "post (sim.c:20)");
        assert_int_equal(pair->waits, is_abort ? 0 : 1);
    }
    const struct wio_abort_source *victim = &aborts->sources.rows[aborts->classic.tables[0].victim];
    assert_string_equal(wio_abort_sources_application(&aborts->sources, victim->application),
                        "night /bin/sim");
    wio_aborts_destroy(aborts);
    wio_trace_close(trace);
}

/* Single operations are whole transactions: begun, answered and over in one moment. */
static void single_operations_commit(void **state)
{
    struct wio_trace *trace = NULL;
    (void)state;
    begin(WIO_LOCK_WOUND_WAIT, 0);
    for (uint64_t i = 1; i <= 20; i++) {
        struct wio_store_request request = from_line(rig_write(1, i, i * 3, "abc"));
        request.flags |= WIO_STORE_FLAG_SINGLE;
        (void)rig_send(&rig, 0, request);
        rig_tick(&rig, 1000);
    }
    end();
    struct wio_aborts *aborts = explain(&trace);
    assert_int_equal(aborts->totals.committed, 20);
    assert_int_equal(aborts->totals.aborts + aborts->totals.open, 0);
    assert_int_equal(aborts->exact.contention[0].requests, 20);
    wio_aborts_destroy(aborts);
    wio_trace_close(trace);
}

static void write_singles(uint64_t first, uint64_t last)
{
    for (uint64_t i = first; i <= last; i++) {
        struct wio_store_request request = from_line(rig_write(1, i, i * 3, "abc"));
        request.flags |= WIO_STORE_FLAG_SINGLE;
        (void)rig_send(&rig, 0, request);
        rig_tick(&rig, 1000);
    }
}

static uint64_t committed(void)
{
    struct wio_trace *trace = NULL;
    struct wio_aborts *aborts = explain(&trace);
    uint64_t count = aborts->totals.committed;
    wio_aborts_destroy(aborts);
    wio_trace_close(trace);
    return count;
}

/* Nothing is written until it is asked for; then the last rows, as often as it is. */
static void a_ring_has_the_last_rows(void **state)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)state;
    ring_rows = 20; /* of ten transactions */
    begin(WIO_LOCK_WOUND_WAIT, 0);
    ring_rows = 0;
    assert_ok(wio_tracer_flush(tracer, rig.now_ns, &err), &err);
    assert_int_equal(segments(), 0);
    write_singles(1, 100);
    assert_int_equal(segments(), 0);
    assert_ok(wio_tracer_flush(tracer, rig.now_ns, &err), &err);
    assert_int_equal(segments(), 1);
    assert_int_equal(committed(), 10);
    assert_ok(wio_tracer_flush(tracer, rig.now_ns, &err), &err); /* what is new: nothing */
    assert_int_equal(segments(), 1);
    write_singles(101, 104);
    assert_ok(wio_tracer_flush(tracer, rig.now_ns, &err), &err);
    assert_int_equal(committed(), 14);
    write_singles(105, 140);
    assert_ok(wio_tracer_flush(tracer, rig.now_ns, &err), &err);
    assert_int_equal(segments(), 3);
    assert_int_equal(committed(), 24);
    write_singles(141, 150);
    end();
    assert_int_equal(segments(), 3);
}

static void a_ring_has_blockers_and_lines(void **state)
{
    struct wio_trace *trace = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    (void)state;
    ring_rows = 1000;
    begin(WIO_LOCK_WOUND_WAIT, 0);
    ring_rows = 0;
    send_write(2, 1, 0, "young");
    send_write(1, 1, 2, "old");
    send_op(WIO_STORE_ABORT, 2, 1);
    send_op(WIO_STORE_COMMIT, 1, 1);
    assert_ok(wio_tracer_flush(tracer, rig.now_ns, &err), &err);
    end();
    struct wio_aborts *aborts = explain(&trace);
    assert_int_equal(aborts->totals.aborts, 1);
    assert_int_equal(aborts->exact.pair_count, 2);
    for (uint32_t i = 0; i < aborts->exact.pair_count; i++) {
        const struct wio_exact_pair *pair = &aborts->exact.pairs[i];
        bool is_abort = pair->aborts == 1;
        assert_string_equal(place_of(aborts, pair->victim),
                            is_abort ? "post (sim.c:20)" : "solve (sim.c:10)");
        assert_string_equal(place_of(aborts, pair->blocker),
                            is_abort ? "solve (sim.c:10)" : "post (sim.c:20)");
    }
    wio_aborts_destroy(aborts);
    wio_trace_close(trace);
}

/* Without a ring: what there is can be read before the end. */
static void a_flush_ends_the_segment(void **state)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)state;
    begin(WIO_LOCK_WOUND_WAIT, 0);
    write_singles(1, 5);
    assert_ok(wio_tracer_flush(tracer, rig.now_ns, &err), &err);
    assert_int_equal(committed(), 5);
    write_singles(6, 7);
    end();
    assert_int_equal(committed(), 7);
}

static void refusals_are_explained(void **state)
{
    struct wio_trace *trace = NULL;
    (void)state;
    begin(WIO_LOCK_NO_WAIT, 0);
    send_write(1, 1, 0, "first");
    struct wio_store_request request = from_line(rig_write(2, 1, 0, "second"));
    request.flags |= WIO_STORE_FLAG_SINGLE;
    assert_result(rig_send(&rig, 0, request), WIO_STORE_REFUSED);
    rig_tick(&rig, 1000000);
    send_op(WIO_STORE_COMMIT, 1, 1);
    end();
    struct wio_aborts *aborts = explain(&trace);
    assert_int_equal(aborts->totals.aborts, 1);
    assert_int_equal(aborts->exact.pair_count, 1);
    assert_string_equal(place_of(aborts, aborts->exact.pairs[0].blocker), "solve (sim.c:10)");
    assert_int_equal(aborts->exact.pairs[0].by_conflict[WIO_CONFLICT_DATA], 1);
    wio_aborts_destroy(aborts);
    wio_trace_close(trace);
}

/* Segments begin anew after a while; the oldest go where there are too many bytes. */
static void segments_are_bounded(void **state)
{
    uint64_t removed = 0;
    (void)state;
    begin(WIO_LOCK_WOUND_WAIT, 1);
    for (uint64_t i = 1; i <= 4; i++) {
        send_write(1, i, 0, "abc");
        send_op(WIO_STORE_COMMIT, 1, i);
        rig_tick(&rig, SEGMENT_NS);
    }
    rig_fini(&rig);
    assert_int_equal(wio_tracer_close(tracer, &removed, NULL), WIO_OK);
    assert_int_equal(removed, 4);
    assert_int_equal(segments(), 0);
    begin(WIO_LOCK_WOUND_WAIT, 0);
    for (uint64_t i = 1; i <= 4; i++) {
        send_write(1, i, 0, "abc");
        send_op(WIO_STORE_COMMIT, 1, i);
        rig_tick(&rig, SEGMENT_NS);
    }
    end();
    assert_int_equal(segments(), 4);
}

/* A server of the store that did nothing is known of as well, and replays may use it. */
static void a_server_without_work_is_in_the_trace(void **state)
{
    (void)state;
    begin(WIO_LOCK_WOUND_WAIT, 0);
    const struct wio_tracer_config other = {
        .dir = dir, .name = "target1", .address = "unix:/tmp/other", .server = 1};
    struct wio_tracer *idle = NULL;
    struct wio_aborts *aborts = NULL;
    struct wio_trace *trace = NULL;
    assert_int_equal(wio_tracer_create(&other, &idle, NULL), WIO_OK);
    send_write(1, 1, 0, "abc");
    send_op(WIO_STORE_COMMIT, 1, 1);
    end();
    assert_int_equal(wio_tracer_close(idle, NULL, NULL), WIO_OK);
    assert_int_equal(wio_trace_open(dir, &trace, NULL), WIO_OK);
    assert_int_equal(wio_aborts_of(trace, &aborts, NULL), WIO_OK);
    assert_int_equal(aborts->replays.servers, 2);
    assert_string_equal(wio_txn_cursor_server(aborts->cursor, 1)->name, "unix:/tmp/other");
    wio_aborts_destroy(aborts);
    wio_trace_close(trace);
}

/* A trace that cannot be written ends, and the target goes on. */
static void a_trace_that_fails_is_told(void **state)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)state;
    begin(WIO_LOCK_WOUND_WAIT, 0);
    char name[400];
    (void)snprintf(name, sizeof(name), "%s/target0.000001.seg", dir);
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    (void)fclose(file);
    send_write(1, 1, 0, "abc");
    send_op(WIO_STORE_COMMIT, 1, 1);
    assert_result(rig_last(&rig, 0, 1), WIO_STORE_OK);
    rig_fini(&rig);
    assert_int_not_equal(wio_tracer_close(tracer, NULL, &err), WIO_OK);
    assert_non_null(strstr(err.file, "target0.000001.seg"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(wounds_and_waits_are_explained, clean),
        cmocka_unit_test_teardown(single_operations_commit, clean),
        cmocka_unit_test_teardown(a_ring_has_the_last_rows, clean),
        cmocka_unit_test_teardown(a_ring_has_blockers_and_lines, clean),
        cmocka_unit_test_teardown(a_flush_ends_the_segment, clean),
        cmocka_unit_test_teardown(refusals_are_explained, clean),
        cmocka_unit_test_teardown(segments_are_bounded, clean),
        cmocka_unit_test_teardown(a_server_without_work_is_in_the_trace, clean),
        cmocka_unit_test_teardown(a_trace_that_fails_is_told, clean),
    };
    return WIO_RUN(tests);
}
