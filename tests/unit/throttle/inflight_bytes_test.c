/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "throttle/hosts/inflight_bytes.h"

#define HEAD "   1: 0100007F:1F90 0100007F:D2A4 01 "
#define TAIL " 01:00000014 00000000  1000        0 4711 2 0000000000000000 20 4 30 10 -1\n"

static void lines_are_read(void **state)
{
    (void)state;
    assert_int_equal(wio_flight_parse(HEAD "00000010:00000000" TAIL), 4711);
    assert_int_equal(wio_flight_parse(HEAD "00000000:00000010" TAIL), 0); /* it has some to read */
    /* No room at the other end: asked now and then, and nothing under way. */
    assert_int_equal(wio_flight_parse(HEAD "00000010:00000000 04:00000014 0 1000 0 4711 2\n"), 0);
    assert_int_equal(wio_flight_parse(""), 0);
    assert_int_equal(wio_flight_parse("   1: 0100007F:1F90 0100007F:D2A4 01 00000010:0\n"), 0);
    assert_int_equal(
        wio_flight_parse("  sl  local_address rem_address   st tx_queue rx_queue tr tm->when\n"),
        0);
}

/* Two ends of one connection on this host: sent is arrived. */
static void nothing_is_on_its_way_here(void **state)
{
    (void)state;
    struct sockaddr_in any = {.sin_family = AF_INET,
                              .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(any);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int sender = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&any, sizeof(any)), 0);
    assert_int_equal(listen(listener, 1), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&any, &size), 0);
    assert_int_equal(connect(sender, (const struct sockaddr *)&any, sizeof(any)), 0);
    int reader = accept(listener, NULL, NULL);
    assert_true(reader >= 0);
    assert_false(wio_flight_has_bytes(getpid()));
    /* It is not read: what does not fit into the other end's buffer waits here, not on its way. */
    char block[4096] = {0};
    while (send(sender, block, sizeof(block), MSG_DONTWAIT) > 0) {
    }
    while (wio_flight_has_bytes(getpid())) {
        wio_clock_sleep_ns(100000);
    }
    while (recv(reader, block, sizeof(block), MSG_DONTWAIT) > 0 || wio_flight_has_bytes(getpid())) {
        wio_clock_sleep_ns(100000);
    }
    (void)close(sender);
    (void)close(reader);
    (void)close(listener);
}

/* A connection that is not accepted: the first byte is on its way till the end of time. */
static void each_of_many_sockets_is_looked_at(void **state)
{
    (void)state;
    enum { SENDERS = 400 };
    struct sockaddr_in any = {.sin_family = AF_INET,
                              .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof(any);
    int senders[SENDERS];
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&any, sizeof(any)), 0);
    assert_int_equal(listen(listener, 0), 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&any, &size), 0);
    for (unsigned i = 0; i < SENDERS; i++) {
        senders[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        assert_true(senders[i] >= 0);
        (void)connect(senders[i], (const struct sockaddr *)&any, sizeof(any));
    }
    pid_t pid = fork();
    if (pid == 0) { /* has the last one alone */
        for (unsigned i = 0; i + 1 < SENDERS; i++) {
            (void)close(senders[i]);
        }
        _exit(wio_flight_has_bytes(getpid()) ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    for (unsigned i = 0; i < SENDERS; i++) {
        (void)close(senders[i]);
    }
    (void)close(listener);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read),
        cmocka_unit_test(nothing_is_on_its_way_here),
        cmocka_unit_test(each_of_many_sockets_is_looked_at),
    };
    return WIO_RUN(tests);
}
