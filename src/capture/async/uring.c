/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of liburing.so.2 that submit, wait or set up. What liburing has as inline functions
 * (io_uring_get_sqe, io_uring_peek_cqe, io_uring_cqe_seen) only moves positions in the rings: the
 * entries are read at the next function that is called. A completion that the program found by
 * peeking is therefore recorded a little later than it was found.
 */
#include <signal.h>

#include "capture/async/uring_hidden.h"
#include "capture/files/descriptors.h"

__thread struct cap_uring_place cap_uring_inside __attribute__((tls_model("initial-exec")));

#define CQE struct io_uring_cqe **
#define TIMEOUT void *

/* As in <liburing.h>, with our view of its structure. */
int io_uring_queue_init(unsigned entries, LIB ring, unsigned flags);
int io_uring_queue_init_params(unsigned entries, LIB ring, struct io_uring_params *params);
int io_uring_queue_init_mem(unsigned entries, LIB ring, struct io_uring_params *params,
                            void *memory, size_t size);
int io_uring_queue_mmap(int fd, struct io_uring_params *params, LIB ring);
void io_uring_queue_exit(LIB ring);
int io_uring_submit(LIB ring);
int io_uring_submit_and_wait(LIB ring, unsigned least);
int io_uring_submit_and_wait_timeout(LIB ring, CQE cqe, unsigned least, TIMEOUT timeout,
                                     sigset_t *mask);
int io_uring_submit_and_get_events(LIB ring);
int io_uring_get_events(LIB ring);
int io_uring_wait_cqes(LIB ring, CQE cqe, unsigned least, TIMEOUT timeout, sigset_t *mask);
int io_uring_wait_cqe_timeout(LIB ring, CQE cqe, TIMEOUT timeout);
unsigned io_uring_peek_batch_cqe(LIB ring, CQE cqes, unsigned count);
int __io_uring_get_cqe(LIB ring, CQE cqe, unsigned submit, unsigned least, sigset_t *mask);
int __io_uring_sqring_wait(LIB ring);

/* ---- setting up -------------------------------------------------------------------------------
 */

static int end_init(struct cap_uring_call *call, unsigned entries,
                    const struct cap_lib_uring *library, int result)
{
    CAP_KEEP_ERRNO;
    if (call->self == NULL) {
        if (result >= 0) {
            (void)cap_uring_hidden_library(call->ev.source, library);
        }
        return result;
    }
    cap_unmute(call->self);
    call->ev.end = cap_now();
    call->ev.size = entries;
    if (result >= 0) {
        cap_fd_clear(library->ring_fd);
        call->ev.path = cap_fd_path(call->self, library->ring_fd);
        call->ev.fd = library->ring_fd;
        (void)cap_uring_of_library(library);
    }
    cap_uring_set_result(&call->ev, result);
    cap_emit(call->self, &call->ev);
    return result;
}

CAP_EXPORT int io_uring_queue_init(unsigned entries, LIB ring, unsigned flags)
{
    struct cap_uring_call call;
    cap_uring_begin_muted(&call, WIO_CALL_io_uring_queue_init, CAP_CALLER());
    return end_init(&call, entries, ring, CAP_REAL(io_uring_queue_init)(entries, ring, flags));
}

CAP_EXPORT int io_uring_queue_init_params(unsigned entries, LIB ring,
                                          struct io_uring_params *params)
{
    struct cap_uring_call call;
    cap_uring_begin_muted(&call, WIO_CALL_io_uring_queue_init_params, CAP_CALLER());
    return end_init(&call, entries, ring,
                    CAP_REAL(io_uring_queue_init_params)(entries, ring, params));
}

CAP_EXPORT int io_uring_queue_init_mem(unsigned entries, LIB ring, struct io_uring_params *params,
                                       void *memory, size_t size)
{
    struct cap_uring_call call;
    cap_uring_begin_muted(&call, WIO_CALL_io_uring_queue_init_mem, CAP_CALLER());
    return end_init(&call, entries, ring,
                    CAP_REAL(io_uring_queue_init_mem)(entries, ring, params, memory, size));
}

