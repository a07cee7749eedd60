/* SPDX-License-Identifier: Apache-2.0 */
/* Calls with extreme arguments, and traces that stand for more than can be simulated. */
#include "support/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "try.h"

#define LONG_MAX_TEXT "9223372036854775807"

static const enum wio_model_kind kinds[] = {WIO_MODEL_NAIVE, WIO_MODEL_CAWL, WIO_MODEL_KERNEL};

/* Advice for the whole file, and a read far behind its end: both as programs do them. */
static void a_range_that_no_model_has_is_cut(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        try.params.model = kinds[i];
        predict(
            "pwrite t=1000 dur=1000 fd=3 path=/a off=0 size=4096\n"
            "fsync t=3000 dur=1000 fd=3 path=/a res=0\n"
            "posix_fadvise t=5000 dur=1000 fd=3 path=/a off=0 size=" LONG_MAX_TEXT " a0=4 res=0\n"
            "posix_fadvise t=7000 dur=1000 fd=3 path=/a off=" LONG_MAX_TEXT " size=7 a0=4 res=0\n"
            "pread t=9000 dur=3000 fd=3 path=/a off=9223372036854771712 size=4096 res=0\n"
            "ftruncate t=15000 dur=1000 fd=3 path=/a size=" LONG_MAX_TEXT " res=0\n"
            "pread t=17000 dur=1000 fd=3 path=/a off=0 size=4096\n");
        assert_int_equal(try.result.all.ops, 3);
    }
    /* after the advice the kernel model has nothing in memory: it reads four pages ahead */
    assert_true(try.ends_s[2] - try.ends_s[1] > 4 * 4096e-6);
}

/* What no model can say takes its recorded time, as failed calls do. */
static void what_no_model_takes_is_kept_as_recorded(void **state)
{
    (void)state;
    predict("pread t=1000 dur=3000 fd=3 path=/a off=9223372036854771712 size=4096 res=0\n"
            "pread t=5000 dur=2000 fd=3 path=/a off=-5 size=10 err=22\n"
            "pwrite t=9000 dur=4000 fd=3 path=/a off=0 size=" LONG_MAX_TEXT "\n"
            "pread t=20000 dur=1000 fd=3 path=/a off=0 size=10\n");
    assert_int_equal(try.result.all.ops, 1);
    assert_us(try.result.all.kept_s, 3 + 2 + 4);
    assert_us(try.result.all.total_s, 19 + 10);
}

/* Calls without a position go on where the last one ended; nothing ends behind what models have. */
static void a_position_stays_within_what_models_have(void **state)
{
    (void)state;
    try.params.per_op = NULL;
    char *script = malloc(1 << 20);
    size_t at = 0;
    for (int i = 0; i < 8200; i++) { /* of 2^40 bytes each: more than 2^53 in all */
        at += (size_t)sprintf(script + at, "write dur=1 fd=3 path=/a size=1099511627776\n");
    }
    predict(script);
    assert_int_equal(try.result.all.ops, 8200);
    free(script);
}

static void assert_refused(const char *script, const char *const words[])
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_int_equal(try_predict(script, &err), WIO_ERR_UNSUPPORTED);
    for (size_t i = 0; words[i] != NULL; i++) {
        if (strstr(err.message, words[i]) == NULL) {
            fail_msg("no '%s' in: %s", words[i], err.message);
        }
    }
}

/* Few bytes of trace, many of file. */
static void memory_is_bounded_and_the_operation_named(void **state)
{
    (void)state;
    static const char *const words[] = {"16.0 MiB", "pwrite",    "8.00 GiB",  "'/data/big'",
                                        "second",   "thread 11", "of rank 3", NULL};
    char *script = malloc(1 << 20);
    size_t at = (size_t)sprintf(script, "process 11 rank=3\nstream 0 11\n");
    for (int i = 0; i < 200; i++) {
        at += (size_t)sprintf(script + at,
                              "pwrite dur=1 fd=3 path=/data/big off=%llu size=8589934592\n",
                              (unsigned long long)i << 33);
    }
    try.params.per_op = NULL;
    try.params.model = WIO_MODEL_KERNEL;
    try.params.memory_max = UINT64_C(16) << 20;
    try.params.host = try_host("fast.json", ", \"dirty_interval\": 0");
    assert_refused(script, words);
    try.params.memory_max = 0;
    predict(script);
    free(script);
}

