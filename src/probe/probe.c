/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/probe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/io.h"
#include "base/memory.h"
#include "probe/probe_internal.h"

#define NS_PER_MS 1000000u
#define ENDS 64u
/* Of a time stamp counter at 1.3 to 5 GHz 0.02 to 0.1 s, of nanoseconds 0.1 s. */
#define LAST_TICKS 100000000u

static enum wio_status no_memory(struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                         "no memory for the jobs of processes");
}

/* A watch has left the table: always under the lock. */
static void gone(void *context, uint32_t watch)
{
    struct wio_probe *probe = context;
    wio_watches_close(&probe->watches, watch);
}

static void reader_destroy(struct wio_probe_reader *reader)
{
    if (reader != NULL) {
        free(reader->environ);
        free(reader);
    }
}

static void *run_resolver(void *argument)
{
    struct wio_probe *probe = argument;
    struct wio_probe_reader *reader = calloc(1, sizeof(*reader));
    uint32_t tid;
    while (wio_requests_take(&probe->requests, &tid)) {
        if (reader != NULL) {
            wio_probe_resolve(probe, reader, tid);
        }
    }
    reader_destroy(reader);
    return NULL;
}

static enum wio_status make_tables(struct wio_probe *probe, struct wio_error *err)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    struct wio_job_table_params params = {.alloc = heap,
                                          .policy = probe->params.policy,
                                          .most = probe->params.most,
                                          .gone = gone,
                                          .context = probe};
    if (wio_job_names_create(&heap, 0, &probe->names) != WIO_OK ||
        wio_job_names_add(probe->names, "kernel", strlen("kernel"), &params.kernel) != WIO_OK ||
        wio_job_table_create(&params, &probe->table) != WIO_OK) {
        return no_memory(err);
    }
    return WIO_OK;
}

static struct wio_job_control control_of(struct wio_probe *probe)
{
    return (struct wio_job_control){probe->table, probe->names, &probe->settings, probe->host};
}

/* The calling process has a job too, and it is known at once. */
static enum wio_status find_own(struct wio_probe *probe, uint32_t node, struct wio_error *err)
{
    uint32_t job = node;
    if (node == WIO_JOB_PER_PROCESS) {
        struct wio_probe_reader *reader = calloc(1, sizeof(*reader));
        if (reader == NULL) {
            return no_memory(err);
        }
        reader->settings = probe->settings;
        wio_probe_read(probe, reader, (uint32_t)getpid());
        const enum wio_status status =
            wio_job_names_add(probe->names, reader->resolved.name, reader->resolved.bytes, &job);
        reader_destroy(reader);
        if (status != WIO_OK) {
            return no_memory(err);
        }
    }
    atomic_store_explicit(&probe->own, job, memory_order_release);
    return WIO_OK;
}

static enum wio_status find_system(struct wio_probe *probe, struct wio_error *err)
{
    if (!wio_task_system_init(&probe->system)) {
        const int error = errno;
        enum wio_status status = wio_error_sys(err, "/proc", "cannot hold or read processes");
        return error == ENOSYS ? WIO_ERR_UNSUPPORTED : status;
    }
    if (probe->params.is_old_kernel) {
        probe->system.has_thread_fds = probe->system.has_unique_inos = false;
    }
    if (gethostname(probe->host, sizeof(probe->host) - 1) != 0) {
        probe->host[0] = '\0';
    }
    return WIO_OK;
}

static enum wio_status start(struct wio_probe *probe, struct wio_error *err)
{
    const struct wio_job_control control = control_of(probe);
    uint32_t node;
    WIO_TRY(wio_job_control_apply(&control, &node, err));
    WIO_TRY(find_own(probe, node, err));
    const int error = pthread_create(&probe->resolver, NULL, run_resolver, probe);
    if (error != 0) {
        errno = error;
        return wio_error_sys(err, NULL, "cannot start the thread that finds out jobs");
    }
    probe->has_resolver = true;
    return WIO_OK;
}

enum wio_status wio_probe_create(const struct wio_probe_params *params,
                                 struct wio_probe **probe_out, struct wio_error *err)
{
    const struct wio_alloc heap = WIO_ALLOC_HEAP;
    static _Atomic uint64_t made;
    struct wio_probe *probe = calloc(1, sizeof(*probe));
    *probe_out = NULL;
    if (probe == NULL) {
        return no_memory(err);
    }
    probe->number = atomic_fetch_add(&made, 1) + 1;
    probe->has_tsc = wio_clock_has_tsc();
    probe->params = *params;
    probe->settings = params->settings;
    if (params->policy.refresh_ns == 0) {
        probe->params.policy = wio_job_policy_exit();
    }
    (void)pthread_mutex_init(&probe->lock, NULL);
    (void)pthread_mutex_init(&probe->bell_lock, NULL);
    wio_requests_init(&probe->requests);
    wio_job_sessions_init(&probe->sessions, &heap);
    probe->system.proc = probe->watches.epoll = -1;
    enum wio_status status = find_system(probe, err);
    if (status == WIO_OK) {
        status = wio_watches_init(&probe->watches, err);
    }
    if (status == WIO_OK && !params->has_no_bell) {
        wio_bell_init(&probe->bell, probe->watches.epoll);
    }
    if (status == WIO_OK) {
        status = make_tables(probe, err);
    }
    if (status == WIO_OK) {
        status = start(probe, err);
    }
    if (status != WIO_OK) {
        wio_probe_destroy(probe);
        return status;
    }
    *probe_out = probe;
    return WIO_OK;
}

