/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of liburing.so.2 that submit, wait or set up. What liburing has as inline functions
 * (io_uring_get_sqe, io_uring_peek_cqe, io_uring_cqe_seen) only moves positions in the rings: the
 * entries are read at the next function that is called. A completion that the program found by
 * peeking is therefore recorded a little later than it was found.
 *
 * liburing.h is not needed to build: the structure's first part has not changed since 2.0
 * (struct cap_lib_uring; a test compares it with the header where that is installed).
 */
#include "capture/uring.h"

#include <signal.h>

#define LIB struct cap_lib_uring *
#define CQE struct io_uring_cqe **
#define TIMEOUT void *

/* As in <liburing.h>, with our view of its structure. */
int io_uring_setup(unsigned entries, struct io_uring_params *params);
int io_uring_enter(unsigned fd, unsigned submit, unsigned least, unsigned flags, sigset_t *mask);
int io_uring_enter2(unsigned fd, unsigned submit, unsigned least, unsigned flags, sigset_t *mask,
                    size_t size);
int io_uring_register(unsigned fd, unsigned operation, const void *arg, unsigned count);
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
int io_uring_register_files(LIB ring, const int *files, unsigned count);
int io_uring_register_files_tags(LIB ring, const int *files, const uint64_t *tags, unsigned count);
int io_uring_register_files_sparse(LIB ring, unsigned count);
int io_uring_register_files_update(LIB ring, unsigned first, const int *files, unsigned count);
int io_uring_register_files_update_tag(LIB ring, unsigned first, const int *files,
                                       const uint64_t *tags, unsigned count);
int io_uring_unregister_files(LIB ring);

struct uring_call {
    struct cap_thread *self;
    struct cap_event ev;
    struct cap_uring *ring;
    struct cap_uring_batch batch;
};

/* Enter; what the library does inside - by its own system calls or by ours - is this call. */
static void begin_call(struct uring_call *call, unsigned number, uintptr_t source)
{
    call->self = cap_enter(source, number);
    call->ring = NULL;
    call->batch = (struct cap_uring_batch){NULL, 0, 0};
    call->ev = CAP_EVENT_OF(number, source);
    call->ev.begin = cap_now();
}

static void end_call(struct uring_call *call, long result)
{
    call->ev.result = result < 0 ? -1 : result;
    call->ev.error = result < 0 ? (int)-result : 0;
    cap_emit(call->self, &call->ev);
}

/* ---- setting up -------------------------------------------------------------------------------
 */

static int end_init(struct uring_call *call, unsigned entries, const struct cap_lib_uring *library,
                    int result)
{
    if (call->self == NULL) {
        return result;
    }
    CAP_KEEP_ERRNO;
    cap_unmute(call->self);
    call->ev.end = cap_now();
    call->ev.size = entries;
    if (result >= 0) {
        cap_fd_clear(library->ring_fd);
        call->ev.path = cap_fd_path(call->self, library->ring_fd);
        call->ev.fd = library->ring_fd;
        (void)cap_uring_of_library(library);
    }
    end_call(call, result);
    return result;
}

static void begin_init(struct uring_call *call, unsigned number, uintptr_t source)
{
    begin_call(call, number, source);
    if (call->self != NULL) {
        cap_mute(call->self);
    }
}

CAP_EXPORT int io_uring_queue_init(unsigned entries, LIB ring, unsigned flags)
{
    struct uring_call call;
    begin_init(&call, WIO_CALL_io_uring_queue_init, CAP_CALLER());
    return end_init(&call, entries, ring, CAP_REAL(io_uring_queue_init)(entries, ring, flags));
}

CAP_EXPORT int io_uring_queue_init_params(unsigned entries, LIB ring,
                                          struct io_uring_params *params)
{
    struct uring_call call;
    begin_init(&call, WIO_CALL_io_uring_queue_init_params, CAP_CALLER());
    return end_init(&call, entries, ring,
                    CAP_REAL(io_uring_queue_init_params)(entries, ring, params));
}

CAP_EXPORT int io_uring_queue_init_mem(unsigned entries, LIB ring, struct io_uring_params *params,
                                       void *memory, size_t size)
{
    struct uring_call call;
    begin_init(&call, WIO_CALL_io_uring_queue_init_mem, CAP_CALLER());
    return end_init(&call, entries, ring,
                    CAP_REAL(io_uring_queue_init_mem)(entries, ring, params, memory, size));
}

CAP_EXPORT int io_uring_queue_mmap(int fd, struct io_uring_params *params, LIB ring)
{
    struct uring_call call;
    begin_init(&call, WIO_CALL_io_uring_queue_mmap, CAP_CALLER());
    return end_init(&call, params->sq_entries, ring,
                    CAP_REAL(io_uring_queue_mmap)(fd, params, ring));
}

