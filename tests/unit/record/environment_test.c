/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <string.h>

#include "record/environment.h"

static const struct wio_environment_params plain = {.capture_lib = "/lib/c.so", .rings = "/t/raw"};

static void assert_list(char **list, const char *const *want)
{
    size_t i = 0;
    for (; want[i] != NULL; i++) {
        assert_non_null(list[i]);
        assert_string_equal(list[i], want[i]);
    }
    assert_null(list[i]);
}

static void check(char *const *base, const struct wio_environment_params *params,
                  const char *const *want)
{
    char **list = NULL;
    assert_ok(wio_environment_create(base, params, &list), NULL);
    assert_list(list, want);
    wio_environment_destroy(&list);
    assert_null(list);
    wio_environment_destroy(&list);
}

static void library_and_rings_are_added(void **state)
{
    (void)state;
    char *const base[] = {(char[]){"A=1"}, (char[]){"B"}, NULL};
    const char *const want[] = {"A=1", "B", "LD_PRELOAD=/lib/c.so", "WHYIO_RINGS=/t/raw", NULL};
    check(base, &plain, want);
}

static void an_empty_environment_works(void **state)
{
    (void)state;
    char *const base[] = {NULL};
    const char *const want[] = {"LD_PRELOAD=/lib/c.so", "WHYIO_RINGS=/t/raw", NULL};
    check(base, &plain, want);
}

static void a_preload_of_the_user_stays_behind(void **state)
{
    (void)state;
    char *const base[] = {(char[]){"LD_PRELOAD=/x.so:/y.so"}, (char[]){"LD_PRELOADS=z"}, NULL};
    const char *const want[] = {"LD_PRELOADS=z", "LD_PRELOAD=/lib/c.so:/x.so:/y.so",
                                "WHYIO_RINGS=/t/raw", NULL};
    check(base, &plain, want);
}

static void an_outer_recorder_is_replaced(void **state)
{
    (void)state;
    char *const base[] = {(char[]){"WHYIO_STACKS=1"},
                          (char[]){"WHYIO_MMAP_PAGES=1"},
                          (char[]){"WHYIO_CAUSAL=1"},
                          (char[]){"LD_PRELOAD=/lib/c.so:/x.so"},
                          (char[]){"WHYIO_RINGS=/old"},
                          (char[]){"WHYIO_MPI_INTERNALS=1"},
                          NULL};
    const char *const want[] = {"LD_PRELOAD=/lib/c.so:/x.so", "WHYIO_RINGS=/t/raw", NULL};
    check(base, &plain, want);
}

static void options_become_variables(void **state)
{
    (void)state;
    char *const base[] = {(char[]){"WHYIO_JOB=7"}, NULL};
    const char *const want[] = {
        "WHYIO_JOB=7",           "LD_PRELOAD=/lib/c.so", "WHYIO_RINGS=/t/raw", "WHYIO_STACKS=1",
        "WHYIO_MPI_INTERNALS=1", "WHYIO_MMAP_PAGES=1",   "WHYIO_CAUSAL=1",     NULL};
    struct wio_environment_params params = plain;
    params.stacks = true;
    params.mpi_internals = true;
    params.mmap_pages = true;
    params.causal = true;
    check(base, &params, want);
}

/* A launcher is not recorded itself. What an outer recorder set does not reach recorders behind it,
 * the user's own libraries do. */
static void a_launcher_gets_the_director_alone(void **state)
{
    (void)state;
    const struct wio_environment_params launcher = {.rings = "/t/raw", .director = "1/2/3"};
    char *const base[] = {(char[]){"LD_PRELOAD=/x.so"}, (char[]){"WHYIO_BOARD=/old"},
                          (char[]){"WHYIO_DIRECTOR=old"}, NULL};
    const char *const want[] = {"LD_PRELOAD=/x.so", "WHYIO_DIRECTOR=1/2/3", NULL};
    check(base, &launcher, want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(library_and_rings_are_added),
        cmocka_unit_test(an_empty_environment_works),
        cmocka_unit_test(a_preload_of_the_user_stays_behind),
        cmocka_unit_test(an_outer_recorder_is_replaced),
        cmocka_unit_test(options_become_variables),
        cmocka_unit_test(a_launcher_gets_the_director_alone),
    };
    return WIO_RUN(tests);
}
