/* SPDX-License-Identifier: Apache-2.0 */
#include "support/unit.h"

#include <stdlib.h>
#include <string.h>

#include "job/table.h"
#include "support/stingy.h"

#define MS UINT64_C(1000000)
#define S (1000 * MS)
#define NO_WATCH WIO_JOB_NO_WATCH

/* Watches that are out: given to the table and not given back. */
static unsigned out[1 << 16];

static void gone(void *context, uint32_t watch)
{
    (void)context;
    assert_int_equal(out[watch], 1);
    out[watch] = 0;
}

static struct wio_job_table *make(struct wio_job_policy policy, uint32_t most)
{
    const struct wio_job_table_params params = {
        .alloc = WIO_ALLOC_HEAP, .policy = policy, .most = most, .kernel = 99, .gone = gone};
    struct wio_job_table *table;
    memset(out, 0, sizeof(out));
    assert_ok(wio_job_table_create(&params, &table), NULL);
    return table;
}

static void process(struct wio_job_table *table, uint32_t pid, uint64_t birth, uint32_t job,
                    uint64_t now_ns)
{
    assert_ok(wio_job_table_process(table, pid, birth, (struct wio_job_found){job, false}, NO_WATCH,
                                    now_ns),
              NULL);
}

static void failed(struct wio_job_table *table, uint32_t pid, uint64_t birth, uint64_t now_ns)
{
    assert_ok(
        wio_job_table_process(table, pid, birth, (struct wio_job_found){0, true}, NO_WATCH, now_ns),
        NULL);
}

static void expect(const struct wio_job_table *table, uint32_t tid, uint64_t now_ns,
                   enum wio_job_answer answer, uint32_t job)
{
    const struct wio_job_hit hit = wio_job_table_look(table, tid, (uint32_t)(now_ns / MS));
    assert_int_equal(hit.answer, answer);
    assert_int_equal(hit.job, job);
}

static void old_answers_are_given_on(void **state)
{
    (void)state;
    struct wio_job_table *table = make(wio_job_policy_exit(), 0);
    expect(table, 10, 0, WIO_JOB_UNKNOWN, 0);
    process(table, 10, 1, 5, 0);
    expect(table, 10, 30 * S - MS, WIO_JOB_KNOWN, 5);
    expect(table, 10, 30 * S, WIO_JOB_OLD, 5);
    process(table, 10, 1, 6, 31 * S);
    expect(table, 10, 60 * S, WIO_JOB_KNOWN, 6);
    expect(table, 0, 0, WIO_JOB_KNOWN, 99);
    wio_job_table_destroy(table);
}

/* Whatever may make a look answer something else is counted; a thread that was not there is not. */
static void changes_are_counted(void **state)
{
    (void)state;
    struct wio_job_table *table = make(wio_job_policy_exit(), 0);
    bool is_kept = false;
    uint64_t before = wio_job_table_changes(table);
    process(table, 10, 1, 5, 0);
    process(table, 20, 1, 5, 0);
    const struct wio_job_thread thread = {.tid = 11, .pid = 10, .watch = 3};
    out[3] = 1;
    assert_ok(wio_job_table_thread(table, &thread, &is_kept), NULL);
    assert_int_equal(wio_job_table_changes(table), before);
    process(table, 10, 1, 6, S);
    assert_true(wio_job_table_changes(table) > before);
    before = wio_job_table_changes(table);
    wio_job_table_end(table, 11, 3);
    assert_true(wio_job_table_changes(table) > before);
    before = wio_job_table_changes(table);
    wio_job_table_whole(table, 7);
    assert_true(wio_job_table_changes(table) > before);
    before = wio_job_table_changes(table);
    wio_job_table_clear(table);
    assert_true(wio_job_table_changes(table) > before);
    wio_job_table_destroy(table);
}

