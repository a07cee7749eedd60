/* SPDX-License-Identifier: Apache-2.0 */
#include "plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static void add(struct plan *plan, enum step_kind kind, int actor, int peer, int round)
{
    if (plan->count < MAX_STEPS) {
        plan->steps[plan->count] = (struct step){kind, actor, peer, round};
    }
    plan->count++;
}

static void transfer(struct plan *plan, int from, int to, int round)
{
    add(plan, STEP_SEND, from, to, round);
    add(plan, STEP_RECV, to, from, round);
}

static unsigned draw(uint64_t *state, unsigned below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*state >> 33) % below;
}

static void chain(struct plan *plan, int round, uint64_t *state)
{
    (void)state;
    for (int i = 0; i + 1 < plan->actors; i++) {
        transfer(plan, i, i + 1, round);
    }
}

static void ring(struct plan *plan, int round, uint64_t *state)
{
    chain(plan, round, state);
    transfer(plan, plan->actors - 1, 0, round);
}

static void halo(struct plan *plan, int round, uint64_t *state)
{
    (void)state;
    for (int i = 0; i < plan->actors; i++) {
        for (int side = -1; side <= 1; side += 2) {
            if (i + side >= 0 && i + side < plan->actors) {
                add(plan, STEP_SEND, i, i + side, round);
            }
        }
    }
    for (int i = 0; i < plan->actors; i++) {
        for (int side = -1; side <= 1; side += 2) {
            if (i + side >= 0 && i + side < plan->actors) {
                add(plan, STEP_RECV, i, i + side, round);
            }
        }
    }
}

static void gather(struct plan *plan, int round, uint64_t *state)
{
    (void)state;
    for (int i = 1; i < plan->actors; i++) {
        transfer(plan, i, 0, round);
    }
}

static void scatter(struct plan *plan, int round, uint64_t *state)
{
    (void)state;
    for (int i = 1; i < plan->actors; i++) {
        transfer(plan, 0, i, round);
    }
}

/* Pairs by chance; what was sent arrives later by chance, in the order of its channel. */
static void by_chance(struct plan *plan, int round, uint64_t *state)
{
    struct {
        int from, to;
    } under_way[2 * MAX_ACTORS];
    int count = 0;
    for (int left = plan->actors; left > 0 || count > 0;) {
        if (left > 0 && (count == 0 || draw(state, 2) == 0)) {
            int from = (int)draw(state, (unsigned)plan->actors);
            int to = (from + 1 + (int)draw(state, (unsigned)plan->actors - 1)) % plan->actors;
            add(plan, STEP_SEND, from, to, round);
            under_way[count].from = from;
            under_way[count++].to = to;
            left--;
            continue;
        }
        int which = (int)draw(state, (unsigned)count);
        for (int i = 0; i < which; i++) {
            if (under_way[i].from == under_way[which].from &&
                under_way[i].to == under_way[which].to) {
                which = i;
            }
        }
        add(plan, STEP_RECV, under_way[which].to, under_way[which].from, round);
        memmove(&under_way[which], &under_way[which + 1],
                (size_t)(count - which - 1) * sizeof(under_way[0]));
        count--;
    }
}

static void all(struct plan *plan, int round, uint64_t *state)
{
    int root = (int)draw(state, (unsigned)plan->actors);
    for (int i = 0; i < plan->actors; i++) {
        add(plan, STEP_ALL, i, root, round);
    }
}

static void lock(struct plan *plan, int round, uint64_t *state)
{
    (void)state;
    for (int i = 0; i < plan->actors; i++) {
        add(plan, STEP_LOCK, i, i, round);
    }
}

/* Actor 0 puts, the others take: each as much. */
static void queue(struct plan *plan, int round, uint64_t *state)
{
    (void)state;
    for (int i = 1; i < plan->actors; i++) {
        add(plan, STEP_PUT, 0, i, round);
        add(plan, STEP_TAKE, i, 0, round);
    }
}

int plan_make(struct plan *plan, const char *pattern, int actors, int rounds, unsigned seed)
{
    static const struct {
        const char *name;
        void (*add)(struct plan *plan, int round, uint64_t *state);
    } patterns[] = {
        {"chain", chain},   {"ring", ring},       {"halo", halo},
        {"gather", gather}, {"scatter", scatter}, {"random", by_chance},
        {"all", all},       {"lock", lock},       {"queue", queue},
    };
    uint64_t state = seed;
    *plan = (struct plan){.actors = actors};
    if (actors < 2 || actors > MAX_ACTORS) {
        return -1;
    }
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        if (strcmp(patterns[i].name, pattern) == 0) {
            for (int round = 0; round < rounds && plan->count <= MAX_STEPS; round++) {
                patterns[i].add(plan, round, &state);
            }
            return plan->count <= MAX_STEPS ? 0 : -1;
        }
    }
    return -1;
}
