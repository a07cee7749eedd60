/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a lock costs: `lock_bench CASE ACTIVE ROUNDS`, ns per round on standard output.
 *
 *     disjoint   ACTIVE transactions hold a block each of one segment; a round is one more that
 *                begins, locks a block of its own, and ends
 *     hot        ACTIVE transactions want the same block; a round is the end of the one that holds
 *                it, the grant to the next, and a new one that queues
 *     list       disjoint, by a list that is searched from end to end (the baseline)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lock/lock.h"

#define BLOCK 4096ull

struct lock_bench {
    struct wio_locks *locks;
    uint64_t active;
    uint64_t number;
    uint64_t seed;
    /* list */
    uint64_t *from;
    uint64_t count;
};

static void must(bool is_so, const char *what)
{
    if (!is_so) {
        (void)fprintf(stderr, "lock_bench: %s\n", what);
        exit(1);
    }
}

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static struct wio_lock_owner *begin(struct lock_bench *bench)
{
    struct wio_txn txn = {1, ++bench->number, bench->number, 1};
    struct wio_lock_owner *owner = NULL;
    must(wio_locks_begin(bench->locks, &txn, 0, NULL, &owner) == WIO_OK, "begin");
    return owner;
}

static enum wio_lock_outcome ask(struct lock_bench *bench, struct wio_lock_owner *owner,
                                 uint64_t block)
{
    struct wio_lock_request request = {.range = {1, 0, block * BLOCK, (block + 1) * BLOCK},
                                       .mode = WIO_LOCK_EXCLUSIVE};
    struct wio_lock_answer answer;
    must(wio_locks_acquire(bench->locks, owner, &request, 0, &answer) == WIO_OK, "acquire");
    return answer.outcome;
}

/* Where the next block is looked for: odd ones are free. */
static uint64_t draw_free(struct lock_bench *bench)
{
    bench->seed = bench->seed * 6364136223846793005u + 1442695040888963407u;
    return (bench->seed >> 33) % bench->active * 2 + 1;
}

static void disjoint(struct lock_bench *bench, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++) {
        struct wio_lock_owner *owner = begin(bench);
        must(ask(bench, owner, draw_free(bench)) == WIO_LOCK_GRANTED, "a free block");
        wio_locks_release(bench->locks, owner);
    }
}

static void fill_disjoint(struct lock_bench *bench)
{
    for (uint64_t i = 0; i < bench->active; i++) {
        must(ask(bench, begin(bench), i * 2) == WIO_LOCK_GRANTED, "a block each");
    }
}

static struct wio_lock_owner *fill_hot(struct lock_bench *bench)
{
    struct wio_lock_owner *holder = begin(bench);
    must(ask(bench, holder, 0) == WIO_LOCK_GRANTED, "the first");
    for (uint64_t i = 1; i < bench->active; i++) {
        must(ask(bench, begin(bench), 0) == WIO_LOCK_WAITING, "the others");
    }
    return holder;
}

static void hot(struct lock_bench *bench, struct wio_lock_owner *holder, uint64_t rounds)
{
    struct wio_lock_event event;
    for (uint64_t i = 0; i < rounds; i++) {
        struct wio_lock_owner *next = begin(bench);
        must(ask(bench, next, 0) == WIO_LOCK_WAITING, "one more");
        wio_locks_release(bench->locks, holder);
        must(wio_locks_next(bench->locks, 0, &event), "a grant");
        holder = event.owner;
    }
}

static void list(struct lock_bench *bench, uint64_t rounds)
{
    for (uint64_t i = 0; i < rounds; i++) {
        uint64_t from = draw_free(bench) * BLOCK;
        for (uint64_t k = 0; k < bench->count; k++) {
            must(bench->from[k] >= from + BLOCK || bench->from[k] + BLOCK <= from, "a free block");
        }
        bench->from[bench->count++] = from;
        __asm__ volatile("" : : "r"(bench->from) : "memory");
        bench->count--;
    }
}

static void fill_list(struct lock_bench *bench)
{
    bench->from = calloc(bench->active + 1, sizeof(*bench->from));
    must(bench->from != NULL, "memory");
    for (uint64_t i = 0; i < bench->active; i++) {
        bench->from[bench->count++] = i * 2 * BLOCK;
    }
}

int main(int argc, char **argv)
{
    must(argc == 4, "usage: lock_bench disjoint|hot|list ACTIVE ROUNDS");
    struct lock_bench bench = {.active = strtoull(argv[2], NULL, 10), .seed = 1};
    uint64_t rounds = strtoull(argv[3], NULL, 10);
    must(bench.active > 0 && bench.active < 1u << 20 && rounds > 0, "numbers");
    struct wio_locks_config config = {WIO_LOCK_WOUND_WAIT, 0, 1u << 21, 1u << 21};
    struct wio_alloc alloc = WIO_ALLOC_HEAP;
    must(wio_locks_create(&alloc, &config, &bench.locks) == WIO_OK, "create");
    double start;
    if (strcmp(argv[1], "hot") == 0) {
        struct wio_lock_owner *holder = fill_hot(&bench);
        start = now_ns();
        hot(&bench, holder, rounds);
    } else if (strcmp(argv[1], "list") == 0) {
        fill_list(&bench);
        start = now_ns();
        list(&bench, rounds);
    } else {
        fill_disjoint(&bench);
        start = now_ns();
        disjoint(&bench, rounds);
    }
    printf("%.1f\n", (now_ns() - start) / (double)rounds);
    wio_locks_destroy(bench.locks);
    free(bench.from);
    return 0;
}