/* The last look at the completions, before the memory goes. */
CAP_EXPORT void io_uring_queue_exit(LIB ring)
{
    struct uring_call call;
    int fd = ring->ring_fd;
    begin_call(&call, WIO_CALL_io_uring_queue_exit, CAP_CALLER());
    if (call.self == NULL) {
        CAP_REAL(io_uring_queue_exit)(ring);
        return;
    }
    call.ev.fd = fd;
    call.ev.path = cap_fd_path(call.self, fd);
    call.ring = cap_uring_of_library(ring);
    if (call.ring != NULL) {
        cap_uring_reap(call.self, call.ring, call.ev.begin);
        cap_uring_forget(call.ring);
    }
    cap_mute(call.self);
    CAP_REAL(io_uring_queue_exit)(ring);
    cap_unmute(call.self);
    call.ev.end = cap_now();
    cap_fd_clear(fd);
    end_call(&call, 0);
}

/* ---- submitting and waiting -------------------------------------------------------------------
 */

static void begin_enter(struct uring_call *call, const struct cap_lib_uring *library,
                        unsigned number, uintptr_t source)
{
    begin_call(call, number, source);
    if (call->self == NULL) {
        return;
    }
    call->ev.fd = library->ring_fd;
    call->ring = cap_uring_of_library(library);
    if (call->ring != NULL) {
        if (call->ring->in_library == call->self->tid) { /* liburing calls its own functions */
            call->self = NULL;
            call->ring = NULL;
            return;
        }
        __atomic_store_n(&call->ring->in_library, call->self->tid, __ATOMIC_RELAXED);
    }
}

/* With what waits in the submission ring; liburing counts it in its own structure until it calls.
 */
static void begin_submit(struct uring_call *call, const struct cap_lib_uring *library,
                         unsigned number, uintptr_t source)
{
    begin_enter(call, library, number, source);
    if (call->ring != NULL) {
        call->batch =
            cap_uring_before_submit(call->self, &call->ev, call->ring, library->sq.sqe_tail);
    }
}

static int end_enter(struct uring_call *call, int result)
{
    if (call->self == NULL) {
        return result;
    }
    CAP_KEEP_ERRNO;
    call->ev.end = cap_now();
    call->ev.path = cap_fd_path(call->self, call->ev.fd);
    call->ev.size = call->batch.count;
    end_call(call, result);
    if (call->ring != NULL) {
        __atomic_store_n(&call->ring->in_library, 0, __ATOMIC_RELAXED);
        cap_uring_after_submit(call->self, &call->ev, &call->batch, result);
        cap_uring_reap(call->self, call->ring, call->ev.end);
    }
    return result;
}

CAP_EXPORT int io_uring_submit(LIB ring)
{
    struct uring_call call;
    begin_submit(&call, ring, WIO_CALL_io_uring_submit, CAP_CALLER());
    return end_enter(&call, CAP_REAL(io_uring_submit)(ring));
}

CAP_EXPORT int io_uring_submit_and_wait(LIB ring, unsigned least)
{
    struct uring_call call;
    begin_submit(&call, ring, WIO_CALL_io_uring_submit_and_wait, CAP_CALLER());
    return end_enter(&call, CAP_REAL(io_uring_submit_and_wait)(ring, least));
}

CAP_EXPORT int io_uring_submit_and_wait_timeout(LIB ring, CQE cqe, unsigned least, TIMEOUT timeout,
                                                sigset_t *mask)
{
    struct uring_call call;
    begin_submit(&call, ring, WIO_CALL_io_uring_submit_and_wait_timeout, CAP_CALLER());
    return end_enter(&call,
                     CAP_REAL(io_uring_submit_and_wait_timeout)(ring, cqe, least, timeout, mask));
}

CAP_EXPORT int io_uring_submit_and_get_events(LIB ring)
{
    struct uring_call call;
    begin_submit(&call, ring, WIO_CALL_io_uring_submit_and_get_events, CAP_CALLER());
    return end_enter(&call, CAP_REAL(io_uring_submit_and_get_events)(ring));
}

CAP_EXPORT int io_uring_get_events(LIB ring)
{
    struct uring_call call;
    begin_enter(&call, ring, WIO_CALL_io_uring_get_events, CAP_CALLER());
    return end_enter(&call, CAP_REAL(io_uring_get_events)(ring));
}

