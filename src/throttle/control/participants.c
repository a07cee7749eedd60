/* SPDX-License-Identifier: Apache-2.0 */
#include "throttle/control/participants.h"

#include <stdlib.h>
#include <string.h>

#include <whyio/trace.h>

#include "throttle/control/control_block.h"
#include "throttle/control/task_state.h"
#include "throttle/hosts/coordinator.h"

/* Processes between a node and the recorded one that started it: shells, wrappers. */
enum { ANCESTORS_MAX = 16 };

void wio_roster_fini(struct wio_roster *roster)
{
    free(roster->nodes);
    *roster = (struct wio_roster){0};
}

static uint32_t count_key(const struct wio_roster *roster, uint64_t key)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < roster->count; i++) {
        count += roster->nodes[i].key == key ? 1 : 0;
    }
    return count;
}

enum wio_status wio_roster_add(struct wio_roster *roster, const struct wio_board_node *node,
                               bool has_parent)
{
    struct wio_roster_node *nodes =
        reallocarray(roster->nodes, (size_t)roster->count + 1, sizeof(*nodes));
    if (nodes == NULL) {
        return WIO_ERR_NOMEM;
    }
    roster->nodes = nodes;
    nodes[roster->count] = (struct wio_roster_node){.key = node->key,
                                                    .nth = count_key(roster, node->key),
                                                    .rank = node->rank,
                                                    .pid = node->pid,
                                                    .tid = node->tid,
                                                    .host = node->host,
                                                    .ppid = node->ppid,
                                                    .has_parent = has_parent};
    roster->count++;
    return WIO_OK;
}

uint32_t wio_roster_find(const struct wio_roster *roster, const struct wio_board *board,
                         uint32_t place)
{
    uint64_t key = board->nodes[place].key;
    uint32_t nth = 0;
    for (uint32_t i = 0; i < place; i++) {
        nth += board->nodes[i].key == key ? 1 : 0;
    }
    for (uint32_t i = 0; i < roster->count; i++) {
        if (roster->nodes[i].key == key && roster->nodes[i].nth == nth) {
            return i;
        }
    }
    return WIO_NO_PARTICIPANT;
}

enum wio_status wio_roster_reseat(const struct wio_roster *roster, const struct wio_board *board,
                                  struct wio_roster *seated_out)
{
    *seated_out = (struct wio_roster){.count = roster->count, .director = roster->director};
    seated_out->nodes = calloc((size_t)roster->count + 1, sizeof(*seated_out->nodes));
    if (seated_out->nodes == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t n = 0; n < roster->count; n++) {
        seated_out->nodes[n] = roster->nodes[n];
        seated_out->nodes[n].pid = 0;
        seated_out->nodes[n].tid = 0;
    }
    uint32_t count = wio_board_count(board);
    for (uint32_t place = 0; place < count; place++) {
        uint32_t n = wio_roster_find(roster, board, place);
        if (n != WIO_NO_PARTICIPANT) {
            seated_out->nodes[n].pid = board->nodes[place].pid;
            seated_out->nodes[n].tid = board->nodes[place].tid;
            seated_out->nodes[n].host = board->nodes[place].host;
            seated_out->nodes[n].ops = wio_board_asked(&board->nodes[place]);
        }
    }
    return WIO_OK;
}

bool wio_roster_is(const struct wio_roster *roster, uint32_t node,
                   const struct wio_process_info *process, int32_t tid)
{
    const struct wio_roster_node *it = &roster->nodes[node];
    const char *host =
        roster->director != NULL ? wio_director_host(roster->director, it->host) : NULL;
    return it->pid == process->pid && it->tid == tid &&
           (host == NULL || strcmp(host, process->host) == 0);
}

static bool is_on_board(const struct wio_board *board, uint32_t places, int32_t pid)
{
    for (uint32_t i = 0; i < places; i++) {
        if (board->nodes[i].pid == pid) {
            return true;
        }
    }
    return false;
}

bool wio_roster_has_parent(const struct wio_board *board, uint32_t place, int32_t *through_out)
{
    const struct wio_board_node *node = &board->nodes[place];
    *through_out = 0;
    if (node->parent != 0 || is_on_board(board, place, node->pid)) {
        return true;
    }
    int32_t through = 0;
    int32_t pid = node->ppid;
    for (unsigned i = 0; pid > 1 && i < ANCESTORS_MAX; i++) {
        if (is_on_board(board, place, pid)) {
            *through_out = through;
            return true;
        }
        through = pid;
        pid = wio_task_parent(pid);
    }
    return false;
}

/* ---- launches on one host ----------------------------------------------------------------- */

static bool is_launched(const struct wio_roster_node *node)
{
    return node->launcher != 0 && node->rank >= 0;
}

static bool have_one_parent(const struct wio_roster_node *a, const struct wio_roster_node *b)
{
    return a->ppid == b->ppid && a->launcher == b->launcher;
}

/* The wave of those before node `n` that its parent started; 0 = it is the first. */
static uint32_t wave_of_parent(const struct wio_roster *roster, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (is_launched(&roster->nodes[i]) &&
            have_one_parent(&roster->nodes[i], &roster->nodes[n])) {
            return roster->nodes[i].wave;
        }
    }
    return 0;
}

static uint32_t latest_wave(const struct wio_roster *roster, uint32_t n)
{
    for (uint32_t i = n; i > 0; i--) {
        const struct wio_roster_node *node = &roster->nodes[i - 1];
        if (is_launched(node) && node->launcher == roster->nodes[n].launcher) {
            return node->wave;
        }
    }
    return 0;
}

static bool has_rank(const struct wio_roster *roster, uint32_t before, uint32_t wave, int32_t rank)
{
    for (uint32_t i = 0; i < before; i++) {
        if (roster->nodes[i].wave == wave && roster->nodes[i].rank == rank) {
            return true;
        }
    }
    return false;
}

/* Each launch has its ranks from 0, so two have one in common; the parts of one have none. */
static bool is_another_launch(const struct wio_roster *roster, uint32_t n, uint32_t wave)
{
    for (uint32_t i = n; i < roster->count; i++) {
        const struct wio_roster_node *node = &roster->nodes[i];
        if (is_launched(node) && have_one_parent(node, &roster->nodes[n]) &&
            has_rank(roster, n, wave, node->rank)) {
            return true;
        }
    }
    return false;
}

/* mpirun and the proxies of MPICH are one per launch and host, but what is above them may start
 * many launches; and a wrapper that is not recorded may stand between them and each rank. */
void wio_roster_find_launches(struct wio_roster *roster)
{
    uint32_t waves = 0;
    for (uint32_t n = 0; n < roster->count; n++) {
        if (!is_launched(&roster->nodes[n])) {
            continue;
        }
        uint32_t wave = wave_of_parent(roster, n);
        if (wave == 0) {
            wave = latest_wave(roster, n);
            wave = wave != 0 && is_another_launch(roster, n, wave) ? 0 : wave;
        }
        roster->nodes[n].wave = wave != 0 ? wave : ++waves;
    }
}
