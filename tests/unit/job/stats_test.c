/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job/stats.h"
#include "job/stats_text.h"
#include "support/stingy.h"

static struct wio_job_stats *make(void)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_job_stats *stats;
    assert_ok(wio_job_stats_create(&heap, &stats), NULL);
    return stats;
}

static void add(struct wio_job_stats *stats, uint32_t job, enum wio_job_op op, uint64_t value,
                uint64_t now_ns)
{
    assert_ok(wio_job_stats_add(stats, job, op, value, now_ns), NULL);
}

static const struct wio_job_counter *counter(const struct wio_job_stats *stats, uint32_t job,
                                             enum wio_job_op op)
{
    const struct wio_job_row *row = wio_job_stats_find(stats, job);
    return row != NULL ? wio_job_stats_counter(stats, row, op) : NULL;
}

/* The same of one that is there. */
static const struct wio_job_counter *there(const struct wio_job_stats *stats, uint32_t job,
                                           enum wio_job_op op)
{
    static const struct wio_job_counter none;
    const struct wio_job_counter *found = counter(stats, job, op);
    assert_non_null(found);
    return found != NULL ? found : &none;
}

/* Samples in the bucket that ends with `most`. */
static uint64_t bucket(const struct wio_job_counter *counter, uint64_t most)
{
    for (unsigned i = 0; i < counter->bucket_count; i++) {
        if (wio_job_bucket_most(counter->bucket_first + i) == most) {
            return counter->buckets[i];
        }
    }
    return 0;
}

static void samples_add_up(void **state)
{
    (void)state;
    struct wio_job_stats *stats = make();
    static const uint64_t values[] = {4096, 0, 1, 4097, 2049, 2048};
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        add(stats, 5, WIO_JOB_OP_READ_BYTES, values[i], 100 - i);
    }
    const struct wio_job_counter *read = there(stats, 5, WIO_JOB_OP_READ_BYTES);
    assert_int_equal(read->samples, 6);
    assert_int_equal(read->least, 0);
    assert_int_equal(read->greatest, 4097);
    assert_int_equal(read->sum, 4096 + 1 + 4097 + 2049 + 2048);
    assert_int_equal(read->squares[0], 4096 * 4096 + 1 + 4097 * 4097 + 2049 * 2049 + 2048 * 2048);
    assert_int_equal(bucket(read, 1), 2);
    assert_int_equal(bucket(read, 2048), 1);
    assert_int_equal(bucket(read, 4096), 2);
    assert_int_equal(bucket(read, 8192), 1);
    assert_null(counter(stats, 5, WIO_JOB_OP_OPEN));
    assert_null(wio_job_stats_find(stats, 4));
    assert_int_equal(wio_job_stats_find(stats, 5)->first_ns, 95);
    assert_int_equal(wio_job_stats_find(stats, 5)->last_ns, 100);
    wio_job_stats_destroy(stats);
}

static void squares(const struct wio_job_counter *of, const char *expected)
{
    char text[WIO_JOB_SQUARES_BYTES + 1] = "";
    text[wio_job_squares_text(of->squares, text)] = '\0';
    assert_string_equal(text, expected);
}

static void nothing_wraps(void **state)
{
    (void)state;
    struct wio_job_stats *stats = make();
    add(stats, 1, WIO_JOB_OP_READ, UINT64_MAX, 0);
    const struct wio_job_counter *read = there(stats, 1, WIO_JOB_OP_READ);
    squares(read, "340282366920938463426481119284349108225"); /* (2^64 - 1)^2 */
    assert_int_equal(bucket(read, UINT64_MAX), 1);
    add(stats, 1, WIO_JOB_OP_READ, UINT64_MAX, 0);
    assert_int_equal(read->sum, UINT64_MAX);
    squares(read, "340282366920938463463374607431768211455"); /* 2^128 - 1 and no more */
    add(stats, 1, WIO_JOB_OP_WRITE, UINT64_C(1) << 40, 0);
    squares(there(stats, 1, WIO_JOB_OP_WRITE), "1208925819614629174706176"); /* 2^80 */
    wio_job_stats_destroy(stats);
}

