/* SPDX-License-Identifier: Apache-2.0 */
#include "job/table.h"

#include <stdatomic.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/memory.h"
#include "job/lines.h"

#define MOST_DEFAULT (1u << 18)
#define NS_PER_MS 1000000u
#define NONE WIO_NO_INDEX

/* A thread that is in the table. Free ones are chained by `next`. */
struct thread {
    uint32_t tid; /* 0 = free */
    uint32_t watch;
    uint32_t place;   /* in the view */
    uint32_t process; /* index */
    uint32_t next;    /* of its process */
    uint32_t previous;
    bool is_unsure;
};

struct process {
    uint64_t birth;
    uint64_t resolved_ns;
    uint32_t pid; /* 0 = free */
    uint32_t job;
    uint32_t failures;
    uint32_t due;   /* ms */
    uint32_t first; /* thread */
    uint32_t threads;
    uint32_t next_free;
};

struct wio_job_table {
    struct wio_job_lines lines;
    _Atomic uint32_t whole;
    _Atomic uint64_t changes; /* of answers that looks give */
    struct wio_job_table_params params;
    struct thread *threads;
    size_t thread_room;
    uint32_t thread_used; /* ever */
    uint32_t thread_free; /* chain */
    uint32_t thread_count;
    struct process *processes;
    size_t process_room;
    uint32_t process_used;
    uint32_t process_free;
    uint32_t process_count;
    uint32_t hand; /* where to look for the next one to leave */
    uint64_t swept_ns;
    uint64_t crowded_out;
};

enum wio_status wio_job_table_create(const struct wio_job_table_params *params,
                                     struct wio_job_table **table_out)
{
    struct wio_job_table *table = params->alloc.get(params->alloc.context, sizeof(*table));
    *table_out = NULL;
    if (table == NULL) {
        return WIO_ERR_NOMEM;
    }
    if (wio_job_lines_init(&table->lines, &params->alloc) != WIO_OK) {
        params->alloc.put(params->alloc.context, table);
        return WIO_ERR_NOMEM;
    }
    table->params = *params;
    table->params.most = params->most == 0 ? MOST_DEFAULT : params->most;
    table->thread_free = table->process_free = NONE;
    atomic_init(&table->whole, WIO_JOB_PER_PROCESS);
    atomic_init(&table->changes, 0);
    *table_out = table;
    return WIO_OK;
}

void wio_job_table_destroy(struct wio_job_table *table)
{
    if (table == NULL) {
        return;
    }
    const struct wio_alloc alloc = table->params.alloc;
    wio_job_table_clear(table);
    wio_job_lines_fini(&table->lines);
    alloc.put(alloc.context, table->threads);
    alloc.put(alloc.context, table->processes);
    alloc.put(alloc.context, table);
}

/* Put together in a register: by fields the compiler goes through memory, whose parts the processor
 * cannot load as a whole before they are written. */
static inline struct wio_job_hit hit_of(uint32_t job, enum wio_job_answer answer, bool is_old)
{
    struct wio_job_hit hit;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t bits = job | (uint64_t)answer << 32 | (uint64_t)is_old << 48;
    _Static_assert(sizeof(hit) == sizeof(bits) && offsetof(struct wio_job_hit, answer) == 4 &&
                       offsetof(struct wio_job_hit, is_old) == 6,
                   "a hit is its fields in this order");
    memcpy(&hit, &bits, sizeof(hit));
#else
    hit = (struct wio_job_hit){job, (uint16_t)answer, is_old};
#endif
    return hit;
}

struct wio_job_hit wio_job_table_look(const struct wio_job_table *table, uint32_t tid,
                                      uint32_t now_ms)
{
    const uint32_t whole = atomic_load_explicit(&table->whole, memory_order_relaxed);
    if (whole != WIO_JOB_PER_PROCESS) {
        return hit_of(whole, WIO_JOB_KNOWN, false);
    }
    if (tid == 0) {
        return hit_of(table->params.kernel, WIO_JOB_KNOWN, false);
    }
    uint32_t due;
    const uint64_t word = wio_job_lines_look(&table->lines, tid, &due);
    if (word == 0) {
        return hit_of(WIO_JOB_NONE, WIO_JOB_UNKNOWN, false);
    }
    const uint32_t job = (uint32_t)(word >> 32);
    const bool is_old = (int32_t)(now_ms - due) >= 0;
    if ((job & WIO_JOB_UNSURE_BIT) != 0) {
        return hit_of(job & ~WIO_JOB_UNSURE_BIT, WIO_JOB_UNSURE, is_old);
    }
    return hit_of(job, is_old ? WIO_JOB_OLD : WIO_JOB_KNOWN, is_old);
}

