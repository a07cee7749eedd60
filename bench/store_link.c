/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a request of the store costs over its protocol, connections and server, with data in
 * memory: a client with one request under way at a time, beside an echo of as many bytes by
 * read(2) and write(2) over the same kind of socket. Client and server are two processes on one
 * CPU. p50 and rate of each, and the ratio to the echo of the same run.
 *
 *     store_link SOCKET-DIR [SECONDS-PER-CASE]
 */
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "store/net/net.h"
#include "store/session/target.h"
#include "store/session/targets.h"
#include "support/store/memory_backing.h"

enum { SAMPLES = 2000000, REPLY_BYTES = 135, SMALL = 4096, LARGE = 65536 };

static uint32_t samples[SAMPLES];
static uint64_t limit_ns = UINT64_C(2000000000);
static char address[200];
static const char *addresses[1] = {address};

static void stop(const char *what)
{
    fprintf(stderr, "store_link: %s\n", what);
    exit(1);
}

static void pin(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(0, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0) {
        stop("cannot pin to CPU 0");
    }
}

static int by_size(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a;
    uint32_t y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Its median. */
static double report(const char *name, size_t count, uint64_t ns, uint32_t bytes, double echo_us)
{
    qsort(samples, count, sizeof(samples[0]), by_size);
    double p50_us = samples[count / 2] / 1e3;
    printf("%-28s %9.0f/s  p50 %7.2f us  p99 %8.2f us  %6.2f GB/s", name,
           (double)count * 1e9 / (double)ns, p50_us, samples[count * 99 / 100] / 1e3,
           (double)count * bytes / (double)ns);
    if (echo_us > 0) {
        printf("  %.2f x the echo", p50_us / echo_us);
    }
    printf("\n");
    return p50_us;
}

/* ---- the echo ------------------------------------------------------------------------------ */

static void move_all(int fd, uint8_t *bytes, size_t size, bool is_read)
{
    for (size_t done = 0; done < size;) {
        ssize_t part =
            is_read ? read(fd, bytes + done, size - done) : write(fd, bytes + done, size - done);
        if (part <= 0) {
            _exit(0);
        }
        done += (size_t)part;
    }
}

static double echo(uint32_t bytes)
{
    static uint8_t data[LARGE + 256];
    char name[64];
    int pair[2];
    size_t count = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        stop("no sockets");
    }
    pid_t pid = fork();
    if (pid == 0) {
        (void)close(pair[0]);
        for (;;) {
            move_all(pair[1], data, bytes + 100, true);
            move_all(pair[1], data, REPLY_BYTES, false);
        }
    }
    (void)close(pair[1]);
    uint64_t begin_ns = wio_clock_mono_ns();
    uint64_t now_ns = begin_ns;
    while (now_ns - begin_ns < limit_ns && count < SAMPLES) {
        uint64_t before_ns = now_ns;
        move_all(pair[0], data, bytes + 100, false);
        move_all(pair[0], data, REPLY_BYTES, true);
        now_ns = wio_clock_mono_ns();
        samples[count++] = (uint32_t)(now_ns - before_ns);
    }
    (void)close(pair[0]);
    (void)waitpid(pid, NULL, 0);
    snprintf(name, sizeof(name), "echo, %u bytes", bytes);
    return report(name, count, now_ns - begin_ns, bytes, 0);
}

/* ---- the store ----------------------------------------------------------------------------- */

static void serve(const struct wio_link_config *link)
{
    static struct memory_backing memory;
    struct wio_net *net = NULL;
    struct wio_target *target = NULL;
    struct wio_error err = WIO_ERROR_INIT;
    struct wio_target_config config = {.link = *link, .addresses = addresses};
    memory_backing_init(&memory);
    config.server = (struct wio_server_config){.targets = 1,
                                               .policy = WIO_LOCK_WOUND_WAIT,
                                               .clients_max = 64,
                                               .txns_max = 256,
                                               .calls_max = 256,
                                               .locks_max = 4096,
                                               .outcomes_max = 4096,
                                               .txn_bytes_max = 1 << 24,
                                               .update_bytes_max = 1 << 26,
                                               .backing = &memory.base};
    if (wio_net_create(NULL, &net, &err) != WIO_OK ||
        wio_target_create(wio_net_io(net), &config, &target, &err) != WIO_OK ||
        wio_target_listen(target, address, NULL, &err) != WIO_OK) {
        stop(err.message);
    }
    wio_net_run(net);
}

