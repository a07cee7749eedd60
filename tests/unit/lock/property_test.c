/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random calls, answered by the lock manager and by a list that is searched from end to end: each
 * outcome, event, blocker and count must be the same. A failure names its seed;
 * `lock_property_test SEED` runs that one only.
 */
#include "support/unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "naive.h"

#define SEEDS 300
#define STEPS 400
#define CLIENTS 4

struct mirror {
    uint64_t seed;
    uint64_t now_ns;
    uint64_t numbers;
    uint64_t tags;
    bool is_advisory;
    uint32_t owners;
    uint32_t bytes;
    struct wio_locks *locks;
    struct wio_lock_owner *real[NAIVE_OWNERS];
    struct naive naive;
};

static uint64_t only_seed;
static uint64_t running;

static uint64_t below(struct mirror *mirror, uint64_t n)
{
    return wio_test_random(&mirror->seed) % n;
}

static void compare_txns(const struct wio_txn *a, const struct wio_txn *b)
{
    assert_int_equal(a->client, b->client);
    assert_int_equal(a->number, b->number);
    assert_int_equal(a->birth_ns, b->birth_ns);
    assert_int_equal(a->attempt, b->attempt);
}

static void compare_blockers(const struct wio_lock_blockers *a, const struct wio_lock_blockers *b)
{
    assert_int_equal(a->count, b->count);
    assert_int_equal(a->listed, b->listed);
    for (uint32_t i = 0; i < a->listed; i++) {
        const struct wio_lock_blocker *left = &a->list[i];
        const struct wio_lock_blocker *right = &b->list[i];
        compare_txns(&left->txn, &right->txn);
        assert_int_equal(left->job, right->job);
        assert_int_equal(left->source, right->source);
        assert_int_equal(left->range.file, right->range.file);
        assert_int_equal(left->range.segment, right->range.segment);
        assert_int_equal(left->range.from, right->range.from);
        assert_int_equal(left->range.to, right->range.to);
        assert_int_equal(left->mode, right->mode);
        assert_int_equal(left->role, right->role);
    }
}

static struct naive_event *find_event(struct mirror *mirror, const struct wio_lock_event *event)
{
    for (uint32_t i = 0; i < mirror->naive.event_count; i++) {
        struct naive_event *other = &mirror->naive.events[i];
        if (other->kind == event->kind && other->tag == event->tag &&
            mirror->real[other->owner] == event->owner) {
            return other;
        }
    }
    return NULL;
}

/* All events of the last call are told by both, each once. */
static void compare_events(struct mirror *mirror)
{
    struct wio_lock_event event;
    while (wio_locks_next(mirror->locks, mirror->now_ns, &event)) {
        struct naive_event *other = find_event(mirror, &event);
        if (other == NULL) {
            fail_msg("an event that the list does not have");
            return;
        }
        assert_ptr_equal(event.user, &mirror->naive.owners[other->owner]);
        compare_txns(&event.txn, &mirror->naive.owners[other->owner].txn);
        assert_int_equal(event.reason, other->reason);
        compare_blockers(&event.blockers, &other->blockers);
        *other = mirror->naive.events[--mirror->naive.event_count];
    }
    assert_int_equal(mirror->naive.event_count, 0);
}

static struct wio_lock_range draw_range(struct mirror *mirror)
{
    uint64_t from = below(mirror, mirror->bytes);
    return (struct wio_lock_range){.file = 1 + below(mirror, 2),
                                   .segment = (uint32_t)below(mirror, 2),
                                   .from = from,
                                   .to = from + 1 + below(mirror, mirror->bytes / 4)};
}

static void begin(struct mirror *mirror, uint32_t owner)
{
    struct wio_txn txn = {.client = below(mirror, CLIENTS),
                          .number = ++mirror->numbers,
                          .birth_ns = below(mirror, 50),
                          .attempt = 1 + (uint32_t)below(mirror, 3)};
    uint32_t job = (uint32_t)below(mirror, 5);
    naive_begin(&mirror->naive, owner, &txn, job);
    assert_int_equal(wio_locks_begin(mirror->locks, &txn, job, &mirror->naive.owners[owner],
                                     &mirror->real[owner]),
                     WIO_OK);
}

static void acquire(struct mirror *mirror, uint32_t owner)
{
    struct wio_lock_request request = {.range = draw_range(mirror),
                                       .mode = (enum wio_lock_mode)below(mirror, WIO_LOCK_MODES),
                                       .is_try = below(mirror, 10) == 0,
                                       .source = (uint32_t)below(mirror, 2),
                                       .tag = ++mirror->tags};
    struct wio_lock_answer answer;
    struct wio_lock_answer other = naive_acquire(&mirror->naive, owner, &request, mirror->now_ns);
    assert_int_equal(
        wio_locks_acquire(mirror->locks, mirror->real[owner], &request, mirror->now_ns, &answer),
        WIO_OK);
    assert_int_equal(answer.outcome, other.outcome);
    assert_int_equal(answer.reason, other.reason);
    compare_blockers(&answer.blockers, &other.blockers);
}

static void release(struct mirror *mirror, uint32_t owner)
{
    naive_release(&mirror->naive, owner);
    wio_locks_release(mirror->locks, mirror->real[owner]);
}

static void release_client(struct mirror *mirror)
{
    uint64_t client = below(mirror, CLIENTS);
    assert_int_equal(wio_locks_release_client(mirror->locks, client),
                     naive_release_client(&mirror->naive, client));
}

