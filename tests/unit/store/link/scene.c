/* SPDX-License-Identifier: Apache-2.0 */
#include "scene.h"

#include "support/unit.h"

#include <string.h>

#include "store/wire/message.h"

enum { SERVER, CLIENT };

/* ---- both ends ----------------------------------------------------------------------------- */

static unsigned end_of(const struct scene *scene, const struct wio_link *link)
{
    return link == scene->client ? CLIENT : SERVER;
}

static bool admit(void *context, struct wio_link *link, const struct wio_wire_hello *hello,
                  struct wio_wire_welcome *welcome)
{
    struct scene *scene = context;
    (void)link;
    scene->known = *hello;
    welcome->server = 1;
    welcome->job = 17;
    return !scene->refuses;
}

static void opened(void *context, struct wio_link *link, const struct wio_wire_welcome *welcome)
{
    struct scene *scene = context;
    scene->opened[end_of(scene, link)]++;
    if (link == scene->client) {
        scene->welcome = *welcome;
    } else {
        scene->served = link;
    }
}

static enum wio_status say(struct wio_link *link, const void *data, uint32_t bytes)
{
    const struct wio_store_request request = {
        .op = WIO_STORE_WRITE, .number = 1, .data = data, .data_size = bytes};
    struct wio_blob head = {0};
    uint32_t data_bytes = 0;
    enum wio_status status = wio_wire_put_request(&head, &request, &data_bytes);
    if (status == WIO_OK) {
        status = wio_link_send(link, &head, data, data_bytes);
    }
    wio_blob_fini(&head);
    return status;
}

static void message(void *context, struct wio_link *link, const struct wio_wire_header *header,
                    struct wio_buf body)
{
    struct scene *scene = context;
    uint16_t participants[WIO_STORE_PARTICIPANTS_MAX];
    struct wio_store_request request;
    unsigned end = end_of(scene, link);
    assert_int_equal(wio_wire_get_request(header, body, participants, &request), WIO_OK);
    assert_int_equal(wio_blob_put(&scene->came[end], request.data, request.data_size), WIO_OK);
    scene->messages[end]++;
    scene->transfer_ns[end] = wio_link_transfer_ns(link);
    if (end == SERVER && !scene->is_quiet) {
        assert_int_equal(say(link, request.data, request.data_size), WIO_OK);
    }
}

static void closed(void *context, struct wio_link *link, enum wio_link_end why)
{
    struct scene *scene = context;
    unsigned end = end_of(scene, link);
    scene->closed[end]++;
    scene->why[end] = why;
    wio_link_close(link);
    if (end == CLIENT) {
        scene->client = NULL;
    } else {
        scene->served = NULL;
    }
}

static const struct wio_link_events events = {
    .admit = admit, .opened = opened, .message = message, .closed = closed};

/* ---- the scene ----------------------------------------------------------------------------- */

void scene_begin(struct scene *scene, uint64_t seed)
{
    const struct wio_sim_options options = {.seed = seed};
    *scene = (struct scene){0};
    scene->sim = wio_sim_create(&options);
    scene->server_io = wio_sim_start(wio_sim_node(scene->sim, "server"));
    scene->client_io = wio_sim_start(wio_sim_node(scene->sim, "client"));
    scene->server_config.limits = wio_link_limits_default;
    scene->client_config.limits = wio_link_limits_default;
    scene->server_config.features.bits[1] = 6;
    scene->client_config.features.bits[1] = 3;
}

void scene_with_key(struct scene *scene)
{
    if (wio_link_keys_begin(NULL) != WIO_OK) {
        wio_test_skip("no libsodium here");
    }
    scene->server_config.auth = WIO_WIRE_AUTH_KEY;
    scene->client_config.auth = WIO_WIRE_AUTH_KEY;
    scene->server_io->ops->random(scene->server_io, scene->server_config.key.bytes, 32);
    scene->client_config.key = scene->server_config.key;
}

void scene_listen(struct scene *scene)
{
    struct wio_error err = WIO_ERROR_INIT;
    scene->server = wio_link_server_create(scene->server_io, &scene->server_config, &events, scene);
    assert_non_null(scene->server);
    assert_ok(wio_link_server_listen(scene->server, SCENE_SERVER, NULL, &err), &err);
}

void scene_connect(struct scene *scene)
{
    struct wio_wire_hello hello;
    struct wio_error err = WIO_ERROR_INIT;
    memset(&hello, 0, sizeof(hello));
    hello.client = 5;
    hello.uid = 1000;
    strcpy(hello.job, "slurm 42");
    assert_ok(wio_link_connect(scene->client_io, SCENE_SERVER, &scene->client_config, &hello,
                               &events, scene, &scene->client, &err),
              &err);
}

void scene_end(struct scene *scene)
{
    wio_link_close(scene->client);
    wio_link_close(scene->served);
    wio_link_server_destroy(scene->server);
    wio_sim_destroy(scene->sim);
    wio_blob_fini(&scene->came[0]);
    wio_blob_fini(&scene->came[1]);
}

static void nothing(void *context)
{
    (void)context;
}

void scene_run(struct scene *scene, uint64_t ns)
{
    uint64_t until_ns = wio_sim_now_ns(scene->sim) + ns;
    wio_sim_later(scene->sim, ns, nothing, NULL);
    while (wio_sim_now_ns(scene->sim) < until_ns && wio_sim_run(scene->sim, 1)) {
    }
}

enum wio_status scene_send(struct scene *scene, const void *data, uint32_t bytes)
{
    return say(scene->client, data, bytes);
}

uint64_t scene_ends(const struct scene *scene, enum wio_link_end why)
{
    return wio_link_server_counts(scene->server)->ends[why];
}

/* ---- strangers ----------------------------------------------------------------------------- */

static void stranger_opened(void *context)
{
    struct stranger *stranger = context;
    const struct wio_io_bytes part = {stranger->says, stranger->bytes};
    (void)stranger->io->ops->conn_send(stranger->conn, &part, 1);
}

static void *stranger_room(void *context, size_t *size_out)
{
    struct stranger *stranger = context;
    *size_out = sizeof(stranger->room);
    return stranger->room;
}

static void stranger_came(void *context, size_t bytes)
{
    struct stranger *stranger = context;
    assert_int_equal(wio_blob_put(&stranger->heard, stranger->room, bytes), WIO_OK);
}

static void stranger_drained(void *context)
{
    (void)context;
}

static void stranger_closed(void *context, enum wio_status why)
{
    struct stranger *stranger = context;
    (void)why;
    stranger->is_closed = true;
}

void scene_stranger(struct scene *scene, struct stranger *stranger, const void *says, size_t bytes)
{
    static const struct wio_io_handler handler = {stranger_opened, stranger_room, stranger_came,
                                                  stranger_drained, stranger_closed};
    stranger->io = scene->client_io;
    stranger->says = says;
    stranger->bytes = bytes;
    assert_int_equal(scene->client_io->ops->connect(scene->client_io, SCENE_SERVER, &handler,
                                                    stranger, &stranger->conn, NULL),
                     WIO_OK);
}

void stranger_end(struct stranger *stranger)
{
    stranger->io->ops->conn_close(stranger->conn);
    wio_blob_fini(&stranger->heard);
}
