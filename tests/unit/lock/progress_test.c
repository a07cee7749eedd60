/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Transactions that lock the same few objects in any order, until all have committed: under each
 * policy no deadlock stays, and under wound-wait and wait-die the oldest is never put off. What is
 * wounded or refused ends some steps later and begins again with its age.
 */
#include "support/unit.h"

#include <string.h>

#include "lock/lock.h"

#define TXNS 16
#define OPS 5
#define OBJECTS 6
#define COMMITS 40 /* of each of them */
#define SEEDS 40
#define STEPS_MAX 2000000u

enum actor_state { RESTS, RUNS, WAITS };

struct actor {
    enum actor_state state;
    struct wio_txn txn;
    struct wio_lock_owner *owner;
    uint32_t done; /* of its operations */
    uint32_t commits;
    uint64_t until; /* RESTS: this step */
    uint64_t ends;  /* wounded: ends at this step; 0: was not */
    uint8_t object[OPS];
    uint8_t mode[OPS];
};

struct arena {
    uint64_t seed;
    uint64_t step;
    uint64_t refused;
    uint64_t waited;
    enum wio_lock_policy policy;
    struct wio_locks *locks;
    struct actor actors[TXNS];
};

static uint64_t below(struct arena *arena, uint64_t n)
{
    return wio_test_random(&arena->seed) % n;
}

static void draw_script(struct arena *arena, struct actor *actor)
{
    actor->txn.number++;
    actor->txn.birth_ns = arena->step;
    actor->txn.attempt = 0;
    for (int i = 0; i < OPS; i++) {
        actor->object[i] = (uint8_t)below(arena, OBJECTS);
        actor->mode[i] = (uint8_t)below(arena, WIO_LOCK_MODES);
    }
}

static void rest(struct arena *arena, struct actor *actor)
{
    wio_locks_release(arena->locks, actor->owner);
    actor->owner = NULL;
    actor->state = RESTS;
    actor->ends = 0;
    actor->done = 0;
    actor->until = arena->step + 1 + below(arena, 30);
}

/* No transaction that has locks or asks for some is older. */
static bool is_oldest(const struct arena *arena, const struct actor *actor)
{
    for (int i = 0; i < TXNS; i++) {
        if (arena->actors[i].owner != NULL &&
            wio_txn_compare(&arena->actors[i].txn, &actor->txn) < 0) {
            return false;
        }
    }
    return true;
}

static void put_off(struct arena *arena, struct actor *actor)
{
    bool has_order = arena->policy == WIO_LOCK_WOUND_WAIT || arena->policy == WIO_LOCK_WAIT_DIE;
    assert_false(has_order && is_oldest(arena, actor));
    arena->refused++;
}

static void ask(struct arena *arena, struct actor *actor)
{
    struct wio_lock_answer answer;
    uint64_t at = actor->object[actor->done] * 10ull;
    struct wio_lock_request request = {.range = {1, 0, at, at + 12},
                                       .mode = (enum wio_lock_mode)actor->mode[actor->done]};
    assert_int_equal(wio_locks_acquire(arena->locks, actor->owner, &request, arena->step, &answer),
                     WIO_OK);
    if (answer.outcome == WIO_LOCK_REFUSED) {
        put_off(arena, actor);
        rest(arena, actor);
    } else if (answer.outcome == WIO_LOCK_WAITING) {
        actor->state = WAITS;
        arena->waited++;
    } else {
        actor->done++;
    }
}

static void run_on(struct arena *arena, struct actor *actor)
{
    if (actor->state == RESTS && arena->step >= actor->until && actor->commits < COMMITS) {
        actor->txn.attempt++;
        assert_int_equal(wio_locks_begin(arena->locks, &actor->txn, 0, actor, &actor->owner),
                         WIO_OK);
        actor->state = RUNS;
    } else if (actor->ends > 0 && arena->step >= actor->ends) {
        rest(arena, actor);
    } else if (actor->state == RUNS && actor->done < OPS) {
        ask(arena, actor);
    } else if (actor->state == RUNS) {
        actor->commits++;
        rest(arena, actor);
        draw_script(arena, actor);
    }
}

static void hear(struct arena *arena)
{
    struct wio_lock_event event;
    while (wio_locks_next(arena->locks, arena->step, &event)) {
        struct actor *actor = event.user;
        assert_int_equal(event.txn.attempt, actor->txn.attempt);
        if (event.kind == WIO_LOCK_EVENT_GRANTED) {
            actor->state = RUNS;
            actor->done++;
        } else if (event.kind == WIO_LOCK_EVENT_REFUSED) {
            put_off(arena, actor);
            rest(arena, actor);
        } else {
            put_off(arena, actor);
            actor->ends = arena->step + 1 + below(arena, 20);
        }
    }
}

static bool is_over(const struct arena *arena)
{
    for (int i = 0; i < TXNS; i++) {
        if (arena->actors[i].commits < COMMITS) {
            return false;
        }
    }
    return true;
}

static void run(struct arena *arena, enum wio_lock_policy policy, uint64_t seed)
{
    struct wio_locks_config config = {.policy = policy,
                                      .timeout_ns = policy == WIO_LOCK_TIMEOUT ? 100 : 0,
                                      .owners_max = TXNS,
                                      .locks_max = TXNS * OPS};
    struct wio_alloc alloc = WIO_ALLOC_HEAP;
    memset(arena, 0, sizeof(*arena));
    arena->seed = seed;
    arena->policy = policy;
    assert_int_equal(wio_locks_create(&alloc, &config, &arena->locks), WIO_OK);
    for (uint64_t i = 0; i < TXNS; i++) {
        arena->actors[i].txn.client = i;
        draw_script(arena, &arena->actors[i]);
    }
    while (!is_over(arena)) {
        run_on(arena, &arena->actors[below(arena, TXNS)]);
        hear(arena);
        arena->step++;
        assert_true(arena->step < STEPS_MAX);
    }
    assert_int_equal(wio_locks_count(arena->locks).owners, 0);
    assert_int_equal(wio_locks_count(arena->locks).files, 0);
    wio_locks_destroy(arena->locks);
}

static void finishes(enum wio_lock_policy policy)
{
    static struct arena arena;
    uint64_t refused = 0;
    uint64_t waited = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        run(&arena, policy, seed);
        refused += arena.refused;
        waited += arena.waited;
    }
    /* the objects are fought for, or nothing was tested */
    assert_true(refused > SEEDS * COMMITS);
    assert_true(waited > SEEDS * COMMITS || policy == WIO_LOCK_NO_WAIT);
}

static void wound_wait_finishes(void **state)
{
    (void)state;
    finishes(WIO_LOCK_WOUND_WAIT);
}

static void wait_die_finishes(void **state)
{
    (void)state;
    finishes(WIO_LOCK_WAIT_DIE);
}

static void time_out_finishes(void **state)
{
    (void)state;
    finishes(WIO_LOCK_TIMEOUT);
}

static void no_wait_finishes(void **state)
{
    (void)state;
    finishes(WIO_LOCK_NO_WAIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wound_wait_finishes),
        cmocka_unit_test(wait_die_finishes),
        cmocka_unit_test(time_out_finishes),
        cmocka_unit_test(no_wait_finishes),
    };
    return WIO_RUN(tests);
}
