/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quiescence of a run over several hosts. Each step begins with an exchange, in which all hosts
 * examine their threads; a thread is still as it is on one host. Bytes in flight between hosts are
 * seen by neither, and may wake a thread that is still. So when all threads are found still, there
 * follow
 *
 * 1. an exchange in which each host says that all bytes that its threads sent have arrived: the
 *    receiving kernel has them, and has woken the threads that wait for them;
 * 2. more exchanges, until each thread has had time to show that it was woken.
 *
 * If all threads stay still throughout, none can go on before a node is released. The steps are
 * consecutive on all hosts: clocks of different hosts are not compared.
 */
#include "base/cleanup.h"
#include "throttle/control/controller_internal.h"

enum wio_status wio_conduct_exchange(struct wio_conduct *c, bool *news_out)
{
    struct wio_director_news news;
    bool wants_bytes = c->arrival == WIO_CONDUCT_ASKED;
    WIO_TRY(wio_director_exchange(c->params.director, wants_bytes, &news));
    if (news.lost != NULL && c->verdict == WIO_CONDUCT_GOOD) {
        wio_conduct_give_up(c, WIO_CONDUCT_GONE, WIO_NO_PARTICIPANT, news.lost_pid);
        c->host = news.lost;
    }
    if (wants_bytes && !news.has_bytes) {
        c->arrival = WIO_CONDUCT_NONE;
    }
    *news_out = *news_out || news.has_granted;
    return WIO_OK;
}

static void mark(struct wio_conduct *c)
{
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        wio_watch_mark(&c->nodes[n]);
    }
}

static bool all_have_looked(const struct wio_conduct *c)
{
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        if (c->nodes[n].node != NULL && !wio_watch_has_looked(&c->nodes[n])) {
            return false;
        }
    }
    return true;
}

bool wio_conduct_is_settled(struct wio_conduct *c)
{
    switch (c->arrival) {
    case WIO_CONDUCT_UNKNOWN:
        c->arrival = WIO_CONDUCT_ASKED;
        return false;
    case WIO_CONDUCT_NONE:
        mark(c);
        c->arrival = WIO_CONDUCT_ARRIVED;
        return false;
    case WIO_CONDUCT_ARRIVED:
        return all_have_looked(c);
    case WIO_CONDUCT_ASKED:
        break; /* till the next exchange */
    }
    return false;
}

/* On one host: the ranks of a launch begin together, even if all other nodes are still. */
static bool has_launch_begun(const struct wio_conduct *c, uint32_t wave)
{
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        if (c->params.roster->nodes[n].wave == wave && c->nodes[n].node != NULL) {
            return true;
        }
    }
    return false;
}

/* A node that has no recorded parent must register as soon as its launch has begun. */
bool wio_conduct_awaits(const struct wio_conduct *c, uint32_t n)
{
    const struct wio_roster_node *node = &c->params.roster->nodes[n];
    if (node->wave == 0) {
        return !node->has_parent;
    }
    if (c->params.director == NULL) {
        return has_launch_begun(c, node->wave);
    }
    return node->wave == 1 || node->wave <= wio_director_wave(c->params.director);
}
