/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event loop of a client's connections, which the threads of its callers run by themselves. A
 * call is started on the loop and finished there later; the thread that gave it waits, no longer
 * than its time-out. What is not finished by then is abandoned: it stays the loop's until it ends.
 *
 *     struct mine { struct api_call call; .. };
 *     api_loop_run(loop, &mine->call, deadline_ns, &err);     then free it, unless it was abandoned
 *
 * One thread at a time *drives*: it alone may touch the loop and what is below it.
 *   - A thread with a call, while no other one drives, drives until that call is finished. Nothing
 *     is handed to another thread, and no system call is made but those of the connections.
 *   - A thread with a call while another one drives *follows*: its call is queued, the driver is
 *     woken to start it, and the thread sleeps until the call is finished or it is to drive itself.
 *   - A driver whose own call is finished makes the oldest follower the next driver.
 *   - The *keeper*, a thread of the loop's own, drives while no call has been under way for a time:
 *     it keeps leases, takes wounds of idle transactions, connects again. To the first call that
 *     comes then it hands the loop over. While calls come more often it only looks, each
 *     API_LOOP_KEEP_NS, whether they still do.
 *
 * Invariants, of what `mutex` protects, whenever it is free:
 *   I1  is_driven is false only while no thread follows and nothing is queued. A driver that leaves
 *       sees to that, holding the mutex: followers come first, then what is queued without one.
 *   I2  A thread that follows is in `followers`, or its call is done, or it is made the driver
 *       (call->is_leading): exactly one of the three; it sleeps on call->cond in the first alone.
 *       The mutex is held for the change and the signal, so that none is lost.
 *   I3  Of threads that drive there is at most one: is_driven goes from false to true for one
 *       thread, and stays true while it is handed over. So a thread that was made the driver drives
 *       or leaves, even if its time-out has passed meanwhile.
 *   I4  What is queued while a thread drives is followed by a wake of the loop, by the thread that
 *       found the queues empty: a driver that sleeps in the kernel takes it; one that does not
 *       takes it before it leaves, or the next driver does before it sleeps.
 *   I5  A call is started before it is told as abandoned, and is abandoned at most once.
 *
 * A thread that drives cannot be cancelled meanwhile (pthread_cancel(3)): the others would wait for
 * ever. After fork() the child has the thread that forked alone, and may use none of it.
 *
 * Memory of a call belongs to both: the loop may use it until it has finished the call, and the
 * caller until api_loop_run returns. The last one frees it: api_call_release.
 */
#ifndef WIO_STORE_API_LOOP_H
#define WIO_STORE_API_LOOP_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/queue.h>

#include "store/io.h"

struct api_loop;
struct api_call;

struct api_call_ops {
    /* On the loop. Ends with api_call_finish, now or later. */
    void (*start)(struct api_call *call);
    /* On the loop: its caller waits no more. It is to end soon; api_call_finish is still due. */
    void (*abandoned)(struct api_call *call);
    /* By the last user. */
    void (*destroy)(struct api_call *call);
};

/* How long calls have to be away until the keeper drives, within twice of it. */
#define API_LOOP_KEEP_NS UINT64_C(10000000)

struct api_call {
    STAILQ_ENTRY(api_call) to_start; /* the loop's */
    STAILQ_ENTRY(api_call) to_abandon;
    TAILQ_ENTRY(api_call) live;
    TAILQ_ENTRY(api_call) following;
    struct api_loop *loop; /* from api_loop_run or api_loop_post on */
    const struct api_call_ops *ops;
    atomic_uint users;
    pthread_cond_t cond; /* of a thread that follows; made when it begins to */
    bool has_cond;
    /* the loop's mutex: what is below, and the caller's memory where results go */
    bool is_following;
    bool is_leading; /* it was made the driver */
    bool is_done;
    bool is_abandoned;
    struct wio_error err; /* of the result; status WIO_OK: done */
};

/* For calloc'ed memory. */
void api_call_init(struct api_call *call, const struct api_call_ops *ops);
/* One user less. */
void api_call_release(struct api_call *call);
/* On the loop: the result is call->err; nothing of the call is used on the loop afterwards. */
void api_call_finish(struct api_call *call);
/* The same with a status and an errno. */
void api_call_fail(struct api_call *call, enum wio_status status, int sys_errno, const char *fmt,
                   ...) WIO_PRINTF(4, 5);
/* On the loop: where the caller still waits, its memory may be written to until api_call_unlock. */
bool api_call_lock(struct api_call *call);
void api_call_unlock(struct api_call *call);

struct api_loop_ops {
    /* On the loop, in this order: at its begin, when it was woken, at its end. The first and the
     * last by the keeper. */
    enum wio_status (*begin)(void *context, struct wio_io *io, struct wio_error *err);
    void (*woken)(void *context);
    void (*end)(void *context);
};

/* Starts the keeper; returns when `begin` has. The caller owns *loop_out. */
WIO_MUST_CHECK enum wio_status api_loop_create(const struct api_loop_ops *ops, void *context,
                                               struct api_loop **loop_out, struct wio_error *err);
/* No thread may wait for a call any more; what is under way is dropped. NULL is allowed. */
void api_loop_destroy(struct api_loop *loop);

/* Not on the loop. Gives the call's err, or WIO_ERR_BUSY with ETIMEDOUT; WIO_ERR_NOMEM: not
 * started. */
WIO_MUST_CHECK enum wio_status api_loop_run(struct api_loop *loop, struct api_call *call,
                                            uint64_t deadline_ns, struct wio_error *err);
/* Not waited for: the loop's from now on. Started at once where no other thread drives. */
void api_loop_post(struct api_loop *loop, struct api_call *call);
/* `woken` is to be called soon; from any thread. */
void api_loop_wake(struct api_loop *loop);

#endif
