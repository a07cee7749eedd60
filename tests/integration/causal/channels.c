/* SPDX-License-Identifier: Apache-2.0 */
/* Channels with more to them than bytes in one direction: `channels SCENE`. See scene.h. */
#include <arpa/inet.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "scene.h"

static char data[256];

/* ---- messages: each is read by itself, whole or cut --------------------------------------------
 */

static void send_two(int fd)
{
    nap();
    mark("first");
    check(send(fd, data, 100, 0) == 100, "send");
    mark("between");
    nap();
    mark("second");
    check(send(fd, data, 90, 0) == 90, "send");
    mark("goes on");
}

/* The rest of the first one is lost. */
static void receive_two(int fd)
{
    check(recv(fd, data, 10, 0) == 10, "recv");
    mark("got first");
    check(recv(fd, data, 90, 0) == 90, "recv");
    mark("got second");
}

static void messages_by(int type)
{
    int ends[2];
    check(socketpair(AF_UNIX, type, 0, ends) == 0, "socketpair");
    pid_t pid = child(send_two, ends[1]);
    receive_two(ends[0]);
    wait_for(pid);
}

static void datagrams(void)
{
    messages_by(SOCK_DGRAM);
}

static void packets(void)
{
    messages_by(SOCK_SEQPACKET);
}

static struct sockaddr_in server;
static const struct sockaddr *const server_address = (const struct sockaddr *)&server;

static int serve_udp(in_addr_t where)
{
    socklen_t size = sizeof(server);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    server = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(where)};
    check(bind(fd, server_address, size) == 0, "bind");
    check(getsockname(fd, (struct sockaddr *)&server, &size) == 0, "getsockname");
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return fd;
}

static void send_two_udp(int unused)
{
    (void)unused;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    check(connect(fd, server_address, sizeof(server)) == 0, "connect");
    send_two(fd);
}

static void udp_connected(void)
{
    int fd = serve_udp(INADDR_LOOPBACK);
    pid_t pid = child(send_two_udp, -1);
    receive_two(fd);
    wait_for(pid);
}

static void ask(int unused)
{
    (void)unused;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    nap();
    mark("asking");
    check(sendto(fd, data, 7, 0, server_address, sizeof(server)) == 7, "sendto");
    mark("meanwhile");
    check(recv(fd, data, sizeof(data), 0) == 9, "recv");
    mark("answered");
}

/* The server has all addresses, the client has one by the kernel. */
static void udp(void)
{
    struct sockaddr_in peer;
    socklen_t size = sizeof(peer);
    int fd = serve_udp(INADDR_ANY);
    pid_t pid = child(ask, -1);
    check(recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&peer, &size) == 7, "recvfrom");
    mark("asked");
    nap();
    mark("answering");
    check(sendto(fd, data, 9, 0, (struct sockaddr *)&peer, size) == 9, "sendto");
    mark("goes on");
    wait_for(pid);
}

static const struct sockaddr_un local = {.sun_family = AF_UNIX, .sun_path = "socket"};

static void send_empty(int unused)
{
    const struct sockaddr *address = (const struct sockaddr *)&local;
    (void)unused;
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    nap();
    mark("first");
    check(sendto(fd, data, 0, 0, address, sizeof(local)) == 0, "sendto");
    nap();
    mark("second");
    check(sendto(fd, data, 7, 0, address, sizeof(local)) == 7, "sendto");
    mark("goes on");
}

static void local_datagrams(void)
{
    int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
    check(bind(fd, (const struct sockaddr *)&local, sizeof(local)) == 0, "bind");
    pid_t pid = child(send_empty, -1);
    check(recv(fd, data, sizeof(data), 0) == 0, "recv");
    mark("got first");
    check(recv(fd, data, sizeof(data), 0) == 7, "recv");
    mark("got second");
    wait_for(pid);
}

static struct iovec vectors[2] = {{data, 10}, {data + 100, 20}};
static struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = &vectors[0], .msg_iovlen = 1}},
                                     {.msg_hdr = {.msg_iov = &vectors[1], .msg_iovlen = 1}}};

static void send_many(int fd)
{
    nap();
    mark("first");
    check(sendmmsg(fd, messages, 2, 0) == 2, "sendmmsg");
    mark("between");
    nap();
    mark("second");
    check(send(fd, data, 5, 0) == 5, "send");
    mark("goes on");
}

