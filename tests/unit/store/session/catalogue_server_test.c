/* SPDX-License-Identifier: Apache-2.0 */
/* The catalogue's process and clients' connections to it, in a simulation. What each call of the
 * catalogue does is its own test's to say. */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/sim.h"
#include "store/session/catalogue_server.h"
#include "store/session/grants.h"
#include "store/session/targets.h"
#include "store/wire/entries.h"

#define SECOND_NS UINT64_C(1000000000)

enum { ALICE = 1000, BOB = 1001, CLIENTS = 3, ENTRIES = 1500 };

static const char *const at[] = {"unix:catalogue"};
static const char *const targets[] = {"unix:t0", "host:7001"};
static const struct wio_link_key servers_key = {.bytes = {4, 5, 6}};

struct names_client {
    struct wio_targets *link;
    uint64_t id;
    struct wio_store_reply last;
    uint8_t data[1 << 20];
    unsigned replies;
    unsigned backs;
    unsigned known;
    uint64_t numbers;
};

struct names_scene {
    struct wio_sim *sim;
    struct wio_link_config link;
    struct wio_catalogue *catalogue;
    struct wio_catalogue_server *server;
    struct names_client *clients; /* CLIENTS of them */
    unsigned failures;
};

/* ---- clients ------------------------------------------------------------------------------- */

static void back(void *context, uint16_t target, bool is_known)
{
    struct names_client *client = context;
    (void)target;
    client->backs++;
    client->known += is_known;
}

static void reply(void *context, uint16_t target, const struct wio_store_reply *said)
{
    struct names_client *client = context;
    (void)target;
    client->last = *said;
    assert_true(said->data_size <= sizeof(client->data));
    if (said->data_size > 0) {
        memcpy(client->data, said->data, said->data_size);
    }
    client->last.data = client->data;
    client->replies++;
}

static const struct wio_targets_events client_events = {.back = back, .reply = reply};

static void failed(void *context)
{
    struct names_scene *scene = context;
    scene->failures++;
}

static void nothing(void *context)
{
    (void)context;
}

static void run(struct names_scene *scene, uint64_t ns)
{
    uint64_t until_ns = wio_sim_now_ns(scene->sim) + ns;
    wio_sim_later(scene->sim, ns, nothing, NULL);
    while (wio_sim_now_ns(scene->sim) < until_ns && wio_sim_run(scene->sim, 1)) {
    }
}

static void connect_client(struct names_scene *scene, unsigned i, uint32_t uid)
{
    struct names_client *client = &scene->clients[i];
    struct wio_error err = WIO_ERROR_INIT;
    char name[16];
    snprintf(name, sizeof(name), "client%u", i);
    struct wio_sim_node *node = wio_sim_node(scene->sim, name);
    wio_sim_set_user(node, uid, uid);
    client->id = 100 + i;
    const struct wio_wire_hello hello = {.client = client->id, .uid = 0}; /* a lie */
    assert_ok(wio_targets_create(wio_sim_start(node), &scene->link, &hello, at, 1, &client_events,
                                 client, &client->link, &err),
              &err);
    run(scene, SECOND_NS / 10);
    assert_int_equal(client->backs, 1);
}

static void begin(struct names_scene *scene)
{
    const struct wio_sim_options options = {.seed = 1};
    struct wio_error err = WIO_ERROR_INIT;
    memset(scene, 0, sizeof(*scene));
    scene->clients = calloc(CLIENTS, sizeof(*scene->clients));
    assert_non_null(scene->clients);
    scene->sim = wio_sim_create(&options);
    scene->link.limits = wio_link_limits_default;
    struct wio_io *io = wio_sim_start(wio_sim_node(scene->sim, "catalogue"));
    const struct wio_catalogue_config names = {.io = io, .may_create = true, .mode = 0777};
    assert_ok(wio_catalogue_open(&names, &scene->catalogue, &err), &err);
    const struct wio_catalogue_server_config config = {.link = scene->link,
                                                       .catalogue = scene->catalogue,
                                                       .servers_key = &servers_key,
                                                       .targets = targets,
                                                       .target_count = 2,
                                                       .failed = failed,
                                                       .context = scene};
    assert_ok(wio_catalogue_server_create(io, &config, &scene->server, &err), &err);
    assert_ok(wio_catalogue_server_listen(scene->server, at[0], NULL, &err), &err);
}

static void end(struct names_scene *scene)
{
    for (unsigned i = 0; i < CLIENTS; i++) {
        wio_targets_destroy(scene->clients[i].link);
    }
    wio_catalogue_server_destroy(scene->server);
    wio_catalogue_close(scene->catalogue);
    wio_sim_destroy(scene->sim);
    free(scene->clients);
}

