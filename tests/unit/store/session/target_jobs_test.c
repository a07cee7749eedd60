/* SPDX-License-Identifier: Apache-2.0 */
/* Which job a request at a target counts for, and what the statistics say. */
#include "session_scene.h"

#include "job/stats.h"
#include "store/wire/job_rows.h"

static void define_caller(struct session_scene *scene, unsigned i, uint64_t number, uint32_t source,
                          const char *name)
{
    const struct wio_store_request define = {.op = WIO_STORE_DEFINE_CALLER,
                                             .number = number,
                                             .source = source,
                                             .path = "a.c:1",
                                             .path_size = 5,
                                             .path2 = name,
                                             .path2_size = (uint32_t)strlen(name)};
    assert_true(wio_targets_send(scene->clients[i].targets, 0, &define));
    run(scene, SECOND_NS);
    assert_int_equal(scene->clients[i].last.result, WIO_STORE_OK);
}

/* Rows of all jobs; the samples of writes of the one named. */
static uint64_t writes_of(struct session_scene *scene, unsigned i, uint64_t number,
                          const char *name, unsigned *rows_out)
{
    const struct wio_store_request ask = {.op = WIO_STORE_JOB_STATS, .number = number};
    struct session_client *client = &scene->clients[i];
    struct wio_wire_job_row row;
    uint64_t found = 0;
    client->kept_size = 0;
    assert_true(wio_targets_send(client->targets, 0, &ask));
    run(scene, SECOND_NS);
    assert_int_equal(client->last.result, WIO_STORE_OK);
    assert_int_equal(client->last.offset, 0);
    struct wio_buf data = wio_buf_of(client->kept, client->kept_size);
    *rows_out = 0;
    while (wio_wire_get_job_row(&data, &row) == WIO_OK) {
        bool is_it = row.name_size == strlen(name) && memcmp(row.name, name, row.name_size) == 0;
        ++*rows_out;
        for (unsigned c = 0; c < row.counters; c++) {
            struct wio_wire_job_counter counter;
            assert_int_equal(wio_wire_get_job_counter(&data, &counter), WIO_OK);
            found += is_it && counter.op == WIO_JOB_OP_WRITE ? counter.samples : 0;
        }
    }
    return found;
}

/* The job is that of the request's source, else that of HELLO; one client's sources say nothing of
 * another's. */
static void requests_count_for_their_jobs(void **state)
{
    (void)state;
    struct session_scene scene;
    unsigned rows = 0;
    begin_with_two(&scene);
    define_caller(&scene, 0, 1, 3, "tab\there");
    for (uint64_t number = 2; number < 6; number++) {
        struct wio_store_request request = write_to(7, number, WIO_STORE_FLAG_SINGLE);
        request.source = number < 5 ? 3 : 0;
        assert_true(wio_targets_send(scene.clients[0].targets, 0, &request));
    }
    struct wio_store_request other = write_to(8, 1, WIO_STORE_FLAG_SINGLE);
    assert_true(wio_targets_send(scene.clients[1].targets, 0, &other));
    run(&scene, SECOND_NS);
    assert_int_equal(writes_of(&scene, 0, 6, "tab\there", &rows), 3);
    assert_int_equal(rows, 3);
    assert_int_equal(writes_of(&scene, 0, 7, "job of a", &rows), 1);
    assert_int_equal(writes_of(&scene, 0, 8, "job of b", &rows), 1);
    end(&scene);
}

/* A blocker's job is that of the request that took the lock. */
static void blockers_have_the_job_of_their_request(void **state)
{
    (void)state;
    struct session_scene scene;
    begin_with_two(&scene);
    define_caller(&scene, 0, 1, 3, "line\nend");
    struct wio_store_request first = write_to(7, 2, WIO_STORE_FLAG_BEGIN);
    refuse_second(&scene, &first);
    assert_string_equal(scene.clients[1].job, "\"line\\x0Aend\"");
    end(&scene);
}