static void many_datagrams(void)
{
    int ends[2];
    check(socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0, "socketpair");
    pid_t pid = child(send_many, ends[1]);
    check(recvmmsg(ends[0], messages, 2, 0, NULL) == 2, "recvmmsg");
    mark("got first");
    check(recv(ends[0], data, 100, 0) == 5, "recv");
    mark("got second");
    wait_for(pid);
}

static void ask_many(int unused)
{
    (void)unused;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    for (size_t i = 0; i < 2; i++) {
        messages[i].msg_hdr.msg_name = &server;
        messages[i].msg_hdr.msg_namelen = sizeof(server);
    }
    nap();
    mark("asking");
    check(sendmmsg(fd, messages, 2, 0) == 2, "sendmmsg");
    mark("meanwhile");
    check(recv(fd, data, sizeof(data), 0) == 9, "recv");
    mark("answered");
}

/* The first thing that the client does with its socket. */
static void udp_many(void)
{
    struct sockaddr_in peer;
    socklen_t size = sizeof(peer);
    int fd = serve_udp(INADDR_LOOPBACK);
    pid_t pid = child(ask_many, -1);
    check(recv(fd, data, sizeof(data), 0) == 10, "recv");
    check(recvfrom(fd, data, sizeof(data), 0, (struct sockaddr *)&peer, &size) == 20, "recvfrom");
    mark("asked");
    nap();
    mark("answering");
    check(sendto(fd, data, 9, 0, (struct sockaddr *)&peer, size) == 9, "sendto");
    mark("goes on");
    wait_for(pid);
}

static struct sockaddr_in others[2];

static void send_around(int unused)
{
    (void)unused;
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    for (size_t i = 0; i < 2; i++) {
        messages[i].msg_hdr.msg_name = &others[i];
        messages[i].msg_hdr.msg_namelen = sizeof(others[i]);
    }
    nap();
    mark("first");
    check(sendmmsg(fd, messages, 2, 0) == 2, "sendmmsg");
    mark("goes on");
}

/* One call, to two sockets. */
static void udp_around(void)
{
    int fds[2];
    for (size_t i = 0; i < 2; i++) {
        fds[i] = serve_udp(INADDR_LOOPBACK);
        others[i] = server;
    }
    pid_t pid = child(send_around, -1);
    check(recv(fds[1], data, sizeof(data), 0) == 20, "recv");
    mark("got second");
    check(recv(fds[0], data, sizeof(data), 0) == 10, "recv");
    mark("got first");
    wait_for(pid);
}

/* ---- ends -------------------------------------------------------------------------------------
 */

static void connect_and_close(int listener)
{
    socklen_t size = sizeof(server);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    check(getsockname(listener, (struct sockaddr *)&server, &size) == 0, "getsockname");
    check(connect(fd, server_address, size) == 0, "connect");
    nap();
    mark("closing");
    close(fd);
    mark("goes on");
    nap();
}

static void tcp_end(void)
{
    const struct sockaddr_in any = {.sin_family = AF_INET,
                                    .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    check(bind(listener, (const struct sockaddr *)&any, sizeof(any)) == 0, "bind");
    check(listen(listener, 1) == 0, "listen");
    pid_t pid = child(connect_and_close, listener);
    int fd = accept(listener, NULL, NULL);
    check(read(fd, data, sizeof(data)) == 0, "read");
    mark("at end");
    wait_for(pid);
}

static void shut_and_close(int fd)
{
    nap();
    mark("shutting");
    check(shutdown(fd, SHUT_WR) == 0, "shutdown");
    mark("goes on");
    close(fd);
}

/* Its end is there before all have closed it. */
static void shut_down(void)
{
    int ends[2];
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    pid_t pid = child(shut_and_close, ends[1]);
    mark("closing");
    close(ends[1]);
    (void)usleep(120000); /* till it has closed */
    check(read(ends[0], data, sizeof(data)) == 0, "read");
    mark("at end");
    wait_for(pid);
}

static void use_and_close(int fd)
{
    struct cmsghdr *part;
    char room[CMSG_SPACE(sizeof(int))];
    struct iovec vector = {data, 1};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
    int got;
    check(recvmsg(fd, &message, 0) == 1, "recvmsg");
    part = CMSG_FIRSTHDR(&message);
    if (part == NULL) {
        exit(1);
    }
    memcpy(&got, CMSG_DATA(part), sizeof(got));
    nap();
    mark("first");
    put(got, 10);
    mark("goes on");
    nap();
    mark("closing");
    close(got);
}

static void send_descriptor(int fd, int sent)
{
    char room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec vector = {data, 1};
    struct msghdr message = {
        .msg_iov = &vector, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof(room)};
    struct cmsghdr *part = CMSG_FIRSTHDR(&message);
    if (part == NULL) {
        exit(1);
    }
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(sent));
    memcpy(CMSG_DATA(part), &sent, sizeof(sent));
    check(sendmsg(fd, &message, 0) == 1, "sendmsg");
}

