/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>

#include "store/session/preamble.h"

struct heard {
    unsigned shows;
    unsigned sources;
    unsigned callers;
    char job[8];
    char site[8];
    uint8_t last; /* first byte of the last grant */
    bool is_deaf;
};

static bool hear(void *context, uint16_t target, const struct wio_store_request *request)
{
    struct heard *heard = context;
    (void)target;
    if (heard->is_deaf) {
        return false;
    }
    heard->shows += request->op == WIO_STORE_SHOW;
    heard->sources += request->op == WIO_STORE_DEFINE_SOURCE;
    if (request->op == WIO_STORE_DEFINE_CALLER) {
        heard->callers++;
        (void)snprintf(heard->site, sizeof(heard->site), "%.*s", (int)request->path_size,
                       request->path);
        (void)snprintf(heard->job, sizeof(heard->job), "%.*s", (int)request->path2_size,
                       request->path2);
    }
    heard->last = request->op == WIO_STORE_SHOW ? request->data[0] : heard->last;
    return true;
}

static void before(struct wio_preamble *preamble, uint16_t target, uint64_t file, uint32_t source,
                   struct heard *heard)
{
    const struct wio_store_request request = {.op = WIO_STORE_READ, .file = file, .source = source};
    wio_preamble_before(preamble, target, &request, hear, heard);
}

/* Once on each connection of each target, and again on a new one. */
static void grants_are_shown_once(void **state)
{
    (void)state;
    struct heard heard = {0};
    struct wio_preamble *preamble = wio_preamble_create(2);
    assert_int_equal(wio_preamble_add_grant(preamble, 5, "a", 1), WIO_OK);
    before(preamble, 0, 5, 0, &heard);
    before(preamble, 0, 5, 0, &heard);
    before(preamble, 0, 6, 0, &heard);
    assert_int_equal(heard.shows, 1);
    before(preamble, 1, 5, 0, &heard);
    assert_int_equal(heard.shows, 2);
    wio_preamble_connected(preamble, 0, true);
    before(preamble, 0, 5, 0, &heard);
    before(preamble, 1, 5, 0, &heard);
    assert_int_equal(heard.shows, 3);
    wio_preamble_destroy(preamble);
}

/* A grant with more rights follows; the same one does not; what was not sent is sent later. */
static void grants_add_up(void **state)
{
    (void)state;
    struct heard heard = {.is_deaf = true};
    struct wio_preamble *preamble = wio_preamble_create(1);
    assert_int_equal(wio_preamble_add_grant(preamble, 5, "a", 1), WIO_OK);
    assert_int_equal(wio_preamble_add_grant(preamble, 5, "a", 1), WIO_OK);
    before(preamble, 0, 5, 0, &heard);
    heard.is_deaf = false;
    before(preamble, 0, 5, 0, &heard);
    assert_int_equal(heard.shows, 1);
    assert_int_equal(wio_preamble_add_grant(preamble, 5, "b", 1), WIO_OK);
    assert_int_equal(wio_preamble_add_grant(preamble, 5, "", 0), WIO_OK);
    before(preamble, 0, 5, 0, &heard);
    assert_int_equal(heard.shows, 2);
    assert_int_equal(heard.last, 'b');
    /* with the last user they go */
    for (unsigned i = 0; i < 4; i++) {
        wio_preamble_drop_grants(preamble, 5);
    }
    wio_preamble_drop_grants(preamble, 5);
    wio_preamble_connected(preamble, 0, true);
    before(preamble, 0, 5, 0, &heard);
    assert_int_equal(heard.shows, 2);
    uint8_t large[300] = {0};
    assert_int_equal(wio_preamble_add_grant(preamble, 5, large, sizeof(large)), WIO_ERR_FORMAT);
    wio_preamble_destroy(preamble);
}

static void call_sites_are_defined_once(void **state)
{
    (void)state;
    struct heard heard = {0};
    struct wio_preamble *preamble = wio_preamble_create(3);
    uint32_t one = wio_preamble_source(preamble, "a.c:1", 5);
    assert_int_equal(wio_preamble_source(preamble, "a.c:1", 5), one);
    assert_int_not_equal(wio_preamble_source(preamble, "a.c:2", 5), one);
    assert_int_equal(wio_preamble_source(preamble, "", 0), 0);
    for (unsigned i = 0; i < 100; i++) {
        char text[16] = {(char)('a' + i % 26), (char)('a' + i / 26)};
        assert_int_not_equal(wio_preamble_source(preamble, text, 2), 0);
    }
    for (uint16_t target = 0; target < 3; target++) {
        before(preamble, target, 0, one, &heard);
        before(preamble, target, 0, one, &heard);
    }
    assert_int_equal(heard.sources, 3);
    wio_preamble_connected(preamble, 1, true);
    for (uint16_t target = 0; target < 3; target++) {
        before(preamble, target, 0, one, &heard);
    }
    assert_int_equal(heard.sources, 4);
    before(preamble, 0, 0, 99999, &heard);
    assert_int_equal(heard.sources, 4);
    wio_preamble_destroy(preamble);
}

/* A job is told once on each connection, with the call site; to a side that does not know jobs the
 * call site alone. */
static void jobs_are_told_once(void **state)
{
    (void)state;
    struct heard heard = {0};
    struct wio_preamble *preamble = wio_preamble_create(2);
    wio_preamble_connected(preamble, 0, true);
    wio_preamble_connected(preamble, 1, false);
    uint32_t site = wio_preamble_source(preamble, "a:1", 3);
    uint32_t job = wio_preamble_caller(preamble, 0, "j 1", 3);
    uint32_t both = wio_preamble_caller(preamble, site, "j 1", 3);
    assert_true(site != 0 && job != 0 && both != 0 && job != both && job != site);
    assert_int_equal(wio_preamble_caller(preamble, 0, "j 1", 3), job);
    before(preamble, 0, 0, job, &heard);
    before(preamble, 0, 0, job, &heard);
    assert_int_equal(heard.callers, 1);
    assert_string_equal(heard.job, "j 1");
    assert_string_equal(heard.site, "");
    before(preamble, 0, 0, both, &heard);
    assert_string_equal(heard.site, "a:1");
    assert_int_equal(heard.sources, 0);
    before(preamble, 1, 0, job, &heard);
    before(preamble, 1, 0, both, &heard);
    assert_int_equal(heard.callers, 2);
    assert_int_equal(heard.sources, 1);
    wio_preamble_connected(preamble, 1, true); /* a newer one took its place */
    before(preamble, 1, 0, job, &heard);
    assert_int_equal(heard.callers, 3);
    char long_name[WIO_STORE_PATH_MAX + 1];
    memset(long_name, 'x', sizeof(long_name));
    assert_int_equal(wio_preamble_caller(preamble, 0, long_name, sizeof(long_name)), 0);
    assert_int_equal(wio_preamble_caller(preamble, 0, "a\0b", 3), 0);
    assert_int_equal(wio_preamble_caller(preamble, 0, "", 0), 0);
    assert_int_not_equal(wio_preamble_caller(preamble, 0, long_name, WIO_STORE_PATH_MAX), 0);
    wio_preamble_destroy(preamble);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grants_are_shown_once),
        cmocka_unit_test(grants_add_up),
        cmocka_unit_test(call_sites_are_defined_once),
        cmocka_unit_test(jobs_are_told_once),
    };
    return WIO_RUN(tests);
}