/* Behind the change: a look that began before it, and was remembered with the count of before, is
 * not believed. */
static void note_change(struct wio_job_table *table)
{
    atomic_fetch_add_explicit(&table->changes, 1, memory_order_release);
}

uint64_t wio_job_table_changes(const struct wio_job_table *table)
{
    return atomic_load_explicit(&table->changes, memory_order_acquire);
}

void wio_job_table_whole(struct wio_job_table *table, uint32_t job)
{
    atomic_store_explicit(&table->whole, job, memory_order_release);
    note_change(table);
}

/* ---- what the changing thread has beside the lines ---- */

static struct wio_job_view *view_of(const struct wio_job_table *table)
{
    return atomic_load_explicit(&table->lines.view, memory_order_relaxed);
}

static uint32_t find_thread(const struct wio_job_table *table, uint32_t tid)
{
    const struct wio_job_view *view = view_of(table);
    const uint32_t place = tid != 0 ? wio_job_view_find(view, tid) : NONE;
    return place != NONE ? view->owners[place] : NONE;
}

/* A main thread has the id of its process. */
static uint32_t find_process(const struct wio_job_table *table, uint32_t pid)
{
    const uint32_t thread = find_thread(table, pid);
    if (thread == NONE) {
        return NONE;
    }
    const uint32_t process = table->threads[thread].process;
    return table->processes[process].pid == pid ? process : NONE;
}

static uint64_t word_of(const struct wio_job_table *table, const struct thread *thread)
{
    const uint32_t job = table->processes[thread->process].job;
    return ((uint64_t)(job | (thread->is_unsure ? WIO_JOB_UNSURE_BIT : 0)) << 32) | thread->tid;
}

/* Tell all threads of a process its job. */
static void show(struct wio_job_table *table, const struct process *process)
{
    for (uint32_t at = process->first; at != NONE; at = table->threads[at].next) {
        const struct thread *thread = &table->threads[at];
        wio_job_view_set(view_of(table), thread->place, word_of(table, thread), process->due);
    }
    note_change(table);
}

static void give_back(const struct wio_job_table *table, uint32_t watch)
{
    if (watch != WIO_JOB_NO_WATCH && table->params.gone != NULL) {
        table->params.gone(table->params.context, watch);
    }
}

static void drop_thread(struct wio_job_table *table, uint32_t index)
{
    struct thread *thread = &table->threads[index];
    struct process *process = &table->processes[thread->process];
    wio_job_view_remove(view_of(table), thread->place);
    note_change(table);
    if (thread->previous != NONE) {
        table->threads[thread->previous].next = thread->next;
    } else {
        process->first = thread->next;
    }
    if (thread->next != NONE) {
        table->threads[thread->next].previous = thread->previous;
    }
    process->threads--;
    const uint32_t watch = thread->watch;
    *thread = (struct thread){.next = table->thread_free};
    table->thread_free = index;
    table->thread_count--;
    give_back(table, watch);
}

static void drop_process(struct wio_job_table *table, uint32_t index)
{
    struct process *process = &table->processes[index];
    while (process->first != NONE) {
        drop_thread(table, process->first);
    }
    *process = (struct process){.next_free = table->process_free};
    table->process_free = index;
    table->process_count--;
}

/* The thread, and its process where it is the main one. */
static void drop(struct wio_job_table *table, uint32_t thread)
{
    const uint32_t process = table->threads[thread].process;
    if (table->processes[process].pid == table->threads[thread].tid) {
        drop_process(table, process);
    } else {
        drop_thread(table, thread);
    }
}

/* Where `most` threads are there, one process leaves: the next one in turn, but not `kept`. */
static void crowd_out(struct wio_job_table *table, uint32_t kept)
{
    uint32_t left = table->process_used;
    while (table->thread_count >= table->params.most && left-- > 0) {
        table->hand = table->hand + 1 < table->process_used ? table->hand + 1 : 0;
        if (table->hand != kept && table->processes[table->hand].pid != 0) {
            drop_process(table, table->hand);
            table->crowded_out++;
        }
    }
}

