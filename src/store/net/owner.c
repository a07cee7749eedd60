/* SPDX-License-Identifier: Apache-2.0 */
#include "store/net/owner.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"

struct owner_question {
    struct nlmsghdr header;
    struct inet_diag_req_v2 ask;
};

union owner_answer {
    struct nlmsghdr header; /* alignment */
    char bytes[8192];
};

static void put_end(const struct sockaddr_storage *end, __be32 address[4], __be16 *port_out)
{
    if (end->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)end;
        address[0] = v4->sin_addr.s_addr;
        *port_out = v4->sin_port;
    } else {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)end;
        memcpy(address, &v6->sin6_addr, sizeof(v6->sin6_addr));
        *port_out = v6->sin6_port;
    }
}

static struct owner_question make(const struct sockaddr_storage *far,
                                  const struct sockaddr_storage *near)
{
    struct owner_question question = {
        .header = {.nlmsg_len = sizeof(question),
                   .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                   .nlmsg_flags = NLM_F_REQUEST},
        .ask = {.sdiag_family = (uint8_t)far->ss_family,
                .sdiag_protocol = IPPROTO_TCP,
                .idiag_states = 1u << TCP_ESTABLISHED,
                .id = {.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}},
    };
    put_end(far, question.ask.id.idiag_src, &question.ask.id.idiag_sport);
    put_end(near, question.ask.id.idiag_dst, &question.ask.id.idiag_dport);
    return question;
}

/* A socket that no process has any more has no inode, and is said to be root's. */
static bool read_answer(const union owner_answer *answer, ssize_t bytes, uint32_t *uid_out)
{
    struct inet_diag_msg told;
    const struct nlmsghdr *header = &answer->header;
    if (bytes < (ssize_t)NLMSG_SPACE(sizeof(told)) || header->nlmsg_type != SOCK_DIAG_BY_FAMILY ||
        header->nlmsg_len < NLMSG_LENGTH(sizeof(told))) {
        return false;
    }
    memcpy(&told, answer->bytes + NLMSG_HDRLEN, sizeof(told));
    *uid_out = told.idiag_uid;
    return told.idiag_state == TCP_ESTABLISHED && told.idiag_inode != 0;
}

bool wio_net_owner(const struct sockaddr_storage *far, const struct sockaddr_storage *near,
                   uint32_t *uid_out)
{
    union owner_answer answer;
    const struct owner_question question = make(far, near);
    WIO_CLEANUP(wio_fd_cleanup)
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (fd < 0 || send(fd, &question, sizeof(question), 0) != (ssize_t)sizeof(question)) {
        return false;
    }
    ssize_t got = recv(fd, &answer, sizeof(answer), 0);
    return got > 0 && read_answer(&answer, got, uid_out);
}
