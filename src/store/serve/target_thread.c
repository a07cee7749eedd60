/* SPDX-License-Identifier: Apache-2.0 */
#include "store/serve/target_thread.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "store/net/net.h"
#include "store/serve/loop_hold.h"
#include "store/serve/serve.h"

struct target_thread {
    struct target_thread_config config;
    pthread_t thread;
    pthread_mutex_t mutex; /* of all below */
    pthread_cond_t begun;
    struct wio_net *net;
    struct wio_error failure;
    enum wio_status status;
    bool has_begun; /* or could not */
    bool is_to_stop;
    bool has_addresses;
    char address[WIO_LINK_ADDRESS_BYTES];
    char addresses[WIO_SERVE_RANKS_MAX][WIO_LINK_ADDRESS_BYTES];
    struct loop_hold hold;
    /* of its own thread */
    struct node_target *node;
    struct wio_tracer *tracer; /* may be NULL */
    bool is_stopping;
};

/* ---- on its own thread --------------------------------------------------------------------- */

static void note_failure(struct target_thread *thread, const struct wio_error *why)
{
    (void)pthread_mutex_lock(&thread->mutex);
    if (thread->status == WIO_OK) {
        thread->status = why->status;
        thread->failure = *why;
    }
    (void)pthread_mutex_unlock(&thread->mutex);
}

static void failed(void *context, const struct wio_error *why)
{
    struct target_thread *thread = context;
    note_failure(thread, why);
    thread->config.changed(thread->config.context);
}

static void stopped(void *context)
{
    struct target_thread *thread = context;
    wio_net_stop(thread->net);
}

static void take_addresses(struct target_thread *thread)
{
    const char *list[WIO_SERVE_RANKS_MAX];
    for (unsigned i = 0; i < thread->config.node.targets; i++) {
        list[i] = thread->addresses[i];
    }
    node_target_set_addresses(thread->node, list);
}

/* The other thread has left something to do. */
static void wake(void *context)
{
    struct target_thread *thread = context;
    loop_hold_here(&thread->hold);
    (void)pthread_mutex_lock(&thread->mutex);
    bool is_to_stop = thread->is_to_stop && !thread->is_stopping;
    if (thread->has_addresses && !thread->is_stopping) {
        take_addresses(thread);
        thread->has_addresses = false;
    }
    thread->is_stopping |= is_to_stop;
    (void)pthread_mutex_unlock(&thread->mutex);
    if (is_to_stop && thread->config.is_temporary) {
        node_target_quit(thread->node);
        wio_net_stop(thread->net);
    } else if (is_to_stop) {
        node_target_stop(thread->node, stopped, thread);
    }
}

static uint64_t now_ns(const struct target_thread *thread)
{
    struct wio_io *io = wio_net_io(thread->net);
    return io->ops->now_ns(io);
}

static enum wio_status begin_trace(struct target_thread *thread, struct wio_error *err)
{
    struct wio_tracer_config trace = *thread->config.trace;
    trace.address = thread->config.address;
    return wio_tracer_create(&trace, &thread->tracer, err);
}

/* What led to a failure is worth a segment, where one can be written yet. */
static void end_trace(struct target_thread *thread)
{
    struct wio_error err = WIO_ERROR_INIT;
    if (thread->tracer != NULL && thread->net != NULL &&
        target_thread_error(thread, &err) != WIO_OK) {
        (void)!wio_tracer_flush(thread->tracer, now_ns(thread), &err);
    }
    if (wio_tracer_close(thread->tracer, NULL, &err) != WIO_OK) {
        note_failure(thread, &err);
    }
}

static enum wio_status begin(struct target_thread *thread, struct wio_error *err)
{
    struct node_target_config node = thread->config.node;
    const char *address = NULL;
    node.failed = failed;
    node.context = thread;
    WIO_TRY(begin_trace(thread, err));
    node.tracer = thread->tracer;
    WIO_TRY(wio_net_create(thread->config.dir, &thread->net, err));
    WIO_TRY(node_target_create(wio_net_io(thread->net), &node, &thread->node, err));
    WIO_TRY(node_target_listen(thread->node, thread->config.address, &address, err));
    (void)snprintf(thread->address, sizeof(thread->address), "%s", address);
    wio_net_on_wake(thread->net, wake, thread);
    return WIO_OK;
}