static void same(const struct wio_job_counter *a, const struct wio_job_counter *b)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a != NULL) {
        assert_memory_equal(a, b, offsetof(struct wio_job_counter, buckets));
        for (unsigned i = 0; i < WIO_JOB_BUCKETS; i++) {
            assert_int_equal(bucket(a, wio_job_bucket_most(i)), bucket(b, wio_job_bucket_most(i)));
        }
    }
}

/* Spread over three objects and merged they are what one object counts. */
static void merged_is_counted_at_once(void **state)
{
    (void)state;
    struct wio_job_stats *parts[3] = {make(), make(), make()};
    struct wio_job_stats *whole = make();
    struct wio_job_stats *merged = make();
    uint64_t seed = 11;
    for (uint64_t i = 0; i < 20000; i++) {
        const uint32_t job = (uint32_t)(wio_test_random(&seed) % 50);
        const enum wio_job_op op = (enum wio_job_op)(wio_test_random(&seed) % WIO_JOB_OP_COUNT);
        const uint64_t value = wio_test_random(&seed) >> (wio_test_random(&seed) % 64);
        add(whole, job, op, value, i);
        add(parts[i % 3], job, op, value, i);
    }
    for (int i = 0; i < 3; i++) {
        assert_ok(wio_job_stats_merge(merged, parts[i]), NULL);
        wio_job_stats_destroy(parts[i]);
    }
    assert_int_equal(wio_job_stats_count(merged), wio_job_stats_count(whole));
    for (uint32_t job = 0; job < 50; job++) {
        const struct wio_job_row *row = wio_job_stats_find(whole, job);
        assert_int_equal(row->first_ns, wio_job_stats_find(merged, job)->first_ns);
        assert_int_equal(row->last_ns, wio_job_stats_find(merged, job)->last_ns);
        for (unsigned op = 0; op < WIO_JOB_OP_COUNT; op++) {
            same(counter(whole, job, (enum wio_job_op)op),
                 counter(merged, job, (enum wio_job_op)op));
        }
    }
    wio_job_stats_destroy(whole);
    wio_job_stats_destroy(merged);
}

static void jobs_are_dropped(void **state)
{
    (void)state;
    struct wio_job_stats *stats = make();
    for (uint32_t job = 0; job < 2000; job++) {
        add(stats, job, WIO_JOB_OP_OPEN, job, job);
        add(stats, job, WIO_JOB_OP_READ_BYTES, job, job);
    }
    assert_int_equal(wio_job_stats_clear(stats, 7), 1);
    assert_int_equal(wio_job_stats_clear(stats, 7), 0);
    assert_int_equal(wio_job_stats_clear(stats, 5000), 0);
    assert_null(wio_job_stats_find(stats, 7));
    assert_int_equal(there(stats, 8, WIO_JOB_OP_OPEN)->sum, 8);
    assert_int_equal(wio_job_stats_purge(stats, 1000), 999);
    assert_null(wio_job_stats_find(stats, 999));
    assert_int_equal(there(stats, 1000, WIO_JOB_OP_OPEN)->sum, 1000);
    add(stats, 7, WIO_JOB_OP_OPEN, 3, 5000); /* what was dropped is used again, from nothing */
    assert_int_equal(there(stats, 7, WIO_JOB_OP_OPEN)->samples, 1);
    assert_int_equal(there(stats, 7, WIO_JOB_OP_OPEN)->least, 3);
    assert_int_equal(wio_job_stats_clear_all(stats), 1001);
    assert_int_equal(wio_job_stats_count(stats), 0);
    wio_job_stats_destroy(stats);
}

