/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The resolver's step. The order is what makes it right: a task is held by a descriptor first, then
 * read, then found alive (so what was read is of it), then, under the lock, its descriptor goes
 * into the set that drains ask, it is found alive once more, and only then it is shown. Whatever
 * ends after that is in the set before its id is free.
 */
#include <errno.h>

#include "base/clock.h"
#include "base/system/proc_text.h"
#include "probe/probe_internal.h"

#define STATUS_BYTES 4096u

static void count(struct wio_probe *probe, uint64_t *counter)
{
    (void)pthread_mutex_lock(&probe->lock);
    (*counter)++;
    (void)pthread_mutex_unlock(&probe->lock);
}

static void count_failed_open(struct wio_probe *probe, int error)
{
    const bool is_short = error == EMFILE || error == ENFILE || error == ENOMEM;
    count(probe, is_short ? &probe->counts.unwatched : &probe->counts.gone);
}

/* The settings as they are now; false where all processes have one job. */
static bool take_settings(struct wio_probe *probe, struct wio_probe_reader *reader)
{
    (void)pthread_mutex_lock(&probe->lock);
    reader->settings = probe->settings;
    reader->version = probe->version;
    (void)pthread_mutex_unlock(&probe->lock);
    return !wio_job_settings_is_whole(&reader->settings);
}

/* Put a task among those whose end is told, and find it alive after that. Under the lock. */
static bool watch(struct wio_probe *probe, struct wio_probe_task *task, uint32_t *watch_out)
{
    if (!probe->params.policy.evicts_at_exit) {
        wio_task_close(task);
        *watch_out = WIO_JOB_NO_WATCH;
        return true;
    }
    if (wio_watches_add(&probe->watches, task, watch_out) != WIO_OK) {
        probe->counts.unwatched++;
        return false;
    }
    const struct wio_probe_watch *watched = wio_watches_get(&probe->watches, *watch_out);
    if (!wio_task_is_alive(watched->fd, watched->kind)) {
        wio_watches_close(&probe->watches, *watch_out);
        probe->counts.gone++;
        return false;
    }
    return true;
}

static void unwatch(struct wio_probe *probe, uint32_t watch_number)
{
    if (watch_number != WIO_JOB_NO_WATCH) {
        wio_watches_close(&probe->watches, watch_number);
    }
}

static struct wio_job_found found_of(struct wio_probe *probe,
                                     const struct wio_job_resolved *resolved)
{
    struct wio_job_found found = {WIO_JOB_NONE, resolved->is_failed};
    probe->counts.resolved++;
    probe->counts.failed += resolved->is_failed;
    probe->counts.refused += resolved->is_refused;
    if (wio_job_names_add(probe->names, resolved->name, resolved->bytes, &found.job) != WIO_OK) {
        found.is_failed = true;
    }
    return found;
}

static bool is_known(const struct wio_probe *probe, const struct wio_probe_task *task,
                     uint64_t birth, uint32_t *watch_out)
{
    struct wio_job_known known;
    const bool is_there =
        wio_job_table_known(probe->table, task->tid, &known) && known.birth == birth;
    *watch_out = is_there ? known.watch : WIO_JOB_NO_WATCH;
    return is_there;
}

/* Without ends that are told nothing distinguishes two processes with one id: Lustre's rules. */
static uint64_t birth_of(const struct wio_probe *probe, const struct wio_probe_task *task)
{
    return probe->params.policy.evicts_at_exit ? task->birth : 0;
}

/* Under the lock; closes the task's descriptor or hands it over. */
static void keep_process(struct wio_probe *probe, const struct wio_probe_reader *reader,
                         struct wio_probe_task *task)
{
    const uint64_t birth = birth_of(probe, task);
    const struct wio_job_found found = found_of(probe, &reader->resolved);
    const uint64_t now_ns = wio_clock_mono_ns();
    uint32_t watch_number;
    (void)wio_job_table_sweep(probe->table, now_ns);
    const bool was_known = is_known(probe, task, birth, &watch_number);
    if (was_known || !probe->params.policy.evicts_at_exit) {
        const bool is_alive = wio_task_is_alive(task->fd, task->kind);
        wio_task_close(task);
        probe->counts.gone += !is_alive;
        if (!is_alive) {
            return;
        }
    } else if (!watch(probe, task, &watch_number)) {
        return;
    }
    if (wio_job_table_process(probe->table, task->tid, birth, found, watch_number, now_ns) !=
        WIO_OK) {
        probe->counts.unwatched++;
        if (!was_known) {
            unwatch(probe, watch_number);
        }
    }
}

