/* SPDX-License-Identifier: Apache-2.0 */
#include "store/api/loop.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "store/net/net.h"

#define SECOND_NS UINT64_C(1000000000)
#define IDLE_NS (3600 * SECOND_NS)

STAILQ_HEAD(api_calls, api_call);
TAILQ_HEAD(api_live, api_call);

struct api_loop {
    struct wio_net *net;
    struct wio_io_timer *idle; /* the loop never runs out of things to wait for */
    const struct api_loop_ops *ops;
    void *context;
    struct api_live live; /* were started and are not finished: the thread's */
    pthread_t thread;
    pthread_mutex_t mutex; /* what is below */
    pthread_cond_t cond;
    struct api_calls to_start;
    struct api_calls to_abandon;
    bool has_begun;
    bool is_ending;
    struct wio_error err; /* of begin */
};

/* ---- calls --------------------------------------------------------------------------------- */

static bool cond_init(pthread_cond_t *cond)
{
    pthread_condattr_t how;
    if (pthread_condattr_init(&how) != 0) {
        return false;
    }
    bool is_ok =
        pthread_condattr_setclock(&how, CLOCK_MONOTONIC) == 0 && pthread_cond_init(cond, &how) == 0;
    (void)pthread_condattr_destroy(&how);
    return is_ok;
}

enum wio_status api_call_init(struct api_call *call, const struct api_call_ops *ops)
{
    if (!cond_init(&call->cond)) {
        return WIO_ERR_NOMEM;
    }
    (void)pthread_mutex_init(&call->mutex, NULL);
    call->ops = ops;
    call->users = 1;
    return WIO_OK;
}

void api_call_release(struct api_call *call)
{
    (void)pthread_mutex_lock(&call->mutex);
    bool is_last = --call->users == 0;
    (void)pthread_mutex_unlock(&call->mutex);
    if (is_last) {
        (void)pthread_mutex_destroy(&call->mutex);
        (void)pthread_cond_destroy(&call->cond);
        call->ops->destroy(call);
    }
}

void api_call_finish(struct api_call *call)
{
    TAILQ_REMOVE(&call->loop->live, call, live);
    (void)pthread_mutex_lock(&call->mutex);
    call->is_done = true;
    (void)pthread_cond_signal(&call->cond);
    (void)pthread_mutex_unlock(&call->mutex);
    api_call_release(call);
}

void api_call_fail(struct api_call *call, enum wio_status status, int sys_errno, const char *fmt,
                   ...)
{
    char text[sizeof(call->err.message)];
    va_list arguments;
    va_start(arguments, fmt);
    (void)vsnprintf(text, sizeof(text), fmt, arguments);
    va_end(arguments);
    (void)wio_error_set(&call->err, status, NULL, WIO_ERROR_NO_OFFSET, "%s", text);
    call->err.sys_errno = sys_errno;
    api_call_finish(call);
}

bool api_call_lock(struct api_call *call)
{
    (void)pthread_mutex_lock(&call->mutex);
    if (!call->is_abandoned) {
        return true;
    }
    (void)pthread_mutex_unlock(&call->mutex);
    return false;
}

void api_call_unlock(struct api_call *call)
{
    (void)pthread_mutex_unlock(&call->mutex);
}

/* ---- the thread ---------------------------------------------------------------------------- */

/* All that other threads have given. */
static bool take(struct api_loop *loop, struct api_calls *to_start, struct api_calls *to_abandon)
{
    STAILQ_INIT(to_start);
    STAILQ_INIT(to_abandon);
    (void)pthread_mutex_lock(&loop->mutex);
    STAILQ_CONCAT(to_start, &loop->to_start);
    STAILQ_CONCAT(to_abandon, &loop->to_abandon);
    bool is_ending = loop->is_ending;
    (void)pthread_mutex_unlock(&loop->mutex);
    return is_ending;
}

static bool is_done(struct api_call *call)
{
    (void)pthread_mutex_lock(&call->mutex);
    bool done = call->is_done;
    (void)pthread_mutex_unlock(&call->mutex);
    return done;
}

/* What was abandoned was started before: it was given to the loop earlier. */
static void woken(void *context)
{
    struct api_loop *loop = context;
    struct api_calls to_start;
    struct api_calls to_abandon;
    bool is_ending = take(loop, &to_start, &to_abandon);
    struct api_call *call = NULL;
    while ((call = STAILQ_FIRST(&to_start)) != NULL) {
        STAILQ_REMOVE_HEAD(&to_start, to_start);
        call->loop = loop;
        TAILQ_INSERT_TAIL(&loop->live, call, live);
        call->ops->start(call);
    }
    while ((call = STAILQ_FIRST(&to_abandon)) != NULL) {
        STAILQ_REMOVE_HEAD(&to_abandon, to_abandon);
        if (!is_done(call)) {
            call->ops->abandoned(call);
        }
        api_call_release(call);
    }
    if (is_ending) {
        wio_net_stop(loop->net);
    } else {
        loop->ops->woken(loop->context);
    }
}

static void idle(void *context)
{
    struct api_loop *loop = context;
    wio_net_io(loop->net)->ops->timer_set(loop->idle, IDLE_NS);
}