CAP_EXPORT int io_uring_queue_mmap(int fd, struct io_uring_params *params, LIB ring)
{
    struct cap_uring_call call;
    cap_uring_begin_muted(&call, WIO_CALL_io_uring_queue_mmap, CAP_CALLER());
    return end_init(&call, params->sq_entries, ring,
                    CAP_REAL(io_uring_queue_mmap)(fd, params, ring));
}

/* The last look at the completions, before the memory goes. */
static void leave_ring(const struct cap_uring_call *call, const struct cap_lib_uring *library)
{
    struct cap_uring *ring = cap_uring_at(library->sq.head);
    if (ring == NULL) {
        return;
    }
    if (call->self != NULL) {
        cap_uring_reap(call->self, ring);
    }
    cap_uring_forget(ring);
}

CAP_EXPORT void io_uring_queue_exit(LIB ring)
{
    struct cap_uring_call call;
    int fd = cap_uring_fd_of(ring);
    cap_uring_begin(&call, WIO_CALL_io_uring_queue_exit, CAP_CALLER());
    leave_ring(&call, ring);
    if (call.self == NULL) {
        CAP_REAL(io_uring_queue_exit)(ring);
        return;
    }
    call.ev.fd = fd;
    call.ev.path = cap_fd_path(call.self, fd);
    cap_mute(call.self);
    CAP_REAL(io_uring_queue_exit)(ring);
    cap_unmute(call.self);
    call.ev.end = cap_now();
    cap_fd_clear(fd);
    cap_emit(call.self, &call.ev);
}

/* ---- submitting and waiting -------------------------------------------------------------------
 */

/* Part of each wrapper: the frame is the wrapper's. */
__attribute__((always_inline)) static inline void begin_enter(struct cap_uring_call *call,
                                                              const struct cap_lib_uring *library,
                                                              unsigned number, uintptr_t source)
{
    cap_uring_begin(call, number, source);
    if (call->self == NULL) {
        return;
    }
    call->ev.fd = cap_uring_fd_of(library);
    call->ring = cap_uring_of_library(library);
    const uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
    if (cap_uring_is_own(call->ring, frame)) { /* liburing calls itself */
        call->self = NULL;
        call->ring = NULL;
        call->is_inner = true;
        return;
    }
    call->outer = cap_uring_inside;
    cap_uring_inside = (struct cap_uring_place){call->ring, frame};
}

/* With what waits in the submission ring; liburing counts it in its own structure until it calls.
 */
__attribute__((always_inline)) static inline void begin_submit(struct cap_uring_call *call,
                                                               const struct cap_lib_uring *library,
                                                               unsigned number, uintptr_t source)
{
    begin_enter(call, library, number, source);
    if (CAP_UNLIKELY(call->self == NULL && !call->is_inner)) {
        cap_uring_hidden_submit(source, library);
    }
    if (call->ring != NULL) {
        call->batch =
            cap_uring_before_submit(call->self, &call->ev, call->ring, library->sq.sqe_tail);
    }
}

static int end_enter(struct cap_uring_call *call, int result)
{
    if (call->self == NULL) {
        return result;
    }
    CAP_KEEP_ERRNO;
    cap_uring_inside = call->outer;
    call->ev.end = cap_now();
    call->ev.path = cap_fd_path(call->self, call->ev.fd);
    call->ev.size = call->batch.count;
    cap_uring_set_result(&call->ev, result);
    cap_emit(call->self, &call->ev);
    if (call->ring != NULL) {
        cap_uring_after_submit(call->self, &call->ev, &call->batch, result);
        cap_uring_reap(call->self, call->ring);
    }
    return result;
}

CAP_EXPORT int io_uring_submit(LIB ring)
{
    struct cap_uring_call call;
    begin_submit(&call, ring, WIO_CALL_io_uring_submit, CAP_CALLER());
    return end_enter(&call, CAP_REAL(io_uring_submit)(ring));
}

CAP_EXPORT int io_uring_submit_and_wait(LIB ring, unsigned least)
{
    struct cap_uring_call call;
    begin_submit(&call, ring, WIO_CALL_io_uring_submit_and_wait, CAP_CALLER());
    return end_enter(&call, CAP_REAL(io_uring_submit_and_wait)(ring, least));
}

