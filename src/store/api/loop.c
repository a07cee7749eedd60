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
#include "base/system/thread.h"
#include "store/net/net.h"

#define SECOND_NS UINT64_C(1000000000)
#define IDLE_NS (3600 * SECOND_NS)

STAILQ_HEAD(api_calls, api_call);
TAILQ_HEAD(api_live, api_call);

struct api_loop {
    /* the driver's */
    struct wio_net *net;
    struct wio_io_timer *alarm; /* always set: the loop never runs out of things to wait for */
    uint64_t alarm_ns;          /* no later than the time-out of the driver's call */
    const struct api_loop_ops *ops;
    void *context;
    struct api_live live;     /* were started and are not finished */
    struct api_call *awaited; /* that ends the driver's turn; NULL: none */
    pthread_t keeper;
    pthread_mutex_t mutex; /* what is below */
    pthread_cond_t cond;   /* of the keeper, and of the thread that waits for its begin */
    bool is_driven;
    uint64_t calls;            /* that were given */
    struct api_live followers; /* oldest first */
    struct api_calls to_start;
    struct api_calls to_abandon;
    bool has_begun;
    bool is_ending;
    struct wio_error err; /* of begin */
};

static void lock(struct api_loop *loop)
{
    (void)pthread_mutex_lock(&loop->mutex);
}

static void unlock(struct api_loop *loop)
{
    (void)pthread_mutex_unlock(&loop->mutex);
}

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

static int wait_until(struct api_loop *loop, pthread_cond_t *cond, uint64_t ns)
{
    const struct timespec until = {.tv_sec = (time_t)(ns / SECOND_NS),
                                   .tv_nsec = (long)(ns % SECOND_NS)};
    return pthread_cond_timedwait(cond, &loop->mutex, &until);
}

/* ---- calls --------------------------------------------------------------------------------- */

void api_call_init(struct api_call *call, const struct api_call_ops *ops)
{
    call->ops = ops;
    atomic_init(&call->users, 1);
}

void api_call_release(struct api_call *call)
{
    if (atomic_fetch_sub(&call->users, 1) == 1) {
        if (call->has_cond) {
            (void)pthread_cond_destroy(&call->cond);
        }
        call->ops->destroy(call);
    }
}

void api_call_finish(struct api_call *call)
{
    struct api_loop *loop = call->loop;
    TAILQ_REMOVE(&loop->live, call, live);
    if (loop->awaited == call) {
        loop->awaited = NULL;
        wio_net_stop(loop->net);
    }
    lock(loop);
    call->is_done = true;
    if (call->is_following) { /* I2 */
        call->is_following = false;
        TAILQ_REMOVE(&loop->followers, call, following);
        (void)pthread_cond_signal(&call->cond);
    }
    unlock(loop);
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
    lock(call->loop);
    if (!call->is_abandoned) {
        return true;
    }
    unlock(call->loop);
    return false;
}

void api_call_unlock(struct api_call *call)
{
    unlock(call->loop);
}

/* ---- driving: what only the thread that drives calls ---------------------------------------- */

static void start_call(struct api_loop *loop, struct api_call *call)
{
    TAILQ_INSERT_TAIL(&loop->live, call, live);
    call->ops->start(call);
}

/* All that other threads have given. What was abandoned was given, and so is started, before (I5).
 */
static void take_given(struct api_loop *loop)
{
    struct api_calls to_start = STAILQ_HEAD_INITIALIZER(to_start);
    struct api_calls to_abandon = STAILQ_HEAD_INITIALIZER(to_abandon);
    struct api_call *call = NULL;
    lock(loop);
    STAILQ_CONCAT(&to_start, &loop->to_start);
    STAILQ_CONCAT(&to_abandon, &loop->to_abandon);
    unlock(loop);
    while ((call = STAILQ_FIRST(&to_start)) != NULL) {
        STAILQ_REMOVE_HEAD(&to_start, to_start);
        start_call(loop, call);
    }
    while ((call = STAILQ_FIRST(&to_abandon)) != NULL) {
        STAILQ_REMOVE_HEAD(&to_abandon, to_abandon);
        if (!call->is_done) { /* which a driver alone sets */
            call->ops->abandoned(call);
        }
        api_call_release(call);
    }
}

static void woken(void *context)
{
    struct api_loop *loop = context;
    take_given(loop);
    loop->ops->woken(loop->context);
}

static void set_alarm(struct api_loop *loop, uint64_t at_ns, uint64_t now_ns)
{
    loop->alarm_ns = at_ns;
    wio_net_io(loop->net)->ops->timer_set(loop->alarm, at_ns > now_ns ? at_ns - now_ns : 0);
}

