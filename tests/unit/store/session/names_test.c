/* SPDX-License-Identifier: Apache-2.0 */
/* R-NAMES-1. Names of jobs and call sites that a server keeps: what one client or user can make it
 * keep. */
#include "support/unit.h"

#include <stdio.h>
#include <string.h>

#include "store/session/names.h"

enum { ALICE = 1000, BOB = 1001, NAME_BYTES = 4000, ENOUGH = 1 << 16 };

static struct wio_names_user user_of(uint64_t client, uint32_t uid)
{
    return (struct wio_names_user){.client = client, .uid = uid, .project = "p"};
}

/* Each name is another one, and long. */
static void define(struct wio_store_names *names, struct wio_names_user *user, uint32_t source,
                   const char *prefix)
{
    char name[NAME_BYTES];
    memset(name, '.', sizeof(name));
    const int bytes = snprintf(name, sizeof(name), "%s of client %llu, %u", prefix,
                               (unsigned long long)user->client, source);
    name[bytes] = '.';
    const struct wio_store_request caller = {.op = WIO_STORE_DEFINE_CALLER,
                                             .source = source,
                                             .path = "a.c:1",
                                             .path_size = 5,
                                             .path2 = name,
                                             .path2_size = sizeof(name)};
    wio_names_define(names, user, &caller);
}

static bool is_other(const struct wio_store_names *names, uint32_t job)
{
    size_t bytes = 0;
    const char *text = wio_names_job_text(names, job, &bytes);
    return bytes == strlen(WIO_NAMES_OTHER) && memcmp(text, WIO_NAMES_OTHER, bytes) == 0;
}

/* How many jobs a connection can have told apart. */
static uint32_t fill(struct wio_store_names *names, struct wio_names_user *user)
{
    uint32_t source = 0;
    do {
        define(names, user, ++source, "job");
        assert_true(source < ENOUGH);
        assert_int_not_equal(wio_names_job_of(names, user, source), 0);
    } while (!is_other(names, wio_names_job_of(names, user, source)));
    return source - 1;
}

static void a_client_has_a_part_of_the_room(void **state)
{
    (void)state;
    struct wio_store_names names = {0};
    struct wio_names_user many = user_of(7, ALICE);
    struct wio_names_user one = user_of(8, ALICE);
    const uint32_t told_apart = fill(&names, &many);
    assert_true(told_apart > 1000);
    const uint32_t other = names.other;
    const uint32_t first = wio_names_job_of(&names, &many, 1);
    for (uint32_t i = 0; i < 100; i++) {
        define(&names, &many, told_apart + 2 + i, "job");
        assert_int_equal(wio_names_job_of(&names, &many, told_apart + 2 + i), other);
    }
    assert_int_equal(wio_names_job_of(&names, &many, ENOUGH), other); /* not defined at all */
    assert_int_equal(wio_names_job_of(&names, &many, 0), 0);
    assert_int_equal(wio_names_job_of(&names, &many, 1), first); /* what was known stays */
    define(&names, &one, 1, "job");
    assert_false(is_other(&names, wio_names_job_of(&names, &one, 1)));
    assert_int_equal(wio_names_job_of(&names, &one, 2), 0); /* its own job */
    wio_names_fini(&names);
}

/* Connections that come and go are of one user still. */
static void a_user_leaves_room_for_others(void **state)
{
    (void)state;
    struct wio_store_names names = {0};
    uint32_t told_apart = 0;
    for (uint64_t client = 1; client < 20; client++) {
        struct wio_names_user user = user_of(client, ALICE);
        told_apart += fill(&names, &user);
    }
    struct wio_names_user bob = user_of(100, BOB);
    const uint32_t of_bob = fill(&names, &bob);
    assert_true(of_bob > told_apart / 3);
    for (uint32_t uid = 2000; uid < 2010; uid++) {
        struct wio_names_user user = user_of(uid, uid);
        define(&names, &user, 1, "job");
        assert_false(is_other(&names, wio_names_job_of(&names, &user, 1)));
    }
    wio_names_fini(&names);
}

/* A name that is known already takes no room, whichever connection says it. */
static void known_names_are_free(void **state)
{
    (void)state;
    struct wio_store_names names = {0};
    struct wio_names_user many = user_of(7, ALICE);
    (void)fill(&names, &many);
    struct wio_wire_hello hello = {.client = 9, .uid = ALICE};
    struct wio_names_user known = user_of(9, ALICE);
    snprintf(hello.job, sizeof(hello.job), "solver");
    const uint32_t job = wio_names_job(&names, &known, &hello);
    assert_false(is_other(&names, job));
    assert_int_equal(wio_names_job(&names, &many, &hello), job);
    snprintf(hello.job, sizeof(hello.job), "a new one");
    assert_false(is_other(&names, wio_names_job(&names, &known, &hello)));
    for (unsigned i = 0; i < 100; i++) { /* short ones have room for a while */
        snprintf(hello.job, sizeof(hello.job), "short %u", i);
        (void)wio_names_job(&names, &many, &hello);
    }
    assert_int_equal(wio_names_job(&names, &many, &hello), names.other);
    hello.job[0] = '\0';
    assert_int_equal(wio_names_job(&names, &many, &hello), 0);
    wio_names_fini(&names);
}

/* Call sites without a job have a room of their own, and no job is made up for them. */
static void call_sites_have_their_own_room(void **state)
{
    (void)state;
    struct wio_store_names names = {0};
    struct wio_names_user many = user_of(7, ALICE);
    struct wio_names_user one = user_of(8, ALICE);
    char text[1000];
    memset(text, 'x', sizeof(text));
    struct wio_store_request site = {
        .op = WIO_STORE_DEFINE_SOURCE, .path = text, .path_size = sizeof(text)};
    for (uint32_t i = 0; i < 2 * ENOUGH; i++) {
        (void)snprintf(text, sizeof(text), "%u", i);
        site.source = i + 1;
        wio_names_define(&names, &many, &site);
    }
    const size_t kept = names.source_of.hash.count;
    assert_in_range(kept, ENOUGH / 2, ENOUGH);
    assert_int_equal(wio_names_job_of(&names, &many, 2 * ENOUGH), 0);
    site.source = 1;
    wio_names_define(&names, &one, &site);
    assert_int_equal(names.source_of.hash.count, kept + 1);
    site.op = WIO_STORE_DEFINE_CALLER; /* its call site has no room: so its job is not known */
    site.source = 3 * ENOUGH;
    site.path2 = "job";
    site.path2_size = 3;
    wio_names_define(&names, &many, &site);
    assert_true(is_other(&names, wio_names_job_of(&names, &many, 3 * ENOUGH)));
    wio_names_fini(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_client_has_a_part_of_the_room),
        cmocka_unit_test(a_user_leaves_room_for_others),
        cmocka_unit_test(known_names_are_free),
        cmocka_unit_test(call_sites_have_their_own_room),
    };
    return WIO_RUN(tests);
}
