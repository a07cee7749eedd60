/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine/host.h"

#define REQUIRED                                                                                   \
    "\"bw_mem\": 8e9, \"bw_ramdisk\": 4e9, \"bw_reduced\": 3e9, \"bw_dev\": 1e8, "                 \
    "\"bw_rdev\": 2e8, \"sc_w\": 2e-6, \"sc_sw\": 1.6e-4, \"c_sk\": 0, \"bs\": 4096, "             \
    "\"limit_bg\": 1e8, \"limit_hard\": 2e8, \"dirty_expire\": 30"
#define COMPLETE REQUIRED ", \"bf\": 4096"

static enum wio_status read_text(const char *text, struct wio_model_params *out,
                                 struct wio_error *err)
{
    char *path = wio_test_path("host.json");
    *err = (struct wio_error)WIO_ERROR_INIT;
    wio_test_write(path, text, strlen(text));
    enum wio_status status = wio_host_read(path, out, err);
    if (status != WIO_OK) {
        assert_string_equal(err->file, path);
    }
    free(path);
    return status;
}

static void refuses(const char *text, const char *expected)
{
    struct wio_model_params params;
    struct wio_error err;
    assert_status(read_text(text, &params, &err), WIO_ERR_FORMAT, &err);
    if (strstr(err.message, expected) == NULL) {
        fail_msg("'%s' gave '%s', not '%s'", text, err.message, expected);
    }
}

static void reads_parameters_and_defaults(void **state)
{
    (void)state;
    struct wio_model_params params;
    struct wio_error err;
    assert_ok(read_text("{\"schema\": \"whyio.host/1\", " COMPLETE
                        ", \"hz\": 1000, \"spread\": {\"bw_dev\": 0.1}, \"what\": [1], "
                        "\"serial\": 340282366920938463463374607431768211456}",
                        &params, &err),
              &err);
    assert_true(params.bw_dev == 1e8 && params.sc_sw == 1.6e-4 && params.bf == 4096);
    assert_true(params.hz == 1000 && params.c_lib == 0 && params.balance_step == 2097152);
    assert_int_equal(params.direct_table.count, 0);
}

/* Some editors put one in front of all they write; places in errors are those of the file. */
static void a_mark_in_front_is_skipped(void **state)
{
    (void)state;
    struct wio_model_params params;
    struct wio_error err;
    assert_ok(read_text("\xef\xbb\xbf{" COMPLETE "}", &params, &err), &err);
    assert_true(params.bw_dev == 1e8);
    assert_status(read_text("{]", &params, &err), WIO_ERR_FORMAT, &err);
    uint64_t offset = err.offset;
    assert_status(read_text("\xef\xbb\xbf{]", &params, &err), WIO_ERR_FORMAT, &err);
    assert_int_equal(err.offset, offset + 3);
    refuses("\xef\xbb\xbf", "expected JSON");
    refuses("\xef\xbb{}", "expected JSON");
}

static void reads_tables(void **state)
{
    (void)state;
    struct wio_model_params params;
    struct wio_error err;
    assert_ok(read_text("{" COMPLETE ", \"dev_table\": [[4096, 1e-4], [8192, 2e-4]], "
                        "\"sync_table\": [[4096, 3e-4]], \"append_table\": null, "
                        "\"direct_nosync_table\": [[4096, 5e-5]], "
                        "\"new_table\": [[64, 1e-6]], \"clean_table\": [[64, 2e-6]], "
                        "\"dirty_table\": [[64, 3e-6]], \"hit_table\": [[64, 4e-6]]}",
                        &params, &err),
              &err);
    assert_int_equal(params.direct_table.count, 2);
    assert_true(params.direct_table.points[1].seconds == 2e-4);
    assert_int_equal(params.sync_table.count, 1);
    assert_int_equal(params.append_table.count, 0);
    assert_int_equal(params.direct_nosync_table.count, 1);
    assert_true(params.new_table.points[0].seconds == 1e-6);
    assert_true(params.clean_table.points[0].seconds == 2e-6);
    assert_true(params.dirty_table.points[0].seconds == 3e-6);
    assert_true(params.hit_table.points[0].seconds == 4e-6);
}

