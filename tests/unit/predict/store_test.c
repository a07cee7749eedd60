/* SPDX-License-Identifier: Apache-2.0 */
/* Files of a store: requests that wait for targets, that are refused and come again. */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "try.h"

/* A target needs 100 us for a request and 1 us for a byte; 10 us each way. */
#define STORE(targets, more)                                                                       \
    ", \"devices\": [{\"path\": \"/store\", \"store\": {\"targets\": " targets                     \
    ", \"op_s\": 1e-4, \"bw\": 1e6, \"net_s\": 1e-5, \"stripe_unit\": 1000" more "}}]"

enum { MANY = 32 };

static void a_request_costs_what_the_target_says(void **state)
{
    (void)state;
    try.params.host = try_host("store.json", STORE("1", ""));
    predict("pwrite t=1000 dur=1000 fd=3 path=/store/a off=0 size=500\n"
            "pread t=5000 dur=1000 fd=3 path=/store/a off=0 size=300\n"
            "fsync t=9000 dur=1000 fd=3 path=/store/a\n"
            "pwrite t=13000 dur=1000 fd=4 path=/other off=0 size=7\n");
    assert_us(try.result.all.io_s, (10 + 100 + 500 + 10) + (10 + 100 + 300 + 10) + 0 + 7);
    assert_int_equal(try.result.store.targets, 1);
    assert_int_equal(try.result.store.requests, 2);
    assert_int_equal(try.result.store.refused, 0);
    assert_us(try.result.store.service_s, 2 * 100 + 500 + 300);
}

static void ranks_wait_for_each_other(void **state)
{
    (void)state;
    try.params.host = try_host("store.json", STORE("1", ""));
    predict(TWO "pwrite stream=0 t=1000 dur=1000 fd=3 path=/store/a off=0 size=500\n"
                "pwrite stream=1 t=1000 dur=1000 fd=3 path=/store/a off=5000 size=500\n");
    assert_us(try.result.all.total_s, 10 + 600 + 600 + 10);
    assert_us(try.result.all.io_s, (10 + 600 + 10) + (10 + 600 + 600 + 10));
}

/* Both have their unit at a target of their own; a request of two units is at both at once. */
static void targets_work_beside_each_other(void **state)
{
    (void)state;
    try.params.host = try_host("store.json", STORE("2", ""));
    predict(TWO "pwrite stream=0 t=1000 dur=1000 fd=3 path=/store/a off=0 size=500\n"
                "pwrite stream=1 t=1000 dur=1000 fd=3 path=/store/a off=1000 size=500\n");
    assert_us(try.result.all.total_s, 10 + 600 + 10);
    predict("pwrite t=1000 dur=1000 fd=3 path=/store/a off=500 size=1000\n");
    assert_us(try.result.all.total_s, 10 + 600 + 10);
    assert_int_equal(try.result.store.requests, 2);
    /* units 0 to 4 without the ends: 900 + 1000 + 300 at one, 2 * 1000 at the other */
    predict("pwrite t=1000 dur=1000 fd=3 path=/store/a off=100 size=4200\n");
    assert_int_equal(try.result.store.requests, 2);
    assert_us(try.result.store.service_s, 2 * 100 + 4200);
    assert_us(try.result.all.total_s, 10 + 100 + 2200 + 10);
}

static char *many(unsigned ranks)
{
    size_t room = (size_t)ranks * 256;
    char *script = malloc(room);
    size_t used = 0;
    assert_non_null(script);
    for (unsigned i = 0; i < ranks; i++) {
        used += (size_t)snprintf(script + used, room - used, "process %u rank=%u\nstream %u %u\n",
                                 10 + i, i, i, 10 + i);
    }
    for (unsigned i = 0; i < ranks; i++) {
        used +=
            (size_t)snprintf(script + used, room - used,
                             "pwrite stream=%u t=1000 dur=1000 fd=3 path=/store/a off=%u size=900\n"
                             "pwrite stream=%u t=9000 dur=1000 fd=3 path=/store/a off=%u "
                             "size=900\n",
                             i, 1000 * i, i, 1000 * i);
    }
    return script;
}

