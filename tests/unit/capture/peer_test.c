/* SPDX-License-Identifier: Apache-2.0 */
/* The other end of a Unix socket, where the kernel tells. */
#include "support/unit.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "capture/files/channels.h"

#define QUESTIONS_MAX 1024

static void the_kernel_is_asked_so_many_times(void **state)
{
    int ends[2];
    struct stat other;
    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_int_equal(fstat(ends[1], &other), 0);
    const uint32_t peer = cap_channel_peer(ends[0]);
    assert_true(peer == 0 || peer == (uint32_t)other.st_ino); /* 0: a kernel without sock_diag */
    for (int i = 1; i < QUESTIONS_MAX; i++) {
        assert_int_equal(cap_channel_peer(ends[0]), peer);
    }
    assert_int_equal(cap_channel_peer(ends[0]), 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernel_is_asked_so_many_times),
    };
    return WIO_RUN(tests);
}