void wio_probe_destroy(struct wio_probe *probe)
{
    if (probe == NULL) {
        return;
    }
    wio_requests_end(&probe->requests);
    if (probe->has_resolver) {
        (void)pthread_join(probe->resolver, NULL);
    }
    wio_job_table_destroy(probe->table);
    wio_job_names_destroy(probe->names);
    wio_job_sessions_fini(&probe->sessions);
    wio_bell_fini(&probe->bell);
    wio_watches_fini(&probe->watches);
    wio_fd_cleanup(&probe->system.proc);
    wio_requests_fini(&probe->requests);
    (void)pthread_mutex_destroy(&probe->lock);
    (void)pthread_mutex_destroy(&probe->bell_lock);
    free(probe);
}

uint32_t wio_probe_now_ms(void)
{
    return (uint32_t)(wio_clock_mono_ns() / NS_PER_MS);
}

static void end_watched(struct wio_probe *probe, uint64_t name)
{
    const uint32_t watch = wio_watches_named(&probe->watches, name);
    if (watch != WIO_NO_INDEX) {
        wio_job_table_end(probe->table, wio_watches_get(&probe->watches, watch)->tid, watch);
        probe->counts.ended++;
    }
}

/* A thread that finds the set empty because another one has taken an end out of it has to see what
 * that one did to the table before. */
static size_t take_ends(void *context)
{
    struct wio_probe *probe = context;
    uint64_t names[ENDS];
    size_t taken = 0;
    size_t count;
    do {
        count = wio_watches_ended(&probe->watches, names, ENDS);
        if (count > 0) {
            (void)pthread_mutex_lock(&probe->lock);
            for (size_t i = 0; i < count; i++) {
                end_watched(probe, names[i]);
            }
            atomic_fetch_add_explicit(&probe->ends, 1, memory_order_release);
            (void)pthread_mutex_unlock(&probe->lock);
        }
        taken += count;
    } while (count == ENDS);
    (void)atomic_load_explicit(&probe->ends, memory_order_acquire);
    return taken;
}

static void take_rung_ends(struct wio_probe *probe)
{
    (void)pthread_mutex_lock(&probe->bell_lock);
    if (wio_bell_has_rung(&probe->bell)) {
        wio_bell_answer(&probe->bell, take_ends, probe);
    }
    (void)pthread_mutex_unlock(&probe->bell_lock);
}

static inline void drain(struct wio_probe *probe)
{
    if (probe->bell.ring == NULL) {
        (void)take_ends(probe);
    } else if (wio_bell_has_rung(&probe->bell)) {
        take_rung_ends(probe);
    }
}

void wio_probe_drain(struct wio_probe *probe)
{
    drain(probe);
}

/* A thread whose end is not told: is it still there? */
static struct wio_job_hit check(struct wio_probe *probe, struct wio_job_hit hit, uint32_t tid)
{
    (void)pthread_mutex_lock(&probe->lock);
    const uint32_t number = wio_job_table_watch(probe->table, tid);
    bool is_alive = false;
    if (number != WIO_JOB_NO_WATCH) {
        const struct wio_probe_watch *watch = wio_watches_get(&probe->watches, number);
        is_alive = wio_task_is_alive(watch->fd, watch->kind);
        if (!is_alive) {
            wio_job_table_end(probe->table, tid, number);
            probe->counts.ended++;
        }
    }
    (void)pthread_mutex_unlock(&probe->lock);
    if (!is_alive) {
        return (struct wio_job_hit){WIO_JOB_NONE, WIO_JOB_UNKNOWN, false};
    }
    hit.answer = hit.is_old ? WIO_JOB_OLD : WIO_JOB_KNOWN;
    return hit;
}

struct wio_job_hit wio_probe_job(struct wio_probe *probe, uint32_t tid, uint32_t now_ms)
{
    struct wio_job_hit hit = wio_job_table_look(probe->table, tid, now_ms);
    if (hit.answer == WIO_JOB_KNOWN) {
        return hit;
    }
    if (hit.answer == WIO_JOB_UNSURE) {
        hit = check(probe, hit, tid);
    }
    if (hit.answer != WIO_JOB_KNOWN) {
        wio_requests_ask(&probe->requests, tid);
    }
    return hit;
}