static void failed_reads_are_tried_again_soon(void **state)
{
    (void)state;
    struct wio_job_table *table = make(wio_job_policy_exit(), 0);
    failed(table, 10, 1, 0);
    expect(table, 10, 9 * MS, WIO_JOB_KNOWN, 0);
    expect(table, 10, 10 * MS, WIO_JOB_OLD, 0);
    failed(table, 10, 1, 10 * MS);
    expect(table, 10, 29 * MS, WIO_JOB_KNOWN, 0);
    expect(table, 10, 30 * MS, WIO_JOB_OLD, 0);
    for (int i = 0; i < 40; i++) {
        failed(table, 10, 1, 1 * S);
    }
    expect(table, 10, 31 * S - MS, WIO_JOB_KNOWN, 0);
    expect(table, 10, 31 * S, WIO_JOB_OLD, 0);
    process(table, 10, 1, 7, 32 * S);
    failed(table, 10, 1, 62 * S); /* what was known stays */
    expect(table, 10, 62 * S, WIO_JOB_KNOWN, 7);
    expect(table, 10, 62 * S + 10 * MS, WIO_JOB_OLD, 7);
    wio_job_table_destroy(table);
}

/* The rules of lustre-devel, 2017-01-18. */
static void lustre_believes_a_failure(void **state)
{
    (void)state;
    struct wio_job_table *table = make(wio_job_policy_lustre(), 0);
    failed(table, 10, 1, 0);
    expect(table, 10, 30 * S - MS, WIO_JOB_KNOWN, 0);
    expect(table, 10, 30 * S, WIO_JOB_OLD, 0);
    process(table, 10, 1, 7, 30 * S);
    failed(table, 10, 1, 60 * S);
    expect(table, 10, 60 * S, WIO_JOB_KNOWN, 0);
    assert_int_equal(wio_job_table_sweep(table, 359 * S), 0);
    assert_int_equal(wio_job_table_sweep(table, 659 * S), 1);
    expect(table, 10, 659 * S, WIO_JOB_UNKNOWN, 0);
    wio_job_table_destroy(table);
}

static void a_job_is_purged_and_what_is_old(void **state)
{
    (void)state;
    struct wio_job_table *table = make(wio_job_policy_exit(), 0);
    process(table, 1, 1, 5, 0);
    process(table, 2, 1, 6, 1 * S);
    process(table, 3, 1, 5, 2 * S);
    process(table, 4, 1, 7, 250 * S);
    assert_int_equal(wio_job_table_purge(table, 7, 300 * S), 2); /* 4 by name, 1 by age */
    expect(table, 1, 300 * S, WIO_JOB_UNKNOWN, 0);
    expect(table, 4, 300 * S, WIO_JOB_UNKNOWN, 0);
    assert_int_equal(wio_job_table_purge(table, 0, 300 * S), 0);
    assert_int_equal(wio_job_table_purge(table, 5, 300 * S), 1);
    assert_int_equal(wio_job_table_size(table).processes, 1);
    wio_job_table_destroy(table);
}

static bool add_thread(struct wio_job_table *table, uint32_t tid, uint32_t pid, bool is_unsure)
{
    const struct wio_job_thread thread = {tid, pid, NO_WATCH, is_unsure};
    bool is_kept;
    assert_ok(wio_job_table_thread(table, &thread, &is_kept), NULL);
    return is_kept;
}

static void threads_have_the_job_of_their_process(void **state)
{
    (void)state;
    struct wio_job_table *table = make(wio_job_policy_exit(), 0);
    assert_false(add_thread(table, 11, 10, false));
    process(table, 10, 1, 5, 0);
    assert_true(add_thread(table, 11, 10, false));
    assert_true(add_thread(table, 12, 10, true));
    expect(table, 11, 0, WIO_JOB_KNOWN, 5);
    expect(table, 12, 0, WIO_JOB_UNSURE, 5);
    process(table, 10, 1, 6, 1 * S);
    expect(table, 11, 1 * S, WIO_JOB_KNOWN, 6);
    wio_job_table_end(table, 11, NO_WATCH);
    expect(table, 11, 1 * S, WIO_JOB_UNKNOWN, 0);
    expect(table, 10, 1 * S, WIO_JOB_KNOWN, 6);
    /* the id of a thread comes again as a process of its own */
    process(table, 12, 2, 8, 2 * S);
    expect(table, 12, 2 * S, WIO_JOB_KNOWN, 8);
    struct wio_job_known known;
    assert_true(wio_job_table_known(table, 10, &known));
    assert_int_equal(known.threads, 1);
    /* .. and as a thread of another */
    assert_true(add_thread(table, 10, 12, false));
    expect(table, 10, 2 * S, WIO_JOB_KNOWN, 8);
    assert_false(wio_job_table_known(table, 10, &known));
    wio_job_table_end(table, 12, NO_WATCH);
    expect(table, 10, 2 * S, WIO_JOB_UNKNOWN, 0);
    assert_int_equal(wio_job_table_size(table).threads, 0);
    wio_job_table_destroy(table);
}