static void the_most_bytes_come_first(void **state)
{
    (void)state;
    struct wio_job_stats *stats = make();
    uint64_t seed = 5;
    for (uint32_t job = 0; job < 300; job++) {
        add(stats, job, job % 2 == 0 ? WIO_JOB_OP_READ_BYTES : WIO_JOB_OP_WRITE_BYTES,
            wio_test_random(&seed) % 100, 0);
    }
    for (size_t count = 0; count <= 301; count += 43) {
        const struct wio_job_row *rows[301];
        const size_t got = wio_job_stats_top(stats, rows, count);
        assert_int_equal(got, count < 300 ? count : 300);
        for (size_t i = 1; i < got; i++) {
            const struct wio_job_counter *counters[2][2];
            uint64_t bytes[2] = {0, 0};
            for (int side = 0; side < 2; side++) {
                for (int op = 0; op < 2; op++) {
                    counters[side][op] = wio_job_stats_counter(stats, rows[i - 1 + (size_t)side],
                                                               op == 0 ? WIO_JOB_OP_READ_BYTES
                                                                       : WIO_JOB_OP_WRITE_BYTES);
                    bytes[side] += counters[side][op] != NULL ? counters[side][op]->sum : 0;
                }
            }
            assert_true(bytes[0] > bytes[1] ||
                        (bytes[0] == bytes[1] && rows[i - 1]->job < rows[i]->job));
        }
    }
    wio_job_stats_destroy(stats);
}

struct text {
    char *data;
    size_t used;
};

static void collect(void *context, const char *bytes, size_t count)
{
    struct text *text = context;
    text->data = realloc(text->data, text->used + count + 1);
    assert_non_null(text->data);
    memcpy(text->data + text->used, bytes, count);
    text->used += count;
    text->data[text->used] = '\0';
}

static void labels_of_prometheus_are_escaped(void **state)
{
    (void)state;
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_job_stats *stats = make();
    struct wio_job_names *names;
    struct text text = {NULL, 0};
    const struct wio_job_sink sink = {collect, &text};
    uint32_t job;
    assert_ok(wio_job_names_create(&heap, 0, &names), NULL);
    assert_ok(wio_job_names_add(names, "a\"b\\c\nd\xc3\xa9\xff\x01", 11, &job), NULL);
    add(stats, job, WIO_JOB_OP_OPEN, 3, 0);
    add(stats, job, WIO_JOB_OP_READ_BYTES, UINT64_MAX, 0);
    wio_job_stats_prometheus(&(struct wio_job_output){.stats = stats, .names = names}, &sink);
    assert_non_null(strstr(text.data,
                           "{job=\"a\\\"b\\\\c\\nd\xc3\xa9\\\\xFF\\\\x01\",operation=\"open\","
                           "le=\"0.000004\"} 1\n"));
    assert_non_null(strstr(text.data, "operation=\"read_bytes\",le=\"+Inf\"} 1\n"));
    assert_null(strstr(text.data, "le=\"18446744073709551615\""));
    assert_non_null(strstr(text.data, "whyio_job_size_bytes_sum{job="));
    free(text.data);
    wio_job_names_destroy(names);
    wio_job_stats_destroy(stats);
}

static enum wio_status some_samples(const struct wio_alloc *alloc)
{
    struct wio_job_stats *stats;
    enum wio_status status = wio_job_stats_create(alloc, &stats);
    for (uint32_t i = 0; i < 40 && status == WIO_OK; i++) {
        status = wio_job_stats_add(stats, i % 20, WIO_JOB_OP_READ, UINT64_C(1) << i, i);
    }
    if (stats != NULL) {
        wio_job_stats_destroy(stats);
    }
    return status;
}

static void memory_may_be_short(void **state)
{
    (void)state;
    unsigned n = 0;
    for (enum wio_status status = WIO_ERR_NOMEM; status != WIO_OK; n++) {
        struct wio_stingy stingy = {.left = n};
        const struct wio_alloc alloc = wio_stingy_alloc(&stingy);
        status = some_samples(&alloc);
        assert_int_equal(stingy.out, 0);
    }
    assert_true(n > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_add_up),
        cmocka_unit_test(nothing_wraps),
        cmocka_unit_test(merged_is_counted_at_once),
        cmocka_unit_test(jobs_are_dropped),
        cmocka_unit_test(the_most_bytes_come_first),
        cmocka_unit_test(labels_of_prometheus_are_escaped),
        cmocka_unit_test(memory_may_be_short),
    };
    return WIO_RUN(tests);
}
