/* SPDX-License-Identifier: Apache-2.0 */
#include "tracer/tracee.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "tracer/image.h"

void tracer_session_init(struct tracer_session *session, const struct tracer_settings *settings)
{
    *session = (struct tracer_session){.settings = settings};
}

static void process_fini(struct tracer_process *process)
{
    wio_ring_writer_close(&process->ring);
    tracer_fds_fini(&process->fds);
    tracer_maps_fini(&process->maps);
    free(process);
}

void tracer_session_fini(struct tracer_session *session)
{
    struct wio_map_entry *entry;
    for (size_t i = 0; (entry = wio_map_each(&session->threads, &i)) != NULL;) {
        struct tracer_thread *thread = (struct tracer_thread *)(uintptr_t)entry->value;
        wio_ring_stream_fini(&thread->stream);
        free(thread);
    }
    for (size_t i = 0; (entry = wio_map_each(&session->processes, &i)) != NULL;) {
        process_fini((struct tracer_process *)(uintptr_t)entry->value);
    }
    wio_map_fini(&session->threads);
    wio_map_fini(&session->processes);
    wio_map_fini(&session->ends);
}

struct tracer_thread *tracer_thread_find(const struct tracer_session *session, int32_t tid)
{
    const uint64_t *found = wio_map_get(&session->threads, (uint32_t)tid);
    return found != NULL ? (struct tracer_thread *)(uintptr_t)*found : NULL;
}

struct tracer_process *tracer_process_add(struct tracer_session *session, int32_t pid)
{
    struct tracer_process *process = calloc(1, sizeof(*process));
    if (process == NULL) {
        return NULL;
    }
    process->pid = pid;
    process->ring.fd = -1;
    process->first_string = 1;
    if (wio_map_put(&session->processes, (uint32_t)pid, (uintptr_t)process) != WIO_OK) {
        free(process);
        return NULL;
    }
    return process;
}

struct tracer_thread *tracer_thread_add(struct tracer_session *session,
                                        struct tracer_process *process, int32_t tid)
{
    struct tracer_thread *thread = calloc(1, sizeof(*thread));
    if (thread == NULL) {
        return NULL;
    }
    thread->tid = tid;
    thread->process = process;
    if (wio_map_put(&session->threads, (uint32_t)tid, (uintptr_t)thread) != WIO_OK) {
        free(thread);
        return NULL;
    }
    process->threads += 1;
    return thread;
}

void tracer_thread_remove(struct tracer_session *session, struct tracer_thread *thread)
{
    struct tracer_process *process = thread->process;
    (void)wio_map_remove(&session->threads, (uint32_t)thread->tid);
    wio_ring_stream_fini(&thread->stream);
    free(thread);
    process->threads -= 1;
    if (process->threads == 0) {
        (void)wio_map_remove(&session->processes, (uint32_t)process->pid);
        process_fini(process);
    }
}

/* Some other thread of the process than `kept`; NULL = none. */
static struct tracer_thread *find_other(const struct tracer_session *session,
                                        const struct tracer_thread *kept)
{
    struct wio_map_entry *entry;
    for (size_t i = 0; (entry = wio_map_each(&session->threads, &i)) != NULL;) {
        struct tracer_thread *thread = (struct tracer_thread *)(uintptr_t)entry->value;
        if (thread != kept && thread->process == kept->process) {
            return thread;
        }
    }
    return NULL;
}

void tracer_thread_keep_only(struct tracer_session *session, struct tracer_thread *thread)
{
    while (thread->process->threads > 1) {
        struct tracer_thread *other = find_other(session, thread);
        if (other == NULL) {
            return;
        }
        tracer_thread_remove(session, other);
    }
}

void tracer_process_renew(struct tracer_process *process)
{
    wio_ring_writer_close(&process->ring);
    tracer_fds_fini(&process->fds);
    tracer_maps_fini(&process->maps);
    process->parent_ring[0] = '\0';
    process->first_string = 1;
    process->code = (struct tracer_code){0};
    process->cwd = 0;
    process->is_described = false;
    process->has_ended = false;
    process->ring.is_blank = false;
    process->ring_failed = false;
}

void tracer_process_inherit(struct tracer_process *child, struct tracer_thread *parent)
{
    struct tracer_process *from = parent->process;
    child->is_recorded = from->is_recorded;
    child->is_leaving = from->is_leaving;
    if (from->ring.header == NULL) {
        return;
    }
    snprintf(child->parent_ring, sizeof(child->parent_ring), "%s", from->ring.name);
    child->first_string = from->ring.header->next_string;
    child->cwd = from->cwd;
    child->code = from->code;
    tracer_fds_copy(&child->fds, &from->fds);
    tracer_maps_copy(&child->maps, &from->maps);
}

static bool make_ring(struct tracer_session *session, struct tracer_process *process)
{
    if (process->ring_failed) {
        return false;
    }
    process->ring_failed = tracer_image_make_ring(session->settings, process) != WIO_OK;
    if (process->ring_failed && !process->ring.is_blank) {
        (void)__atomic_fetch_add(&session->settings->losses->no_ring, 1, __ATOMIC_RELAXED);
    }
    return !process->ring_failed;
}

bool tracer_thread_ready(struct tracer_session *session, struct tracer_thread *thread)
{
    struct tracer_process *process = thread->process;
    if (!process->is_recorded || (process->ring.header == NULL && !make_ring(session, process))) {
        return false;
    }
    if (thread->stream.ring == NULL) {
        const uint64_t token = thread->tid != process->pid ? (uint64_t)thread->tid : 0;
        wio_ring_stream_init(&thread->stream, &process->ring, process->pid, thread->tid, token);
    }
    if (!process->is_described) {
        process->is_described = true;
        tracer_image_describe(thread);
    }
    return true;
}