/* 64 requests of 1 ms: with a time-out of 20 ms some are given up, whatever the policy; the target
 * works on no more than comes to it, and each operation ends. */
static void overload_is_that_of_the_policy(void **state)
{
    (void)state;
    char *script = many(MANY);
    const char *host = try_host("store.json", STORE("1", ", \"timeout_s\": 0.02"));
    for (unsigned kind = 0; kind < WIO_ADMIT_KIND_COUNT; kind++) {
        try.params.host = host;
        try.params.store_policy = (enum wio_admit_kind)kind;
        predict(script);
        const struct wio_predict_store first = try.result.store;
        const double total_s = try.result.all.total_s;
        printf("# %-9s %.1f ms, %llu refused, %llu again, %llu given up\n",
               wio_admit_kind_name((enum wio_admit_kind)kind), total_s * 1e3,
               (unsigned long long)first.refused, (unsigned long long)first.again,
               (unsigned long long)first.given_up);
        assert_int_equal(first.requests, 2 * MANY);
        assert_int_equal(try.result.all.ops, 2 * MANY);
        assert_in_range(first.given_up, 1, 2 * MANY - 1);
        assert_true(total_s < 0.05);
        predict(script); /* the same each time */
        assert_int_equal(try.result.store.refused, first.refused);
        assert_int_equal(try.result.store.given_up, first.given_up);
        assert_true(try.result.all.total_s == total_s);
    }
    free(script);
}

/* With time enough all is done, and takes as long as the target works. */
static void all_is_done_in_time_enough(void **state)
{
    (void)state;
    char *script = many(MANY);
    const char *host = try_host("store.json", STORE("1", ", \"timeout_s\": 100"));
    for (unsigned kind = 0; kind < WIO_ADMIT_KIND_COUNT; kind++) {
        try.params.host = host;
        try.params.store_policy = (enum wio_admit_kind)kind;
        predict(script);
        assert_int_equal(try.result.store.given_up, 0);
        assert_us(try.result.store.service_s, 2 * MANY * 1000);
        assert_true(try.result.all.total_s >= 0.064);
        assert_true(try.result.all.total_s < 0.08);
    }
    free(script);
}

static void descriptions_are_checked(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "1",
        "{}",
        "{\"targets\": 0, \"op_s\": 1, \"bw\": 1}",
        "{\"targets\": 1.5, \"op_s\": 1, \"bw\": 1}",
        "{\"targets\": 257, \"op_s\": 1, \"bw\": 1}",
        "{\"targets\": 1, \"op_s\": -1, \"bw\": 1}",
        "{\"targets\": 1, \"op_s\": 1, \"bw\": 0}",
        "{\"targets\": 1, \"op_s\": 1, \"bw\": 1, \"stripe_unit\": 0}",
        "{\"targets\": 1, \"op_s\": 1, \"bw\": 1, \"timeout_s\": \"long\"}"};
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char members[256];
        struct wio_error err = WIO_ERROR_INIT;
        (void)snprintf(members, sizeof(members), ", \"store\": %s", wrong[i]);
        try.params.host = try_host("wrong.json", members);
        assert_status(try_predict("pwrite t=1000 dur=1000 fd=3 path=/a off=0 size=7\n", &err),
                      WIO_ERR_FORMAT, &err);
        assert_non_null(strstr(err.message, "store"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRY(a_request_costs_what_the_target_says), TRY(ranks_wait_for_each_other),
        TRY(targets_work_beside_each_other),       TRY(overload_is_that_of_the_policy),
        TRY(all_is_done_in_time_enough),           TRY(descriptions_are_checked),
    };
    return WIO_RUN(tests);
}
