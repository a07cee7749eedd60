/* SPDX-License-Identifier: Apache-2.0 */
/* Channels that are descriptors: pipe, socketpair, TCP, eventfd (the note lies beside it). */
#include "medium.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

static int ends[MAX_ACTORS][MAX_ACTORS][2]; /* [from][to]: to read from, to write to */
static int queue_ends[2];

static void send_note(int from, int to, struct note note)
{
    check(write(ends[from][to][1], &note, sizeof(note)) == sizeof(note), "write");
}

static struct note recv_note(int from, int to)
{
    struct note note;
    check(read(ends[from][to][0], &note, sizeof(note)) == sizeof(note), "read");
    return note;
}

static void make_queue(int all)
{
    (void)all;
    check(pipe(queue_ends) == 0, "pipe");
}

static void put_note(struct note note)
{
    check(write(queue_ends[1], &note, sizeof(note)) == sizeof(note), "write");
}

static struct note take_note(void)
{
    struct note note;
    check(read(queue_ends[0], &note, sizeof(note)) == sizeof(note), "read");
    return note;
}

static void make_pipe(int from, int to)
{
    check(pipe(ends[from][to]) == 0, "pipe");
}

static void make_socketpair(int from, int to)
{
    check(socketpair(AF_UNIX, SOCK_STREAM, 0, ends[from][to]) == 0, "socketpair");
}

static void make_tcp(int from, int to)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    check(bind(listener, (struct sockaddr *)&address, size) == 0, "bind");
    check(listen(listener, 1) == 0, "listen");
    check(getsockname(listener, (struct sockaddr *)&address, &size) == 0, "getsockname");
    ends[from][to][1] = socket(AF_INET, SOCK_STREAM, 0);
    check(connect(ends[from][to][1], (struct sockaddr *)&address, size) == 0, "connect");
    ends[from][to][0] = accept(listener, NULL, NULL);
    check(ends[from][to][0] >= 0, "accept");
    close(listener);
}

enum { SLOTS = 256 }; /* notes under way in one channel, at most */

static struct {
    int fd;
    unsigned put, taken;
    struct note *notes;
} counters[MAX_ACTORS][MAX_ACTORS];

static void make_eventfd(int from, int to)
{
    counters[from][to].fd = eventfd(0, EFD_SEMAPHORE);
    check(counters[from][to].fd >= 0, "eventfd");
    counters[from][to].notes = shared_memory(SLOTS * sizeof(struct note));
}

static void send_count(int from, int to, struct note note)
{
    uint64_t one = 1;
    counters[from][to].notes[counters[from][to].put++ % SLOTS] = note;
    check(write(counters[from][to].fd, &one, sizeof(one)) == sizeof(one), "write");
}

static struct note recv_count(int from, int to)
{
    uint64_t one;
    check(read(counters[from][to].fd, &one, sizeof(one)) == sizeof(one), "read");
    return counters[from][to].notes[counters[from][to].taken++ % SLOTS];
}

const struct medium media_pipe = {
    .name = "pipe",
    .prepare = make_queue,
    .connect = make_pipe,
    .send = send_note,
    .recv = recv_note,
    .put = put_note,
    .take = take_note,
};
const struct medium media_socketpair = {
    .name = "socketpair", .connect = make_socketpair, .send = send_note, .recv = recv_note};
const struct medium media_tcp = {
    .name = "tcp", .connect = make_tcp, .send = send_note, .recv = recv_note};
const struct medium media_eventfd = {
    .name = "eventfd", .connect = make_eventfd, .send = send_count, .recv = recv_count};
