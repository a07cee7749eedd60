/* SPDX-License-Identifier: Apache-2.0 */
/* The seam over the kernel: real sockets, files and threads. */
#include "support/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/link/server.h"
#include "store/net/net.h"
#include "store/wire/message.h"

#define LIMIT_NS UINT64_C(60000000000)

enum { STRANGERS = 1000, LONG = 3000000 };

struct net_scene {
    struct wio_net *net;
    struct wio_io *io;
    struct wio_link_config config;
    struct wio_link_server *server;
    struct wio_link *client;
    struct wio_link *served;
    struct wio_wire_welcome welcome;
    char address[300];
    char *path;
    size_t came;
    bool is_wrong;
    unsigned opened;
    unsigned closed;
};

/* ---- a server that answers with the data, and a client ------------------------------------- */

static bool admit(void *context, struct wio_link *link, const struct wio_wire_hello *hello,
                  struct wio_wire_welcome *welcome)
{
    (void)context;
    (void)link;
    (void)hello;
    welcome->server = 1;
    return true;
}

static void opened(void *context, struct wio_link *link, const struct wio_wire_welcome *welcome)
{
    struct net_scene *scene = context;
    scene->opened++;
    if (link == scene->client) {
        scene->welcome = *welcome;
    } else {
        scene->served = link;
    }
}

static void say(struct wio_link *link, const uint8_t *data, uint32_t bytes)
{
    const struct wio_store_request request = {
        .op = WIO_STORE_WRITE, .data = data, .data_size = bytes};
    struct wio_blob head = {0};
    uint32_t data_bytes = 0;
    assert_int_equal(wio_wire_put_request(&head, &request, &data_bytes), WIO_OK);
    assert_int_equal(wio_link_send(link, &head, data, data_bytes), WIO_OK);
    wio_blob_fini(&head);
}

static void message(void *context, struct wio_link *link, const struct wio_wire_header *header,
                    struct wio_buf body)
{
    struct net_scene *scene = context;
    uint16_t participants[WIO_STORE_PARTICIPANTS_MAX];
    struct wio_store_request request;
    assert_int_equal(wio_wire_get_request(header, body, participants, &request), WIO_OK);
    if (link == scene->served) {
        say(link, request.data, request.data_size);
        return;
    }
    for (uint32_t i = 0; i < request.data_size; i++) {
        scene->is_wrong |= request.data[i] != (uint8_t)(i * 31 + i / 256);
    }
    scene->came += request.data_size;
}

static void closed(void *context, struct wio_link *link, enum wio_link_end why)
{
    struct net_scene *scene = context;
    (void)why;
    scene->closed++;
    if (link == scene->client) {
        scene->client = NULL;
    } else {
        scene->served = NULL;
    }
    wio_link_close(link);
}

static const struct wio_link_events events = {
    .admit = admit, .opened = opened, .message = message, .closed = closed};

static void begin(struct net_scene *scene, const char *address)
{
    const char *at = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    *scene = (struct net_scene){.config.limits = wio_link_limits_default};
    scene->config.limits.silence_ns = 0; /* the machine may be slow */
    scene->config.limits.handshake_ns = LIMIT_NS;
    assert_ok(wio_net_create(NULL, &scene->net, &err), &err);
    scene->io = wio_net_io(scene->net);
    if (address == NULL) {
        scene->path = wio_test_path("socket");
        snprintf(scene->address, sizeof(scene->address), "unix:%s", scene->path);
        address = scene->address;
    }
    scene->server = wio_link_server_create(scene->io, &scene->config, &events, scene);
    assert_ok(wio_link_server_listen(scene->server, address, &at, &err), &err);
    snprintf(scene->address, sizeof(scene->address), "%s", at);
}

static void connect_client(struct net_scene *scene)
{
    const struct wio_wire_hello hello = {.client = 9, .uid = 12345, .gid = 12345};
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_link_connect(scene->io, scene->address, &scene->config, &hello, &events, scene,
                               &scene->client, &err),
              &err);
}

static void end(struct net_scene *scene)
{
    wio_link_close(scene->client);
    wio_link_close(scene->served);
    wio_link_server_destroy(scene->server);
    wio_net_destroy(scene->net);
    free(scene->path);
}

/* Turn the loop until it is so. */
#define TURN_UNTIL(net, what)                                                                      \
    do {                                                                                           \
        uint64_t until_ns = wio_clock_mono_ns() + LIMIT_NS;                                        \
        while (!(what)) {                                                                          \
            assert_true(wio_clock_mono_ns() < until_ns);                                           \
            (void)wio_net_poll(net);                                                               \
        }                                                                                          \
    } while (0)