static void *run(void *context)
{
    struct target_thread *thread = context;
    struct wio_error err = WIO_ERROR_INIT;
    enum wio_status status = begin(thread, &err);
    if (status != WIO_OK) {
        note_failure(thread, &err);
    }
    (void)pthread_mutex_lock(&thread->mutex);
    thread->has_begun = true;
    (void)pthread_cond_signal(&thread->begun);
    (void)pthread_mutex_unlock(&thread->mutex);
    if (status == WIO_OK) {
        wio_net_run(thread->net);
    }
    loop_hold_end(&thread->hold);
    while (thread->net != NULL && wio_net_poll(thread->net)) {
        /* a flush that is under way still knows the target */
    }
    node_target_destroy(thread->node);
    end_trace(thread);
    return NULL;
}

/* ---- on the other one ---------------------------------------------------------------------- */

void target_thread_destroy(struct target_thread *thread)
{
    if (thread != NULL) {
        wio_net_destroy(thread->net);
        (void)pthread_cond_destroy(&thread->begun);
        loop_hold_fini(&thread->hold);
        (void)pthread_mutex_destroy(&thread->mutex);
        free(thread);
    }
}

enum wio_status target_thread_wait(struct target_thread *thread, struct wio_error *err)
{
    (void)pthread_join(thread->thread, NULL);
    return target_thread_error(thread, err);
}

static struct target_thread *create(const struct target_thread_config *config)
{
    struct target_thread *thread = calloc(1, sizeof(*thread));
    if (thread != NULL) {
        thread->config = *config;
        (void)pthread_mutex_init(&thread->mutex, NULL);
        (void)pthread_cond_init(&thread->begun, NULL);
        loop_hold_init(&thread->hold);
    }
    return thread;
}

enum wio_status target_thread_start(const struct target_thread_config *config,
                                    struct target_thread **thread_out, struct wio_error *err)
{
    struct target_thread *thread = create(config);
    if (thread == NULL || pthread_create(&thread->thread, NULL, run, thread) != 0) {
        target_thread_destroy(thread);
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "cannot begin a thread");
    }
    (void)pthread_mutex_lock(&thread->mutex);
    while (!thread->has_begun) {
        (void)pthread_cond_wait(&thread->begun, &thread->mutex);
    }
    (void)pthread_mutex_unlock(&thread->mutex);
    enum wio_status status = target_thread_error(thread, err);
    if (status != WIO_OK) {
        wio_error_add(err, "while starting target %u", config->node.self);
        (void)!target_thread_wait(thread, NULL);
        target_thread_destroy(thread);
        return status;
    }
    *thread_out = thread;
    return WIO_OK;
}

const char *target_thread_address(const struct target_thread *thread)
{
    return thread->address;
}

void target_thread_set_addresses(struct target_thread *thread, const char *const *addresses)
{
    (void)pthread_mutex_lock(&thread->mutex);
    for (unsigned i = 0; i < thread->config.node.targets; i++) {
        (void)snprintf(thread->addresses[i], sizeof(thread->addresses[i]), "%s", addresses[i]);
    }
    thread->has_addresses = true;
    (void)pthread_mutex_unlock(&thread->mutex);
    wio_net_wake(thread->net);
}

enum wio_status target_thread_error(struct target_thread *thread, struct wio_error *err)
{
    (void)pthread_mutex_lock(&thread->mutex);
    enum wio_status status = thread->status;
    if (status != WIO_OK) {
        (void)!wio_error_pass(err, &thread->failure);
    }
    (void)pthread_mutex_unlock(&thread->mutex);
    return status;
}

bool target_thread_hold(struct target_thread *thread)
{
    return loop_hold_begin(&thread->hold, thread->net);
}

struct node_target *target_thread_held(struct target_thread *thread)
{
    return loop_hold_is_held(&thread->hold) ? thread->node : NULL;
}

void target_thread_release(struct target_thread *thread)
{
    loop_hold_release(&thread->hold);
}

enum wio_status target_thread_flush(struct target_thread *thread, struct wio_error *err)
{
    if (!target_thread_hold(thread)) {
        target_thread_release(thread);
        return wio_error_set(err, WIO_ERR_BUSY, NULL, WIO_ERROR_NO_OFFSET, "the target has ended");
    }
    enum wio_status status = wio_tracer_flush(thread->tracer, now_ns(thread), err);
    target_thread_release(thread);
    return status;
}

unsigned target_thread_index(const struct target_thread *thread)
{
    return thread->config.node.self;
}

void target_thread_stop(struct target_thread *thread)
{
    (void)pthread_mutex_lock(&thread->mutex);
    thread->is_to_stop = true;
    (void)pthread_mutex_unlock(&thread->mutex);
    wio_net_wake(thread->net);
}
