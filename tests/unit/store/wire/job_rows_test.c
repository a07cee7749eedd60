/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics of jobs as bytes and back: R-WIRE-20. */
#include "support/unit.h"

#include <string.h>

#include "store/wire/job_rows.h"

static const struct wio_wire_job_counter counter_of_writes = {.op = 17,
                                                              .samples = 3,
                                                              .least = 1,
                                                              .greatest = UINT64_MAX,
                                                              .sum = 9,
                                                              .squares = {1, 2},
                                                              .bucket_first = 63,
                                                              .bucket_count = 2,
                                                              .buckets = {1, 2}};

static void put(struct wio_blob *blob, const char *name, uint32_t bytes, unsigned counters)
{
    const struct wio_wire_job_row row = {.name = name,
                                         .name_size = bytes,
                                         .first_ns = 5,
                                         .last_ns = 7,
                                         .errors = 2,
                                         .counters = (uint8_t)counters};
    assert_int_equal(wio_wire_put_job_row(blob, &row), WIO_OK);
    for (unsigned i = 0; i < counters; i++) {
        assert_int_equal(wio_wire_put_job_counter(blob, &counter_of_writes), WIO_OK);
    }
}

static void rows_come_as_they_were_put(void **state)
{
    (void)state;
    struct wio_blob blob = {0};
    struct wio_wire_job_row row;
    struct wio_wire_job_counter counter;
    put(&blob, "a \"b\"\n:", 7, 2);
    put(&blob, "", 0, 0);
    struct wio_buf data = wio_buf_of(blob.data, blob.size);
    assert_int_equal(wio_wire_get_job_row(&data, &row), WIO_OK);
    assert_int_equal(row.name_size, 7);
    assert_memory_equal(row.name, "a \"b\"\n:", 7);
    assert_true(row.first_ns == 5 && row.last_ns == 7 && row.errors == 2 && row.counters == 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(wio_wire_get_job_counter(&data, &counter), WIO_OK);
        assert_true(counter.op == 17 && counter.samples == 3 && counter.greatest == UINT64_MAX);
        assert_true(counter.squares[0] == 1 && counter.squares[1] == 2);
        assert_true(counter.bucket_count == 2 && counter.buckets[1] == 2);
    }
    assert_int_equal(wio_wire_get_job_row(&data, &row), WIO_OK);
    assert_int_equal(row.name_size, 0);
    assert_int_equal(wio_wire_get_job_row(&data, &row), WIO_END);
    wio_blob_fini(&blob);
}

static enum wio_status read_all(const void *bytes, size_t size)
{
    struct wio_buf data = wio_buf_of(bytes, size);
    struct wio_wire_job_row row;
    struct wio_wire_job_counter counter;
    enum wio_status status = WIO_OK;
    while ((status = wio_wire_get_job_row(&data, &row)) == WIO_OK) {
        for (unsigned i = 0; i < row.counters && status == WIO_OK; i++) {
            status = wio_wire_get_job_counter(&data, &counter);
        }
        if (status != WIO_OK) {
            return status;
        }
    }
    return status;
}

static void cut_rows_are_refused(void **state)
{
    (void)state;
    struct wio_blob blob = {0};
    put(&blob, "job", 3, 1);
    for (size_t size = 1; size < blob.size; size++) {
        assert_int_equal(read_all(blob.data, size), WIO_ERR_TRUNCATED);
    }
    assert_int_equal(read_all(blob.data, blob.size), WIO_END);
    wio_blob_fini(&blob);
}

static void numbers_that_cannot_be_are_refused(void **state)
{
    (void)state;
    struct wio_blob blob = {0};
    struct wio_wire_job_counter wrong[3] = {counter_of_writes, counter_of_writes,
                                            counter_of_writes};
    wrong[0].bucket_first = 64; /* and two buckets */
    wrong[1].samples = 0;
    wrong[2].least = 2;
    wrong[2].greatest = 1;
    for (unsigned i = 0; i < 3; i++) {
        struct wio_wire_job_counter counter;
        wio_blob_clear(&blob);
        assert_int_equal(wio_wire_put_job_counter(&blob, &wrong[i]), WIO_OK);
        struct wio_buf data = wio_buf_of(blob.data, blob.size);
        assert_int_equal(wio_wire_get_job_counter(&data, &counter), WIO_ERR_FORMAT);
    }
    wio_blob_clear(&blob);
    put(&blob, "a\0b", 3, 0);
    assert_int_equal(read_all(blob.data, blob.size), WIO_ERR_FORMAT);
    wio_blob_fini(&blob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_come_as_they_were_put),
        cmocka_unit_test(cut_rows_are_refused),
        cmocka_unit_test(numbers_that_cannot_be_are_refused),
    };
    return WIO_RUN(tests);
}