static uint64_t clear_older(struct session_scene *scene, uint64_t number, uint64_t ns)
{
    const struct wio_store_request clear = {
        .op = WIO_STORE_JOB_CLEAR, .number = number, .mode = WIO_STORE_JOB_CLEAR_OLD, .size = ns};
    assert_true(wio_targets_send(scene->clients[1].targets, 0, &clear));
    run(scene, SECOND_NS);
    assert_int_equal(scene->clients[1].last.result, WIO_STORE_OK);
    return scene->clients[1].last.size;
}

/* A job without a sample, but with errors, is in the statistics and leaves them as others do. */
static void errors_are_dropped_by_their_age(void **state)
{
    (void)state;
    struct session_scene scene;
    unsigned rows = 0;
    begin(&scene);
    connect_client(&scene, 0, 7, 1000, "a");
    connect_client(&scene, 1, 8, 0, "b");
    run(&scene, SECOND_NS);
    scene.memory.is_broken = true;
    const struct wio_store_request read = {.op = WIO_STORE_READ,
                                           .flags = WIO_STORE_FLAG_SINGLE,
                                           .number = 1,
                                           .txn = {.client = 7, .number = 1, .attempt = 1},
                                           .file = 1,
                                           .size = 4};
    assert_true(wio_targets_send(scene.clients[0].targets, 0, &read));
    run(&scene, 10 * SECOND_NS);
    assert_int_equal(scene.clients[0].last.result, WIO_STORE_IO);
    assert_int_equal(writes_of(&scene, 0, 2, "job of a", &rows), 0);
    assert_int_equal(rows, 1);
    assert_int_equal(clear_older(&scene, 1, 100 * SECOND_NS), 0);
    assert_int_equal(writes_of(&scene, 0, 3, "job of a", &rows), 0);
    assert_int_equal(rows, 1);
    assert_int_equal(clear_older(&scene, 2, 5 * SECOND_NS), 1);
    assert_int_equal(writes_of(&scene, 0, 4, "job of a", &rows), 0);
    assert_int_equal(rows, 0);
    end(&scene);
}

/* By user 0 and the user of the server only. */
static void statistics_are_dropped_by_their_owner(void **state)
{
    (void)state;
    struct session_scene scene;
    unsigned rows = 0;
    begin(&scene);
    connect_client(&scene, 0, 7, 1000, "a");
    connect_client(&scene, 1, 8, 0, "b");
    run(&scene, SECOND_NS);
    struct wio_store_request request = write_to(7, 1, WIO_STORE_FLAG_SINGLE);
    assert_true(wio_targets_send(scene.clients[0].targets, 0, &request));
    run(&scene, SECOND_NS);
    struct wio_store_request clear = {.op = WIO_STORE_JOB_CLEAR,
                                      .number = 2,
                                      .mode = WIO_STORE_JOB_CLEAR_ONE,
                                      .path = "job of a",
                                      .path_size = 8};
    assert_true(wio_targets_send(scene.clients[0].targets, 0, &clear));
    run(&scene, SECOND_NS);
    assert_int_equal(scene.clients[0].last.result, WIO_STORE_DENIED);
    assert_int_equal(writes_of(&scene, 0, 3, "job of a", &rows), 1);
    assert_true(wio_targets_send(scene.clients[1].targets, 0, &clear));
    run(&scene, SECOND_NS);
    assert_int_equal(scene.clients[1].last.result, WIO_STORE_OK);
    assert_int_equal(scene.clients[1].last.size, 1);
    assert_int_equal(writes_of(&scene, 0, 4, "job of a", &rows), 0);
    assert_int_equal(rows, 0);
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_count_for_their_jobs),
        cmocka_unit_test(blockers_have_the_job_of_their_request),
        cmocka_unit_test(statistics_are_dropped_by_their_owner),
        cmocka_unit_test(errors_are_dropped_by_their_age),
    };
    return WIO_RUN(tests);
}
