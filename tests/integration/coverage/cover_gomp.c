/* SPDX-License-Identifier: Apache-2.0 */
/* OpenMP as gcc calls it, of which libgomp has no header. Two threads; the main one is looked at.
 */
#include <pthread.h>

#include "cover.h"
#include "cover_stdio.h" /* RECORD */

static const char *const regions[] = {"GOMP_parallel",
                                      "GOMP_parallel_sections",
                                      "GOMP_parallel_loop_static",
                                      "GOMP_parallel_loop_dynamic",
                                      "GOMP_parallel_loop_guided",
                                      "GOMP_parallel_loop_nonmonotonic_dynamic",
                                      "GOMP_parallel_loop_nonmonotonic_guided",
                                      "GOMP_parallel_loop_runtime",
                                      "GOMP_parallel_loop_nonmonotonic_runtime",
                                      "GOMP_parallel_loop_maybe_nonmonotonic_runtime"};
static const char *barriers[] = {"GOMP_barrier",           "GOMP_barrier_cancel",
                                 "GOMP_loop_end",          "GOMP_loop_end_cancel",
                                 "GOMP_sections_end",      "GOMP_sections_end_cancel",
                                 "GOMP_single_copy_start", "GOMP_single_copy_end"};
static const char *const locks[] = {
    "GOMP_critical_start",    "GOMP_critical_end", "GOMP_critical_name_start",
    "GOMP_critical_name_end", "GOMP_atomic_start", "GOMP_atomic_end",
    "omp_set_lock",           "omp_test_lock",     "omp_unset_lock"};

static pthread_t maker;

static bool is_maker(void)
{
    return pthread_equal(pthread_self(), maker) != 0;
}

/* Only the maker's calls are cases. */
static long in_team(enum cover_kind kind, const char *symbol, const long *args, size_t count)
{
    long result = 0;
    if (is_maker()) {
        result = cover_call(kind, symbol, args, count);
    } else {
        void *found = dlsym(RTLD_DEFAULT, symbol);
        long (*function)(long, long, long, long, long, long);
        memcpy(&function, &found, sizeof(function));
        result = function(args[0], args[1], args[2], args[3], args[4], args[5]);
    }
    return result;
}

#define TEAM(kind, symbol, ...) in_team(kind, symbol, (const long[6]){__VA_ARGS__}, 6)

static void expect_barrier(const char *symbol, int round)
{
    if (is_maker()) {
        RECORD(symbol, 0, 0, "a0=* a1=%d a2=2 a3=3", round);
    }
}

static void nothing(void *unused)
{
    (void)unused;
}

static void loop(void *unused)
{
    (void)unused;
    TEAM(NOTHING, "GOMP_loop_end_nowait", 0);
}

/* R-SYNC-5: rounds 1, 2 .. between the start and the end of the region. Every other name. */
static void some_barriers(void *data)
{
    const char *const *names = data;
    long from;
    long to;
    TEAM(NOTHING, names[0], 0);
    expect_barrier(names[0], 1);
    TEAM(NOTHING, "GOMP_loop_dynamic_start", 0, 2, 1, 1, P(&from), P(&to));
    TEAM(NOTHING, names[2], 0);
    expect_barrier(names[2], 2);
    TEAM(NOTHING, "GOMP_sections_start", 2);
    TEAM(NOTHING, names[4], 0);
    expect_barrier(names[4], 3);
}

/* The first thread gets NULL and must say that it is done: the maker once, then the other. */
static void single_copies(void *data)
{
    static volatile int turn;
    for (int round = 1; round <= 2; round++) {
        bool is_mine = is_maker() == (round == 1);
        while (!is_mine && turn != round) {
        }
        long first = TEAM(LONG, "GOMP_single_copy_start", 0);
        turn = round;
        if (first == 0) {
            TEAM(NOTHING, "GOMP_single_copy_end", P(data));
            expect_barrier("GOMP_single_copy_end", round);
        } else if (is_maker()) {
            RECORD("GOMP_single_copy_start", 0, 0, "a0=* a1=%d a2=2 a3=3", round);
        }
    }
}

static void run(const char *symbol, void (*function)(void *), void *data, int end_round)
{
    bool is_loop = strstr(symbol, "loop") != NULL;
    bool has_pieces = is_loop && strstr(symbol, "runtime") == NULL;
    bool is_sections = strstr(symbol, "sections") != NULL;
    RECORD("gomp_start", 0, 0, "a0=* a1=0 a2=2 a3=1");
    if (is_loop) {
        CALL(NOTHING, symbol, P(function), P(data), 2, 0, 2, 1, has_pieces ? 1 : 0, 0);
    } else {
        CALL(NOTHING, symbol, P(function), P(data), 2, is_sections ? 2 : 0, 0);
    }
    RECORD(symbol, 0, 0, "a0=* a1=%d a2=2 a3=2", end_round);
}

static void held(const char *lock, const char *unlock, long argument)
{
    CALL(INT, lock, argument);
    cover_last.result = 0;
    EXPECT("a0=* a1=0");
    CALL(INT, "access", P("/"), F_OK);
    EXPECT("path=/ a0=0");
    CALL(NOTHING, unlock, argument);
    EXPECT("a0=* a1=0");
}

static void all_locks(void)
{
    static void *name;
    static long lock[2];
    held(locks[0], locks[1], 0);
    held(locks[2], locks[3], P(&name));
    held(locks[4], locks[5], 0);
    CALL(NOTHING, "omp_init_lock", P(lock));
    held(locks[6], locks[8], P(lock));
    held(locks[7], locks[8], P(lock));
}

static void all(void)
{
    if (dlopen("libgomp.so.1", RTLD_LAZY | RTLD_GLOBAL) == NULL) {
        for (size_t i = 0; i < sizeof(regions) / sizeof(regions[0]); i++) {
            RECORD(regions[i], 0, 0, "absent=1");
        }
        for (size_t i = 0; i < sizeof(barriers) / sizeof(barriers[0]); i++) {
            RECORD(barriers[i], 0, 0, "absent=1");
        }
        for (size_t i = 0; i < sizeof(locks) / sizeof(locks[0]); i++) {
            RECORD(locks[i], 0, 0, "absent=1");
        }
        return;
    }
    maker = pthread_self();
    RECORD("pthread_create", 0, 0, "a0=*"); /* libgomp's, for all regions */
    run("GOMP_parallel", nothing, NULL, 1);
    for (size_t i = 1; i < sizeof(regions) / sizeof(regions[0]); i++) {
        run(regions[i], loop, NULL, 1);
    }
    run("GOMP_parallel", some_barriers, (void *)&barriers[0], 4);
    run("GOMP_parallel", some_barriers, (void *)&barriers[1], 4);
    run("GOMP_parallel", single_copies, (void *)&barriers[0], 3);
    all_locks();
}

COVER_MAIN(all)
