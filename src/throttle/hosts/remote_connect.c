/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/hosts/remote_connect.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/system/loopback.h"
#include "throttle/hosts/remote_handshake.h"

#define MILLISECOND_NS UINT64_C(1000000)
/* A coordinator with too many connections closes one that has not yet sent HELLO. */
#define TRIES_MAX 64u
#define PAUSE_NS (50 * MILLISECOND_NS)

/* An address that may be the coordinator's. */
struct candidate {
    const struct wio_remote_socket *socket;
    struct wio_remote_handshake shake;
    uint32_t tries;
    uint64_t again_ns; /* when to try it the next time; 0 = it is being tried */
    bool was_reached;
    bool is_over;
};

struct attempt {
    const struct wio_remote_key *key;
    const struct wio_remote_hello *hello;
    struct candidate candidates[WIO_REMOTE_SOCKETS_MAX];
    uint32_t count;
};

static void attempt_fini(struct attempt *attempt)
{
    for (uint32_t i = 0; i < attempt->count; i++) {
        wio_remote_handshake_fini(&attempt->candidates[i].shake);
    }
}

static void start(const struct attempt *attempt, struct candidate *candidate)
{
    const struct wio_remote_socket *at = candidate->socket;
    candidate->again_ns = 0;
    WIO_CLEANUP(wio_fd_cleanup)
    int fd = socket(at->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || (connect(fd, (const struct sockaddr *)&at->address, at->size) != 0 &&
                   errno != EINPROGRESS)) {
        candidate->is_over = true;
        return;
    }
    wio_remote_handshake_call(&candidate->shake, fd, attempt->key, attempt->hello);
    fd = -1;
}

/* Not reached: it is not there. Else it may have been full. */
static void retry(struct candidate *candidate)
{
    candidate->was_reached = candidate->was_reached || candidate->shake.at > WIO_REMOTE_AT_CONNECT;
    wio_remote_handshake_fini(&candidate->shake);
    candidate->is_over = !candidate->was_reached || ++candidate->tries == TRIES_MAX;
    candidate->again_ns = wio_clock_mono_ns() + candidate->tries * PAUSE_NS;
}

/* True: it is the coordinator. */
static bool step(const struct attempt *attempt, struct candidate *candidate)
{
    if (candidate->is_over) {
        return false;
    }
    if (candidate->again_ns != 0) {
        if (wio_clock_mono_ns() >= candidate->again_ns) {
            start(attempt, candidate);
        }
        return false;
    }
    enum wio_remote_step step = wio_remote_handshake_step(&candidate->shake);
    if (step == WIO_REMOTE_REFUSED) {
        retry(candidate);
    }
    return step == WIO_REMOTE_PROVEN;
}

/* Until one of them may go on. False: none can. */
static bool wait_for_any(const struct attempt *attempt)
{
    struct pollfd pollfds[WIO_REMOTE_SOCKETS_MAX];
    bool is_there = false;
    for (uint32_t i = 0; i < attempt->count; i++) {
        const struct candidate *candidate = &attempt->candidates[i];
        bool is_tried = !candidate->is_over && candidate->again_ns == 0;
        short events = candidate->shake.at == WIO_REMOTE_AT_CONNECT ? POLLOUT : POLLIN;
        pollfds[i] =
            (struct pollfd){.fd = is_tried ? candidate->shake.link.fd : -1, .events = events};
        is_there = is_there || !candidate->is_over;
    }
    if (is_there) {
        (void)poll(pollfds, attempt->count, (int)(PAUSE_NS / MILLISECOND_NS));
    }
    return is_there;
}

static enum wio_status give_up(const struct attempt *attempt, struct wio_error *err)
{
    char texts[WIO_REMOTE_SOCKETS_MAX * (INET6_ADDRSTRLEN + 16)] = "";
    bool was_reached = false;
    for (uint32_t i = 0; i < attempt->count; i++) {
        char text[INET6_ADDRSTRLEN + 8] = "";
        const struct wio_remote_socket *at = attempt->candidates[i].socket;
        size_t used = strlen(texts);
        (void)wio_remote_socket_text(at, text, sizeof(text));
        snprintf(texts + used, sizeof(texts) - used, "%sport %u of %s", used > 0 ? ", " : "",
                 (unsigned)wio_remote_socket_port(at), text);
        was_reached = was_reached || attempt->candidates[i].was_reached;
    }
    return wio_error_set(err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                         was_reached
                             ? "what answers at %s does not prove that it is the 'whyio record "
                               "--hosts' of this run"
                             : "cannot reach 'whyio record --hosts' at %s: it has ended, or no "
                               "network leads there (WHYIO_INTERFACE chooses one)",
                         texts[0] != '\0' ? texts : "a loopback address of another machine");
}

static void choose(const struct wio_remote_address *address, struct attempt *attempt)
{
    char here[WIO_REMOTE_PLACE_BYTES];
    wio_remote_place(here);
    bool is_here = here[0] != '\0' && strcmp(here, address->place) == 0;
    for (uint32_t i = 0; i < address->count; i++) {
        if (is_here || !wio_address_is_loopback(&address->sockets[i].address)) {
            attempt->candidates[attempt->count++] = (struct candidate){
                .socket = &address->sockets[i], .shake = {.link = {.fd = -1}}, .again_ns = 1};
        }
    }
}

enum wio_status wio_remote_connect(const struct wio_remote_address *address,
                                   const struct wio_remote_hello *hello,
                                   struct wio_remote_link *link_out, struct wio_error *err)
{
    struct attempt attempt WIO_CLEANUP(attempt_fini) = {.key = &address->key, .hello = hello};
    uint64_t until_ns = wio_clock_mono_ns() + WIO_REMOTE_SILENCE_NS;
    choose(address, &attempt);
    do {
        for (uint32_t i = 0; i < attempt.count; i++) {
            if (step(&attempt, &attempt.candidates[i])) {
                *link_out = attempt.candidates[i].shake.link;
                attempt.candidates[i].shake.link = (struct wio_remote_link){.fd = -1};
                return WIO_OK;
            }
        }
    } while (wait_for_any(&attempt) && wio_clock_mono_ns() < until_ns);
    return give_up(&attempt, err);
}