CAP_EXPORT int io_uring_submit_and_wait_timeout(LIB ring, CQE cqe, unsigned least, TIMEOUT timeout,
                                                sigset_t *mask)
{
    struct cap_uring_call call;
    begin_submit(&call, ring, WIO_CALL_io_uring_submit_and_wait_timeout, CAP_CALLER());
    return end_enter(&call,
                     CAP_REAL(io_uring_submit_and_wait_timeout)(ring, cqe, least, timeout, mask));
}

CAP_EXPORT int io_uring_submit_and_get_events(LIB ring)
{
    struct cap_uring_call call;
    begin_submit(&call, ring, WIO_CALL_io_uring_submit_and_get_events, CAP_CALLER());
    return end_enter(&call, CAP_REAL(io_uring_submit_and_get_events)(ring));
}

CAP_EXPORT int io_uring_get_events(LIB ring)
{
    struct cap_uring_call call;
    begin_enter(&call, ring, WIO_CALL_io_uring_get_events, CAP_CALLER());
    return end_enter(&call, CAP_REAL(io_uring_get_events)(ring));
}

/* A timeout makes old kernels' rings submit a request of liburing's own: it is the library's. */
CAP_EXPORT int io_uring_wait_cqes(LIB ring, CQE cqe, unsigned least, TIMEOUT timeout,
                                  sigset_t *mask)
{
    struct cap_uring_call call;
    begin_submit(&call, ring, WIO_CALL_io_uring_wait_cqes, CAP_CALLER());
    return end_enter(&call, CAP_REAL(io_uring_wait_cqes)(ring, cqe, least, timeout, mask));
}

CAP_EXPORT int io_uring_wait_cqe_timeout(LIB ring, CQE cqe, TIMEOUT timeout)
{
    struct cap_uring_call call;
    begin_submit(&call, ring, WIO_CALL_io_uring_wait_cqe_timeout, CAP_CALLER());
    return end_enter(&call, CAP_REAL(io_uring_wait_cqe_timeout)(ring, cqe, timeout));
}

/* What the inline io_uring_wait_cqe comes to where no completion is there yet. `submit` requests
 * were already moved into the ring. */
CAP_EXPORT int __io_uring_get_cqe(LIB ring, CQE cqe, unsigned submit, unsigned least,
                                  sigset_t *mask)
{
    struct cap_uring_call call;
    begin_enter(&call, ring, WIO_CALL___io_uring_get_cqe, CAP_CALLER());
    if (CAP_UNLIKELY(call.self == NULL && !call.is_inner && submit > 0)) {
        cap_uring_hidden_submit(CAP_CALLER(), ring);
    }
    if (call.ring != NULL && submit > 0) {
        unsigned tail = __atomic_load_n(call.ring->sq_tail, __ATOMIC_ACQUIRE);
        call.batch = cap_uring_before_submit(call.self, &call.ev, call.ring, tail);
    }
    return end_enter(&call, CAP_REAL(__io_uring_get_cqe)(ring, cqe, submit, least, mask));
}

CAP_EXPORT int __io_uring_sqring_wait(LIB ring)
{
    struct cap_uring_call call;
    begin_enter(&call, ring, WIO_CALL___io_uring_sqring_wait, CAP_CALLER());
    return end_enter(&call, CAP_REAL(__io_uring_sqring_wait)(ring));
}

/* Programs poll with this: a failed poll is no event. */
CAP_EXPORT unsigned io_uring_peek_batch_cqe(LIB ring, CQE cqes, unsigned count)
{
    struct cap_uring_call call;
    begin_enter(&call, ring, WIO_CALL_io_uring_peek_batch_cqe, CAP_CALLER());
    unsigned found = CAP_REAL(io_uring_peek_batch_cqe)(ring, cqes, count);
    if (found > 0) {
        (void)end_enter(&call, (int)found);
    } else if (call.self != NULL) {
        cap_uring_inside = call.outer;
    }
    return found;
}