static void work_is_bounded_and_the_operation_named(void **state)
{
    (void)state;
    static const char *const words[] = {"1000 steps", "pwrite", "'/data/big'", "thread 100", NULL};
    try.params.model = WIO_MODEL_KERNEL;
    try.params.steps_max = 1000;
    assert_refused("pwrite dur=1 fd=3 path=/data/big off=0 size=8589934592\n", words);
}

/* Each rank is simulated, with memory of its own. */
static void ranks_are_bounded(void **state)
{
    (void)state;
    static const char *const words[] = {"999999 ranks", "GiB", "at most", NULL};
    try.params.whatif.ranks = 999999;
    assert_refused("process 10 rank=0\nstream 0 10\n"
                   "pwrite dur=1 fd=3 path=/a off=0 size=1\n",
                   words);
}

/* ---- any value in any field ---- */

static const char *const offsets[] = {"0",
                                      "1",
                                      "4095",
                                      "-1",
                                      "-4096",
                                      "9007199254740992",
                                      "9223372036854771712",
                                      LONG_MAX_TEXT,
                                      "-9223372036854775807"};
static const char *const sizes[] = {
    "0", "1", "4096", "1099511627776", "9007199254740993", LONG_MAX_TEXT, "18446744073709551614"};
static const char *const results[] = {
    "0", "1", "-1", "4096", "1099511627777", LONG_MAX_TEXT, "-9223372036854775807"};
static const char *const calls[] = {
    "pread",     "pwrite",          "read",      "write",           "fsync",
    "fdatasync", "posix_fadvise",   "open",      "close",           "ftruncate",
    "truncate",  "sync_file_range", "fallocate", "copy_file_range", "fwrite",
    "fread",     "fflush",          "fclose",    "aio_write",       "aio_read",
    "sendfile",  "unlink",          "rename",    "uring_read",      "uring_write",
    "stat",      "lseek",           "pwritev2"};

#define PICK(list, random) (list)[wio_test_random(random) % (sizeof(list) / sizeof((list)[0]))]

static void random_script(uint64_t *random, char *script, size_t room)
{
    size_t at = 0;
    for (int i = 0; i < 60 && at + 400 < room; i++) {
        at += (size_t)sprintf(
            script + at,
            "%s dur=%llu fd=%d path=/f%d fd2=4 path2=/f%d off=%s off2=%s size=%s "
            "res=%s a0=%s a1=%s a2=%s%s\n",
            PICK(calls, random), (unsigned long long)(wio_test_random(random) % 3 * 1000),
            (int)(wio_test_random(random) % 3) + 3, (int)(wio_test_random(random) % 3),
            (int)(wio_test_random(random) % 3), PICK(offsets, random), PICK(offsets, random),
            PICK(sizes, random), PICK(results, random), PICK(offsets, random),
            PICK(offsets, random), PICK(offsets, random),
            wio_test_random(random) % 4 == 0 ? " err=22" : "");
    }
}

/* Each ends, with finite figures, or says that it is more than its bounds. */
static void any_values_end_in_a_prediction(void **state)
{
    (void)state;
    static char script[40000];
    try.params.per_op = NULL;
    try.params.steps_max = 3000000 / WIO_TEST_SLOWER;
    try.params.memory_max = UINT64_C(256) << 20;
    for (uint64_t seed = 1; seed <= 60 / WIO_TEST_SLOWER; seed++) {
        uint64_t random = seed * 7919;
        struct wio_error err = WIO_ERROR_INIT;
        random_script(&random, script, sizeof(script));
        try.params.model = kinds[seed % 3];
        enum wio_status status = try_predict(script, &err);
        if (status != WIO_OK && status != WIO_ERR_UNSUPPORTED) {
            fail_msg("seed %llu: %s", (unsigned long long)seed, err.message);
        }
        assert_true(isfinite(try.result.all.total_s) && isfinite(try.result.all.io_s));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TRY(a_range_that_no_model_has_is_cut),
        TRY(what_no_model_takes_is_kept_as_recorded),
        TRY(a_position_stays_within_what_models_have),
        TRY(memory_is_bounded_and_the_operation_named),
        TRY(work_is_bounded_and_the_operation_named),
        TRY(ranks_are_bounded),
        TRY(any_values_end_in_a_prediction),
    };
    return WIO_RUN(tests);
}