struct bench_client {
    struct wio_net *net;
    struct wio_targets *targets;
    const uint8_t *data;
    uint32_t bytes;
    uint64_t number;
    uint64_t sent_ns;
    uint64_t begin_ns;
    size_t count;
    bool is_over;
};

static void ask(struct bench_client *client)
{
    client->number++;
    client->sent_ns = wio_clock_mono_ns();
    const struct wio_store_request request = {
        .op = WIO_STORE_WRITE,
        .flags = WIO_STORE_FLAG_SINGLE,
        .number = client->number,
        .txn = {9, client->number, client->sent_ns, 1},
        .file = 1,
        .offset = client->number % 16 * client->bytes,
        .data = client->data,
        .data_size = client->bytes,
    };
    if (!wio_targets_send(client->targets, 0, &request)) {
        stop("a request could not be sent");
    }
}

static void back(void *context, uint16_t target, bool is_known)
{
    struct bench_client *client = context;
    (void)target;
    (void)is_known;
    client->begin_ns = wio_clock_mono_ns();
    ask(client);
}

static void reply(void *context, uint16_t target, const struct wio_store_reply *said)
{
    struct bench_client *client = context;
    uint64_t now_ns = wio_clock_mono_ns();
    (void)target;
    if (said->result != WIO_STORE_OK) {
        stop("a request failed");
    }
    samples[client->count++] = (uint32_t)(now_ns - client->sent_ns);
    if (client->count == SAMPLES || now_ns - client->begin_ns > limit_ns) {
        client->is_over = true;
        wio_net_stop(client->net);
    } else {
        ask(client);
    }
}

static void push(void *context, uint16_t target, const struct wio_store_push *said)
{
    (void)context;
    (void)target;
    (void)said;
}

static void store(uint32_t bytes, bool has_key, double echo_us)
{
    static uint8_t data[LARGE];
    static const struct wio_targets_events events = {.back = back, .reply = reply, .push = push};
    struct wio_link_config link = {.limits = wio_link_limits_default};
    const struct wio_wire_hello hello = {.client = 9};
    struct bench_client client = {.data = data, .bytes = bytes};
    struct wio_error err = WIO_ERROR_INIT;
    char name[64];
    link.auth = has_key ? WIO_WIRE_AUTH_KEY : WIO_WIRE_AUTH_OPEN;
    pid_t pid = fork();
    if (pid == 0) {
        serve(&link);
        _exit(0);
    }
    if (wio_net_create(NULL, &client.net, &err) != WIO_OK ||
        wio_targets_create(wio_net_io(client.net), &link, &hello, addresses, 1, &events, &client,
                           &client.targets, &err) != WIO_OK) {
        stop(err.message);
    }
    wio_net_run(client.net);
    uint64_t took_ns = wio_clock_mono_ns() - client.begin_ns;
    wio_targets_destroy(client.targets);
    wio_net_destroy(client.net);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    snprintf(name, sizeof(name), "store, %u bytes%s", bytes, has_key ? ", key" : "");
    (void)report(name, client.count, took_ns, bytes, echo_us);
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        stop("usage: store_link SOCKET-DIR [SECONDS-PER-CASE]");
    }
    if (argc > 2) {
        limit_ns = strtoull(argv[2], NULL, 10) * UINT64_C(1000000000);
    }
    snprintf(address, sizeof(address), "unix:%s/store_link.%d", argv[1], (int)getpid());
    (void)signal(SIGPIPE, SIG_IGN);
    bool has_keys = wio_link_keys_begin(NULL) == WIO_OK;
    pin();
    for (unsigned i = 0; i < 2; i++) {
        uint32_t bytes = i == 0 ? SMALL : LARGE;
        double echo_us = echo(bytes);
        store(bytes, false, echo_us);
        if (has_keys) {
            store(bytes, true, echo_us);
        }
    }
    (void)unlink(address + strlen("unix:"));
    return 0;
}
