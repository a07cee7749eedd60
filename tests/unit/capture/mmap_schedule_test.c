/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two threads that unmap parts of one map, in every schedule of two changes: the first thread stops
 * before its n-th atomic operation on the places of the table, the second one before its m-th; then
 * the first one goes on to its end, and then the second. A second thread that never stops is what a
 * signal handler does. The atomic operations of the test's own copy of the code take the steps.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "support/unit.h"

static void step(void);

#define __atomic_load_n(...) (step(), __atomic_load_n(__VA_ARGS__))
#define __atomic_store_n(...) (step(), __atomic_store_n(__VA_ARGS__))
#define __atomic_fetch_add(...) (step(), __atomic_fetch_add(__VA_ARGS__))
#define __atomic_compare_exchange_n(...) (step(), __atomic_compare_exchange_n(__VA_ARGS__))
#include "../../../src/capture/mmap/mmap_place.c"
#undef __atomic_load_n
#undef __atomic_store_n
#undef __atomic_fetch_add
#undef __atomic_compare_exchange_n

bool cap_is_confined;

void cap_unseen(unsigned kind)
{
    fail_msg("unseen: %u", kind);
}

#define PAGE 4096u
#define BASE ((uintptr_t)0x100000)
#define NEVER 1000000u

struct runner {
    sem_t go;
    struct runner *other;
    uintptr_t address;
    unsigned stop_before; /* this step, the first is 1 */
    unsigned steps;
    bool has_stopped;
    bool is_done;
};

static struct runner first;
static struct runner second;
static __thread struct runner *self; /* NULL: the steps do not count */
static bool is_over;

static void hand_over(struct runner *runner)
{
    (void)sem_post(&runner->other->go);
    while (sem_wait(&runner->go) != 0) {
    }
}

static void step(void)
{
    if (self != NULL && ++self->steps == self->stop_before) {
        self->has_stopped = true;
        if (!self->other->is_done) {
            hand_over(self);
        }
    }
}

static void run(struct runner *runner)
{
    runner->steps = 0;
    runner->has_stopped = false;
    self = runner;
    cap_maps_remove(runner->address, PAGE);
    self = NULL;
    runner->is_done = true;
}

static void *run_second(void *unused)
{
    (void)unused;
    for (;;) {
        while (sem_wait(&second.go) != 0) {
        }
        if (is_over) {
            return NULL;
        }
        run(&second);
        (void)sem_post(&first.go);
    }
}

static void expect_at(uintptr_t address, size_t size, int64_t offset)
{
    struct cap_map map;
    if (!cap_maps_find(address, CAP_MAP_FILE, &map) || map.size != size || map.offset != offset) {
        fail_msg("stops before steps %u and %u: no map at %#lx", first.stop_before,
                 second.stop_before, (unsigned long)address);
    }
}

static void expect_nothing(uintptr_t address, size_t size)
{
    struct cap_map map;
    if (cap_maps_first(address, size, CAP_MAP_FILE, &map)) {
        fail_msg("stops before steps %u and %u: [%#lx, %#lx) is left", first.stop_before,
                 second.stop_before, (unsigned long)map.address,
                 (unsigned long)(map.address + map.size));
    }
}

/* Five pages, of which each thread unmaps one. */
static void run_schedule(unsigned first_stop, unsigned second_stop)
{
    const uintptr_t low = first.address < second.address ? first.address : second.address;
    const uintptr_t high = first.address + second.address - low;
    const struct cap_map whole = {.address = BASE, .size = 5 * PAGE, .kinds = CAP_MAP_FILE};
    cap_maps_add(&whole);
    first.stop_before = first_stop;
    second.stop_before = second_stop;
    first.is_done = second.is_done = false;
    run(&first);
    if (!second.is_done) { /* it has not begun, or stands where it was stopped */
        hand_over(&first);
    }
    expect_nothing(first.address, PAGE);
    expect_nothing(second.address, PAGE);
    if (low > BASE) {
        expect_at(BASE, low - BASE, 0);
    }
    if (high > low + PAGE) {
        expect_at(low + PAGE, high - low - PAGE, (int64_t)(low + PAGE - BASE));
    }
    if (high + PAGE < BASE + 5 * PAGE) {
        expect_at(high + PAGE, BASE + 4 * PAGE - high, (int64_t)(high + PAGE - BASE));
    }
    cap_maps_remove(BASE, 5 * PAGE);
    expect_nothing(BASE, 5 * PAGE);
}

static void run_all(unsigned first_page, unsigned second_page)
{
    unsigned schedules = 0;
    first.address = BASE + first_page * (uintptr_t)PAGE;
    second.address = BASE + second_page * (uintptr_t)PAGE;
    for (unsigned stop = 1; stop == 1 || first.has_stopped; stop++) {
        run_schedule(stop, NEVER);
        second.has_stopped = true;
        for (unsigned other = 1; first.has_stopped && second.has_stopped; other++) {
            run_schedule(stop, other);
            schedules++;
        }
        first.has_stopped = first.steps >= stop;
    }
    assert_true(schedules > 100);
}

static void test_neighbours(void **state)
{
    (void)state;
    run_all(1, 2);
    run_all(2, 1);
}

static void test_apart(void **state)
{
    (void)state;
    run_all(1, 3);
    run_all(3, 1);
}

static void test_at_the_ends(void **state)
{
    (void)state;
    run_all(0, 4);
    run_all(4, 0);
    run_all(0, 1);
    run_all(4, 3);
}

static void test_the_same_page(void **state)
{
    (void)state;
    run_all(2, 2);
}

static pthread_t thread;

static int begin(void **state)
{
    (void)state;
    first.other = &second;
    second.other = &first;
    return sem_init(&first.go, 0, 0) | sem_init(&second.go, 0, 0) |
           pthread_create(&thread, NULL, run_second, NULL);
}

static int end(void **state)
{
    (void)state;
    is_over = true;
    (void)sem_post(&second.go);
    return pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_at_the_ends),
        cmocka_unit_test(test_the_same_page),
    };
    wio_test_begin();
    return cmocka_run_group_tests_name(wio_test_name(__FILE__), tests, begin, end);
}