/* A timeout makes old kernels' rings submit a request of liburing's own: it is the library's. */
CAP_EXPORT int io_uring_wait_cqes(LIB ring, CQE cqe, unsigned least, TIMEOUT timeout,
                                  sigset_t *mask)
{
    struct uring_call call;
    begin_submit(&call, ring, WIO_CALL_io_uring_wait_cqes, CAP_CALLER());
    return end_enter(&call, CAP_REAL(io_uring_wait_cqes)(ring, cqe, least, timeout, mask));
}

CAP_EXPORT int io_uring_wait_cqe_timeout(LIB ring, CQE cqe, TIMEOUT timeout)
{
    struct uring_call call;
    begin_submit(&call, ring, WIO_CALL_io_uring_wait_cqe_timeout, CAP_CALLER());
    return end_enter(&call, CAP_REAL(io_uring_wait_cqe_timeout)(ring, cqe, timeout));
}

/* What the inline io_uring_wait_cqe comes to where no completion is there yet. `submit` requests
 * were already moved into the ring. */
CAP_EXPORT int __io_uring_get_cqe(LIB ring, CQE cqe, unsigned submit, unsigned least,
                                  sigset_t *mask)
{
    struct uring_call call;
    begin_enter(&call, ring, WIO_CALL___io_uring_get_cqe, CAP_CALLER());
    if (call.ring != NULL && submit > 0) {
        unsigned tail = __atomic_load_n(call.ring->sq_tail, __ATOMIC_ACQUIRE);
        call.batch = cap_uring_before_submit(call.self, &call.ev, call.ring, tail);
    }
    return end_enter(&call, CAP_REAL(__io_uring_get_cqe)(ring, cqe, submit, least, mask));
}

CAP_EXPORT int __io_uring_sqring_wait(LIB ring)
{
    struct uring_call call;
    begin_enter(&call, ring, WIO_CALL___io_uring_sqring_wait, CAP_CALLER());
    return end_enter(&call, CAP_REAL(__io_uring_sqring_wait)(ring));
}

/* Programs poll with this: a look that finds nothing is no event. */
CAP_EXPORT unsigned io_uring_peek_batch_cqe(LIB ring, CQE cqes, unsigned count)
{
    struct uring_call call;
    begin_enter(&call, ring, WIO_CALL_io_uring_peek_batch_cqe, CAP_CALLER());
    unsigned found = CAP_REAL(io_uring_peek_batch_cqe)(ring, cqes, count);
    if (found > 0) {
        (void)end_enter(&call, (int)found);
    } else if (call.ring != NULL) {
        __atomic_store_n(&call.ring->in_library, 0, __ATOMIC_RELAXED);
    }
    return found;
}

/* ---- registered files -------------------------------------------------------------------------
 */

static bool end_register(struct uring_call *call, const struct cap_lib_uring *library,
                         unsigned operation, unsigned count, int result)
{
    if (call->self == NULL) {
        return false;
    }
    struct cap_ext ext = CAP_EXT;
    cap_unmute(call->self);
    call->ring = cap_uring_of_library(library);
    call->ev.end = cap_now();
    call->ev.fd = library->ring_fd;
    call->ev.path = cap_fd_path(call->self, library->ring_fd);
    call->ev.size = count;
    call->ev.result = result < 0 ? -1 : result;
    call->ev.error = result < 0 ? -result : 0;
    ext.arg[0] = operation;
    cap_emit_ext(call->self, &call->ev, &ext);
    return call->ring != NULL && result >= 0;
}

CAP_EXPORT int io_uring_register_files(LIB ring, const int *files, unsigned count)
{
    struct uring_call call;
    begin_init(&call, WIO_CALL_io_uring_register_files, CAP_CALLER());
    int result = CAP_REAL(io_uring_register_files)(ring, files, count);
    if (end_register(&call, ring, IORING_REGISTER_FILES, count, result)) {
        cap_uring_set_files(call.self, call.ring, files, count);
    }
    return result;
}

CAP_EXPORT int io_uring_register_files_tags(LIB ring, const int *files, const uint64_t *tags,
                                            unsigned count)
{
    struct uring_call call;
    begin_init(&call, WIO_CALL_io_uring_register_files_tags, CAP_CALLER());
    int result = CAP_REAL(io_uring_register_files_tags)(ring, files, tags, count);
    if (end_register(&call, ring, IORING_REGISTER_FILES2, count, result)) {
        cap_uring_set_files(call.self, call.ring, files, count);
    }
    return result;
}

CAP_EXPORT int io_uring_register_files_sparse(LIB ring, unsigned count)
{
    struct uring_call call;
    begin_init(&call, WIO_CALL_io_uring_register_files_sparse, CAP_CALLER());
    int result = CAP_REAL(io_uring_register_files_sparse)(ring, count);
    if (end_register(&call, ring, IORING_REGISTER_FILES2, count, result)) {
        cap_uring_set_files(call.self, call.ring, NULL, count);
    }
    return result;
}

