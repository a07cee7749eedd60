/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>

#include "job/names.h"
#include "support/stingy.h"

static struct wio_job_names *make(uint32_t most)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_job_names *names;
    assert_ok(wio_job_names_create(&heap, most, &names), NULL);
    return names;
}

static uint32_t add(struct wio_job_names *names, const char *text, size_t bytes)
{
    uint32_t job;
    assert_ok(wio_job_names_add(names, text, bytes, &job), NULL);
    return job;
}

static void one_text_is_one_number(void **state)
{
    (void)state;
    struct wio_job_names *names = make(0);
    assert_int_equal(add(names, "a", 1), 1);
    assert_int_equal(add(names, "b c:\"\xc3\xa9\n", 8), 2);
    assert_int_equal(add(names, "a", 1), 1);
    assert_int_equal(add(names, "", 0), WIO_JOB_NONE);
    size_t bytes;
    assert_memory_equal(wio_job_names_text(names, 2, &bytes), "b c:\"\xc3\xa9\n", 9);
    assert_int_equal(bytes, 8);
    assert_int_equal(wio_job_names_find(names, "b", 1), WIO_JOB_NONE);
    assert_string_equal(wio_job_names_text(names, 3, NULL), "");
    assert_string_equal(wio_job_names_text(names, WIO_JOB_NONE, &bytes), "");
    wio_job_names_destroy(names);
}

/* Lustre cut ids at 31 bytes, so that two long ones became one. */
static void long_names_stay_apart(void **state)
{
    (void)state;
    struct wio_job_names *names = make(0);
    char text[WIO_JOB_BYTES + 1];
    uint32_t job;
    memset(text, 'x', sizeof(text));
    const uint32_t first = add(names, text, WIO_JOB_BYTES);
    text[WIO_JOB_BYTES - 1] = 'y';
    assert_int_not_equal(add(names, text, WIO_JOB_BYTES), first);
    assert_int_not_equal(add(names, text, WIO_JOB_BYTES - 1), first);
    assert_status(wio_job_names_add(names, text, sizeof(text), &job), WIO_ERR_USAGE, NULL);
    assert_status(wio_job_names_add(names, "a\0b", 3, &job), WIO_ERR_USAGE, NULL);
    assert_int_equal(job, WIO_JOB_NONE);
    wio_job_names_destroy(names);
}

static void numbers_are_limited(void **state)
{
    (void)state;
    struct wio_job_names *names = make(2);
    uint32_t job;
    (void)add(names, "a", 1);
    (void)add(names, "b", 1);
    assert_status(wio_job_names_add(names, "c", 1, &job), WIO_ERR_BUSY, NULL);
    assert_int_equal(add(names, "b", 1), 2);
    wio_job_names_destroy(names);
}

/* Texts do not move: pointers from the beginning still hold after many more. */
static void many_names(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    struct wio_job_names *names = make(0);
    char text[32];
    const char *first = NULL;
    for (unsigned i = 1; i <= MANY; i++) {
        const int bytes = snprintf(text, sizeof(text), "job.%u", i);
        assert_int_equal(add(names, text, (size_t)bytes), i);
        first = i == 1 ? wio_job_names_text(names, 1, NULL) : first;
    }
    assert_ptr_equal(wio_job_names_text(names, 1, NULL), first);
    assert_string_equal(first, "job.1");
    assert_string_equal(wio_job_names_text(names, MANY, NULL), "job.100000");
    assert_string_equal(wio_job_names_text(names, 1024, NULL), "job.1024");
    assert_string_equal(wio_job_names_text(names, 1025, NULL), "job.1025");
    assert_int_equal(wio_job_names_find(names, "job.77777", 9), 77777);
    assert_int_equal(wio_job_names_count(names), MANY);
    wio_job_names_destroy(names);
}

static enum wio_status some_names(const struct wio_alloc *alloc)
{
    struct wio_job_names *names;
    enum wio_status status = wio_job_names_create(alloc, 0, &names);
    uint32_t job;
    char text[16];
    for (int i = 0; i < 1200 && status == WIO_OK; i++) {
        const int bytes = snprintf(text, sizeof(text), "%d", i);
        status = wio_job_names_add(names, text, (size_t)bytes, &job);
    }
    wio_job_names_destroy(names);
    return status;
}

static void memory_may_be_short(void **state)
{
    (void)state;
    unsigned n = 0;
    for (enum wio_status status = WIO_ERR_NOMEM; status != WIO_OK; n++) {
        struct wio_stingy stingy = {.left = n};
        const struct wio_alloc alloc = wio_stingy_alloc(&stingy);
        status = some_names(&alloc);
        assert_true(status == WIO_OK || status == WIO_ERR_NOMEM);
        assert_int_equal(stingy.out, 0);
    }
    assert_true(n > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_text_is_one_number), cmocka_unit_test(long_names_stay_apart),
        cmocka_unit_test(numbers_are_limited),    cmocka_unit_test(many_names),
        cmocka_unit_test(memory_may_be_short),
    };
    return WIO_RUN(tests);
}
