/* SPDX-License-Identifier: Apache-2.0 */
#include "try.h"

#include "support/unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <whyio/trace.h>

#include "support/script_open.h"

#define HOST                                                                                       \
    "{\"bw_mem\": 1e6, \"bw_ramdisk\": 1e6, \"bw_reduced\": 1e6, \"bw_dev\": 1e6, "                \
    "\"bw_rdev\": 1e6, \"sc_w\": 0, \"sc_sw\": 0, \"c_sk\": 0, \"bs\": 4096, \"bf\": 4096, "       \
    "\"limit_bg\": 1e12, \"limit_hard\": 2e12, \"dirty_expire\": 30%s}"
#define HOSTS_MAX 16

struct try try;
static char *hosts[HOSTS_MAX];
static size_t host_count;

static enum wio_status note(void *arg, uint64_t index, const struct wio_model_result *op,
                            struct wio_error *err)
{
    (void)arg;
    (void)err;
    assert_true(index < 64);
    try.ends_s[index] = op->time_s;
    return WIO_OK;
}

const char *try_host(const char *name, const char *members)
{
    char text[4096];
    char *path = wio_test_path(name);
    assert_true(host_count < HOSTS_MAX);
    (void)snprintf(text, sizeof(text), HOST, members);
    wio_test_write(path, text, strlen(text));
    hosts[host_count++] = path;
    return path;
}

int try_begin(void **state)
{
    (void)state;
    try = (struct try){.params = wio_predict_params_default()};
    try.params.host = try_host("host.json", "");
    try.params.model = WIO_MODEL_NAIVE;
    try.params.per_op = note;
    return 0;
}

int try_end(void **state)
{
    (void)state;
    wio_predict_result_fini(&try.result);
    while (host_count > 0) {
        free(hosts[--host_count]);
    }
    return 0;
}

static void write_result(const struct wio_trace *trace)
{
    static char dir[4096];
    static unsigned count;
    char name[32];
    struct wio_error err = WIO_ERROR_INIT;
    char path[5000];
    (void)snprintf(name, sizeof(name), "predicted%u", count++);
    char *fresh = wio_test_path(name);
    (void)snprintf(dir, sizeof(dir), "%s", fresh);
    free(fresh);
    assert_int_equal(mkdir(dir, 0777), 0);
    (void)snprintf(path, sizeof(path), "%s/p.seg", dir);
    assert_ok(wio_predict_write(trace, &try.result, path, &err), &err);
    try.written = dir;
}

enum wio_status try_predict(const char *script, struct wio_error *err)
{
    struct wio_trace *trace = script_open(script);
    wio_predict_result_fini(&try.result);
    enum wio_status status = wio_predict_trace(trace, &try.params, &try.result, err);
    if (status == WIO_OK && try.params.keep_events) {
        write_result(trace);
    }
    wio_trace_close(trace);
    return status;
}

void predict(const char *script)
{
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(try_predict(script, &err), &err);
}

void assert_us(double seconds, double us)
{
    if (fabs(seconds * 1e6 - us) > 0.01) {
        fail_msg("%.3f us, expected %.3f us", seconds * 1e6, us);
    }
}
