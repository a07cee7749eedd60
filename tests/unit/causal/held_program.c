/* SPDX-License-Identifier: Apache-2.0 */
#include "held_program.h"

#include "support/unit.h"

static void act(struct program *p, uint32_t node, enum action action, uint32_t peer)
{
    assert_true(p->count[node] < ACTIONS);
    p->action[node][p->count[node]] = action;
    p->peer[node][p->count[node]++] = peer;
}

static void message(struct program *p, uint32_t from, uint32_t to)
{
    act(p, from, DO_SEND, to);
    act(p, to, DO_RECEIVE, from);
}

static void make_chain(struct program *p, uint64_t *seed)
{
    (void)seed;
    for (uint32_t n = 0; n < p->nodes; n++) {
        act(p, n, DO_IO, 0);
        act(p, n, DO_IO, 0);
        if (n + 1 < p->nodes) {
            message(p, n, n + 1);
        }
    }
}

static void make_halo(struct program *p, uint64_t *seed)
{
    (void)seed;
    for (unsigned round = 0; round < 3; round++) {
        for (uint32_t n = 0; n < p->nodes; n++) {
            act(p, n, DO_IO, 0);
            act(p, n, DO_SEND, (n + 1) % p->nodes);
            act(p, n, DO_SEND, (n + p->nodes - 1) % p->nodes);
        }
        for (uint32_t n = 0; n < p->nodes; n++) {
            act(p, n, DO_RECEIVE, (n + 1) % p->nodes);
            act(p, n, DO_RECEIVE, (n + p->nodes - 1) % p->nodes);
            act(p, n, DO_IO, 0);
        }
    }
}

static void make_gather(struct program *p, uint64_t *seed)
{
    (void)seed;
    for (unsigned round = 0; round < 3; round++) {
        for (uint32_t n = 1; n < p->nodes; n++) {
            act(p, n, DO_IO, 0);
            message(p, n, 0);
        }
        act(p, 0, DO_IO, 0);
    }
}

static void make_barriers(struct program *p, uint64_t *seed)
{
    for (unsigned round = 0; round < 3; round++) {
        for (uint32_t n = 0; n < p->nodes; n++) {
            for (uint64_t i = wio_test_random(seed) % 3; i > 0; i--) {
                act(p, n, DO_IO, 0);
            }
        }
        for (uint32_t n = 1; n < p->nodes; n++) {
            message(p, n, 0);
        }
        for (uint32_t n = 1; n < p->nodes; n++) {
            message(p, 0, n);
        }
    }
    for (uint32_t n = 0; n < p->nodes; n++) {
        act(p, n, DO_IO, 0);
    }
}

/* Messages are received in the order of one imagined run, so no thread can wait for ever. */
static void make_random(struct program *p, uint64_t *seed)
{
    for (uint32_t i = 0; i < p->nodes * 12; i++) {
        uint32_t from = (uint32_t)(wio_test_random(seed) % p->nodes);
        uint32_t to = (uint32_t)(wio_test_random(seed) % p->nodes);
        if (from == to || wio_test_random(seed) % 2 == 0) {
            act(p, from, DO_IO, 0);
        } else {
            message(p, from, to);
        }
    }
}

void make_locks(struct program *p, uint64_t *seed)
{
    for (uint32_t i = 0; i < p->nodes * 6; i++) {
        uint32_t from = (uint32_t)(wio_test_random(seed) % p->nodes);
        uint32_t to = (uint32_t)(wio_test_random(seed) % p->nodes);
        act(p, from, DO_LOCK, 0);
        if (wio_test_random(seed) % 3 != 0) {
            act(p, from, DO_IO, 0);
        }
        act(p, from, DO_UNLOCK, 0);
        if (from != to && wio_test_random(seed) % 2 == 0) {
            message(p, from, to);
        }
    }
}

const struct held_shape held_shapes[HELD_SHAPES] = {
    {"chain", make_chain, false},   {"halo", make_halo, false},
    {"gather", make_gather, false}, {"barriers", make_barriers, true},
    {"random", make_random, true},
};