static enum wio_status grow(struct wio_job_table *table)
{
    const uint32_t places = (view_of(table)->mask + 1) * WIO_JOB_WAYS;
    if (table->thread_count < places / 5 * 3) { /* looks seldom need a second line */
        return WIO_OK;
    }
    struct wio_job_view *view = wio_job_lines_grow(&table->lines);
    if (view == NULL) {
        return WIO_ERR_NOMEM;
    }
    for (uint32_t i = 0; i < table->thread_used; i++) {
        struct thread *thread = &table->threads[i];
        if (thread->tid != 0) {
            thread->place = wio_job_view_put(view, word_of(table, thread),
                                             table->processes[thread->process].due, i);
        }
    }
    wio_job_lines_publish(&table->lines, view);
    return WIO_OK;
}

/* A free place among `*used` in an array, which grows. */
static enum wio_status take(struct wio_job_table *table, void **array, size_t *room, size_t size,
                            uint32_t *used, uint32_t *index_out)
{
    WIO_TRY(wio_alloc_room(&table->params.alloc, array, room, (size_t)*used + 1, size));
    *index_out = (*used)++;
    return WIO_OK;
}

static enum wio_status take_thread(struct wio_job_table *table, uint32_t *index_out)
{
    WIO_TRY(grow(table));
    if (table->thread_free != NONE) {
        *index_out = table->thread_free;
        table->thread_free = table->threads[*index_out].next;
        return WIO_OK;
    }
    void *array = table->threads;
    enum wio_status status = take(table, &array, &table->thread_room, sizeof(*table->threads),
                                  &table->thread_used, index_out);
    table->threads = array;
    return status;
}

static enum wio_status take_process(struct wio_job_table *table, uint32_t *index_out)
{
    if (table->process_free != NONE) {
        *index_out = table->process_free;
        table->process_free = table->processes[*index_out].next_free;
        return WIO_OK;
    }
    void *array = table->processes;
    enum wio_status status = take(table, &array, &table->process_room, sizeof(*table->processes),
                                  &table->process_used, index_out);
    table->processes = array;
    return status;
}

static enum wio_status add_thread(struct wio_job_table *table, uint32_t process,
                                  const struct wio_job_thread *wanted)
{
    uint32_t index;
    WIO_TRY(take_thread(table, &index));
    struct process *owner = &table->processes[process];
    struct thread *thread = &table->threads[index];
    *thread = (struct thread){.tid = wanted->tid,
                              .watch = wanted->watch,
                              .process = process,
                              .next = owner->first,
                              .previous = NONE,
                              .is_unsure = wanted->is_unsure};
    if (owner->first != NONE) {
        table->threads[owner->first].previous = index;
    }
    owner->first = index;
    owner->threads++;
    table->thread_count++;
    thread->place = wio_job_view_put(view_of(table), word_of(table, thread), owner->due, index);
    return WIO_OK;
}

static void settle(const struct wio_job_policy *policy, struct process *process,
                   struct wio_job_found found, uint64_t now_ns)
{
    process->failures = found.is_failed ? process->failures + 1 : 0;
    if (!found.is_failed || !policy->keeps_on_failure || process->job == WIO_JOB_NONE) {
        process->job = found.job;
    }
    process->resolved_ns = now_ns;
    const uint64_t due_ns = now_ns + wio_job_policy_stands_ns(policy, process->failures);
    process->due = (uint32_t)(due_ns / NS_PER_MS);
}

/* Looks find it with its job from the first moment on. */
static enum wio_status add_process(struct wio_job_table *table, const struct process *process,
                                   uint32_t watch)
{
    const struct wio_job_thread main_thread = {
        .tid = process->pid, .pid = process->pid, .watch = watch};
    uint32_t index;
    crowd_out(table, NONE);
    WIO_TRY(take_process(table, &index));
    table->processes[index] = *process;
    table->process_count++;
    enum wio_status status = add_thread(table, index, &main_thread);
    if (status != WIO_OK) {
        drop_process(table, index);
    }
    return status;
}