static void talk(const char *address, enum wio_wire_proof proof)
{
    struct net_scene scene;
    uint8_t *data = malloc(LONG);
    assert_non_null(data);
    for (uint32_t i = 0; i < LONG; i++) {
        data[i] = (uint8_t)(i * 31 + i / 256);
    }
    begin(&scene, address);
    connect_client(&scene);
    TURN_UNTIL(scene.net, scene.opened == 2);
    assert_int_equal(scene.welcome.proof, proof);
    assert_int_equal(scene.welcome.uid, proof == WIO_WIRE_PROOF_KERNEL ? geteuid() : 65534);
    say(scene.client, data, 100);
    say(scene.client, data, LONG);
    say(scene.client, data, LONG);
    TURN_UNTIL(scene.net, scene.came == 100 + 2 * LONG);
    assert_false(scene.is_wrong);
    wio_link_close(scene.client);
    scene.client = NULL;
    TURN_UNTIL(scene.net, scene.closed == 1);
    end(&scene);
    free(data);
}

static void talks_by_unix_sockets(void **state)
{
    (void)state;
    talk(NULL, WIO_WIRE_PROOF_KERNEL);
}

/* The kernel tells whose sockets are; one that was built without does not. */
static bool can_ask_owner(void)
{
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd >= 0) {
        (void)close(fd);
    }
    return fd >= 0;
}

/* Whatever a client says of itself: its user is the one that the kernel names, or 65534. */
static void talks_by_loopback(void **state)
{
    (void)state;
    const enum wio_wire_proof proof = can_ask_owner() ? WIO_WIRE_PROOF_KERNEL : WIO_WIRE_PROOF_NONE;
    talk("127.0.0.1:0", proof);
    talk("[::ffff:127.0.0.1]:0", proof);
}

static void only_its_user_may_connect(void **state)
{
    (void)state;
    struct net_scene scene;
    struct stat st;
    begin(&scene, NULL);
    assert_int_equal(stat(scene.path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    end(&scene);
}

/* A socket that a dead server left is taken over, a living one's is not. */
static void sockets_of_the_dead_are_taken(void **state)
{
    (void)state;
    struct net_scene scene;
    struct net_scene other;
    struct wio_error err = WIO_ERROR_INIT;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char *path = wio_test_path("socket");
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(close(fd), 0);
    begin(&scene, NULL);
    other = (struct net_scene){.config.limits = wio_link_limits_default};
    other.server = wio_link_server_create(scene.io, &other.config, &events, &other);
    assert_int_equal(wio_link_server_listen(other.server, scene.address, NULL, &err), WIO_ERR_IO);
    assert_non_null(strstr(err.message, "address already in use"));
    wio_link_server_destroy(other.server);
    end(&scene);
    free(path);
}

static void a_refused_connection_is_told(void **state)
{
    (void)state;
    struct net_scene scene;
    begin(&scene, NULL);
    snprintf(scene.address, sizeof(scene.address), "unix:%s.none", scene.path);
    connect_client(&scene);
    TURN_UNTIL(scene.net, scene.closed == 1);
    end(&scene);
}

/* ---- signals of a thread that drives for a time --------------------------------------------- */

static volatile sig_atomic_t pipes;

static void count_pipe(int number)
{
    (void)number;
    pipes++;
}

struct raw {
    bool is_opened;
    bool is_closed;
    uint8_t byte;
};

static void raw_opened(void *context)
{
    ((struct raw *)context)->is_opened = true;
}

static void *raw_room(void *context, size_t *size_out)
{
    *size_out = 1;
    return &((struct raw *)context)->byte;
}

static void raw_came(void *context, size_t bytes)
{
    (void)context;
    (void)bytes;
}

static void raw_drained(void *context)
{
    (void)context;
}

static void raw_closed(void *context, enum wio_status why)
{
    (void)why;
    ((struct raw *)context)->is_closed = true;
}

static const struct wio_io_handler raw_handler = {
    .opened = raw_opened,
    .room = raw_room,
    .came = raw_came,
    .drained = raw_drained,
    .closed = raw_closed,
};

static bool has_pipe_blocked(void)
{
    sigset_t now;
    (void)pthread_sigmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, SIGPIPE) == 1;
}

/* The other end goes; what was not sent at once is sent by libuv, what is sent then by us. */
static void write_to_the_dead(struct wio_net *net, int listener, const char *address, size_t bytes,
                              bool leaves)
{
    struct wio_io *io = wio_net_io(net);
    struct wio_io_conn *conn = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    struct raw raw = {0};
    void *data = calloc(1, bytes);
    const struct wio_io_bytes part = {data, bytes};
    assert_non_null(data);
    wio_net_enter(net);
    assert_ok(io->ops->connect(io, address, &raw_handler, &raw, &conn, &err), &err);
    TURN_UNTIL(net, raw.is_opened);
    int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    assert_true(peer >= 0);
    (void)!io->ops->conn_send(conn, &part, 1);
    if (leaves) {
        wio_net_leave(net);
        assert_false(has_pipe_blocked());
        wio_net_enter(net);
    }
    assert_int_equal(close(peer), 0);
    (void)!io->ops->conn_send(conn, &part, 1);
    TURN_UNTIL(net, raw.is_closed);
    io->ops->conn_close(conn);
    (void)wio_net_poll(net);
    wio_net_leave(net);
    free(data);
}

/* The program's own way with SIGPIPE stays. */
static void no_thread_that_drives_has_a_sigpipe(void **state)
{
    (void)state;
    struct wio_net *net = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char text[300];
    char *path = wio_test_path("socket");
    void (*before)(int) = signal(SIGPIPE, count_pipe);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    snprintf(text, sizeof(text), "unix:%s", path);
    assert_int_equal(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 4), 0);
    pipes = 0;
    assert_ok(wio_net_create(NULL, &net, &err), &err);
    wio_net_leave(net);
    assert_false(has_pipe_blocked());
    write_to_the_dead(net, listener, text, 100, true);
    write_to_the_dead(net, listener, text, LONG, true);
    write_to_the_dead(net, listener, text, LONG, false);
    assert_int_equal(pipes, 0);
    assert_false(has_pipe_blocked());
    wio_net_destroy(net);
    assert_int_equal(close(listener), 0);
    (void)signal(SIGPIPE, before);
    free(path);
}

