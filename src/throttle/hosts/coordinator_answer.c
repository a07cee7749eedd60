/* SPDX-License-Identifier: Apache-2.0 */
/* The part of throttle/hosts/coordinator.h about what the recorders of the hosts say. */
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "throttle/hosts/coordinator_internal.h"

void wio_director_lose(struct wio_director *director, struct wio_director_peer *peer)
{
    wio_remote_link_fini(&peer->link);
    if (director->totals.lost == NULL) {
        director->totals.lost = wio_director_host(director, peer->host);
        director->totals.lost_pid = peer->pid;
    }
}

/* False: the board is full, which its count tells. */
static bool take_place(struct wio_director *director, struct wio_director_peer *peer,
                       const struct wio_remote_node *told)
{
    struct wio_board *board = director->board;
    uint32_t place = __atomic_fetch_add(&board->node_count, 1, __ATOMIC_SEQ_CST);
    if (place >= WIO_BOARD_NODES) {
        return false;
    }
    struct wio_board_node *node = &board->nodes[place];
    *node = (struct wio_board_node){.pid = told->pid,
                                    .tid = told->tid,
                                    .rank = told->rank,
                                    .host = peer->host,
                                    .key = told->key,
                                    .parent = told->parent,
                                    .granted = director->welcome.first_grant};
    director->told[place] = director->welcome.first_grant;
    peer->places[peer->count++] = place;
    __atomic_store_n(&node->is_used, 1, __ATOMIC_RELEASE);
    return true;
}

static void take_node(struct wio_director *director, const struct wio_director_peer *peer,
                      uint32_t place, const struct wio_remote_node *told, uint64_t now_ns)
{
    struct wio_board_node *node = &director->board->nodes[place];
    director->looks[place] =
        (struct wio_director_look){.task = {.is_there = (told->flags & WIO_REMOTE_IS_THERE) != 0,
                                            .is_asleep = (told->flags & WIO_REMOTE_IS_ASLEEP) != 0,
                                            .is_timed = (told->flags & WIO_REMOTE_IS_TIMED) != 0,
                                            .run_ns = told->run_ns},
                                   .now_ns = now_ns,
                                   .has_process = (told->flags & WIO_REMOTE_HAS_PROCESS) != 0,
                                   .has_parent = (told->flags & WIO_REMOTE_HAS_PARENT) != 0,
                                   .wave = peer->wave};
    __atomic_store_n(&node->rank, told->rank, __ATOMIC_RELAXED);
    __atomic_store_n(&node->asked, told->asked, __ATOMIC_SEQ_CST);
    __atomic_store_n(&node->word, told->word, __ATOMIC_SEQ_CST);
}

static void take_totals(struct wio_director *director, const struct wio_remote_answer *answer)
{
    struct wio_director_totals *totals = &director->totals;
    totals->seal.rings += answer->rings;
    totals->seal.events += answer->events;
    totals->seal.dropped += answer->dropped;
    totals->seal.bytes += answer->bytes;
    for (size_t i = 0; i < WIO_ARRAY_SIZE(answer->unseen); i++) {
        totals->seal.unseen[i] += answer->unseen[i];
    }
    totals->is_unsealed = totals->is_unsealed || (answer->flags & WIO_REMOTE_IS_UNSEALED) != 0;
    totals->exit_status = totals->exit_status != 0 ? totals->exit_status : answer->exit_status;
}

static bool take_answer(struct wio_director *director, struct wio_director_peer *peer,
                        struct wio_buf *body, struct wio_remote_answer *answer)
{
    if (wio_remote_get_answer(body, answer) != WIO_OK || answer->count < peer->count) {
        return false;
    }
    for (uint32_t i = 0; i < answer->count; i++) {
        struct wio_remote_node told;
        if (wio_remote_get_node(body, &told) != WIO_OK) {
            return false;
        }
        if (i >= peer->count && !take_place(director, peer, &told)) {
            break;
        }
        take_node(director, peer, peer->places[i], &told, answer->now_ns);
    }
    return true;
}

void wio_director_hear(struct wio_director *director, struct wio_director_peer *peer,
                       uint64_t until_ns, struct wio_director_news *news)
{
    struct wio_remote_answer answer;
    struct wio_board *board = director->board;
    uint64_t now_ns = wio_clock_mono_ns();
    uint64_t limit_ns = until_ns > now_ns ? until_ns - now_ns : 0;
    struct wio_buf body;
    if (wio_remote_receive(&peer->link, WIO_REMOTE_ANSWER, limit_ns, &body) != WIO_REMOTE_MESSAGE ||
        !take_answer(director, peer, &body, &answer)) {
        wio_director_lose(director, peer);
        return;
    }
    peer->announced = answer.announced;
    peer->arrived = answer.arrived;
    news->has_bytes = news->has_bytes || (answer.flags & WIO_REMOTE_HAS_BYTES) != 0;
    if ((answer.flags & WIO_REMOTE_IS_OVERFULL) != 0) {
        __atomic_store_n(&board->node_count, WIO_BOARD_NODES + 1, __ATOMIC_SEQ_CST);
    }
    if ((answer.flags & WIO_REMOTE_IS_LOST) != 0) {
        __atomic_store_n(&board->is_over, 1, __ATOMIC_SEQ_CST);
    }
    if ((answer.flags & WIO_REMOTE_IS_DONE) != 0) {
        take_totals(director, &answer);
        peer->is_done = true;
        wio_remote_link_fini(&peer->link);
    }
}