enum wio_status wio_job_table_process(struct wio_job_table *table, uint32_t pid, uint64_t birth,
                                      struct wio_job_found found, uint32_t watch, uint64_t now_ns)
{
    WIO_PRE(pid != 0 && found.job < WIO_JOB_NUMBERS);
    const uint32_t thread = find_thread(table, pid);
    const uint32_t index = find_process(table, pid);
    if (index != NONE && table->processes[index].birth == birth) {
        settle(&table->params.policy, &table->processes[index], found, now_ns);
        show(table, &table->processes[index]);
        if (watch != table->threads[thread].watch) {
            give_back(table, watch);
        }
        return WIO_OK;
    }
    if (thread != NONE) { /* of another process that had this id */
        drop(table, thread);
    }
    struct process process = {.birth = birth, .pid = pid, .first = NONE};
    settle(&table->params.policy, &process, found, now_ns);
    return add_process(table, &process, watch);
}

enum wio_status wio_job_table_thread(struct wio_job_table *table,
                                     const struct wio_job_thread *thread, bool *is_kept_out)
{
    WIO_PRE(thread->tid != 0 && thread->tid != thread->pid);
    const uint32_t process = find_process(table, thread->pid);
    *is_kept_out = process != NONE;
    if (process == NONE) {
        return WIO_OK;
    }
    const uint32_t other = find_thread(table, thread->tid);
    if (other != NONE && table->threads[other].process == process &&
        table->threads[other].watch == thread->watch) {
        return WIO_OK;
    }
    if (other != NONE) {
        drop(table, other);
    }
    crowd_out(table, process);
    *is_kept_out = table->thread_count < table->params.most;
    return *is_kept_out ? add_thread(table, process, thread) : WIO_OK;
}

void wio_job_table_end(struct wio_job_table *table, uint32_t tid, uint32_t watch)
{
    const uint32_t thread = find_thread(table, tid);
    if (thread != NONE && table->threads[thread].watch == watch) {
        drop(table, thread);
    }
}

bool wio_job_table_known(const struct wio_job_table *table, uint32_t pid,
                         struct wio_job_known *known_out)
{
    const uint32_t index = find_process(table, pid);
    if (index == NONE) {
        return false;
    }
    const struct process *process = &table->processes[index];
    *known_out = (struct wio_job_known){.birth = process->birth,
                                        .resolved_ns = process->resolved_ns,
                                        .job = process->job,
                                        .watch = wio_job_table_watch(table, pid),
                                        .failures = process->failures,
                                        .threads = process->threads};
    return true;
}

uint32_t wio_job_table_watch(const struct wio_job_table *table, uint32_t tid)
{
    const uint32_t thread = find_thread(table, tid);
    return thread != NONE ? table->threads[thread].watch : WIO_JOB_NO_WATCH;
}

size_t wio_job_table_purge(struct wio_job_table *table, uint32_t job, uint64_t now_ns)
{
    const uint64_t age_ns = table->params.policy.purge_ns;
    size_t purged = 0;
    for (uint32_t i = 0; i < table->process_used; i++) {
        const struct process *process = &table->processes[i];
        const bool is_named = job != WIO_JOB_NONE && process->job == job;
        const bool is_old =
            process->resolved_ns <= now_ns && now_ns - process->resolved_ns >= age_ns;
        if (process->pid != 0 && (is_named || is_old)) {
            drop_process(table, i);
            purged++;
        }
    }
    return purged;
}

size_t wio_job_table_sweep(struct wio_job_table *table, uint64_t now_ns)
{
    const uint64_t every_ns = table->params.policy.sweep_ns;
    if (every_ns == 0 || now_ns < table->swept_ns + every_ns) {
        return 0;
    }
    table->swept_ns = now_ns;
    return wio_job_table_purge(table, WIO_JOB_NONE, now_ns);
}

void wio_job_table_clear(struct wio_job_table *table)
{
    for (uint32_t i = 0; i < table->process_used; i++) {
        if (table->processes[i].pid != 0) {
            drop_process(table, i);
        }
    }
}

struct wio_job_table_size wio_job_table_size(const struct wio_job_table *table)
{
    return (struct wio_job_table_size){table->process_count, table->thread_count,
                                       table->crowded_out};
}