static void names_what_is_wrong(void **state)
{
    (void)state;
    refuses("", "expected JSON");
    refuses("[1]", "object");
    refuses("{\"bw_mem\": 1,", "line 1");
    refuses("{" COMPLETE ", \"bf\": 1}", "duplicate");
    refuses("{\"schema\": \"whyio.info/1\", " COMPLETE "}", "whyio.host/1");
    refuses("{\"measured_at\": \"12:30\", \"bw_dev\" : NaN, " COMPLETE "}", "'bw_dev'");
    refuses("{\"bw_dev\": 1e400, " COMPLETE "}", "'bw_dev'");
    refuses("{" COMPLETE ", \"sync_table\": [[4096, Infinity]]}", "'sync_table'");
    refuses("{:", "expected JSON");
    refuses("{\":", "expected JSON");
    refuses("{" REQUIRED "}", "'bf' is missing");
    refuses("{" REQUIRED ", \"bf\": null}", "'bf' is missing");
    refuses("{" REQUIRED ", \"bf\": \"4096\"}", "'bf' must be a number");
    refuses("{" REQUIRED ", \"bf\": -1}", "'bf'");
    refuses("{" COMPLETE ", \"dev_table\": 5}", "'dev_table'");
    refuses("{" COMPLETE ", \"dev_table\": [[1, 2], [1]]}", "'dev_table'");
    refuses("{" COMPLETE ", \"dev_table\": [[2, 1], [1, 2]]}", "'dev_table'");
    refuses("{" COMPLETE ", \"sync_table\": [[2, 1], [1, 2]]}", "'sync_table'");
    refuses("{" COMPLETE ", \"direct_nosync_table\": [[8192, 1], [4096, 2]]}", "direct_nosync_");
    refuses("{" COMPLETE ", \"sync_table\": [[8192, 1], [4096, 2]]}", "sync_table");
}

static void load(const char *text, struct wio_host *host)
{
    char *path = wio_test_path("host.json");
    struct wio_error err = WIO_ERROR_INIT;
    wio_test_write(path, text, strlen(text));
    assert_ok(wio_host_load(path, host, &err), &err);
    free(path);
}

/* A device has what it says, else what the machine says; tables are of one device. */
static void reads_devices(void **state)
{
    (void)state;
    struct wio_host host;
    load("{" COMPLETE ", \"dev_table\": [[4096, 1e-4]], \"meta\": {\"open\": 1, \"stat\": 2}, "
         "\"c_folio\": 1e-6, \"commit_bytes\": 20480, "
         "\"devices\": [{\"path\": \"/scratch/\", \"bw_dev\": 5e8, \"meta\": {\"open\": 3}}, "
         "{\"path\": \"/scratch/a\", \"sync_table\": [[1, 2]]}, {\"path\": \"/\"}]}",
         &host);
    assert_int_equal(host.device_count, 4);
    assert_true(host.devices[0].params.bw_dev == 1e8 && host.devices[1].params.bw_dev == 5e8);
    assert_true(host.devices[1].params.bw_rdev == 2e8);
    assert_true(host.devices[1].params.c_folio == 1e-6 && host.devices[1].params.commit_bytes == 0);
    assert_int_equal(host.devices[0].params.sync_table.count, 1);
    assert_int_equal(host.devices[1].params.sync_table.count, 0);
    assert_int_equal(host.devices[2].params.sync_table.count, 1);
    assert_true(wio_meta_cost(&host.devices[0].meta, WIO_OP_open, false) == 1);
    assert_true(wio_meta_cost(&host.devices[1].meta, WIO_OP_open, false) == 3);
    assert_true(wio_meta_cost(&host.devices[1].meta, WIO_OP_stat, false) == 2);
    static const struct {
        const char *file;
        uint32_t device;
    } cases[] = {{"/scratch", 1},    {"/scratch/b", 1},  {"/scratch/a", 2}, {"/scratch/a/b", 2},
                 {"/scratch/ab", 1}, {"/scratchpad", 3}, {"/", 3},          {"name", 0}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(wio_host_device_of(&host, cases[i].file), cases[i].device);
    }
    wio_host_fini(&host);
}

/* Tables of memory stand for numbers: a device that has such a number of its own has not the
 * machine's table, unless it has one. A limit that counts slices is that of one device. */
