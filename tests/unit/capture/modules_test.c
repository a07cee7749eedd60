/* SPDX-License-Identifier: Apache-2.0 */
/* Which module an address lies in, where several threads ask at once. */
#include <pthread.h>
#include <sched.h>

#include "support/traced.h"
#include "support/unit.h"

#include "capture/core/process.h"

static uint32_t state; /* atomic: 1 the thread asks, 2 it has its answer */

static void *ask(void *found)
{
    struct cap_module module;
    struct cap_thread *self = cap_enter((uintptr_t)ask, WIO_CALL_pwrite);
    cap_modules_forget();
    __atomic_store_n(&state, 1, __ATOMIC_RELEASE);
    *(bool *)found = self != NULL && cap_module_find(self, (uintptr_t)ask, &module);
    __atomic_store_n(&state, 2, __ATOMIC_RELEASE);
    return NULL;
}

/* While another thread fills the table, an address that it lacks is not said to be unknown: a call
 * by an MPI library would be taken for the program's. */
static void waits_for_the_reader_of_the_maps(void **unused)
{
    bool found = false;
    pthread_t thread;
    (void)unused;
    assert_non_null(cap_enter((uintptr_t)ask, WIO_CALL_pwrite));
    __atomic_store_n(&cap_image->module_lock, 1, __ATOMIC_RELEASE);
    assert_int_equal(pthread_create(&thread, NULL, ask, &found), 0);
    while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) == 0) {
        (void)sched_yield();
    }
    for (int i = 0; i < 1000 && __atomic_load_n(&state, __ATOMIC_ACQUIRE) == 1; i++) {
        (void)sched_yield();
    }
    __atomic_store_n(&cap_image->module_lock, 0, __ATOMIC_RELEASE);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(found);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(waits_for_the_reader_of_the_maps)};
    (void)argc;
    return wio_is_traced() ? WIO_RUN(tests) : wio_run_traced(argv);
}
