/* SPDX-License-Identifier: Apache-2.0 */
/*
 * POSIX asynchronous I/O. glibc performs the requests with pread and pwrite in threads of its own,
 * which nothing sees; what can be seen is when the program submits a request and when it finds that
 * it has ended: by aio_error, aio_return, aio_suspend, aio_cancel or lio_listio(LIO_WAIT).
 *
 * The key of a request is the address of its struct aiocb, which is the program's promise not to
 * use it twice at the same time. Source: aio(7), <aio.h>.
 */
#include <aio.h>
#include <fcntl.h>
#include <signal.h>

#include "capture/async/async.h"
#include "capture/files/descriptors.h"

struct aio_call {
    struct cap_thread *self;
    struct cap_event ev;
};

static void begin_aio(struct aio_call *call, unsigned number, uintptr_t source, int fd)
{
    call->self = cap_enter_fd(source, number, fd);
    call->ev = CAP_EVENT_OF(number, source);
    call->ev.fd = fd;
    call->ev.begin = cap_begin(call->self);
}

static void end_aio(struct aio_call *call, int64_t result)
{
    call->ev.end = cap_now();
    call->ev.result = result;
    call->ev.error = result < 0 ? errno : 0;
}

static struct cap_request request_of(unsigned number, const struct aiocb *block)
{
    struct cap_request request = CAP_REQUEST;
    request.call = (uint16_t)number;
    request.fd = block->aio_fildes;
    request.key = (uintptr_t)block;
    request.ext.arg[1] = (int64_t)(intptr_t)block;
    if (number != WIO_CALL_aio_fsync && number != WIO_CALL_aio_fsync64) {
        request.offset = block->aio_offset;
        request.size = block->aio_nbytes;
    }
    return request;
}

/* Tell the end of a request, where it has one by now. */
static void look_at(struct cap_thread *self, const struct aiocb *block, uint64_t ticks)
{
    int error = CAP_REAL(aio_error)(block);
    if (error != EINPROGRESS) {
        cap_complete(self, (uintptr_t)block, error == 0 ? block->__return_value : -error, ticks);
    }
}

/* ---- submission -------------------------------------------------------------------------------
 */

static int end_submit(struct aio_call *call, const struct cap_request *request, int result)
{
    if (call->self == NULL) {
        return result;
    }
    end_aio(call, result);
    if (result == 0) {
        cap_submit(call->self, &call->ev, request);
    } else {
        cap_submit_failed(call->self, &call->ev, request, call->ev.error);
    }
    return result;
}

/* struct aiocb64 has the layout of struct aiocb on 64-bit machines; the real functions of both
 * names are one. */