static void unlock(struct mirror *mirror, uint32_t owner)
{
    struct wio_lock_range range = draw_range(mirror);
    naive_unlock(&mirror->naive, owner, &range);
    assert_int_equal(wio_locks_unlock(mirror->locks, mirror->real[owner], &range), WIO_OK);
}

static void explain(struct mirror *mirror, uint32_t owner)
{
    struct wio_lock_range range = draw_range(mirror);
    enum wio_lock_mode mode = (enum wio_lock_mode)below(mirror, WIO_LOCK_MODES);
    struct wio_lock_blockers blockers;
    struct wio_lock_blockers other = naive_blockers(&mirror->naive, owner, &range, mode);
    wio_locks_explain(mirror->locks, mirror->real[owner], &range, mode, &blockers);
    compare_blockers(&blockers, &other);
}

static void prepare(struct mirror *mirror, uint32_t owner)
{
    mirror->naive.owners[owner].is_prepared = true;
    wio_locks_set_prepared(mirror->real[owner]);
}

static void act(struct mirror *mirror, uint32_t owner)
{
    uint64_t dice = below(mirror, 100);
    const struct naive_owner *state = &mirror->naive.owners[owner];
    if (!state->is_there) {
        begin(mirror, owner);
    } else if (dice < 16) {
        release(mirror, owner);
    } else if (dice < 18) {
        release_client(mirror);
    } else if (dice < 20) {
        prepare(mirror, owner);
    } else if (dice < 30 && mirror->is_advisory) {
        unlock(mirror, owner);
    } else if (dice < 35) {
        explain(mirror, owner);
    } else if (!state->is_prepared) {
        acquire(mirror, owner);
    }
}

static void compare_counts(struct mirror *mirror)
{
    struct wio_locks_count real = wio_locks_count(mirror->locks);
    struct wio_locks_count naive = naive_count(&mirror->naive);
    assert_int_equal(real.owners, naive.owners);
    assert_int_equal(real.held, naive.held);
    assert_int_equal(real.waiting, naive.waiting);
    assert_int_equal(real.files, naive.files);
    assert_true(naive_is_sound(&mirror->naive));
}

static void step(struct mirror *mirror)
{
    act(mirror, (uint32_t)below(mirror, mirror->owners));
    compare_events(mirror);
    mirror->now_ns += below(mirror, 4);
    naive_expire(&mirror->naive, mirror->now_ns);
    compare_events(mirror);
    compare_counts(mirror);
}

/* Few bytes or many, few transactions or many, a full manager or a roomy one: by the seed. */
static void run(uint64_t seed, enum wio_lock_policy policy, bool is_advisory)
{
    static struct mirror mirror;
    memset(&mirror, 0, sizeof(mirror));
    mirror.seed = seed;
    mirror.is_advisory = is_advisory;
    mirror.owners = 2 + (uint32_t)below(&mirror, NAIVE_OWNERS - 2);
    mirror.bytes = 8u << below(&mirror, 5);
    bool has_timeout = policy == WIO_LOCK_TIMEOUT || below(&mirror, 2) == 0;
    struct wio_locks_config config = {.policy = policy,
                                      .timeout_ns = has_timeout ? 1 + below(&mirror, 200) : 0,
                                      .owners_max = NAIVE_OWNERS,
                                      .locks_max = 20 + (uint32_t)below(&mirror, 400)};
    struct wio_alloc alloc = WIO_ALLOC_HEAP;
    mirror.naive.config = config;
    assert_int_equal(wio_locks_create(&alloc, &config, &mirror.locks), WIO_OK);
    for (int i = 0; i < STEPS; i++) {
        step(&mirror);
    }
    wio_locks_destroy(mirror.locks);
}

static void run_all(enum wio_lock_policy policy, bool is_advisory)
{
    uint64_t first = only_seed > 0 ? only_seed : 1;
    uint64_t end = only_seed > 0 ? only_seed + 1 : 1 + SEEDS;
    for (uint64_t seed = first; seed < end; seed++) {
        running = seed;
        run(seed, policy, is_advisory);
    }
}

static void wound_wait_is_as_the_list_says(void **state)
{
    (void)state;
    run_all(WIO_LOCK_WOUND_WAIT, false);
}

static void wait_die_is_as_the_list_says(void **state)
{
    (void)state;
    run_all(WIO_LOCK_WAIT_DIE, false);
}

static void no_wait_is_as_the_list_says(void **state)
{
    (void)state;
    run_all(WIO_LOCK_NO_WAIT, false);
}

static void time_out_is_as_the_list_says(void **state)
{
    (void)state;
    run_all(WIO_LOCK_TIMEOUT, false);
}

static void unlocking_parts_is_as_the_list_says(void **state)
{
    (void)state;
    run_all(WIO_LOCK_TIMEOUT, true);
    run_all(WIO_LOCK_NO_WAIT, true);
}

/* After a failure: which seed it was. */
static int tell_seed(void **state)
{
    (void)state;
    print_message("# the last seed was %llu\n", (unsigned long long)running);
    return 0;
}

int main(int argc, char **argv)
{
    only_seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(wound_wait_is_as_the_list_says, tell_seed),
        cmocka_unit_test_teardown(wait_die_is_as_the_list_says, tell_seed),
        cmocka_unit_test_teardown(no_wait_is_as_the_list_says, tell_seed),
        cmocka_unit_test_teardown(time_out_is_as_the_list_says, tell_seed),
        cmocka_unit_test_teardown(unlocking_parts_is_as_the_list_says, tell_seed),
    };
    return WIO_RUN(tests);
}
