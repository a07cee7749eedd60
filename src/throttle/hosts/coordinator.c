/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/hosts/coordinator_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"

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

/* What belongs to this run alone: its key, and its directory. */
static enum wio_status write_address(struct wio_director *director, const char *dir,
                                     struct wio_error *err)
{
    const struct wio_remote_listeners *listeners = wio_admission_listeners(director->admission);
    struct wio_remote_address address = {.count = listeners->count};
    memcpy(address.sockets, listeners->sockets, sizeof(address.sockets));
    wio_remote_place(address.place);
    WIO_TRY(name_directory(dir, address.dir, err));
    wio_remote_key_make(&address.key);
    wio_admission_begin(director->admission, &address.key);
    enum wio_status status = wio_remote_address_write(&address, director->address, err);
    wio_remote_key_forget(&address.key);
    return status;
}

enum wio_status wio_director_begin_run(struct wio_director *director,
                                       const struct wio_director_run *run, struct wio_error *err)
{
    wio_director_forget_peers(director);
    director->wave = 0;
    director->totals = (struct wio_director_totals){0};
    director->welcome =
        (struct wio_remote_welcome){.limit_ns = run->limit_ns, .first_grant = run->first_grant};
    return write_address(director, run->dir, err);
}

/* ---- registration ------------------------------------------------------------------------- */

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

/* Takes over the link where it returns WIO_OK. */
static enum wio_status add_peer(struct wio_director *director, const struct wio_remote_hello *hello,
                                const struct wio_remote_link *link)
{
    struct wio_director_peer *peers =
        reallocarray(director->peers, (size_t)director->peer_count + 1, sizeof(*peers));
    if (peers == NULL) {
        return WIO_ERR_NOMEM;
    }
    director->peers = peers;
    struct wio_director_peer peer = {.pid = hello->pid};
    WIO_TRY(find_host(director, hello->host, &peer.host));
    peer.places = calloc(WIO_BOARD_NODES, sizeof(*peer.places));
    if (peer.places == NULL) {
        return WIO_ERR_NOMEM;
    }
    director->wave += all_are_done(director) ? 1 : 0;
    peer.wave = director->wave;
    peer.link = *link;
    peers[director->peer_count] = peer;
    director->peer_count++;
    director->totals.recorders++;
    return WIO_OK;
}

static bool welcome(struct wio_director *director, struct wio_remote_link *link)
{
    wio_blob_clear(&director->body);
    return wio_remote_put_welcome(&director->body, &director->welcome) == WIO_OK &&
           wio_remote_send(link, WIO_REMOTE_WELCOME, &director->body, 0);
}

/* Those that have proven to be of the run. The others wait beside the work. */
static enum wio_status take_newcomers(struct wio_director *director)
{
    struct wio_remote_link link;
    struct wio_remote_hello hello;
    wio_admission_step(director->admission);
    while (wio_admission_next(director->admission, &link, &hello)) {
        enum wio_status status =
            welcome(director, &link) ? add_peer(director, &hello, &link) : WIO_END;
        if (status != WIO_OK) {
            wio_remote_link_fini(&link);
        }
        if (status == WIO_ERR_NOMEM) {
            return status;
        }
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
            director->grants[count++] = (struct wio_remote_grant){i, granted};
        }
    }
    return count;
}

static void ask(struct wio_director *director, struct wio_director_peer *peer, bool wants_bytes,
                struct wio_director_news *news)
{
    const struct wio_remote_ask question = {
        .is_over = __atomic_load_n(&director->board->is_over, __ATOMIC_SEQ_CST),
        .wants_bytes = wants_bytes ? 1 : 0,
        .count = collect_grants(director, peer)};
    news->has_granted = news->has_granted || question.count > 0;
    wio_blob_clear(&director->body);
    if (wio_remote_put_ask(&director->body, &question, director->grants) != WIO_OK ||
        !wio_remote_send(&peer->link, WIO_REMOTE_ASK, &director->body, WIO_REMOTE_SILENCE_NS)) {
        wio_director_lose(director, peer);
    }
}

/* A worker none of whose threads has registered counts as announced. */
static void count_births(struct wio_director *director)
{
    uint32_t announced = 0;
    uint32_t arrived = 0;
    for (uint32_t i = 0; i < director->peer_count; i++) {
        const struct wio_director_peer *peer = &director->peers[i];
        announced += peer->announced + (peer->count == 0 && peer->link.fd >= 0 ? 1 : 0);
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
        if (director->peers[i].link.fd >= 0) {
            ask(director, &director->peers[i], wants_bytes, news_out);
        }
    }
    /* One time for all: those that are well must not wait for each dead one in turn. */
    uint64_t until_ns = wio_clock_mono_ns() + WIO_REMOTE_SILENCE_NS / 2;
    for (uint32_t i = 0; i < director->peer_count; i++) {
        if (director->peers[i].link.fd >= 0) {
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
