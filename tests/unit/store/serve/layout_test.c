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

/* Any other text is refused, be it one byte away. */
static void check_text(const struct serve_layout *layout, const char *expected)
{
    char text[SERVE_LAYOUT_TEXT_BYTES];
    struct serve_layout found;
    struct wio_error err = WIO_ERROR_INIT;
    serve_layout_encode(layout, text);
    assert_memory_equal(text, expected, strlen(expected));
    assert_ok(serve_layout_decode(text, strlen(text), &found, &err), &err);
    assert_int_equal(found.role, layout->role);
    assert_int_equal(found.targets, layout->targets);
    assert_int_equal(found.first, layout->first);
    assert_int_equal(found.total, layout->total);
    for (size_t i = 0; i < strlen(text); i++) {
        text[i] ^= 1;
        assert_int_not_equal(serve_layout_decode(text, strlen(text), &found, NULL), WIO_OK);
        text[i] ^= 1;
        assert_int_not_equal(serve_layout_decode(text, i, &found, NULL), WIO_OK);
    }
}

/* R-NODE-2, R-NODE-3 */
static void only_this_text_is_a_store(void **state)
{
    (void)state;
    const struct serve_layout whole = {.targets = 7, .total = 7};
    const struct serve_layout names = {.role = WIO_SERVE_CATALOGUE, .total = 256};
    const struct serve_layout target = {
        .role = WIO_SERVE_TARGET, .targets = 1, .first = 12, .total = 13};
    check_text(&whole, "whyio-node 1\ntargets 7\ncrc32c ");
    check_text(&names, "whyio-node 2\ncatalogue\ntargets 256\ncrc32c ");
    check_text(&target, "whyio-node 2\ntarget 12\ntargets 13\ncrc32c ");
}

static void what_no_store_has_is_refused(void **state)
{
    (void)state;
    const struct serve_layout wrong[] = {
        {.targets = 0, .total = 0},
        {.targets = 65, .total = 65},
        {.role = WIO_SERVE_CATALOGUE, .total = 0},
        {.role = WIO_SERVE_CATALOGUE, .total = 257},
        {.role = WIO_SERVE_TARGET, .targets = 1, .first = 3, .total = 3},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[SERVE_LAYOUT_TEXT_BYTES];
        struct serve_layout found;
        serve_layout_encode(&wrong[i], text);
        assert_int_equal(serve_layout_decode(text, strlen(text), &found, NULL), WIO_ERR_FORMAT);
        assert_int_equal(found.total, 0);
    }
    struct serve_layout found;
    assert_int_equal(serve_layout_decode("whyio-node 3\n", 13, &found, NULL), WIO_ERR_UNSUPPORTED);
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
    assert_ok(serve_layout_open(scene.io, 3, NULL, &layout, &err), &err);
    assert_true(layout.is_new);
    assert_int_equal(layout.targets, 3);
    key = layout.servers_key;
    put_file(&scene, "sock.0", "");
    put_file(&scene, "catalogue.sqlite-wal", "");
    assert_ok(serve_layout_open(scene.io, 0, NULL, &layout, &err), &err);
    assert_true(layout.is_new);
    assert_int_equal(layout.targets, 1);
    assert_memory_equal(&layout.servers_key, &key, sizeof(key));
    assert_ok(serve_layout_finish(scene.io, &layout, &err), &err);
    wio_sim_crash(wio_sim_node(scene.sim, "node"));
    scene.io = wio_sim_start(wio_sim_node(scene.sim, "node"));
    assert_ok(serve_layout_open(scene.io, 0, NULL, &layout, &err), &err);
    assert_false(layout.is_new);
    assert_int_equal(layout.targets, 1);
    assert_memory_equal(&layout.servers_key, &key, sizeof(key));
    assert_int_equal(serve_layout_open(scene.io, 2, NULL, &layout, NULL), WIO_ERR_USAGE);
    end(&scene);
}

/* R-NODE-3: a part is this part for ever. */
static void a_part_stays_what_it_is(void **state)
{
    (void)state;
    static const char *const addresses[] = {"unix:/a", "unix:/b", "unix:/c"};
    struct layout_scene scene;
    struct serve_layout layout;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_serve_part part = {
        .role = WIO_SERVE_TARGET, .index = 2, .count = 3, .addresses = addresses};
    memset(&part.servers_key, 7, sizeof(part.servers_key));
    begin(&scene);
    assert_ok(serve_layout_open(scene.io, 0, &part, &layout, &err), &err);
    assert_true(layout.is_new);
    assert_int_equal(layout.targets, 1);
    assert_int_equal(layout.first, 2);
    assert_int_equal(layout.total, 3);
    assert_memory_equal(&layout.servers_key, &part.servers_key, sizeof(part.servers_key));
    assert_ok(serve_layout_finish(scene.io, &layout, &err), &err);
    assert_ok(serve_layout_open(scene.io, 0, &part, &layout, &err), &err);
    assert_false(layout.is_new);
    assert_int_equal(serve_layout_open(scene.io, 0, NULL, &layout, NULL), WIO_ERR_USAGE);
    part.index = 1;
    assert_int_equal(serve_layout_open(scene.io, 0, &part, &layout, &err), WIO_ERR_USAGE);
    assert_non_null(strstr(err.message, "target 2 of a store of 3 targets"));
    part.index = 2;
    part.count = 4;
    assert_int_equal(serve_layout_open(scene.io, 0, &part, &layout, NULL), WIO_ERR_USAGE);
    part.count = 3;
    part.servers_key.bytes[0]++;
    assert_int_equal(serve_layout_open(scene.io, 0, &part, &layout, &err), WIO_ERR_USAGE);
    assert_non_null(strstr(err.message, "another --servers-key"));
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
        assert_int_equal(serve_layout_open(scene.io, 1, NULL, &layout, &err), WIO_ERR_FORMAT);
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
        cmocka_unit_test(what_no_store_has_is_refused),
        cmocka_unit_test(a_store_is_made_once),
        cmocka_unit_test(a_part_stays_what_it_is),
        cmocka_unit_test(what_is_another_s_is_left_alone),
        cmocka_unit_test(targets_listen_beside_the_catalogue),
    };
    return WIO_RUN(tests);
}
