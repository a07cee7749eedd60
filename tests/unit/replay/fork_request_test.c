/* SPDX-License-Identifier: Apache-2.0 */
/* Requests to the fork server where the kernel has too many descriptors under way. */
#include "support/unit.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "replay/run/fork_request.h"

ssize_t __real_sendmsg(int socket, const struct msghdr *message, int flags);
ssize_t __wrap_sendmsg(int socket, const struct msghdr *message, int flags);
void __wrap_wio_clock_sleep_ns(uint64_t ns);

static struct {
    uint64_t refused; /* messages that are refused at first */
    uint64_t tries;
    uint64_t slept_ns;
} kernel;

ssize_t __wrap_sendmsg(int socket, const struct msghdr *message, int flags)
{
    if (kernel.tries++ < kernel.refused) {
        errno = ETOOMANYREFS;
        return -1;
    }
    return __real_sendmsg(socket, message, flags);
}

void __wrap_wio_clock_sleep_ns(uint64_t ns)
{
    kernel.slept_ns += ns;
}

static bool ask(int pair[2], uint64_t refused)
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    const struct rp_start start = {.base_ns = 5, .server = pair[0]};
    kernel.refused = refused;
    kernel.tries = 0;
    kernel.slept_ns = 0;
    return rp_fork_ask(3, &start);
}

static void close_both(const int pair[2])
{
    (void)close(pair[0]);
    (void)close(pair[1]);
}

static void a_request_waits_until_there_is_room(void **state)
{
    (void)state;
    int pair[2];
    int channel = -1;
    struct rp_fork_request request;
    assert_true(ask(pair, 1000));
    assert_int_equal(kernel.tries, 1000 + 2); /* the request, and the server's socket */
    assert_true(kernel.slept_ns > 0);
    assert_int_equal(rp_fork_next(pair[1], &request, &channel), 1);
    assert_int_equal(request.group, 3);
    (void)close(channel);
    close_both(pair);
}

static void where_there_never_is_room_it_fails(void **state)
{
    (void)state;
    int pair[2];
    assert_false(ask(pair, UINT64_MAX));
    assert_int_equal(errno, ETOOMANYREFS);
    assert_true(kernel.slept_ns >= UINT64_C(10000000000));
    assert_true(kernel.slept_ns <= UINT64_C(60000000000));
    close_both(pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_waits_until_there_is_room),
        cmocka_unit_test(where_there_never_is_room_it_fails),
    };
    return WIO_RUN(tests);
}
