/* SPDX-License-Identifier: Apache-2.0 */
/* Connections that have not proven themselves: how many, and what becomes of them. */
#include "support/unit.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "throttle/hosts/admission.h"
#include "throttle/hosts/remote_connect.h"

struct stage {
    struct wio_admission *admission;
    struct wio_remote_key key;
};

static void begin(struct stage *stage)
{
    const struct wio_remote_where where = {"lo", NULL};
    struct wio_error err = WIO_ERROR_INIT;
    assert_ok(wio_admission_create(&where, &stage->admission, &err), &err);
    wio_remote_key_make(&stage->key);
    wio_admission_begin(stage->admission, &stage->key);
}

static const struct wio_remote_socket *where(const struct stage *stage)
{
    return &wio_admission_listeners(stage->admission)->sockets[0];
}

static int call(const struct stage *stage)
{
    const struct wio_remote_socket *at = where(stage);
    int fd = socket(at->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_true(fd >= 0);
    (void)connect(fd, (const struct sockaddr *)&at->address, at->size);
    return fd;
}

/* A recorder that has the key, up to where it has said HELLO. */
static void greet(const struct stage *stage, struct wio_remote_handshake *shake)
{
    const struct wio_remote_hello hello = {.host = "far", .pid = 7};
    wio_remote_handshake_call(shake, call(stage), &stage->key, &hello);
    while (shake->at == WIO_REMOTE_AT_CONNECT) {
        assert_int_equal(wio_remote_handshake_step(shake), WIO_REMOTE_GOES_ON);
    }
}

static void step_until(const struct stage *stage, uint32_t pending)
{
    while (wio_admission_pending(stage->admission) < pending) {
        wio_admission_step(stage->admission);
    }
}

static bool is_closed(int fd)
{
    char byte;
    return recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0;
}

/* Those that say nothing are looked at without waiting, and there are never more of them. */
static void silent_ones_are_bounded(void **state)
{
    (void)state;
    enum { SILENT = 3 * (int)WIO_ADMISSION_MAX };
    static int fds[SILENT];
    struct stage stage;
    begin(&stage);
    for (unsigned i = 0; i < SILENT; i++) {
        fds[i] = call(&stage);
    }
    while (wio_admission_refused(stage.admission) < SILENT - WIO_ADMISSION_MAX) {
        wio_admission_step(stage.admission);
        assert_true(wio_admission_pending(stage.admission) <= WIO_ADMISSION_MAX);
    }
    assert_true(is_closed(fds[0]));
    struct wio_remote_handshake shake;
    struct wio_remote_link link;
    struct wio_remote_hello hello;
    greet(&stage, &shake);
    while (wio_remote_handshake_step(&shake) == WIO_REMOTE_GOES_ON) {
        wio_admission_step(stage.admission);
    }
    while (!wio_admission_next(stage.admission, &link, &hello)) {
        wio_admission_step(stage.admission);
    }
    assert_string_equal(hello.host, "far");
    wio_remote_link_fini(&link);
    wio_remote_handshake_fini(&shake);
    for (unsigned i = 0; i < SILENT; i++) {
        (void)close(fds[i]);
    }
    wio_admission_destroy(stage.admission);
}

/* Descriptors that have run out are no reason to leave all new ones outside. */
static void the_oldest_silent_one_makes_room(void **state)
{
    (void)state;
    enum { STEPS = 1000000 };
    struct stage stage;
    struct rlimit old;
    int fds[4];
    begin(&stage);
    for (unsigned i = 0; i < 4; i++) {
        fds[i] = call(&stage);
        if (i < 3) {
            step_until(&stage, i + 1);
        }
    }
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    int next = dup(fds[0]);
    (void)close(next);
    const struct rlimit none = {.rlim_cur = (rlim_t)next, .rlim_max = old.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    for (unsigned i = 0; i < STEPS && wio_admission_refused(stage.admission) == 0; i++) {
        wio_admission_step(stage.admission);
    }
    wio_admission_step(stage.admission); /* nothing calls any more */
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(wio_admission_refused(stage.admission), 1);
    assert_int_equal(wio_admission_pending(stage.admission), 3);
    assert_true(is_closed(fds[0]));
    for (unsigned i = 0; i < 4; i++) {
        assert_true(i == 0 || !is_closed(fds[i]));
        (void)close(fds[i]);
    }
    wio_admission_destroy(stage.admission);
}

/* One that has said HELLO with the key is not closed for those that have said nothing. */
static void known_ones_are_not_put_out_by_others(void **state)
{
    (void)state;
    enum { OTHERS = 2 * (int)WIO_ADMISSION_MAX };
    static int fds[OTHERS];
    struct stage stage;
    struct wio_remote_handshake shake;
    begin(&stage);
    greet(&stage, &shake);
    struct wio_buf body;
    while (recv(shake.link.fd, &(char){0}, 1, MSG_DONTWAIT | MSG_PEEK) < 0) {
        wio_admission_step(stage.admission); /* until there is the challenge, which waits */
    }
    for (unsigned i = 0; i < OTHERS; i++) {
        fds[i] = call(&stage);
    }
    while (wio_admission_refused(stage.admission) <= OTHERS - WIO_ADMISSION_MAX) {
        wio_admission_step(stage.admission);
    }
    assert_int_equal(wio_remote_handshake_step(&shake), WIO_REMOTE_PROVEN);
    assert_int_equal(wio_remote_poll(&shake.link, WIO_REMOTE_WELCOME, &body), WIO_REMOTE_NOTHING);
    wio_remote_handshake_fini(&shake);
    for (unsigned i = 0; i < OTHERS; i++) {
        (void)close(fds[i]);
    }
    wio_admission_destroy(stage.admission);
}

static void a_hello_counts_once(void **state)
{
    (void)state;
    struct stage stage;
    struct wio_remote_handshake shake;
    begin(&stage);
    greet(&stage, &shake);
    int again = call(&stage);
    while (send(again, shake.link.out.data, shake.link.out.size, MSG_NOSIGNAL) < 0) {
    }
    while (wio_admission_refused(stage.admission) < 1) {
        wio_admission_step(stage.admission);
    }
    struct wio_remote_link link;
    struct wio_remote_hello hello;
    assert_false(wio_admission_next(stage.admission, &link, &hello));
    assert_true(wio_admission_pending(stage.admission) == 1); /* either: one of the two */
    (void)close(again);
    wio_remote_handshake_fini(&shake);
    wio_admission_destroy(stage.admission);
}

/* A program at the director's address that answers, and cannot prove anything: the next address. */
static void a_false_director_is_passed_over(void **state)
{
    (void)state;
    const struct wio_remote_hello hello = {.host = "far", .pid = 7};
    struct stage stage;
    struct stage other; /* it has another key */
    struct wio_error err = WIO_ERROR_INIT;
    begin(&stage);
    begin(&other);
    struct wio_remote_address address = {.key = stage.key, .count = 2};
    wio_remote_place(address.place);
    address.sockets[0] = *where(&other);
    address.sockets[1] = *where(&stage);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct wio_remote_link link = {.fd = -1};
        _exit(wio_remote_connect(&address, &hello, &link, &err) == WIO_OK ? 0 : 1);
    }
    struct wio_remote_link link;
    struct wio_remote_hello told;
    while (!wio_admission_next(stage.admission, &link, &told)) {
        wio_admission_step(stage.admission);
        wio_admission_step(other.admission);
        assert_false(wio_admission_next(other.admission, &link, &told));
    }
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    wio_remote_link_fini(&link);
    wio_admission_destroy(stage.admission);
    wio_admission_destroy(other.admission);
}

/* Not even a connection is tried. */
static void loopbacks_of_other_places_are_not_tried(void **state)
{
    (void)state;
    const struct wio_remote_hello hello = {.host = "far", .pid = 7};
    struct stage stage;
    struct wio_remote_link link = {.fd = -1};
    struct wio_error err = WIO_ERROR_INIT;
    begin(&stage);
    struct wio_remote_address address = {.key = stage.key, .count = 1, .place = "another.1"};
    address.sockets[0] = *where(&stage);
    assert_status(wio_remote_connect(&address, &hello, &link, &err), WIO_ERR_IO, &err);
    wio_admission_step(stage.admission);
    assert_int_equal(wio_admission_pending(stage.admission), 0);
    assert_int_equal(wio_admission_refused(stage.admission), 0);
    wio_admission_destroy(stage.admission);
}

static void an_interface_that_is_none_is_refused(void **state)
{
    (void)state;
    static const struct wio_remote_where wrong[] = {
        {"no-such-interface", NULL}, {"192.0.2.77", NULL}, {NULL, "no-such-host.invalid"}};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        struct wio_admission *admission = NULL;
        struct wio_error err = WIO_ERROR_INIT;
        assert_status(wio_admission_create(&wrong[i], &admission, &err), WIO_ERR_USAGE, &err);
        wio_admission_destroy(admission);
    }
}

int main(void)
{
    if (wio_remote_keys_begin(NULL) != WIO_OK) {
        wio_test_skip("built without libsodium");
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(silent_ones_are_bounded),
        cmocka_unit_test(the_oldest_silent_one_makes_room),
        cmocka_unit_test(known_ones_are_not_put_out_by_others),
        cmocka_unit_test(a_hello_counts_once),
        cmocka_unit_test(a_false_director_is_passed_over),
        cmocka_unit_test(loopbacks_of_other_places_are_not_tried),
        cmocka_unit_test(an_interface_that_is_none_is_refused),
    };
    return WIO_RUN(tests);
}
