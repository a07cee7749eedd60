/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a node: what is taken for one, what is made, and what a crash may leave. */
#include "support/unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "sim/sim.h"
#include "store/serve/layout.h"
#include "store/serve/place.h"

struct layout_scene {
    struct wio_sim *sim;
    struct wio_io *io;
};

static void begin(struct layout_scene *scene)
{
    const struct wio_sim_options options = {.seed = 5};
    scene->sim = wio_sim_create(&options);
    scene->io = wio_sim_start(wio_sim_node(scene->sim, "node"));
}

static void end(struct layout_scene *scene)
{
    wio_sim_destroy(scene->sim);
}

static void put_file(struct layout_scene *scene, const char *name, const char *text)
{
    struct wio_io_file *file = NULL;
    const struct wio_io_bytes part = {text, strlen(text)};
    const struct wio_io_ops *ops = scene->io->ops;
    assert_int_equal(ops->file_open(scene->io, name, WIO_IO_CREATE, &file, NULL), WIO_OK);
    assert_int_equal(ops->file_write(file, 0, &part, 1, NULL), WIO_OK);
    ops->file_close(file);
}

/* R-NODE-2 */
static void only_this_text_is_a_store(void **state)
{
    (void)state;
    char text[SERVE_LAYOUT_TEXT_BYTES];
    uint16_t targets = 0;
    struct wio_error err = WIO_ERROR_INIT;
    serve_layout_encode(7, text);
    assert_memory_equal(text, "whyio-node 1\ntargets 7\ncrc32c ", 30);
    assert_ok(serve_layout_decode(text, strlen(text), &targets, &err), &err);
    assert_int_equal(targets, 7);
    for (size_t i = 0; i < strlen(text); i++) {
        text[i] ^= 1;
        assert_int_not_equal(serve_layout_decode(text, strlen(text), &targets, NULL), WIO_OK);
        text[i] ^= 1;
        assert_int_not_equal(serve_layout_decode(text, i, &targets, NULL), WIO_OK);
    }
    serve_layout_encode(0, text);
    assert_int_equal(serve_layout_decode(text, strlen(text), &targets, NULL), WIO_ERR_FORMAT);
    serve_layout_encode(65, text);
    assert_int_equal(serve_layout_decode(text, strlen(text), &targets, NULL), WIO_ERR_FORMAT);
    assert_int_equal(serve_layout_decode("whyio-node 2\n", 13, &targets, NULL),
                     WIO_ERR_UNSUPPORTED);
}

/* R-NODE-1: made in an empty directory, and made again behind a creation that was interrupted. */
static void a_store_is_made_once(void **state)
{
    (void)state;
    struct layout_scene scene;
    struct serve_layout layout;
    struct wio_link_key key;
    struct wio_error err = WIO_ERROR_INIT;
    begin(&scene);
    assert_ok(serve_layout_open(scene.io, 3, &layout, &err), &err);
    assert_true(layout.is_new);
    assert_int_equal(layout.targets, 3);
    key = layout.servers_key;
    put_file(&scene, "sock.0", "");
    put_file(&scene, "catalogue.sqlite-wal", "");
    assert_ok(serve_layout_open(scene.io, 0, &layout, &err), &err);
    assert_true(layout.is_new);
    assert_int_equal(layout.targets, 1);
    assert_memory_equal(&layout.servers_key, &key, sizeof(key));
    assert_ok(serve_layout_finish(scene.io, &layout, &err), &err);
    wio_sim_crash(wio_sim_node(scene.sim, "node"));
    scene.io = wio_sim_start(wio_sim_node(scene.sim, "node"));
    assert_ok(serve_layout_open(scene.io, 0, &layout, &err), &err);
    assert_false(layout.is_new);
    assert_int_equal(layout.targets, 1);
    assert_memory_equal(&layout.servers_key, &key, sizeof(key));
    assert_int_equal(serve_layout_open(scene.io, 2, &layout, NULL), WIO_ERR_USAGE);
    end(&scene);
}

static void what_is_another_s_is_left_alone(void **state)
{
    (void)state;
    static const char *const names[] = {"letter", "target01", "targets", "STORE.old"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        struct layout_scene scene;
        struct serve_layout layout;
        struct wio_error err = WIO_ERROR_INIT;
        begin(&scene);
        put_file(&scene, names[i], "text");
        assert_int_equal(serve_layout_open(scene.io, 1, &layout, &err), WIO_ERR_FORMAT);
        assert_string_equal(err.file, names[i]);
        assert_int_equal(serve_layout_read(scene.io, &layout, &err), WIO_ERR_IO);
        assert_int_equal(err.sys_errno, ENOENT);
        end(&scene);
    }
}

static void targets_listen_beside_the_catalogue(void **state)
{
    (void)state;
    static const struct {
        const char *address;
        unsigned target;
        const char *expected; /* NULL: there is none */
    } cases[] = {{"unix:/a/sock", 0, "unix:/a/sock.0"},
                 {"unix:/a/sock", 12, "unix:/a/sock.12"},
                 {"host:7000", 0, "host:7001"},
                 {"[::1]:7000", 2, "[::1]:7003"},
                 {"127.0.0.1:0", 5, "127.0.0.1:0"},
                 {"host:65534", 0, "host:65535"},
                 {"host:65534", 1, NULL},
                 {"nowhere", 0, NULL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[WIO_LINK_ADDRESS_BYTES];
        enum wio_status status =
            serve_target_address(cases[i].address, cases[i].target, text, NULL);
        assert_int_equal(status, cases[i].expected != NULL ? WIO_OK : WIO_ERR_USAGE);
        if (cases[i].expected != NULL) {
            assert_string_equal(text, cases[i].expected);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_this_text_is_a_store),
        cmocka_unit_test(a_store_is_made_once),
        cmocka_unit_test(what_is_another_s_is_left_alone),
        cmocka_unit_test(targets_listen_beside_the_catalogue),
    };
    return WIO_RUN(tests);
}
