/* SPDX-License-Identifier: Apache-2.0 */
#include "record/director_internal.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"

/* A stranger that connects and says nothing holds everybody up for so long, and more of them at
 * one time less than twice as long. */
#define HELLO_NS UINT64_C(2000000000)

/* ---- life --------------------------------------------------------------------------------- */

enum wio_status wio_director_create(struct wio_board *board, struct wio_director **director_out,
                                    struct wio_error *err)
{
    struct wio_director *director = calloc(1, sizeof(*director));
    *director_out = director;
    if (director == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    director->board = board;
    director->listener = -1;
    director->looks = calloc(WIO_BOARD_NODES, sizeof(*director->looks));
    director->told = calloc(WIO_BOARD_NODES, sizeof(*director->told));
    director->grants = calloc(WIO_BOARD_NODES, sizeof(*director->grants));
    if (director->looks == NULL || director->told == NULL || director->grants == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    return wio_far_listen(&director->listener, director->token, director->address, err);
}

static void forget_peers(struct wio_director *director)
{
    for (uint32_t i = 0; i < director->peer_count; i++) {
        wio_fd_cleanup(&director->peers[i].fd);
        free(director->peers[i].places);
    }
    free(director->peers);
    director->peers = NULL;
    director->peer_count = 0;
}

void wio_director_destroy(struct wio_director *director)
{
    if (director != NULL) {
        forget_peers(director);
        wio_fd_cleanup(&director->listener);
        wio_far_message_fini(&director->message);
        for (uint32_t i = 0; i < director->host_count; i++) {
            free(director->hosts[i]);
        }
        free(director->hosts);
        free(director->looks);
        free(director->told);
        free(director->grants);
        free(director);
    }
}

const char *wio_director_address(const struct wio_director *director)
{
    return director->address;
}

int wio_director_listener(const struct wio_director *director)
{
    return director->listener;
}

const char *wio_director_host(const struct wio_director *director, uint32_t host)
{
    return host > 0 && host <= director->host_count ? director->hosts[host - 1] : NULL;
}

const struct wio_director_look *wio_director_look(const struct wio_director *director,
                                                  uint32_t place)
{
    return &director->looks[place];
}

uint32_t wio_director_wave(const struct wio_director *director)
{
    return director->wave;
}

/* Absolute: others have other working directories. */
static enum wio_status name_directory(const char *dir, char out[PATH_MAX], struct wio_error *err)
{
    char here[PATH_MAX] = "";
    if (dir[0] != '/' && getcwd(here, sizeof(here)) == NULL) {
        return wio_error_sys(err, dir, "cannot tell where the trace directory is");
    }
    int size = snprintf(out, PATH_MAX, "%s%s%s", here, here[0] != '\0' ? "/" : "", dir);
    return size < PATH_MAX ? WIO_OK
                           : wio_error_set(err, WIO_ERR_USAGE, dir, WIO_ERROR_NO_OFFSET,
                                           "expected a shorter name for the trace directory");
}

enum wio_status wio_director_begin_run(struct wio_director *director,
                                       const struct wio_director_run *run, struct wio_error *err)
{
    forget_peers(director);
    director->wave = 0;
    director->totals = (struct wio_director_totals){0};
    director->welcome =
        (struct wio_far_welcome){.limit_ns = run->limit_ns, .first_grant = run->first_grant};
    return name_directory(run->dir, director->welcome.dir, err);
}

/* ---- who comes ---------------------------------------------------------------------------- */

static enum wio_status find_host(struct wio_director *director, const char *name,
                                 uint32_t *host_out)
{
    for (uint32_t i = 0; i < director->host_count; i++) {
        if (strcmp(director->hosts[i], name) == 0) {
            *host_out = i + 1;
            return WIO_OK;
        }
    }
    char **hosts = reallocarray(director->hosts, (size_t)director->host_count + 1, sizeof(*hosts));
    if (hosts == NULL) {
        return WIO_ERR_NOMEM;
    }
    director->hosts = hosts;
    hosts[director->host_count] = strdup(name);
    if (hosts[director->host_count] == NULL) {
        return WIO_ERR_NOMEM;
    }
    director->host_count++;
    *host_out = director->host_count;
    return WIO_OK;
}

static bool all_are_done(const struct wio_director *director)
{
    for (uint32_t i = 0; i < director->peer_count; i++) {
        if (!director->peers[i].is_done) {
            return false;
        }
    }
    return true;
}

static enum wio_status add_peer(struct wio_director *director, const struct wio_far_hello *hello,
                                int *fd)
{
    struct wio_director_peer *peers =
        reallocarray(director->peers, (size_t)director->peer_count + 1, sizeof(*peers));
    if (peers == NULL) {
        return WIO_ERR_NOMEM;
    }
    director->peers = peers;
    struct wio_director_peer peer = {.fd = -1, .pid = hello->pid};
    WIO_TRY(find_host(director, hello->host, &peer.host));
    peer.places = calloc(WIO_BOARD_NODES, sizeof(*peer.places));
    if (peer.places == NULL) {
        return WIO_ERR_NOMEM;
    }
    director->wave += all_are_done(director) ? 1 : 0;
    peer.wave = director->wave;
    peer.fd = *fd;
    *fd = -1;
    peers[director->peer_count] = peer;
    director->peer_count++;
    director->totals.recorders++;
    return WIO_OK;
}

/* Somebody connects: one of ours? */
static enum wio_status welcome(struct wio_director *director, int *fd)
{
    struct wio_far_hello hello;
    const int yes = 1;
    (void)setsockopt(*fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    if (!wio_far_receive(*fd, WIO_FAR_HELLO, sizeof(hello), HELLO_NS, &director->message)) {
        return WIO_OK;
    }
    memcpy(&hello, director->message.data, sizeof(hello));
    hello.token[sizeof(hello.token) - 1] = '\0';
    hello.host[sizeof(hello.host) - 1] = '\0';
    if (strcmp(hello.token, director->token) != 0 ||
        !wio_far_send(*fd, WIO_FAR_WELCOME, &director->welcome, sizeof(director->welcome), NULL,
                      0)) {
        return WIO_OK;
    }
    return add_peer(director, &hello, fd);
}

/* Whom time does not suffice for comes in at the next exchange. */
static enum wio_status take_newcomers(struct wio_director *director)
{
    uint64_t until_ns = wio_clock_mono_ns() + HELLO_NS;
    while (wio_clock_mono_ns() < until_ns) {
        WIO_CLEANUP(wio_fd_cleanup)
        int fd = accept4(director->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0) {
            return WIO_OK;
        }
        WIO_TRY(welcome(director, &fd));
    }
    return WIO_OK;
}

/* ---- what they are told ------------------------------------------------------------------- */

static uint32_t collect_grants(struct wio_director *director, const struct wio_director_peer *peer)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < peer->count; i++) {
        uint32_t place = peer->places[i];
        uint32_t granted =
            __atomic_load_n(&director->board->nodes[place].granted, __ATOMIC_SEQ_CST);
        if (granted != director->told[place]) {
            director->told[place] = granted;
            director->grants[count++] = (struct wio_far_grant){i, granted};
        }
    }
    return count;
}

static void ask(struct wio_director *director, struct wio_director_peer *peer, bool wants_bytes,
                struct wio_director_news *news)
{
    struct wio_far_ask question = {.is_over =
                                       __atomic_load_n(&director->board->is_over, __ATOMIC_SEQ_CST),
                                   .wants_bytes = wants_bytes ? 1 : 0,
                                   .count = collect_grants(director, peer)};
    news->has_granted = news->has_granted || question.count > 0;
    if (!wio_far_send(peer->fd, WIO_FAR_ASK, &question, sizeof(question), director->grants,
                      question.count * sizeof(*director->grants))) {
        wio_director_lose(director, peer);
    }
}

/* A recorder whose command has not yet said a word is one that is about to be made. */
static void count_births(struct wio_director *director)
{
    uint32_t announced = 0;
    uint32_t arrived = 0;
    for (uint32_t i = 0; i < director->peer_count; i++) {
        const struct wio_director_peer *peer = &director->peers[i];
        announced += peer->announced + (peer->count == 0 && peer->fd >= 0 ? 1 : 0);
        arrived += peer->arrived;
    }
    __atomic_store_n(&director->board->announced, announced, __ATOMIC_SEQ_CST);
    __atomic_store_n(&director->board->arrived, arrived, __ATOMIC_SEQ_CST);
}

enum wio_status wio_director_exchange(struct wio_director *director, bool wants_bytes,
                                      struct wio_director_news *news_out)
{
    *news_out = (struct wio_director_news){0};
    WIO_TRY(take_newcomers(director));
    for (uint32_t i = 0; i < director->peer_count; i++) {
        if (director->peers[i].fd >= 0) {
            ask(director, &director->peers[i], wants_bytes, news_out);
        }
    }
    /* One time for all: those that are well must not wait for each dead one in turn. */
    uint64_t until_ns = wio_clock_mono_ns() + WIO_FAR_SILENCE_NS / 2;
    for (uint32_t i = 0; i < director->peer_count; i++) {
        if (director->peers[i].fd >= 0) {
            wio_director_hear(director, &director->peers[i], until_ns, news_out);
        }
    }
    count_births(director);
    news_out->lost = director->totals.lost;
    news_out->lost_pid = director->totals.lost_pid;
    return WIO_OK;
}

void wio_director_end_run(struct wio_director *director, struct wio_director_totals *totals_out)
{
    for (uint32_t i = 0; i < director->peer_count; i++) {
        if (!director->peers[i].is_done) {
            wio_director_lose(director, &director->peers[i]);
        }
    }
    *totals_out = director->totals;
}