/* The job, where the table alone knows it: the answers of check() hold for one request. */
static struct wio_job_hit job_to_keep(struct wio_probe *probe, struct wio_probe_last *last,
                                      uint32_t tid)
{
    const uint32_t now_ms = wio_probe_now_ms();
    const uint64_t changes = wio_job_table_changes(probe->table); /* before the look */
    const struct wio_job_hit hit = wio_job_table_look(probe->table, tid, now_ms);
    if (hit.answer != WIO_JOB_KNOWN) {
        *last = (struct wio_probe_last){0};
        return wio_probe_job(probe, tid, now_ms);
    }
    *last = (struct wio_probe_last){.probe = probe->number,
                                    .changes = changes,
                                    .since = wio_clock_ticks(probe->has_tsc),
                                    .hit = hit,
                                    .tid = tid};
    return hit;
}

struct wio_job_hit wio_probe_job_again(struct wio_probe *probe, struct wio_probe_last *last,
                                       uint32_t tid)
{
    drain(probe);
    const bool is_same = last->tid == tid && last->probe == probe->number &&
                         last->changes == wio_job_table_changes(probe->table) &&
                         wio_clock_ticks(probe->has_tsc) - last->since < LAST_TICKS;
    return is_same ? last->hit : job_to_keep(probe, last, tid);
}

uint32_t wio_probe_own(const struct wio_probe *probe)
{
    return atomic_load_explicit(&probe->own, memory_order_relaxed);
}

const char *wio_probe_text(const struct wio_probe *probe, uint32_t job, size_t *bytes_out)
{
    return wio_job_names_text(probe->names, job, bytes_out);
}

enum wio_status wio_probe_control(struct wio_probe *probe, const char *line, size_t bytes,
                                  struct wio_job_control_result *result_out, struct wio_error *err)
{
    const struct wio_job_control control = control_of(probe);
    (void)pthread_mutex_lock(&probe->lock);
    const enum wio_status status =
        wio_job_control_write(&control, line, bytes, wio_clock_mono_ns(), result_out, err);
    if (status == WIO_OK) {
        probe->version++; /* what is being read now is of before */
    }
    if (status == WIO_OK && result_out->node != WIO_JOB_PER_PROCESS) {
        atomic_store_explicit(&probe->own, result_out->node, memory_order_release);
    }
    (void)pthread_mutex_unlock(&probe->lock);
    return status;
}

void wio_probe_get_settings(struct wio_probe *probe, struct wio_job_settings *settings_out)
{
    (void)pthread_mutex_lock(&probe->lock);
    *settings_out = probe->settings;
    (void)pthread_mutex_unlock(&probe->lock);
}

static enum wio_status name_session(struct wio_probe *probe, uint32_t session, uint64_t birth,
                                    const char *name, size_t bytes)
{
    uint32_t job;
    WIO_TRY(wio_job_names_add(probe->names, name, bytes, &job));
    WIO_TRY(wio_job_sessions_set(&probe->sessions, session, birth, job));
    wio_job_table_clear(probe->table);
    probe->version++;
    return WIO_OK;
}

enum wio_status wio_probe_session(struct wio_probe *probe, uint32_t tid, const char *name,
                                  size_t bytes, struct wio_error *err)
{
    uint32_t session;
    uint64_t birth;
    if (!wio_probe_find_session(probe, tid, &session, &birth)) {
        return wio_error_set(err, WIO_ERR_IO, NULL, WIO_ERROR_NO_OFFSET,
                             "thread %u has no session whose leader lives", tid);
    }
    (void)pthread_mutex_lock(&probe->lock);
    const enum wio_status status = name_session(probe, session, birth, name, bytes);
    (void)pthread_mutex_unlock(&probe->lock);
    return status == WIO_OK ? WIO_OK
                            : wio_error_set(err, status, NULL, WIO_ERROR_NO_OFFSET,
                                            "cannot name the session of thread %u: a name has 1 to "
                                            "%u bytes and no NUL",
                                            tid, WIO_JOB_BYTES);
}

void wio_probe_settle(struct wio_probe *probe)
{
    wio_requests_settle(&probe->requests);
}

void wio_probe_get_counts(struct wio_probe *probe, struct wio_probe_counts *counts_out)
{
    const uint64_t dropped = wio_requests_dropped(&probe->requests);
    (void)pthread_mutex_lock(&probe->lock);
    const struct wio_job_table_size size = wio_job_table_size(probe->table);
    *counts_out = probe->counts;
    (void)pthread_mutex_unlock(&probe->lock);
    counts_out->processes = size.processes;
    counts_out->threads = size.threads;
    counts_out->crowded_out = size.crowded_out;
    counts_out->dropped = dropped;
}