static void one_job_for_all(void **state)
{
    (void)state;
    struct wio_job_table *table = make(wio_job_policy_exit(), 0);
    process(table, 10, 1, 5, 0);
    wio_job_table_whole(table, 42);
    expect(table, 10, 0, WIO_JOB_KNOWN, 42);
    expect(table, 77, 0, WIO_JOB_KNOWN, 42);
    wio_job_table_whole(table, WIO_JOB_PER_PROCESS);
    expect(table, 10, 0, WIO_JOB_KNOWN, 5);
    wio_job_table_destroy(table);
}

static void a_full_table_lets_others_leave(void **state)
{
    (void)state;
    struct wio_job_table *table = make(wio_job_policy_exit(), 100);
    for (uint32_t pid = 1; pid <= 1000; pid++) {
        process(table, pid, 1, pid, 0);
        expect(table, pid, 0, WIO_JOB_KNOWN, pid);
        assert_true(wio_job_table_size(table).threads <= 100);
    }
    assert_int_equal(wio_job_table_size(table).crowded_out, 900);
    unsigned kept = 0;
    for (uint32_t tid = 2001; tid <= 2200; tid++) {
        kept += add_thread(table, tid, 1000, false);
    }
    assert_int_equal(kept, 99); /* and not at the cost of its own process */
    assert_int_equal(wio_job_table_size(table).threads, 100);
    wio_job_table_destroy(table);
}

/* ---- random births, deaths and reused ids against a model that forgets nothing ---- */

#define IDS 300

struct model {
    uint64_t birth[IDS]; /* of the process that has the id now, 0 = none */
    uint32_t job[IDS];
    uint32_t parent[IDS]; /* a thread: its process; else 0 */
    uint32_t watch[IDS];  /* 0 = none: never in the table */
    uint64_t births;
    uint32_t watches;
};

static uint32_t new_watch(struct model *model)
{
    do {
        model->watches = model->watches % (1 << 15) + 1;
    } while (out[model->watches] != 0);
    out[model->watches] = 1;
    return model->watches;
}

static void model_end(struct wio_job_table *table, struct model *model, uint32_t id)
{
    for (uint32_t i = 1; i < IDS; i++) {
        if (model->parent[i] == id && model->birth[id] != 0) {
            model->birth[i] = model->parent[i] = model->watch[i] = 0;
        }
    }
    if (model->watch[id] != 0) {
        wio_job_table_end(table, id, model->watch[id]);
    }
    model->birth[id] = model->parent[id] = model->watch[id] = 0;
}

static void model_begin(struct model *model, uint32_t id, uint32_t parent)
{
    model->birth[id] = ++model->births;
    model->job[id] = parent != 0 ? model->job[parent] : (uint32_t)(model->births % 1000 + 1);
    model->parent[id] = parent;
    model->watch[id] = 0;
}

static void model_resolve(struct wio_job_table *table, struct model *model, uint32_t id)
{
    const uint32_t pid = model->parent[id] != 0 ? model->parent[id] : id;
    struct wio_job_known known;
    if (!wio_job_table_known(table, pid, &known)) {
        model->watch[pid] = new_watch(model);
    }
    assert_ok(wio_job_table_process(table, pid, model->birth[pid],
                                    (struct wio_job_found){model->job[pid], false},
                                    model->watch[pid], 0),
              NULL);
    if (pid != id) {
        const uint32_t has = wio_job_table_watch(table, id);
        model->watch[id] = has != NO_WATCH ? has : new_watch(model);
        const struct wio_job_thread thread = {id, pid, model->watch[id], false};
        bool is_kept;
        assert_ok(wio_job_table_thread(table, &thread, &is_kept), NULL);
        assert_true(is_kept);
    }
}