/* A turn does not wait behind it: the driver looks at the clock. */
static void ring(void *context)
{
    struct api_loop *loop = context;
    uint64_t now_ns = wio_clock_mono_ns();
    set_alarm(loop, now_ns + IDLE_NS, now_ns);
    wio_net_stop(loop->net);
}

/* The alarm is rarely set: one for an earlier time-out rings early, and is set again. */
static void drive(struct api_loop *loop, struct api_call *call, uint64_t deadline_ns)
{
    bool is_late = false;
    while (!call->is_done && !is_late) {
        if (loop->alarm_ns > deadline_ns) {
            set_alarm(loop, deadline_ns, wio_clock_mono_ns());
        }
        uint64_t alarm_ns = loop->alarm_ns;
        loop->awaited = call;
        wio_net_turn(loop->net);
        loop->awaited = NULL;
        is_late = loop->alarm_ns != alarm_ns && wio_clock_mono_ns() >= deadline_ns;
    }
}

/* Its caller waits no more. */
static void abandon_own(struct api_loop *loop, struct api_call *call)
{
    lock(loop);
    call->is_abandoned = true;
    unlock(loop);
    call->ops->abandoned(call);
}

/* I1: the oldest follower drives from now on, or else what is queued is taken, or nothing is. */
static void leave(struct api_loop *loop)
{
    lock(loop);
    while (TAILQ_EMPTY(&loop->followers) &&
           (!STAILQ_EMPTY(&loop->to_start) || !STAILQ_EMPTY(&loop->to_abandon))) {
        unlock(loop);
        take_given(loop);
        lock(loop);
    }
    wio_net_leave(loop->net);
    struct api_call *next = TAILQ_FIRST(&loop->followers);
    if (next != NULL) { /* I2, I3 */
        TAILQ_REMOVE(&loop->followers, next, following);
        next->is_following = false;
        next->is_leading = true;
        (void)pthread_cond_signal(&next->cond);
    } else {
        loop->is_driven = false;
    }
    unlock(loop);
}

/* ---- other threads ------------------------------------------------------------------------- */

/* With the mutex, for a call. True: this thread drives from now on. */
static bool try_to_drive(struct api_loop *loop)
{
    bool drives = !loop->is_driven;
    loop->is_driven = true;
    loop->calls++;
    return drives;
}

/* With the mutex; I4. */
static void put(struct api_loop *loop, struct api_call *call, bool is_abandoned)
{
    bool is_first = STAILQ_EMPTY(&loop->to_start) && STAILQ_EMPTY(&loop->to_abandon);
    if (is_abandoned) {
        STAILQ_INSERT_TAIL(&loop->to_abandon, call, to_abandon);
    } else {
        STAILQ_INSERT_TAIL(&loop->to_start, call, to_start);
    }
    if (is_first) {
        wio_net_wake(loop->net);
    }
}

void api_loop_post(struct api_loop *loop, struct api_call *call)
{
    call->loop = loop;
    call->is_abandoned = true;
    lock(loop);
    bool drives = try_to_drive(loop);
    if (!drives) {
        put(loop, call, false);
    }
    unlock(loop);
    if (drives) {
        wio_net_enter(loop->net);
        start_call(loop, call);
        leave(loop);
    }
}

void api_loop_wake(struct api_loop *loop)
{
    wio_net_wake(loop->net);
}

/* With the mutex, while another thread drives: until the call is finished, or its time is over, or
 * this thread drives. */
static void follow(struct api_loop *loop, struct api_call *call, uint64_t deadline_ns)
{
    int wrong = 0;
    put(loop, call, false);
    call->is_following = true;
    TAILQ_INSERT_TAIL(&loop->followers, call, following);
    while (call->is_following && wrong == 0) {
        wrong = wait_until(loop, &call->cond, deadline_ns);
    }
    if (call->is_following) {
        call->is_following = false;
        TAILQ_REMOVE(&loop->followers, call, following);
        call->is_abandoned = true;
        (void)atomic_fetch_add(&call->users, 1); /* the loop's, which is to hear of it */
        put(loop, call, true);
    }
}

/* As the driver, until the call is done or late. */
static void lead(struct api_loop *loop, struct api_call *call, bool is_queued, uint64_t deadline_ns)
{
    wio_net_enter(loop->net);
    if (is_queued) {
        take_given(loop);
    } else {
        start_call(loop, call);
    }
    drive(loop, call, deadline_ns);
    if (!call->is_done) {
        abandon_own(loop, call);
    }
    leave(loop);
}

static void run_call(struct api_loop *loop, struct api_call *call, uint64_t deadline_ns)
{
    lock(loop);
    bool drives = try_to_drive(loop);
    if (!drives) {
        follow(loop, call, deadline_ns);
    }
    bool leads = call->is_leading;
    unlock(loop);
    if (drives || leads) {
        lead(loop, call, leads, deadline_ns);
    }
}