/* ---- strangers ----------------------------------------------------------------------------- */

static int stranger(const struct net_scene *scene)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    snprintf(address.sun_path, sizeof(address.sun_path), "%s", scene->path);
    while (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        assert_int_equal(errno, EAGAIN); /* the backlog is full: the server first */
        (void)wio_net_poll(scene->net);
    }
    return fd;
}

static void a_thousand_silent_connections(void **state)
{
    (void)state;
    struct net_scene scene;
    struct rlimit limit;
    static int fds[STRANGERS];
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    limit.rlim_cur = limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    begin(&scene, NULL);
    for (unsigned i = 0; i < STRANGERS; i++) {
        fds[i] = stranger(&scene);
        assert_true(fds[i] >= 0);
    }
    const struct wio_link_counts *counts = wio_link_server_counts(scene.server);
    TURN_UNTIL(scene.net, counts->accepted == STRANGERS);
    assert_int_equal(counts->strangers, 256);
    connect_client(&scene);
    TURN_UNTIL(scene.net, scene.opened == 2);
    assert_int_equal(counts->ends[WIO_LINK_CROWDED_OUT], STRANGERS - 255);
    for (unsigned i = 0; i < STRANGERS; i++) {
        assert_int_equal(close(fds[i]), 0);
    }
    TURN_UNTIL(scene.net, counts->strangers == 0);
    end(&scene);
}

/* ---- time and work ------------------------------------------------------------------------- */

struct alarm {
    uint64_t fired_ns;
};

static void fire(void *context)
{
    struct alarm *alarm = context;
    alarm->fired_ns = wio_clock_mono_ns();
}

static void timers_are_never_early(void **state)
{
    (void)state;
    struct wio_net *net = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_net_create(NULL, &net, &err), &err);
    struct wio_io *io = wio_net_io(net);
    for (unsigned i = 0; i < 10; i++) {
        struct alarm alarm = {0};
        struct wio_io_timer *timer = io->ops->timer_create(io, fire, &alarm);
        uint64_t due_ns = wio_clock_mono_ns() + 1500000;
        io->ops->timer_set(timer, 1500000);
        TURN_UNTIL(net, alarm.fired_ns != 0);
        assert_true(alarm.fired_ns >= due_ns);
        io->ops->timer_destroy(timer);
    }
    wio_net_destroy(net);
}

struct counted_work {
    struct wio_io_work work;
    unsigned *ran;
    unsigned *done;
};

static void run(struct wio_io_work *work)
{
    __atomic_add_fetch(((struct counted_work *)work)->ran, 1, __ATOMIC_RELAXED);
}

static void done(struct wio_io_work *work)
{
    (*((struct counted_work *)work)->done)++;
}

/* All is told as done, also what an end comes before. */
static void work_is_done_elsewhere(void **state)
{
    (void)state;
    struct wio_net *net = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    struct counted_work works[100];
    unsigned ran = 0;
    unsigned told = 0;
    assert_ok(wio_net_create(NULL, &net, &err), &err);
    struct wio_io *io = wio_net_io(net);
    for (unsigned i = 0; i < 100; i++) {
        works[i] = (struct counted_work){.work = {.run = run, .done = done}, &ran, &told};
        assert_int_equal(io->ops->work(io, &works[i].work), WIO_OK);
        if (i == 49) {
            wio_net_run(net);
            assert_int_equal(told, 50);
            assert_int_equal(__atomic_load_n(&ran, __ATOMIC_RELAXED), 50);
        }
    }
    wio_net_destroy(net);
    assert_int_equal(told, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(talks_by_unix_sockets),
        cmocka_unit_test(talks_by_loopback),
        cmocka_unit_test(only_its_user_may_connect),
        cmocka_unit_test(sockets_of_the_dead_are_taken),
        cmocka_unit_test(a_refused_connection_is_told),
        cmocka_unit_test(no_thread_that_drives_has_a_sigpipe),
        cmocka_unit_test(a_thousand_silent_connections),
        cmocka_unit_test(timers_are_never_early),
        cmocka_unit_test(work_is_done_elsewhere),
    };
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < STRANGERS + 600) {
        wio_test_skip("not enough descriptors here");
    }
    return WIO_RUN(tests);
}