static void model_step(struct wio_job_table *table, struct model *model, uint64_t *seed)
{
    const uint32_t id = 1 + (uint32_t)(wio_test_random(seed) % (IDS - 1));
    const uint32_t other = 1 + (uint32_t)(wio_test_random(seed) % (IDS - 1));
    const unsigned what = (unsigned)(wio_test_random(seed) % 8);
    if (model->birth[id] == 0) {
        const bool is_thread =
            what < 3 && id != other && model->birth[other] != 0 && model->parent[other] == 0;
        model_begin(model, id, is_thread ? other : 0);
    } else if (what < 2) {
        model_end(table, model, id);
    } else if (what < 3 &&
               model->parent[id] == 0) { /* dies, and the id is another process at once */
        model_end(table, model, id);
        model_begin(model, id, 0);
    } else if (what < 4 && model->parent[id] == 0) { /* another job: what exec may do */
        model->job[id] = model->job[id] % 1000 + 1;
        for (uint32_t i = 1; i < IDS; i++) {
            model->job[i] = model->parent[i] == id ? model->job[id] : model->job[i];
        }
        model_resolve(table, model, id);
    } else {
        model_resolve(table, model, id);
    }
}

/* Never the job of another process: that of the one that has the id now, or nothing. */
static void model_check(const struct wio_job_table *table, const struct model *model)
{
    for (uint32_t id = 1; id < IDS; id++) {
        const struct wio_job_hit hit = wio_job_table_look(table, id, 0);
        if (model->birth[id] == 0 || hit.answer == WIO_JOB_UNKNOWN) {
            assert_int_equal(hit.answer, WIO_JOB_UNKNOWN);
        } else {
            assert_int_equal(hit.job, model->job[id]);
        }
    }
}

static unsigned watches_out(void)
{
    unsigned count = 0;
    for (size_t i = 0; i < sizeof(out) / sizeof(out[0]); i++) {
        count += out[i];
    }
    return count;
}

static void random_lives(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        uint64_t random = seed;
        struct wio_job_table *table = make(wio_job_policy_exit(), seed % 3 == 0 ? 400 : 0);
        struct model *model = calloc(1, sizeof(*model));
        assert_non_null(model);
        for (unsigned step = 0; step < 2000; step++) {
            model_step(table, model, &random);
            if (step % 16 == 0) {
                model_check(table, model);
            }
        }
        model_check(table, model);
        assert_int_equal(watches_out(), wio_job_table_size(table).threads);
        wio_job_table_destroy(table);
        assert_int_equal(watches_out(), 0);
        free(model);
    }
}

static enum wio_status fill(const struct wio_alloc *alloc)
{
    const struct wio_job_table_params params = {.alloc = *alloc, .policy = wio_job_policy_exit()};
    struct wio_job_table *table;
    enum wio_status status = wio_job_table_create(&params, &table);
    for (uint32_t pid = 1; pid <= 600 && status == WIO_OK; pid++) {
        status =
            wio_job_table_process(table, pid, 1, (struct wio_job_found){pid, false}, NO_WATCH, 0);
        const struct wio_job_hit hit = wio_job_table_look(table, pid, 0);
        assert_int_equal(hit.answer, status == WIO_OK ? WIO_JOB_KNOWN : WIO_JOB_UNKNOWN);
    }
    wio_job_table_destroy(table);
    return status;
}

static void memory_may_be_short(void **state)
{
    (void)state;
    unsigned n = 0;
    for (enum wio_status status = WIO_ERR_NOMEM; status != WIO_OK; n++) {
        struct wio_stingy stingy = {.left = n};
        const struct wio_alloc alloc = wio_stingy_alloc(&stingy);
        status = fill(&alloc);
        assert_int_equal(stingy.out, 0);
    }
    assert_true(n > 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(old_answers_are_given_on),
        cmocka_unit_test(changes_are_counted),
        cmocka_unit_test(failed_reads_are_tried_again_soon),
        cmocka_unit_test(lustre_believes_a_failure),
        cmocka_unit_test(a_job_is_purged_and_what_is_old),
        cmocka_unit_test(threads_have_the_job_of_their_process),
        cmocka_unit_test(one_job_for_all),
        cmocka_unit_test(a_full_table_lets_others_leave),
        cmocka_unit_test(random_lives),
        cmocka_unit_test(memory_may_be_short),
    };
    return WIO_RUN(tests);
}
