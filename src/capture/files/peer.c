/* SPDX-License-Identifier: Apache-2.0 */
/* The other end of a Unix socket: not known by name, but by the kernel's sock_diag. */
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <string.h>
#include <sys/socket.h>

#include "capture/core/raw.h"
#include "capture/files/channels.h"

#define NO_COOKIE UINT32_MAX /* whichever socket has that inode now */

/* The kernel searches all Unix sockets of the network namespace for one inode. A server that is
 * connected to again and again is not to pay for that for ever. */
#define QUESTIONS_MAX 1024u

static uint32_t asked; /* atomic; a forked child goes on counting */

struct question {
    struct nlmsghdr head;
    struct unix_diag_req request;
};

/* The answer is there when the question has been sent. */
static long ask(const struct question *question, void *answer, size_t size)
{
    long fd = raw_call3(SYS_socket, AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK,
                        NETLINK_SOCK_DIAG);
    if (fd < 0) {
        return fd;
    }
    long got = raw_call6(SYS_sendto, fd, (long)question, sizeof(*question), 0, 0, 0);
    if (got > 0) {
        got = raw_call6(SYS_recvfrom, fd, (long)answer, (long)size, 0, 0, 0);
    }
    (void)raw_close((int)fd);
    return got;
}

/* The attribute of the answer that says so; 0 where there is none. */
static uint32_t peer_in(const char *answer, size_t size)
{
    struct nlmsghdr head;
    size_t at = NLMSG_LENGTH(sizeof(struct unix_diag_msg));
    if (size < at) {
        return 0;
    }
    memcpy(&head, answer, sizeof(head));
    while (head.nlmsg_type == SOCK_DIAG_BY_FAMILY && at + sizeof(struct rtattr) <= size) {
        struct rtattr attribute;
        uint32_t peer;
        memcpy(&attribute, answer + at, sizeof(attribute));
        bool is_whole =
            attribute.rta_len >= RTA_LENGTH(sizeof(peer)) && attribute.rta_len <= size - at;
        if (attribute.rta_type == UNIX_DIAG_PEER && is_whole) {
            memcpy(&peer, answer + at + RTA_LENGTH(0), sizeof(peer));
            return peer;
        }
        if (attribute.rta_len < sizeof(attribute)) {
            return 0;
        }
        at += RTA_ALIGN(attribute.rta_len);
    }
    return 0;
}

static bool may_ask(void)
{
    return __atomic_load_n(&asked, __ATOMIC_RELAXED) < QUESTIONS_MAX &&
           __atomic_fetch_add(&asked, 1, __ATOMIC_RELAXED) < QUESTIONS_MAX;
}

uint32_t cap_channel_peer(int fd)
{
    struct stat st;
    char answer[512];
    if (!may_ask() || raw_fstat(fd, &st) != 0) {
        return 0;
    }
    const struct question question = {
        .head = {.nlmsg_len = sizeof(question),
                 .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                 .nlmsg_flags = NLM_F_REQUEST},
        .request = {.sdiag_family = AF_UNIX,
                    .udiag_states = UINT32_MAX,
                    .udiag_ino = (uint32_t)st.st_ino,
                    .udiag_show = UDIAG_SHOW_PEER,
                    .udiag_cookie = {NO_COOKIE, NO_COOKIE}},
    };
    long got = ask(&question, answer, sizeof(answer));
    return got > 0 ? peer_in(answer, (size_t)got) : 0;
}
