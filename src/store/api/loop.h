/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The thread of a client's connections, and the calls that other threads want of it. A call is
 * given to the loop, which starts it and finishes it later; the thread that gave it waits, no
 * longer than its time-out. What is not finished by then is abandoned: it stays the loop's until it
 * ends.
 *
 *     struct mine { struct api_call call; .. };
 *     api_loop_run(loop, &mine->call, deadline_ns, &err);     then free it, unless it was abandoned
 *
 * Memory of a call belongs to both: the loop may use it until it has finished the call, and the
 * caller until api_loop_run returns. The last one frees it: api_call_release.
 */
#ifndef WIO_STORE_API_LOOP_H
#define WIO_STORE_API_LOOP_H

#include <pthread.h>
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

struct api_call {
    STAILQ_ENTRY(api_call) to_start; /* the loop's */
    STAILQ_ENTRY(api_call) to_abandon;
    TAILQ_ENTRY(api_call) live;
    struct api_loop *loop; /* NULL until it was started */
    const struct api_call_ops *ops;
    pthread_mutex_t mutex; /* what is below, and the caller's memory where results go */
    pthread_cond_t cond;
    bool is_done;
    bool is_abandoned;
    unsigned users;
    struct wio_error err; /* of the result; status WIO_OK: done */
};

/* For calloc'ed memory. WIO_ERR_NOMEM. */
WIO_MUST_CHECK enum wio_status api_call_init(struct api_call *call, const struct api_call_ops *ops);
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
    /* On the loop, in this order: at its begin, when it was woken, at its end. */
    enum wio_status (*begin)(void *context, struct wio_io *io, struct wio_error *err);
    void (*woken)(void *context);
    void (*end)(void *context);
};

/* Starts the thread; returns when `begin` has. The caller owns *loop_out. */
WIO_MUST_CHECK enum wio_status api_loop_create(const struct api_loop_ops *ops, void *context,
                                               struct api_loop **loop_out, struct wio_error *err);
/* No thread may wait for a call any more; what is under way is dropped. NULL is allowed. */
void api_loop_destroy(struct api_loop *loop);

/* Not on the loop. Gives the call's err, or WIO_ERR_BUSY with ETIMEDOUT. */
WIO_MUST_CHECK enum wio_status api_loop_run(struct api_loop *loop, struct api_call *call,
                                            uint64_t deadline_ns, struct wio_error *err);
/* Not waited for: the loop's from now on. */
void api_loop_post(struct api_loop *loop, struct api_call *call);
/* `woken` is to be called soon; from any thread. */
void api_loop_wake(struct api_loop *loop);

#endif