CAP_EXPORT int io_uring_register_files_update(LIB ring, unsigned first, const int *files,
                                              unsigned count)
{
    struct uring_call call;
    begin_init(&call, WIO_CALL_io_uring_register_files_update, CAP_CALLER());
    int result = CAP_REAL(io_uring_register_files_update)(ring, first, files, count);
    if (end_register(&call, ring, IORING_REGISTER_FILES_UPDATE, count, result)) {
        cap_uring_update_files(call.self, call.ring, first, files, count);
    }
    return result;
}

CAP_EXPORT int io_uring_register_files_update_tag(LIB ring, unsigned first, const int *files,
                                                  const uint64_t *tags, unsigned count)
{
    struct uring_call call;
    begin_init(&call, WIO_CALL_io_uring_register_files_update_tag, CAP_CALLER());
    int result = CAP_REAL(io_uring_register_files_update_tag)(ring, first, files, tags, count);
    if (end_register(&call, ring, IORING_REGISTER_FILES_UPDATE2, count, result)) {
        cap_uring_update_files(call.self, call.ring, first, files, count);
    }
    return result;
}

CAP_EXPORT int io_uring_unregister_files(LIB ring)
{
    struct uring_call call;
    begin_init(&call, WIO_CALL_io_uring_unregister_files, CAP_CALLER());
    int result = CAP_REAL(io_uring_unregister_files)(ring);
    if (end_register(&call, ring, IORING_UNREGISTER_FILES, 0, result)) {
        cap_uring_set_files(call.self, call.ring, NULL, 0);
    }
    return result;
}

/* ---- the bare calls, as functions since liburing 2.3 -------------------------------------------
 */

CAP_EXPORT int io_uring_setup(unsigned entries, struct io_uring_params *params)
{
    struct uring_call call;
    begin_init(&call, WIO_CALL_io_uring_setup, CAP_CALLER());
    int result = CAP_REAL(io_uring_setup)(entries, params);
    if (call.self != NULL) {
        cap_unmute(call.self);
        call.ev.end = cap_now();
        cap_uring_after_setup(call.self, &call.ev, entries, params, result);
    }
    return result;
}

CAP_EXPORT int io_uring_register(unsigned fd, unsigned operation, const void *arg, unsigned count)
{
    const struct cap_uring_registration what = {fd, operation, arg, count};
    struct uring_call call;
    begin_init(&call, WIO_CALL_io_uring_register, CAP_CALLER());
    int result = CAP_REAL(io_uring_register)(fd, operation, arg, count);
    if (call.self != NULL) {
        cap_unmute(call.self);
        call.ev.end = cap_now();
        cap_uring_after_register(call.self, &call.ev, &what, result);
    }
    return result;
}

struct bare_enter {
    unsigned fd;
    unsigned submit;
    unsigned flags;
};

static void begin_bare(struct uring_call *call, unsigned number, uintptr_t source,
                       const struct bare_enter *enter)
{
    begin_call(call, number, source);
    if (call->self != NULL) {
        call->ev.fd = (int)enter->fd;
        call->ev.size = enter->submit;
        call->batch =
            cap_uring_before_enter(call->self, &call->ev, enter->fd, enter->submit, enter->flags);
        cap_mute(call->self);
    }
}

static int end_bare(struct uring_call *call, int result)
{
    if (call->self != NULL) {
        cap_unmute(call->self);
        call->ev.end = cap_now();
        cap_uring_after_enter(call->self, &call->ev, &call->batch, result);
    }
    return result;
}

CAP_EXPORT int io_uring_enter(unsigned fd, unsigned submit, unsigned least, unsigned flags,
                              sigset_t *mask)
{
    struct uring_call call;
    begin_bare(&call, WIO_CALL_io_uring_enter, CAP_CALLER(),
               &(struct bare_enter){fd, submit, flags});
    return end_bare(&call, CAP_REAL(io_uring_enter)(fd, submit, least, flags, mask));
}

/* NOLINTNEXTLINE(readability-function-size): liburing's own six parameters */
CAP_EXPORT int io_uring_enter2(unsigned fd, unsigned submit, unsigned least, unsigned flags,
                               sigset_t *mask, size_t size)
{
    struct uring_call call;
    begin_bare(&call, WIO_CALL_io_uring_enter2, CAP_CALLER(),
               &(struct bare_enter){fd, submit, flags});
    return end_bare(&call, CAP_REAL(io_uring_enter2)(fd, submit, least, flags, mask, size));
}