static void sent_descriptor(void)
{
    int way[2];
    int ends[2];
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, way) == 0, "socketpair");
    pid_t pid = child(use_and_close, way[1]);
    check(pipe(ends) == 0, "pipe");
    send_descriptor(way[0], ends[1]);
    close(ends[1]);
    get(ends[0], 10);
    mark("got first");
    check(read(ends[0], data, 1) == 0, "read");
    mark("at end");
    wait_for(pid);
}

/* ---- counters ---------------------------------------------------------------------------------
 */

static void add_by_function(int fd)
{
    nap();
    mark("first");
    check(eventfd_write(fd, 1) == 0, "eventfd_write");
    mark("goes on");
}

static void eventfd_functions(void)
{
    eventfd_t value;
    int fd = eventfd(0, 0);
    pid_t pid = child(add_by_function, fd);
    check(eventfd_read(fd, &value) == 0, "eventfd_read");
    mark("got first");
    wait_for(pid);
}

/* ---- from channel to channel ------------------------------------------------------------------
 */

static int second[2]; /* a pipe */

static void write_late(int fd)
{
    nap();
    mark("first");
    put(fd, 10);
    mark("goes on");
}

static void splice_on(int fd)
{
    check(splice(fd, NULL, second[1], NULL, sizeof(data), 0) == 10, "splice");
    mark("passed on");
}

static void tee_on(int fd)
{
    check(tee(fd, second[1], sizeof(data), 0) == 10, "tee");
    mark("passed on");
    nap();
    get(fd, 10);
    mark("drained");
}

static void from_pipe_to_pipe(void (*pass)(int fd))
{
    int ends[2];
    check(pipe(ends) == 0 && pipe(second) == 0, "pipe");
    pid_t writer = child(write_late, ends[1]);
    pid_t other = child(pass, ends[0]);
    get(second[0], 10);
    mark("got first");
    wait_for(writer);
    wait_for(other);
}

static void spliced(void)
{
    from_pipe_to_pipe(splice_on);
}

static void teed(void)
{
    from_pipe_to_pipe(tee_on);
}

static void peeked(void)
{
    int ends[2];
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    pid_t pid = child(send_two, ends[1]);
    check(recv(ends[0], data, 100, MSG_PEEK) == 100, "recv");
    mark("peeked");
    check(recv(ends[0], data, 100, 0) == 100, "recv");
    mark("got first");
    check(recv(ends[0], data, 90, 0) == 90, "recv");
    mark("got second");
    wait_for(pid);
}

static void send_file(int fd)
{
    off_t at = 0;
    int file = open("file", O_RDWR | O_CREAT, 0600);
    put(file, 200);
    nap();
    mark("first");
    check(sendfile(fd, file, &at, 200) == 200, "sendfile");
    mark("goes on");
}

static void file_to_socket(void)
{
    int ends[2];
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "socketpair");
    pid_t pid = child(send_file, ends[1]);
    check(recv(ends[0], data, 200, MSG_WAITALL) == 200, "recv");
    mark("got first");
    wait_for(pid);
}

int main(int argc, char **argv)
{
    static const struct scene scenes[] = {
        {"datagrams", datagrams},
        {"packets", packets},
        {"udp-connected", udp_connected},
        {"udp", udp},
        {"local-datagrams", local_datagrams},
        {"many-datagrams", many_datagrams},
        {"udp-around", udp_around},
        {"udp-many", udp_many},
        {"tcp-end", tcp_end},
        {"shut-down", shut_down},
        {"sent-descriptor", sent_descriptor},
        {"eventfd-functions", eventfd_functions},
        {"spliced", spliced},
        {"teed", teed},
        {"peeked", peeked},
        {"file-to-socket", file_to_socket},
    };
    return run_scene(scenes, sizeof(scenes) / sizeof(scenes[0]), argc, argv);
}