/* Read an opened process and keep what is found; closes the task. */
static void resolve_process(struct wio_probe *probe, struct wio_probe_reader *reader,
                            struct wio_probe_task *task)
{
    if (probe->params.before_read != NULL) {
        probe->params.before_read(probe->params.context, task->tid);
    }
    wio_probe_read(probe, reader, task->tid);
    if (probe->params.before_keep != NULL) {
        probe->params.before_keep(probe->params.context, task->tid);
    }
    (void)pthread_mutex_lock(&probe->lock);
    const bool is_current = probe->version == reader->version;
    if (is_current) {
        keep_process(probe, reader, task);
    }
    (void)pthread_mutex_unlock(&probe->lock);
    if (!is_current) {
        wio_requests_ask(&probe->requests, task->tid);
        wio_task_close(task);
    }
}

/* The process of a thread, opened; the thread is found alive after that, so it is the right one. */
static bool open_process_of(struct wio_probe *probe, const struct wio_probe_task *thread,
                            struct wio_probe_task *process_out)
{
    char text[STATUS_BYTES];
    uint64_t pid = 0;
    const int64_t bytes = wio_task_read(&probe->system, thread->tid, "status", text, sizeof(text));
    if (bytes <= 0 || !wio_proc_status_number(text, (size_t)bytes, "Tgid:", &pid) ||
        !wio_task_is_alive(thread->fd, thread->kind)) {
        return false;
    }
    wio_task_open_process(&probe->system, (uint32_t)pid, process_out);
    if (process_out->kind == WIO_TASK_NONE) {
        return false;
    }
    if (!wio_task_is_alive(thread->fd, thread->kind)) {
        wio_task_close(process_out);
        return false;
    }
    return true;
}

/* Under the lock; closes the thread's descriptor or hands it over. */
static void keep_thread(struct wio_probe *probe, struct wio_probe_task *task, uint32_t pid,
                        uint64_t birth)
{
    struct wio_job_known known;
    struct wio_job_thread thread = {.tid = task->tid,
                                    .pid = pid,
                                    .is_unsure = task->kind == WIO_TASK_UNTOLD &&
                                                 probe->params.policy.evicts_at_exit};
    bool is_kept = false;
    if (!wio_job_table_known(probe->table, pid, &known) || known.birth != birth ||
        !watch(probe, task, &thread.watch)) {
        wio_task_close(task);
        return;
    }
    if (wio_job_table_thread(probe->table, &thread, &is_kept) != WIO_OK || !is_kept) {
        probe->counts.unwatched++;
        unwatch(probe, thread.watch);
    }
}

static void resolve_thread(struct wio_probe *probe, struct wio_probe_reader *reader,
                           struct wio_probe_task *thread)
{
    struct wio_probe_task process;
    uint32_t watch_number;
    if (!open_process_of(probe, thread, &process)) {
        count(probe, &probe->counts.gone);
        wio_task_close(thread);
        return;
    }
    const uint32_t pid = process.tid;
    const uint64_t birth = birth_of(probe, &process);
    (void)pthread_mutex_lock(&probe->lock);
    const bool is_refresh = wio_job_table_watch(probe->table, thread->tid) != WIO_JOB_NO_WATCH;
    const bool has_process = is_known(probe, &process, birth, &watch_number);
    (void)pthread_mutex_unlock(&probe->lock);
    if (has_process && !is_refresh && probe->params.policy.evicts_at_exit) {
        wio_task_close(&process);
    } else {
        resolve_process(probe, reader, &process);
    }
    (void)pthread_mutex_lock(&probe->lock);
    if (is_refresh) {
        wio_task_close(thread);
    } else {
        keep_thread(probe, thread, pid, birth);
    }
    (void)pthread_mutex_unlock(&probe->lock);
}

void wio_probe_resolve(struct wio_probe *probe, struct wio_probe_reader *reader, uint32_t tid)
{
    struct wio_probe_task task;
    if (!take_settings(probe, reader)) {
        return;
    }
    wio_task_open_process(&probe->system, tid, &task);
    if (task.kind == WIO_TASK_PROCESS) {
        resolve_process(probe, reader, &task);
        return;
    }
    if (task.error == EINVAL || task.error == ENOENT) {
        wio_task_open_thread(&probe->system, tid, &task);
    }
    if (task.kind == WIO_TASK_NONE) {
        count_failed_open(probe, task.error);
        return;
    }
    resolve_thread(probe, reader, &task);
}