static void a_number_takes_the_place_of_its_table(void **state)
{
    (void)state;
    struct wio_host host;
    load("{" COMPLETE ", \"new_table\": [[64, 1]], \"clean_table\": [[64, 1]], "
         "\"dirty_table\": [[64, 1]], \"hit_table\": [[64, 1]], "
         "\"slice\": 0.1, \"bw_burst\": 1e9, \"burst_size\": 1e7, \"devices\": ["
         "{\"path\": \"/a\", \"bw_ramdisk\": 5e8}, {\"path\": \"/b\", \"c_folio\": 1e-6}, "
         "{\"path\": \"/c\", \"bw_clean\": 5e8}, {\"path\": \"/d\", \"c_clean\": 1e-6}, "
         "{\"path\": \"/e\", \"bw_hit\": 5e8}, {\"path\": \"/f\", \"sc_r\": 1e-6}, "
         "{\"path\": \"/g\", \"sc_w\": 1e-6}, {\"path\": \"/h\", \"bw_dev\": 5e8}, "
         "{\"path\": \"/i\", \"bw_ramdisk\": 5e8, \"new_table\": [[64, 1], [128, 2]]}]}",
         &host);
    static const size_t counts[][4] = {/* new, clean, dirty, hit */
                                       {1, 1, 1, 1}, {0, 0, 1, 1}, {0, 1, 1, 1}, {1, 0, 1, 1},
                                       {1, 0, 1, 1}, {1, 1, 1, 0}, {1, 1, 1, 1}, {0, 0, 0, 0},
                                       {1, 1, 1, 1}, {2, 0, 1, 1}};
    for (uint32_t i = 0; i < 10; i++) {
        const struct wio_model_params *params = &host.devices[i].params;
        bool is_other = i == 8;
        assert_int_equal(params->new_table.count, counts[i][0]);
        assert_int_equal(params->clean_table.count, counts[i][1]);
        assert_int_equal(params->dirty_table.count, counts[i][2]);
        assert_int_equal(params->hit_table.count, counts[i][3]);
        assert_true((params->slice == 0) == is_other);
        assert_true((params->bw_burst == 0) == is_other);
        assert_true((params->burst_size == 0) == is_other);
    }
    wio_host_fini(&host);
}

/* What was measured beside a first device's sc_sw and tables is not another's. */
static void details_of_synchronous_writes_stay_with_their_device(void **state)
{
    (void)state;
    struct wio_host host;
    load("{" COMPLETE ", \"c_flush\": 1e-5, \"c_length\": 1e-4, \"devices\": ["
         "{\"path\": \"/a\", \"c_sk\": 1}, {\"path\": \"/b\", \"sc_sw\": 1e-3}, "
         "{\"path\": \"/c\", \"bw_dev\": 5e8}, {\"path\": \"/d\", \"sc_sw\": 1e-3, "
         "\"c_flush\": 2e-5, \"c_length\": 2e-4}]}",
         &host);
    static const double expected[][2] = {{1e-5, 1e-4}, {1e-5, 0}, {0, 0}, {0, 0}, {2e-5, 2e-4}};
    for (uint32_t i = 0; i < 5; i++) {
        assert_true(host.devices[i].params.c_flush == expected[i][0]);
        assert_true(host.devices[i].params.c_length == expected[i][1]);
    }
    wio_host_fini(&host);
}

static void names_what_is_wrong_with_a_device(void **state)
{
    (void)state;
    refuses("{" COMPLETE ", \"devices\": {}}", "'devices'");
    refuses("{" COMPLETE ", \"devices\": [5]}", "devices[0]: expected \"path\"");
    refuses("{" COMPLETE ", \"devices\": [{\"path\": \"a\"}]}", "absolute path");
    refuses("{" COMPLETE ", \"devices\": [{\"path\": \"/a\"}, {\"path\": \"/a/\"}]}",
            "device '/a/': parameter 'path' is another");
    refuses("{" COMPLETE ", \"devices\": [{\"path\": \"/a\", \"bw_dev\": 0}]}",
            "device '/a': parameter 'bw_dev'");
    refuses("{" COMPLETE ", \"devices\": [{\"path\": \"/a\", \"hz\": 250}]}",
            "device '/a': parameter 'hz' is of the machine");
    refuses("{" COMPLETE ", \"devices\": [{\"path\": \"/a\", \"meta\": 1}]}",
            "device '/a': parameter 'meta'");
}

