/* SPDX-License-Identifier: Apache-2.0 */
/* The policy file of a process without servers: when it is read. */
#include "support/unit.h"

#include <stdlib.h>
#include <string.h>

#include "store/net/net.h"
#include "store/serve/admin.h"

static struct {
    struct wio_net *net;
    struct serve_admin admin;
    struct wio_serve_config config;
    struct target_thread *targets[1];
    char *path;
} stage;

static void write_policy(const char *text)
{
    wio_test_write(stage.path, text, strlen(text));
}

static int begin(void **state)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)state;
    memset(&stage, 0, sizeof(stage));
    stage.path = wio_test_path("policy");
    stage.config = (struct wio_serve_config){.policy_file = stage.path};
    write_policy("policy tbf\nrule uid=1000 ops=50\n");
    assert_ok(wio_net_create(wio_test_dir(), &stage.net, &err), &err);
    assert_ok(serve_admin_begin(&stage.admin, &stage.config, stage.net, 0, 1 << 20, &err), &err);
    return 0;
}

static int end(void **state)
{
    (void)state;
    serve_admin_end(&stage.admin);
    wio_net_destroy(stage.net);
    free(stage.path);
    return 0;
}

/* It changes while the process starts: targets and catalogue have what was there at the begin. */
static void all_servers_start_with_one_policy(void **state)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)state;
    write_policy("policy nothing\n");
    assert_ok(serve_admin_run(&stage.admin, stage.targets, &err), &err);
    assert_ok(serve_admin_names(&stage.admin, NULL, &err), &err);
}

static void a_reload_reads_it_again(void **state)
{
    struct wio_error err = WIO_ERROR_INIT;
    (void)state;
    assert_ok(serve_admin_run(&stage.admin, stage.targets, &err), &err);
    assert_ok(serve_admin_names(&stage.admin, NULL, &err), &err);
    write_policy("policy nothing\n");
    assert_status(serve_admin_reload(&stage.admin, &err), WIO_ERR_FORMAT, &err);
    write_policy("policy mclock\n");
    assert_ok(serve_admin_reload(&stage.admin, &err), &err);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(all_servers_start_with_one_policy),
        TEST(a_reload_reads_it_again),
    };
    return WIO_RUN(tests);
}