static enum wio_store_result send_again(struct names_scene *scene, unsigned i,
                                        const struct wio_store_request *request)
{
    struct names_client *client = &scene->clients[i];
    unsigned replies = client->replies;
    assert_true(wio_targets_send(client->link, 0, request));
    run(scene, SECOND_NS / 10);
    assert_int_equal(client->replies, replies + 1);
    assert_int_equal(client->last.number, request->number);
    assert_int_equal(client->last.op, request->op);
    return (enum wio_store_result)client->last.result;
}

static enum wio_store_result ask(struct names_scene *scene, unsigned i,
                                 struct wio_store_request *request)
{
    request->number = ++scene->clients[i].numbers;
    return send_again(scene, i, request);
}

static struct wio_store_request of(uint16_t op, const char *path)
{
    return (struct wio_store_request){
        .op = op, .path = path, .path_size = (uint32_t)strlen(path), .file_mode = 0600};
}

static enum wio_store_result open_file(struct names_scene *scene, unsigned i, const char *path,
                                       uint32_t flags)
{
    struct wio_store_request request = of(WIO_STORE_OPEN, path);
    request.open_flags = flags;
    return ask(scene, i, &request);
}

/* The rights that the last reply's grant gives; 0: there is none. */
static uint32_t granted(const struct names_client *client)
{
    struct wio_grant grant;
    if (client->last.data_size == 0) {
        return 0;
    }
    assert_true(wio_grant_read(&servers_key, client->data, client->last.data_size, &grant));
    assert_int_equal(grant.file, client->last.stat.file);
    assert_int_equal(grant.client, client->id);
    return grant.rights;
}

/* ---- tests --------------------------------------------------------------------------------- */

/* The user is the proven one, and gets by OPEN what was asked for and no more. */
static void files_are_granted_by_their_mode(void **state)
{
    (void)state;
    struct names_scene scene;
    const uint32_t make = WIO_STORE_OPEN_CREATE | WIO_STORE_OPEN_EXCL;
    begin(&scene);
    connect_client(&scene, 0, ALICE);
    connect_client(&scene, 1, BOB);
    assert_int_equal(open_file(&scene, 0, "/a", make | WIO_STORE_OPEN_WRITE), WIO_STORE_OK);
    assert_int_equal(granted(&scene.clients[0]), WIO_GRANT_WRITE | WIO_GRANT_SIZE);
    assert_int_equal(scene.clients[0].last.stat.uid, ALICE);
    assert_int_equal(scene.clients[0].last.stat.segments, 2);
    assert_int_equal(scene.clients[0].last.stat.stripe_unit, 1 << 20);
    assert_int_equal(open_file(&scene, 0, "/a", WIO_STORE_OPEN_READ), WIO_STORE_OK);
    assert_int_equal(granted(&scene.clients[0]), WIO_GRANT_READ | WIO_GRANT_SIZE);
    assert_int_equal(open_file(&scene, 1, "/a", WIO_STORE_OPEN_READ), WIO_STORE_DENIED);
    assert_int_equal(granted(&scene.clients[1]), 0);
    assert_int_equal(open_file(&scene, 1, "/a", WIO_STORE_OPEN_TRUNC), WIO_STORE_DENIED);
    struct wio_store_request stat = of(WIO_STORE_STAT, "/a");
    assert_int_equal(ask(&scene, 1, &stat), WIO_STORE_OK);
    assert_int_equal(granted(&scene.clients[1]), WIO_GRANT_SIZE);
    struct wio_store_request mode = of(WIO_STORE_CHMOD, "/a");
    mode.file_mode = 0644;
    assert_int_equal(ask(&scene, 1, &mode), WIO_STORE_NOT_OWNER);
    assert_int_equal(ask(&scene, 0, &mode), WIO_STORE_OK);
    assert_int_equal(open_file(&scene, 1, "/a", WIO_STORE_OPEN_READ), WIO_STORE_OK);
    assert_int_equal(granted(&scene.clients[1]), WIO_GRANT_READ | WIO_GRANT_SIZE);
    end(&scene);
}

