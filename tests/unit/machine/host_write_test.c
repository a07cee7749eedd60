/* SPDX-License-Identifier: Apache-2.0 */
/* What is written is read as the same machine. */
#include "support/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "machine/host.h"
#include "machine/host_write.h"

enum {
#define COUNT(name, unit, fallback) PARAM_##name,
    WIO_MODEL_PARAM_LIST(COUNT)
#undef COUNT
        PARAM_COUNT
};

static struct wio_host_number params[PARAM_COUNT];
static const struct wio_host_number meta[] = {{.key = "open", .value = 3e-6, .spread = NAN},
                                              {.key = "close", .value = NAN, .spread = NAN}};
static const struct wio_model_table direct = {.points = {{4096, 1e-4}, {65536, 2e-4}}, .count = 2};

static struct wio_host_measured measured_machine(void)
{
    static const struct wio_host_table tables[] = {{"direct_table", &direct, 0.25}};
    size_t n = 0;
#define SET(name, unit, fallback)                                                                  \
    params[n] =                                                                                    \
        (struct wio_host_number){.key = #name, .value = 1000.0 + (double)n, .spread = NAN};        \
    n++;
    WIO_MODEL_PARAM_LIST(SET)
#undef SET
    params[PARAM_limit_hard].value = 1e9; /* above limit_bg */
    params[PARAM_bw_dev].is_assumed = true;
    return (struct wio_host_measured){.params = params,
                                      .param_count = PARAM_COUNT,
                                      .tables = tables,
                                      .table_count = 1,
                                      .meta = meta,
                                      .meta_count = 2,
                                      .cpus = 6,
                                      .kernel = "Linux",
                                      .filesystem = "",
                                      .mount = "/",
                                      .device = "",
                                      .measured_at = 1000000000};
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_host host;
    char *path = wio_test_path("written.json");
    struct wio_host_measured measured = measured_machine();
    for (int i = 0; i < 2; i++) { /* also over an older one */
        assert_ok(wio_host_write(&measured, path, &err), &err);
    }
    assert_ok(wio_host_load(path, &host, &err), &err);
    assert_int_equal(host.device_count, 1);
    assert_int_equal(host.cpus, 6);
    assert_int_equal(host.trust.is, WIO_HOST_TRUSTED);
    assert_null(host.misspelt.meant);
    const struct wio_model_params *read = &host.devices[0].params;
    assert_true(read->bw_mem == params[PARAM_bw_mem].value);
    assert_true(read->limit_hard == 1e9);
    assert_int_equal(read->direct_table.count, 2);
    assert_true(read->direct_table.points[1].seconds == 2e-4);
    wio_host_fini(&host);
    free(path);
}

static void doubts_are_read_too(void **state)
{
    (void)state;
    static const char *const doubts[] = {"its figures vary by half", "and more"};
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_host host;
    char *path = wio_test_path("doubted.json");
    struct wio_host_measured measured = measured_machine();
    measured.doubts = doubts;
    measured.doubt_count = 2;
    assert_ok(wio_host_write(&measured, path, &err), &err);
    assert_ok(wio_host_load(path, &host, &err), &err);
    assert_int_equal(host.trust.is, WIO_HOST_DOUBTED);
    assert_int_equal(host.trust.doubts, 2);
    assert_string_equal(host.trust.doubt, doubts[0]);
    wio_host_fini(&host);
    free(path);
}

static void a_place_that_is_missing_is_an_error(void **state)
{
    (void)state;
    struct wio_error err = WIO_ERROR_INIT;
    const struct wio_host_measured measured = measured_machine();
    char *path = wio_test_path("nowhere/HOST.json");
    assert_int_equal(wio_host_write(&measured, path, &err), WIO_ERR_IO);
    assert_non_null(strstr(err.message, "cannot make the file"));
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(doubts_are_read_too),
        cmocka_unit_test(a_place_that_is_missing_is_an_error),
    };
    return WIO_RUN(tests);
}