#define AIO_SUBMIT_WRAPPER(name, type)                                                             \
    CAP_EXPORT int name(type *block)                                                               \
    {                                                                                              \
        struct aio_call call;                                                                      \
        begin_aio(&call, WIO_CALL_##name, CAP_CALLER(), block->aio_fildes);                        \
        struct cap_request request = request_of(WIO_CALL_##name, (const struct aiocb *)block);     \
        return end_submit(&call, &request, CAP_REAL(name)(block));                                 \
    }

AIO_SUBMIT_WRAPPER(aio_read, struct aiocb)
AIO_SUBMIT_WRAPPER(aio_read64, struct aiocb64)
AIO_SUBMIT_WRAPPER(aio_write, struct aiocb)
AIO_SUBMIT_WRAPPER(aio_write64, struct aiocb64)

#define AIO_FSYNC_WRAPPER(name, type)                                                              \
    CAP_EXPORT int name(int operation, type *block)                                                \
    {                                                                                              \
        struct aio_call call;                                                                      \
        begin_aio(&call, WIO_CALL_##name, CAP_CALLER(), block->aio_fildes);                        \
        struct cap_request request = request_of(WIO_CALL_##name, (const struct aiocb *)block);     \
        request.ext.arg[2] = operation;                                                            \
        return end_submit(&call, &request, CAP_REAL(name)(operation, block));                      \
    }

AIO_FSYNC_WRAPPER(aio_fsync, struct aiocb)
AIO_FSYNC_WRAPPER(aio_fsync64, struct aiocb64)

/* By what a list of requests is judged. */
static int first_descriptor(const struct aiocb *const *blocks, int count)
{
    for (int i = 0; i < count; i++) {
        if (blocks[i] != NULL) {
            return blocks[i]->aio_fildes;
        }
    }
    return -1;
}

struct listing {
    struct aio_call call;
    int mode;
    int count;
    const struct aiocb *const *blocks;
};

static bool is_listed(const struct aiocb *block)
{
    return block != NULL && block->aio_lio_opcode != LIO_NOP;
}

/* The requests of a list are recorded before the call: when it returns, another thread may have
 * collected and released them. */
static void begin_list(struct listing *list, unsigned number, uintptr_t source)
{
    begin_aio(&list->call, number, source, first_descriptor(list->blocks, list->count));
    struct cap_event *ev = &list->call.ev;
    ev->fd = WIO_NO_FD;
    ev->end = ev->begin;
    for (int i = 0; list->call.self != NULL && i < list->count; i++) {
        const struct aiocb *block = list->blocks[i];
        if (is_listed(block)) {
            bool is_read = block->aio_lio_opcode == LIO_READ;
            struct cap_request request =
                request_of(is_read ? WIO_CALL_aio_read : WIO_CALL_aio_write, block);
            cap_submit(list->call.self, ev, &request);
        }
    }
}

/* All have ended; or some could not be queued and carry the reason; or libc looked at none. */
static void end_listed(const struct listing *list, const struct aiocb *block)
{
    const struct cap_event *ev = &list->call.ev;
    if (ev->error == EINVAL) {
        cap_complete(list->call.self, (uintptr_t)block, -EINVAL, ev->end);
    } else if (list->mode == LIO_WAIT || ev->result < 0) {
        look_at(list->call.self, block, ev->end);
    }
}

static int end_list(struct listing *list, int result)
{
    if (list->call.self == NULL) {
        return result;
    }
    CAP_KEEP_ERRNO;
    end_aio(&list->call, result);
    list->call.ev.size = (uint64_t)list->count;
    cap_emit(list->call.self, &list->call.ev);
    for (int i = 0; i < list->count; i++) {
        if (is_listed(list->blocks[i])) {
            end_listed(list, list->blocks[i]);
        }
    }
    return result;
}

#define LIO_WRAPPER(name, type)                                                                    \
    CAP_EXPORT int name(int mode, type *const blocks[], int count, struct sigevent *notify)        \
    {                                                                                              \
        struct listing list = {.mode = mode, .count = count};                                      \
        list.blocks = (const struct aiocb *const *)blocks;                                         \
        begin_list(&list, WIO_CALL_##name, CAP_CALLER());                                          \
        return end_list(&list, CAP_REAL(name)(mode, blocks, count, notify));                       \
    }

LIO_WRAPPER(lio_listio, struct aiocb)
LIO_WRAPPER(lio_listio64, struct aiocb64)

/* ---- collection -------------------------------------------------------------------------------
 */

static int end_suspend(struct aio_call *call, const struct aiocb *const *blocks, int count,
                       int result)
{
    if (call->self == NULL) {
        return result;
    }
    CAP_KEEP_ERRNO;
    end_aio(call, result);
    call->ev.fd = WIO_NO_FD;
    call->ev.size = (uint64_t)count;
    cap_emit(call->self, &call->ev);
    for (int i = 0; result == 0 && i < count; i++) {
        if (blocks[i] != NULL) {
            look_at(call->self, blocks[i], call->ev.end);
        }
    }
    return result;
}

#define AIO_SUSPEND_WRAPPER(name, type)                                                            \
    CAP_EXPORT int name(const type *const blocks[], int count, const struct timespec *timeout)     \
    {                                                                                              \
        struct aio_call call;                                                                      \
        const struct aiocb *const *list = (const struct aiocb *const *)blocks;                     \
        begin_aio(&call, WIO_CALL_##name, CAP_CALLER(), first_descriptor(list, count));            \
        int result = CAP_REAL(name)(blocks, count, timeout);                                       \
        return end_suspend(&call, list, count, result);                                            \
    }

AIO_SUSPEND_WRAPPER(aio_suspend, struct aiocb)
AIO_SUSPEND_WRAPPER(aio_suspend64, struct aiocb64)

static int end_cancel(struct aio_call *call, const struct aiocb *block, int result)
{
    if (call->self == NULL) {
        return result;
    }
    CAP_KEEP_ERRNO;
    end_aio(call, result);
    call->ev.path = cap_fd_path(call->self, call->ev.fd);
    cap_emit(call->self, &call->ev);
    if (block != NULL && result == AIO_CANCELED) {
        cap_complete(call->self, (uintptr_t)block, -ECANCELED, call->ev.end);
    }
    return result;
}

#define AIO_CANCEL_WRAPPER(name, type)                                                             \
    CAP_EXPORT int name(int fd, type *block)                                                       \
    {                                                                                              \
        struct aio_call call;                                                                      \
        begin_aio(&call, WIO_CALL_##name, CAP_CALLER(), fd);                                       \
        return end_cancel(&call, (const struct aiocb *)block, CAP_REAL(name)(fd, block));          \
    }

AIO_CANCEL_WRAPPER(aio_cancel, struct aiocb)
AIO_CANCEL_WRAPPER(aio_cancel64, struct aiocb64)

/* aio_error gives its answer as result: 0 or the request's error. Programs poll with it: a failed
 * poll (the request is still in progress) is no event. */
static int end_error(struct aio_call *call, const struct aiocb *block, int result)
{
    if (call->self == NULL || result == EINPROGRESS) {
        return result;
    }
    end_aio(call, result);
    call->ev.path = cap_fd_path(call->self, call->ev.fd);
    cap_emit(call->self, &call->ev);
    if (result >= 0) {
        int64_t done = result == 0 ? block->__return_value : -result;
        cap_complete(call->self, (uintptr_t)block, done, call->ev.end);
    }
    return result;
}

#define AIO_ERROR_WRAPPER(name, type)                                                              \
    CAP_EXPORT int name(const type *block)                                                         \
    {                                                                                              \
        struct aio_call call;                                                                      \
        begin_aio(&call, WIO_CALL_##name, CAP_CALLER(), block->aio_fildes);                        \
        return end_error(&call, (const struct aiocb *)block, CAP_REAL(name)(block));               \
    }

AIO_ERROR_WRAPPER(aio_error, struct aiocb)
AIO_ERROR_WRAPPER(aio_error64, struct aiocb64)

static ssize_t end_return(struct aio_call *call, const struct aiocb *block, ssize_t result)
{
    if (call->self == NULL) {
        return result;
    }
    CAP_KEEP_ERRNO;
    int error = CAP_REAL(aio_error)(block);
    end_aio(call, result);
    call->ev.error = result < 0 ? error : 0;
    call->ev.path = cap_fd_path(call->self, call->ev.fd);
    cap_emit(call->self, &call->ev);
    if (error != EINPROGRESS) {
        cap_complete(call->self, (uintptr_t)block, result < 0 ? -error : result, call->ev.end);
    }
    return result;
}

#define AIO_RETURN_WRAPPER(name, type)                                                             \
    CAP_EXPORT ssize_t name(type *block)                                                           \
    {                                                                                              \
        struct aio_call call;                                                                      \
        begin_aio(&call, WIO_CALL_##name, CAP_CALLER(), block->aio_fildes);                        \
        return end_return(&call, (const struct aiocb *)block, CAP_REAL(name)(block));              \
    }

AIO_RETURN_WRAPPER(aio_return, struct aiocb)
AIO_RETURN_WRAPPER(aio_return64, struct aiocb64)