/* The reply that takes a file's name away lets its bytes be dropped; directories have none. */
static void what_has_no_name_may_be_dropped(void **state)
{
    (void)state;
    struct names_scene scene;
    const uint32_t make = WIO_STORE_OPEN_CREATE | WIO_STORE_OPEN_EXCL;
    begin(&scene);
    connect_client(&scene, 0, ALICE);
    assert_int_equal(open_file(&scene, 0, "/a", make), WIO_STORE_OK);
    uint64_t file = scene.clients[0].last.stat.file;
    assert_int_equal(open_file(&scene, 0, "/b", make), WIO_STORE_OK);
    struct wio_store_request rename = of(WIO_STORE_RENAME, "/b");
    rename.path2 = "/a";
    rename.path2_size = 2;
    assert_int_equal(ask(&scene, 0, &rename), WIO_STORE_OK);
    assert_int_equal(scene.clients[0].last.stat.file, file);
    assert_int_equal(granted(&scene.clients[0]), WIO_GRANT_DROP);
    rename = of(WIO_STORE_RENAME, "/a");
    rename.path2 = "/c";
    rename.path2_size = 2;
    assert_int_equal(ask(&scene, 0, &rename), WIO_STORE_OK);
    assert_int_equal(scene.clients[0].last.stat.file, 0);
    assert_int_equal(granted(&scene.clients[0]), 0);
    struct wio_store_request unlink = of(WIO_STORE_UNLINK, "/c");
    assert_int_equal(ask(&scene, 0, &unlink), WIO_STORE_OK);
    assert_int_equal(granted(&scene.clients[0]), WIO_GRANT_DROP);
    struct wio_store_request mkdir = of(WIO_STORE_MKDIR, "/d");
    assert_int_equal(ask(&scene, 0, &mkdir), WIO_STORE_OK);
    struct wio_store_request stat = of(WIO_STORE_STAT, "/d");
    assert_int_equal(ask(&scene, 0, &stat), WIO_STORE_OK);
    assert_true(S_ISDIR(scene.clients[0].last.stat.mode));
    assert_int_equal(granted(&scene.clients[0]), 0);
    struct wio_store_request rmdir = of(WIO_STORE_RMDIR, "/d");
    assert_int_equal(ask(&scene, 0, &rmdir), WIO_STORE_OK);
    end(&scene);
}

static void links_and_times(void **state)
{
    (void)state;
    struct names_scene scene;
    begin(&scene);
    connect_client(&scene, 0, ALICE);
    struct wio_store_request link = of(WIO_STORE_SYMLINK, "text of the link");
    link.path2 = "/l";
    link.path2_size = 2;
    assert_int_equal(ask(&scene, 0, &link), WIO_STORE_OK);
    struct wio_store_request read = of(WIO_STORE_READLINK, "/l");
    assert_int_equal(ask(&scene, 0, &read), WIO_STORE_OK);
    assert_int_equal(scene.clients[0].last.data_size, 16);
    assert_memory_equal(scene.clients[0].data, "text of the link", 16);
    struct wio_store_request times = of(WIO_STORE_UTIMENS, "/l");
    times.flags = WIO_STORE_FLAG_NOFOLLOW;
    times.atime_ns = 17;
    times.mtime_ns = WIO_STORE_TIME_OMIT;
    assert_int_equal(ask(&scene, 0, &times), WIO_STORE_OK);
    struct wio_store_request stat = of(WIO_STORE_STAT, "/l");
    assert_int_equal(ask(&scene, 0, &stat), WIO_STORE_NO_ENTRY); /* where it leads */
    stat.flags = WIO_STORE_FLAG_NOFOLLOW;
    assert_int_equal(ask(&scene, 0, &stat), WIO_STORE_OK);
    assert_int_equal(scene.clients[0].last.stat.atime_ns, 17);
    struct wio_store_request own = of(WIO_STORE_CHOWN, "/l");
    own.flags = WIO_STORE_FLAG_NOFOLLOW;
    own.uid = BOB;
    own.gid = UINT32_MAX;
    assert_int_equal(ask(&scene, 0, &own), WIO_STORE_NOT_OWNER);
    end(&scene);
}

/* R-WIRE-15: a directory comes in parts, each name once. */
static void long_directories_come_in_parts(void **state)
{
    (void)state;
    struct names_scene scene;
    char name[256];
    unsigned seen = 0;
    unsigned parts = 0;
    begin(&scene);
    connect_client(&scene, 0, ALICE);
    for (unsigned i = 0; i < ENTRIES; i++) {
        snprintf(name, sizeof(name), "/%0200u", i);
        struct wio_store_request mkdir = of(WIO_STORE_MKDIR, name);
        assert_int_equal(ask(&scene, 0, &mkdir), WIO_STORE_OK);
    }
    struct wio_store_request list = of(WIO_STORE_LIST, "/");
    do {
        assert_int_equal(ask(&scene, 0, &list), WIO_STORE_OK);
        const struct wio_store_reply *last = &scene.clients[0].last;
        struct wio_buf data = wio_buf_of(last->data, last->data_size);
        struct wio_wire_entry entry;
        while (wio_wire_get_entry(&data, &entry) == WIO_OK) {
            snprintf(name, sizeof(name), "%0200u", seen++);
            assert_int_equal(entry.name_size, 200);
            assert_memory_equal(entry.name, name, 200);
            list.offset = entry.cookie;
        }
        assert_int_equal(wio_buf_left(&data), 0);
        assert_true(last->offset == 0 || last->offset == list.offset);
        parts++;
    } while (scene.clients[0].last.offset != 0);
    assert_int_equal(seen, ENTRIES);
    assert_true(parts > 1);
    end(&scene);
}

