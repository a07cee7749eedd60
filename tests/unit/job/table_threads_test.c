/* SPDX-License-Identifier: Apache-2.0 */
/* Looks while another thread changes the table: what is answered was true of that thread id at some
 * moment during the look, and what was dropped before it is not answered. */
#include "support/unit.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "job/names.h"
#include "job/table.h"

#define LOOKERS 3
#define IDS 2000u
#define CHANGES 40000u

struct shared {
    struct wio_job_table *table;
    struct wio_job_names *names;
    /* Of each id: jobs below it have been dropped. The changing thread drops, then raises it. */
    _Atomic uint32_t least[IDS + 1];
    atomic_bool has_ended;
};

static void *look(void *argument)
{
    struct shared *shared = argument;
    uint64_t seed = (uintptr_t)&seed;
    while (!atomic_load_explicit(&shared->has_ended, memory_order_relaxed)) {
        const uint32_t id = 1 + (uint32_t)(wio_test_random(&seed) % IDS);
        const uint32_t least = atomic_load_explicit(&shared->least[id], memory_order_acquire);
        const struct wio_job_hit hit = wio_job_table_look(shared->table, id, 0);
        if (hit.answer != WIO_JOB_UNKNOWN) {
            assert_true(hit.job >= least);
            assert_int_equal(hit.job % (IDS + 1), id); /* of this id and no other */
            assert_true(hit.job < WIO_JOB_NUMBERS);
        }
        size_t bytes;
        const uint32_t last = wio_job_names_count(shared->names);
        if (last > 0) {
            assert_int_equal(wio_job_names_text(shared->names, last, &bytes)[bytes], '\0');
            assert_true(bytes > 0);
        }
    }
    return NULL;
}

static void change(struct shared *shared, uint64_t *seed, uint32_t round)
{
    const uint32_t id = 1 + (uint32_t)(wio_test_random(seed) % IDS);
    const uint32_t job = (round + 1) * (IDS + 1) + id;
    wio_job_table_end(shared->table, id, WIO_JOB_NO_WATCH);
    atomic_store_explicit(&shared->least[id], job, memory_order_release);
    assert_ok(wio_job_table_process(shared->table, id, round, (struct wio_job_found){job, false},
                                    WIO_JOB_NO_WATCH, 0),
              NULL);
    char name[8] = {'j', (char)('a' + round % 26), (char)('a' + round / 26 % 26),
                    (char)('a' + round / 676 % 26), '\0'};
    uint32_t ignored;
    assert_ok(wio_job_names_add(shared->names, name, 4, &ignored), NULL);
}

static void looks_beside_changes(void **state)
{
    (void)state;
    static struct shared shared;
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    const struct wio_job_table_params params = {.alloc = heap, .policy = wio_job_policy_exit()};
    pthread_t threads[LOOKERS];
    uint64_t seed = 7;
    assert_ok(wio_job_table_create(&params, &shared.table), NULL);
    assert_ok(wio_job_names_create(&heap, 0, &shared.names), NULL);
    for (int i = 0; i < LOOKERS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, look, &shared), 0);
    }
    for (uint32_t round = 0; round < CHANGES; round++) {
        change(&shared, &seed, round);
    }
    atomic_store(&shared.has_ended, true);
    for (int i = 0; i < LOOKERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    assert_true(wio_job_table_size(shared.table).processes > IDS / 2);
    wio_job_table_destroy(shared.table);
    wio_job_names_destroy(shared.names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(looks_beside_changes)};
    return WIO_RUN(tests);
}
