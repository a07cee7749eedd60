/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the machine gives a store at best, for bench/store.py: a request and a reply of a socket
 * between two processes, and a write with fdatasync(2) of a preallocated file. One JSON line each.
 *
 *     store_raw DIR [SECONDS-PER-CASE]
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/histogram.h"

enum { HEAD = 164, REPLY = 135, LARGE = 65536, PREALLOCATED = 64 << 20 };

static uint8_t data[LARGE + HEAD];
static uint64_t limit_ns = UINT64_C(2000000000);

static _Noreturn void stop(const char *what)
{
    perror(what);
    exit(1);
}

static void move_all(int fd, size_t size, bool is_read)
{
    for (size_t done = 0; done < size;) {
        ssize_t part =
            is_read ? read(fd, data + done, size - done) : write(fd, data + done, size - done);
        if (part <= 0) {
            _exit(0);
        }
        done += (size_t)part;
    }
}

static void tcp_pair(int pair[2])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof(at);
    const int on = 1;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    pair[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0 || pair[0] < 0 || bind(listener, (struct sockaddr *)&at, sizeof(at)) != 0 ||
        listen(listener, 1) != 0 || getsockname(listener, (struct sockaddr *)&at, &bytes) != 0 ||
        connect(pair[0], (struct sockaddr *)&at, sizeof(at)) != 0) {
        stop("no TCP sockets");
    }
    pair[1] = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    for (int i = 0; i < 2; i++) {
        (void)setsockopt(pair[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    }
    (void)close(listener);
}

static void report(const char *what, unsigned bytes, const struct wio_histogram *times, uint64_t ns)
{
    printf("{\"what\": \"%s %u\", \"p50_us\": %.3f, \"p99_us\": %.3f, \"ops_s\": %.1f}\n", what,
           bytes, wio_histogram_quantile(times, 0.5) / 1e3,
           wio_histogram_quantile(times, 0.99) / 1e3, (double)times->count * 1e9 / (double)ns);
    (void)fflush(stdout);
}

static void echo(const char *what, bool is_tcp, unsigned bytes)
{
    struct wio_histogram *times = calloc(1, sizeof(*times));
    int pair[2];
    if (times == NULL) {
        stop("memory");
    }
    if (is_tcp) {
        tcp_pair(pair);
    } else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        stop("no sockets");
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(pair[0]);
        for (;;) {
            move_all(pair[1], bytes + HEAD, true);
            move_all(pair[1], REPLY, false);
        }
    }
    (void)close(pair[1]);
    uint64_t begin_ns = wio_clock_mono_ns();
    uint64_t now_ns = begin_ns;
    while (now_ns - begin_ns < limit_ns) {
        uint64_t before_ns = now_ns;
        move_all(pair[0], bytes + HEAD, false);
        move_all(pair[0], REPLY, true);
        now_ns = wio_clock_mono_ns();
        wio_histogram_add(times, now_ns - before_ns);
    }
    (void)close(pair[0]);
    (void)waitpid(pid, NULL, 0);
    report(what, bytes, times, now_ns - begin_ns);
    free(times);
}

/* A file whose blocks are written already; unlinked. */
static int preallocated(const char *dir)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/raw", dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || posix_fallocate(fd, 0, PREALLOCATED) != 0) {
        stop(path);
    }
    for (off_t at = 0; at < PREALLOCATED; at += LARGE) { /* no extent is unwritten afterwards */
        if (pwrite(fd, data, LARGE, at) != LARGE) {
            stop(path);
        }
    }
    if (fsync(fd) != 0 || unlink(path) != 0) {
        stop(path);
    }
    return fd;
}

static void write_and_flush(int fd, uint64_t turn, unsigned bytes)
{
    if (pwrite(fd, data, bytes, (off_t)(turn * bytes % PREALLOCATED)) != (ssize_t)bytes ||
        fdatasync(fd) != 0) {
        stop("fdatasync");
    }
}

/* Another process that does so when it is asked to. */
static pid_t flush_beside(const int pair[2], int fd, unsigned bytes)
{
    pid_t pid = fork();
    char byte = 0;
    if (pid == 0) {
        (void)close(pair[0]); /* or its end would not be seen */
    }
    for (uint64_t i = 0; pid == 0; i++) {
        if (read(pair[1], &byte, 1) != 1) {
            _exit(0);
        }
        write_and_flush(fd, i, bytes);
        if (write(pair[1], &byte, 1) != 1) {
            _exit(0);
        }
    }
    return pid;
}

/* One file, or two at once, as a commit at two targets does: until both are done. */
static void flush(const char *what, const char *dir, unsigned bytes, bool is_two)
{
    struct wio_histogram *times = calloc(1, sizeof(*times));
    int fds[2] = {preallocated(dir), is_two ? preallocated(dir) : -1};
    int pair[2];
    char byte = 0;
    pid_t pid = 0;
    if (times == NULL || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        stop("no sockets");
    }
    if (is_two) {
        pid = flush_beside(pair, fds[1], bytes);
    }
    (void)close(pair[1]);
    uint64_t begin_ns = wio_clock_mono_ns();
    uint64_t now_ns = begin_ns;
    for (uint64_t i = 0; now_ns - begin_ns < limit_ns; i++) {
        uint64_t before_ns = now_ns;
        if (is_two && write(pair[0], &byte, 1) != 1) {
            stop("the other process");
        }
        write_and_flush(fds[0], i, bytes);
        if (is_two && read(pair[0], &byte, 1) != 1) {
            stop("the other process");
        }
        now_ns = wio_clock_mono_ns();
        wio_histogram_add(times, now_ns - before_ns);
    }
    report(what, bytes, times, now_ns - begin_ns);
    (void)close(pair[0]);
    if (is_two) {
        (void)waitpid(pid, NULL, 0);
        (void)close(fds[1]);
    }
    (void)close(fds[0]);
    free(times);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: store_raw DIR [SECONDS-PER-CASE]\n");
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    limit_ns = argc > 2 ? (uint64_t)(strtod(argv[2], NULL) * 1e9) : limit_ns;
    echo("unix echo", false, 4096);
    echo("unix echo", false, LARGE);
    echo("tcp echo", true, 4096);
    flush("fdatasync", argv[1], 4096, false);
    flush("two fdatasyncs at once", argv[1], 4096, true);
    return 0;
}