static enum wio_status begin(struct api_loop *loop, struct wio_error *err)
{
    WIO_TRY(wio_net_create(NULL, &loop->net, err));
    struct wio_io *io = wio_net_io(loop->net);
    wio_net_on_wake(loop->net, woken, loop);
    loop->idle = io->ops->timer_create(io, idle, loop);
    if (loop->idle == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    io->ops->timer_set(loop->idle, IDLE_NS);
    return loop->ops->begin(loop->context, io, err);
}

static void *run(void *context)
{
    struct api_loop *loop = context;
    struct wio_error err = WIO_ERROR_INIT;
    enum wio_status status = begin(loop, &err);
    (void)pthread_mutex_lock(&loop->mutex);
    loop->err = err;
    loop->err.status = status;
    loop->has_begun = true;
    (void)pthread_cond_signal(&loop->cond);
    (void)pthread_mutex_unlock(&loop->mutex);
    if (status == WIO_OK) {
        wio_net_run(loop->net);
    }
    loop->ops->end(loop->context);
    while (!TAILQ_EMPTY(&loop->live)) {
        api_call_finish(TAILQ_FIRST(&loop->live));
    }
    if (loop->net != NULL) {
        wio_net_io(loop->net)->ops->timer_destroy(loop->idle);
        wio_net_destroy(loop->net);
    }
    return NULL;
}

/* ---- other threads ------------------------------------------------------------------------- */

static void put(struct api_loop *loop, struct api_call *call, bool is_abandoned)
{
    (void)pthread_mutex_lock(&loop->mutex);
    bool is_first = STAILQ_EMPTY(&loop->to_start) && STAILQ_EMPTY(&loop->to_abandon);
    if (is_abandoned) {
        STAILQ_INSERT_TAIL(&loop->to_abandon, call, to_abandon);
    } else {
        STAILQ_INSERT_TAIL(&loop->to_start, call, to_start);
    }
    (void)pthread_mutex_unlock(&loop->mutex);
    if (is_first) {
        wio_net_wake(loop->net);
    }
}

void api_loop_post(struct api_loop *loop, struct api_call *call)
{
    call->is_abandoned = true;
    put(loop, call, false);
}

void api_loop_wake(struct api_loop *loop)
{
    wio_net_wake(loop->net);
}

static struct timespec time_of(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / SECOND_NS), .tv_nsec = (long)(ns % SECOND_NS)};
}

enum wio_status api_loop_run(struct api_loop *loop, struct api_call *call, uint64_t deadline_ns,
                             struct wio_error *err)
{
    const struct timespec until = time_of(deadline_ns);
    int wrong = 0;
    call->users = 2;
    put(loop, call, false);
    (void)pthread_mutex_lock(&call->mutex);
    while (!call->is_done && wrong == 0) {
        wrong = pthread_cond_timedwait(&call->cond, &call->mutex, &until);
    }
    bool is_done = call->is_done;
    call->is_abandoned = !is_done;
    call->users += !is_done; /* of the loop, which is to hear that it was abandoned */
    (void)pthread_mutex_unlock(&call->mutex);
    if (is_done) {
        return call->err.status == WIO_OK ? WIO_OK : wio_error_pass(err, &call->err);
    }
    put(loop, call, true);
    (void)wio_error_set(err, WIO_ERR_BUSY, NULL, WIO_ERROR_NO_OFFSET,
                        "the store has not answered in time");
    if (err != NULL) {
        err->sys_errno = ETIMEDOUT;
    }
    return WIO_ERR_BUSY;
}

/* ---- life ---------------------------------------------------------------------------------- */

static void loop_free(struct api_loop *loop)
{
    (void)pthread_mutex_destroy(&loop->mutex);
    (void)pthread_cond_destroy(&loop->cond);
    free(loop);
}

void api_loop_destroy(struct api_loop *loop)
{
    if (loop == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&loop->mutex);
    loop->is_ending = true;
    if (loop->err.status == WIO_OK) {
        wio_net_wake(loop->net); /* before the thread can see that it is ending, and destroys it */
    }
    (void)pthread_mutex_unlock(&loop->mutex);
    (void)pthread_join(loop->thread, NULL);
    loop_free(loop);
}

/* The thread takes no signal: they are the program's. */
static int start(struct api_loop *loop)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    int wrong = pthread_create(&loop->thread, NULL, run, loop);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return wrong;
}

enum wio_status api_loop_create(const struct api_loop_ops *ops, void *context,
                                struct api_loop **loop_out, struct wio_error *err)
{
    struct api_loop *loop = calloc(1, sizeof(*loop));
    if (loop == NULL || !cond_init(&loop->cond)) {
        free(loop);
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    (void)pthread_mutex_init(&loop->mutex, NULL);
    STAILQ_INIT(&loop->to_start);
    STAILQ_INIT(&loop->to_abandon);
    TAILQ_INIT(&loop->live);
    loop->ops = ops;
    loop->context = context;
    if (start(loop) != 0) {
        loop_free(loop);
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "cannot start a thread");
    }
    (void)pthread_mutex_lock(&loop->mutex);
    while (!loop->has_begun) {
        (void)pthread_cond_wait(&loop->cond, &loop->mutex);
    }
    struct wio_error begun = loop->err;
    (void)pthread_mutex_unlock(&loop->mutex);
    if (begun.status != WIO_OK) {
        api_loop_destroy(loop);
        return wio_error_pass(err, &begun);
    }
    *loop_out = loop;
    return WIO_OK;
}