/* R-WIRE-16 */
static void targets_are_told(void **state)
{
    (void)state;
    struct names_scene scene;
    const char *addresses[WIO_STORE_PARTICIPANTS_MAX];
    uint16_t count = 0;
    struct wio_store_request request = {.op = WIO_STORE_TARGETS};
    struct wio_store_request wrong = {.op = WIO_STORE_STATFS};
    begin(&scene);
    connect_client(&scene, 0, ALICE);
    assert_int_equal(ask(&scene, 0, &request), WIO_STORE_OK);
    assert_int_equal(wio_wire_get_targets(scene.clients[0].data, scene.clients[0].last.data_size,
                                          addresses, &count),
                     WIO_OK);
    assert_int_equal(count, 2);
    assert_string_equal(addresses[0], targets[0]);
    assert_string_equal(addresses[1], targets[1]);
    assert_int_equal(ask(&scene, 0, &wrong), WIO_STORE_BAD);
    end(&scene);
}

/* A change whose answer was lost is asked for again, also on a new connection. */
static void a_change_is_made_once(void **state)
{
    (void)state;
    struct names_scene scene;
    const uint32_t make = WIO_STORE_OPEN_CREATE | WIO_STORE_OPEN_EXCL;
    begin(&scene);
    connect_client(&scene, 0, ALICE);
    struct wio_store_request mkdir = of(WIO_STORE_MKDIR, "/d");
    assert_int_equal(ask(&scene, 0, &mkdir), WIO_STORE_OK);
    uint64_t node = scene.clients[0].last.stat.file;
    assert_int_equal(send_again(&scene, 0, &mkdir), WIO_STORE_OK);
    assert_int_equal(scene.clients[0].last.stat.file, node);
    struct wio_store_request file = of(WIO_STORE_OPEN, "/f");
    file.open_flags = make | WIO_STORE_OPEN_READ;
    assert_int_equal(ask(&scene, 0, &file), WIO_STORE_OK);
    wio_sim_options(scene.sim)->reset = 1000000;
    (void)wio_targets_send(scene.clients[0].link, 0, &file);
    run(&scene, SECOND_NS / 20);
    wio_sim_options(scene.sim)->reset = 0;
    run(&scene, SECOND_NS);
    assert_true(scene.clients[0].backs > 1);
    assert_int_equal(scene.clients[0].known, scene.clients[0].backs - 1);
    assert_int_equal(send_again(&scene, 0, &file), WIO_STORE_OK);
    assert_int_equal(granted(&scene.clients[0]), WIO_GRANT_READ | WIO_GRANT_SIZE);
    assert_int_equal(ask(&scene, 0, &file), WIO_STORE_EXISTS);
    for (unsigned i = 0; i < WIO_CATALOGUE_WINDOW; i++) { /* .. and kept no longer than that */
        assert_int_equal(ask(&scene, 0, &mkdir), WIO_STORE_EXISTS);
    }
    end(&scene);
}

/* Of a client that is away for many leases nothing is known any more. */
static void clients_are_forgotten(void **state)
{
    (void)state;
    struct names_scene scene;
    begin(&scene);
    connect_client(&scene, 0, ALICE);
    wio_sim_part(scene.sim, wio_sim_node(scene.sim, "client0"), NULL);
    run(&scene, 60 * SECOND_NS);
    wio_sim_heal(scene.sim);
    run(&scene, 10 * SECOND_NS);
    assert_true(scene.clients[0].backs > 1);
    assert_int_equal(scene.clients[0].known, 0);
    end(&scene);
}

/* A disk that fails ends the catalogue, and nothing is said to have been done. */
static void a_broken_disk_is_told(void **state)
{
    (void)state;
    struct names_scene scene;
    begin(&scene);
    connect_client(&scene, 0, ALICE);
    wio_sim_options(scene.sim)->write_fails = 1000000;
    struct wio_store_request mkdir = of(WIO_STORE_MKDIR, "/d");
    assert_int_equal(ask(&scene, 0, &mkdir), WIO_STORE_IO);
    assert_int_equal(ask(&scene, 0, &mkdir), WIO_STORE_IO);
    assert_int_equal(scene.failures, 1);
    wio_sim_options(scene.sim)->write_fails = 0;
    end(&scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_granted_by_their_mode),
        cmocka_unit_test(what_has_no_name_may_be_dropped),
        cmocka_unit_test(links_and_times),
        cmocka_unit_test(long_directories_come_in_parts),
        cmocka_unit_test(targets_are_told),
        cmocka_unit_test(a_change_is_made_once),
        cmocka_unit_test(clients_are_forgotten),
        cmocka_unit_test(a_broken_disk_is_told),
    };
    return WIO_RUN(tests);
}