enum wio_status api_loop_run(struct api_loop *loop, struct api_call *call, uint64_t deadline_ns,
                             struct wio_error *err)
{
    int cancel = PTHREAD_CANCEL_ENABLE;
    call->has_cond = cond_init(&call->cond);
    if (!call->has_cond) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    call->loop = loop;
    atomic_store(&call->users, 2);
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    run_call(loop, call, deadline_ns);
    (void)pthread_setcancelstate(cancel, NULL);
    if (!call->is_abandoned) {
        return call->err.status == WIO_OK ? WIO_OK : wio_error_pass(err, &call->err);
    }
    (void)wio_error_set(err, WIO_ERR_BUSY, NULL, WIO_ERROR_NO_OFFSET,
                        "the store has not answered in time");
    if (err != NULL) {
        err->sys_errno = ETIMEDOUT;
    }
    return WIO_ERR_BUSY;
}

/* ---- the keeper ---------------------------------------------------------------------------- */

static enum wio_status begin(struct api_loop *loop, struct wio_error *err)
{
    WIO_TRY(wio_net_create(NULL, &loop->net, err));
    struct wio_io *io = wio_net_io(loop->net);
    wio_net_on_wake(loop->net, woken, loop);
    loop->alarm = io->ops->timer_create(io, ring, loop);
    if (loop->alarm == NULL) {
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET, "out of memory");
    }
    ring(loop);
    return loop->ops->begin(loop->context, io, err);
}

/* Until there is a call, after which its thread drives if it is not done; false: it is to end. */
static bool keep(struct api_loop *loop)
{
    bool is_ending = false;
    bool is_wanted = false;
    wio_net_enter(loop->net);
    lock(loop);
    uint64_t seen = loop->calls;
    unlock(loop);
    while (!is_ending && !is_wanted) {
        wio_net_turn(loop->net);
        lock(loop);
        is_ending = loop->is_ending;
        is_wanted = loop->calls != seen;
        unlock(loop);
    }
    if (!is_ending) {
        leave(loop);
    }
    return !is_ending;
}

/* Until no caller has driven for a time, and this thread does; or it is to end, and drives. */
static void rest(struct api_loop *loop)
{
    uint64_t seen = 0;
    bool is_quiet = false;
    lock(loop);
    while (loop->is_driven || (!is_quiet && !loop->is_ending)) {
        seen = loop->calls;
        (void)wait_until(loop, &loop->cond, wio_clock_mono_ns() + API_LOOP_KEEP_NS);
        is_quiet = loop->calls == seen;
    }
    loop->is_driven = true;
    unlock(loop);
}

static void end(struct api_loop *loop)
{
    if (loop->err.status == WIO_OK) {
        take_given(loop);
    }
    loop->ops->end(loop->context);
    while (!TAILQ_EMPTY(&loop->live)) {
        api_call_finish(TAILQ_FIRST(&loop->live));
    }
    if (loop->net != NULL) {
        wio_net_io(loop->net)->ops->timer_destroy(loop->alarm);
        wio_net_destroy(loop->net);
    }
}

static void *run(void *context)
{
    struct api_loop *loop = context;
    struct wio_error err = WIO_ERROR_INIT;
    enum wio_status status = begin(loop, &err);
    lock(loop);
    loop->err = err;
    loop->err.status = status;
    loop->has_begun = true;
    (void)pthread_cond_signal(&loop->cond);
    unlock(loop);
    while (status == WIO_OK && keep(loop)) {
        rest(loop);
    }
    end(loop);
    return NULL;
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
    lock(loop);
    loop->is_ending = true;
    (void)pthread_cond_signal(&loop->cond);
    if (loop->err.status == WIO_OK) {
        wio_net_wake(loop->net); /* before the keeper can see that it is ending, and destroys it */
    }
    unlock(loop);
    (void)pthread_join(loop->keeper, NULL);
    loop_free(loop);
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
    TAILQ_INIT(&loop->followers);
    loop->is_driven = true;
    loop->ops = ops;
    loop->context = context;
    if (wio_thread_start(&loop->keeper, run, loop) != 0) {
        loop_free(loop);
        return wio_error_set(err, WIO_ERR_NOMEM, NULL, WIO_ERROR_NO_OFFSET,
                             "cannot start a thread");
    }
    lock(loop);
    while (!loop->has_begun) {
        (void)pthread_cond_wait(&loop->cond, &loop->mutex);
    }
    struct wio_error begun = loop->err;
    unlock(loop);
    if (begun.status != WIO_OK) {
        api_loop_destroy(loop);
        return wio_error_pass(err, &begun);
    }
    *loop_out = loop;
    return WIO_OK;
}