/* Own number, family's, none; names that are no operations are for information. */
static void reads_the_costs_of_metadata(void **state)
{
    (void)state;
    struct wio_host host;
    load("{" COMPLETE ", \"meta\": {\"open\": 1, \"create\": 2, \"close\": 3, \"stat\": 4, "
         "\"lstat\": 5, \"what\": 6, \"mkdir\": null, \"truncate\": 0}}",
         &host);
    const struct wio_meta *meta = &host.devices[0].meta;
    static const struct {
        enum wio_op op;
        bool makes_file;
        double cost_s;
    } cases[] = {
        {WIO_OP_open, false, 1},      {WIO_OP_open, true, 2},     {WIO_OP_fopen, false, 1},
        {WIO_OP_creat, true, 2},      {WIO_OP_mkstemp, false, 2}, {WIO_OP_fclose, false, 3},
        {WIO_OP_fstat, false, 4},     {WIO_OP_lstat, false, 5},   {WIO_OP_access, false, 4},
        {WIO_OP_ftruncate, false, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_true(wio_meta_cost(meta, cases[i].op, cases[i].makes_file) == cases[i].cost_s);
    }
    assert_true(isnan(wio_meta_cost(meta, WIO_OP_mkdir, false)));
    assert_true(isnan(wio_meta_cost(meta, WIO_OP_COUNT, false)));
    wio_host_fini(&host);
    refuses("{" COMPLETE ", \"meta\": [1]}", "'meta' must be an object");
    refuses("{" COMPLETE ", \"meta\": {\"open\": -1}}", "'meta.open' must be seconds");
    refuses("{" COMPLETE ", \"meta\": {\"open\": 1e10}}", "'meta.open' must be seconds");
    refuses("{" COMPLETE ", \"meta\": {\"what\": \"x\"}}", "'meta.what'");
}

static void reads_the_number_of_processors(void **state)
{
    (void)state;
    struct wio_host host;
    load("{" COMPLETE "}", &host);
    assert_int_equal(host.cpus, 0);
    wio_host_fini(&host);
    load("{" COMPLETE ", \"cpus\": 12}", &host);
    assert_int_equal(host.cpus, 12);
    wio_host_fini(&host);
    refuses("{" COMPLETE ", \"cpus\": 0}", "'cpus' must be a number of processors");
    refuses("{" COMPLETE ", \"cpus\": 1.5}", "'cpus' must be a number of processors");
    refuses("{" COMPLETE ", \"cpus\": 1e9}", "'cpus' must be a number of processors");
}

/* Of the first device, of a further one; but not one that is said rightly, too, nor information. */
static void finds_a_misspelt_key(void **state)
{
    (void)state;
    static const struct {
        const char *more, *key, *meant;
    } cases[] = {
        {", \"Balance_stpe\": 4096", "Balance_stpe", "balance_step"},
        {", \"devices\": [{\"path\": \"/a\", \"sync_tabel\": []}]", "sync_tabel", "sync_table"},
        {", \"commit\\u00a0bytes\": 4096", "commit??bytes", "commit_bytes"},
        {", \"bw_dve\": 1e8, \"device\": \"sda\", \"o_direct\": true, \"note\": 1", "", NULL},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[1024];
        struct wio_host host = {0};
        (void)snprintf(text, sizeof(text), "{" COMPLETE "%s}", cases[i].more);
        load(text, &host);
        assert_string_equal(host.misspelt.key, cases[i].key);
        if (cases[i].meant == NULL) {
            assert_null(host.misspelt.meant);
        } else {
            assert_string_equal(host.misspelt.meant, cases[i].meant);
        }
        wio_host_fini(&host);
    }
}

static void a_file_that_is_not_there(void **state)
{
    (void)state;
    struct wio_model_params params;
    struct wio_error err = WIO_ERROR_INIT;
    assert_status(wio_host_read("/nonexistent/host.json", &params, &err), WIO_ERR_IO, &err);
    assert_string_equal(err.file, "/nonexistent/host.json");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_parameters_and_defaults),
        cmocka_unit_test(a_mark_in_front_is_skipped),
        cmocka_unit_test(reads_tables),
        cmocka_unit_test(names_what_is_wrong),
        cmocka_unit_test(reads_devices),
        cmocka_unit_test(a_number_takes_the_place_of_its_table),
        cmocka_unit_test(details_of_synchronous_writes_stay_with_their_device),
        cmocka_unit_test(names_what_is_wrong_with_a_device),
        cmocka_unit_test(reads_the_costs_of_metadata),
        cmocka_unit_test(reads_the_number_of_processors),
        cmocka_unit_test(finds_a_misspelt_key),
        cmocka_unit_test(a_file_that_is_not_there),
    };
    return WIO_RUN(tests);
}
