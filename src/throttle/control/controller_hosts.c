/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Conducting a run over several hosts. Each step begins with an exchange, in which all hosts look
 * at their threads; a thread stands still as it does on one host. But what is on its way from one
 * host to another is nowhere seen, and may move somebody who stands still. So a look at
 * which all stand still is followed by
 *
 * 1. an exchange in which each host says that all bytes that its threads sent have arrived: the
 *    kernel over there has them, and has woken who waits for them;
 * 2. more exchanges, until each thread has had time to show that it was woken.
 *
 * If all stand still all the time, nobody can move any more. A look, the question and another look
 * come one after the other, on all hosts: no clock of theirs is compared.
 */
#include "base/cleanup.h"
#include "throttle/control/controller_internal.h"

enum wio_status wio_conduct_exchange(struct wio_conduct *c, bool *news_out)
{
    struct wio_director_news news;
    bool wants_bytes = c->arrival == WIO_CONDUCT_ASKED;
    WIO_TRY(wio_director_exchange(c->params.director, wants_bytes, &news));
    if (news.lost != NULL && c->verdict == WIO_CONDUCT_GOOD) {
        wio_conduct_give_up(c, WIO_CONDUCT_GONE, WIO_NOBODY, news.lost_pid);
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

/* On one host: the ranks of a launch begin together, whatever else stands still. */
static bool has_launch_begun(const struct wio_conduct *c, uint32_t wave)
{
    for (uint32_t n = 0; n < c->params.roster->count; n++) {
        if (c->params.roster->nodes[n].wave == wave && c->nodes[n].node != NULL) {
            return true;
        }
    }
    return false;
}

/* Whom nobody here starts has to come as soon as his launch has begun. */
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
