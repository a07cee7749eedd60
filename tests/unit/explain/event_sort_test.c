/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "explain/event_sort.h"

static uint64_t random_below(uint64_t *state, uint64_t limit)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (*state >> 33) % limit;
}

/* Adds `count` events of few different durations and gives them back in order, each once. */
static void sort_some(uint64_t count, size_t bytes)
{
    struct wio_event_sort *sort = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_event *event;
    struct wio_event last = {.dur_ns = UINT64_MAX};
    uint64_t state = 7;
    uint64_t sum = 0;
    uint64_t seen = 0;

    assert_ok(wio_event_sort_create(bytes, &sort, &err), &err);
    for (uint64_t i = 0; i < count; i++) {
        const struct wio_event one = {
            .t_ns = i, .seq = i, .dur_ns = random_below(&state, 50), .stream = (uint32_t)(i % 3)};
        assert_ok(wio_event_sort_add(sort, &one, &err), &err);
        sum += i;
    }
    assert_ok(wio_event_sort_finish(sort, &err), &err);
    while (wio_event_sort_next(sort, &event, &err) == WIO_OK) {
        assert_true(event->dur_ns < last.dur_ns ||
                    (event->dur_ns == last.dur_ns && event->t_ns > last.t_ns));
        assert_int_equal(event->stream, event->seq % 3);
        last = *event;
        sum -= event->seq;
        seen++;
    }
    assert_int_equal(seen, count);
    assert_int_equal(sum, 0);
    assert_int_equal(wio_event_sort_next(sort, &event, &err), WIO_END);
    wio_event_sort_destroy(sort);
}

static void in_memory(void **state)
{
    (void)state;
    sort_some(0, 0);
    sort_some(1, 0);
    sort_some(2000, 0);
}

/* Runs that fill the memory exactly, one event more, and more runs than events fit. */
static void by_way_of_a_file(void **state)
{
    const size_t one = sizeof(struct wio_event);

    (void)state;
    for (uint64_t count = 1; count < 40; count++) {
        sort_some(count, 1);
        sort_some(count, 4 * one);
        sort_some(count, 7 * one);
    }
    sort_some(5000, 16 * one);
}

static void leaves_no_file(void **state)
{
    char dir[4096];
    unsigned count = 0;
    const struct dirent *entry;

    (void)state;
    (void)snprintf(dir, sizeof(dir), "%s/sort", wio_test_dir());
    assert_int_equal(mkdir(dir, 0700), 0);
    assert_int_equal(setenv("TMPDIR", dir, 1), 0);
    sort_some(100, 4 * sizeof(struct wio_event));
    DIR *listing = opendir(dir);
    assert_non_null(listing);
    while ((entry = readdir(listing)) != NULL) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(listing);
    assert_int_equal(count, 0);
}

static void a_directory_that_is_not_there_is_named(void **state)
{
    struct wio_event_sort *sort = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_event event = {.seq = 1};

    (void)state;
    assert_int_equal(setenv("TMPDIR", "/nowhere/tmp", 1), 0);
    assert_ok(wio_event_sort_create(1, &sort, &err), &err);
    assert_ok(wio_event_sort_add(sort, &event, &err), &err);
    assert_int_equal(wio_event_sort_add(sort, &event, &err), WIO_ERR_IO);
    assert_string_equal(err.file, "/nowhere/tmp");
    wio_event_sort_destroy(sort);
    assert_int_equal(unsetenv("TMPDIR"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_memory),
        cmocka_unit_test(by_way_of_a_file),
        cmocka_unit_test(leaves_no_file),
        cmocka_unit_test(a_directory_that_is_not_there_is_named),
    };
    return WIO_RUN(tests);
}
