/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libaio.so.1, whose functions are bare system calls: they return -errno and leave errno alone.
 * struct iocb and struct io_event are the kernel's (<linux/aio_abi.h>); libaio.h describes the same
 * bytes. The key of a request is the address of its iocb, which io_getevents gives back.
 *
 * A program may also read completions from the ring that io_setup maps into it (fio's
 * userspace_reap): those are not seen and their requests stay pending.
 */
#include "capture/async/iocb.h"

#include <signal.h>
#include <time.h>

#include "capture/core/address.h"
#include "capture/files/descriptors.h"
#include "capture/mpi/mpi_io.h"

int io_setup(int events, void **context);
int io_queue_init(int events, void **context);
int io_destroy(void *context);
int io_queue_release(void *context);
int io_submit(void *context, long count, struct iocb **requests);
int io_cancel(void *context, struct iocb *request, struct io_event *event);
int io_getevents(void *context, long least, long most, struct io_event *events,
                 struct timespec *timeout);
int io_pgetevents(void *context, long least, long most, struct io_event *events,
                  struct timespec *timeout, sigset_t *mask);
int io_queue_run(void *context);
int io_queue_wait(void *context, struct timespec *timeout);

/* Not in the enum of <linux/aio_abi.h> before 6.x, but libaio's IO_CMD_PREADV since 2007. */
#define OPCODE_PREADV 7
#define OPCODE_PWRITEV 8

/* ---- requests ---------------------------------------------------------------------------------
 */

static unsigned mark_of(unsigned opcode)
{
    switch (opcode) {
    case IOCB_CMD_PREAD:
    case OPCODE_PREADV:
        return WIO_CALL_iocb_read;
    case IOCB_CMD_PWRITE:
    case OPCODE_PWRITEV:
        return WIO_CALL_iocb_write;
    case IOCB_CMD_FSYNC:
    case IOCB_CMD_FDSYNC:
        return WIO_CALL_iocb_fsync;
    default:
        return WIO_CALL_iocb_other;
    }
}

static void set_range(struct cap_request *request, const struct iocb *iocb)
{
    switch (iocb->aio_lio_opcode) {
    case IOCB_CMD_PREAD:
    case IOCB_CMD_PWRITE:
        request->size = iocb->aio_nbytes;
        break;
    case OPCODE_PREADV:
    case OPCODE_PWRITEV:
        request->size =
            cap_vector_bytes((const struct iovec *)(uintptr_t)iocb->aio_buf, iocb->aio_nbytes);
        break;
    default:
        return;
    }
    request->offset = iocb->aio_offset;
}

static struct cap_request request_of(uint64_t context, const struct iocb *iocb)
{
    struct cap_request request = CAP_REQUEST;
    request.call = (uint16_t)mark_of(iocb->aio_lio_opcode);
    request.fd = (int)iocb->aio_fildes;
    request.key = (uintptr_t)iocb;
    request.ext.arg[0] = (int64_t)context;
    request.ext.arg[1] = (int64_t)iocb->aio_data;
    request.ext.arg[2] = (int64_t)iocb->aio_rw_flags;
    request.ext.arg[3] = iocb->aio_lio_opcode;
    set_range(&request, iocb);
    return request;
}

void cap_iocb_before_submit(struct cap_thread *self, const struct cap_event *ev, uint64_t context,
                            struct iocb *const *requests, long count)
{
    struct cap_event at = *ev;
    uint64_t list_page = 0;
    uint64_t page = 0;
    at.end = at.begin;
    for (long i = 0; i < count && cap_is_mapped_near((uintptr_t)&requests[i], &list_page); i++) {
        if (cap_is_mapped_near((uintptr_t)requests[i], &page)) {
            struct cap_request request = request_of(context, requests[i]);
            cap_submit(self, &at, &request);
        }
    }
}

void cap_iocb_count_hidden(struct iocb *const *requests, long count)
{
    uint64_t list_page = 0;
    uint64_t page = 0;
    for (long i = 0;
         cap_fds_have_mpi && i < count && cap_is_mapped_near((uintptr_t)&requests[i], &list_page);
         i++) {
        if (cap_is_mapped_near((uintptr_t)requests[i], &page)) {
            cap_mpi_io_count_hidden((int)requests[i]->aio_fildes);
        }
    }
}

/* ---- calls ------------------------------------------------------------------------------------
 */

static void emit_call(struct cap_thread *self, struct cap_event *ev, uint64_t context, long result)
{
    struct cap_ext ext = CAP_EXT;
    ext.arg[0] = (int64_t)context;
    ev->result = result < 0 ? -1 : result;
    ev->error = result < 0 ? (int)-result : 0;
    cap_emit_ext(self, ev, &ext);
}

void cap_iocb_after_submit(struct cap_thread *self, struct cap_event *ev, uint64_t context,
                           struct iocb *const *requests, long count, long accepted)
{
    ev->size = (uint64_t)count;
    emit_call(self, ev, context, accepted);
    /* The kernel stops at the first that it refuses; the program may submit the rest again. */
    int64_t reason = accepted < 0 ? accepted : -EAGAIN;
    uint64_t page = 0;
    for (long i = accepted > 0 ? accepted : 0;
         i < count && cap_is_mapped_near((uintptr_t)&requests[i], &page); i++) {
        if (cap_is_address((uintptr_t)requests[i])) {
            cap_complete(self, (uintptr_t)requests[i], reason, ev->end);
        }
    }
}

void cap_iocb_after_events(struct cap_thread *self, struct cap_event *ev, uint64_t context,
                           const struct io_event *events, long most, long count)
{
    ev->size = (uint64_t)most;
    emit_call(self, ev, context, count);
    for (long i = 0; i < count && events != NULL; i++) {
        cap_complete(self, events[i].obj, events[i].res, ev->end);
    }
}

void cap_iocb_after_context(struct cap_thread *self, struct cap_event *ev, uint64_t context,
                            uint64_t size, long result)
{
    ev->size = size;
    emit_call(self, ev, context, result);
}

void cap_iocb_after_cancel(struct cap_thread *self, struct cap_event *ev, uint64_t context,
                           const struct iocb *request, long result)
{
    emit_call(self, ev, context, result);
    if (result == 0) {
        cap_complete(self, (uintptr_t)request, -ECANCELED, ev->end);
    }
}

/* ---- the functions ----------------------------------------------------------------------------
 */

__thread uintptr_t cap_libaio_frame __attribute__((tls_model("initial-exec")));

#define FRAME() ((uintptr_t)__builtin_frame_address(0))

/* The real function, with a note around it. */
#define INSIDE(result, call)                                                                       \
    do {                                                                                           \
        const uintptr_t outer_ = cap_libaio_frame;                                                 \
        cap_libaio_frame = FRAME();                                                                \
        (result) = (call);                                                                         \
        cap_libaio_frame = outer_;                                                                 \
    } while (0)

struct libaio_call {
    struct cap_thread *self;
    struct cap_event ev;
};

/* Part of each wrapper: the frame is the wrapper's. */
__attribute__((always_inline)) static inline bool begin_call(struct libaio_call *call,
                                                             unsigned number, uintptr_t source)
{
    bool is_own = cap_is_within(FRAME(), cap_libaio_frame);
    call->self = is_own ? NULL : cap_enter(source, number);
    call->ev = CAP_EVENT_OF(number, source);
    call->ev.begin = cap_begin(call->self);
    return call->self != NULL;
}

/* io_setup and io_queue_init: the context is known afterwards. */
#define SETUP_WRAPPER(name)                                                                        \
    CAP_EXPORT int name(int events, void **context)                                                \
    {                                                                                              \
        struct libaio_call call;                                                                   \
        bool is_seen = begin_call(&call, WIO_CALL_##name, CAP_CALLER());                           \
        int result;                                                                                \
        INSIDE(result, CAP_REAL(name)(events, context));                                           \
        if (is_seen) {                                                                             \
            uint64_t made = result == 0 ? (uintptr_t)*context : 0;                                 \
            call.ev.end = cap_now();                                                               \
            cap_iocb_after_context(call.self, &call.ev, made, (uint64_t)events, result);           \
        }                                                                                          \
        return result;                                                                             \
    }

SETUP_WRAPPER(io_setup)
SETUP_WRAPPER(io_queue_init)

#define DESTROY_WRAPPER(name)                                                                      \
    CAP_EXPORT int name(void *context)                                                             \
    {                                                                                              \
        struct libaio_call call;                                                                   \
        bool is_seen = begin_call(&call, WIO_CALL_##name, CAP_CALLER());                           \
        int result;                                                                                \
        INSIDE(result, CAP_REAL(name)(context));                                                   \
        if (is_seen) {                                                                             \
            call.ev.end = cap_now();                                                               \
            cap_iocb_after_context(call.self, &call.ev, (uintptr_t)context, WIO_NO_SIZE, result);  \
        }                                                                                          \
        return result;                                                                             \
    }

DESTROY_WRAPPER(io_destroy)
DESTROY_WRAPPER(io_queue_release)

CAP_EXPORT int io_submit(void *context, long count, struct iocb **requests)
{
    struct libaio_call call;
    uint64_t id = (uintptr_t)context;
    if (!begin_call(&call, WIO_CALL_io_submit, CAP_CALLER())) {
        cap_iocb_count_hidden(requests, count);
        return CAP_REAL(io_submit)(context, count, requests);
    }
    cap_iocb_before_submit(call.self, &call.ev, id, requests, count);
    int result;
    INSIDE(result, CAP_REAL(io_submit)(context, count, requests));
    call.ev.end = cap_now();
    cap_iocb_after_submit(call.self, &call.ev, id, requests, count, result);
    return result;
}

CAP_EXPORT int io_cancel(void *context, struct iocb *request, struct io_event *event)
{
    struct libaio_call call;
    bool is_seen = begin_call(&call, WIO_CALL_io_cancel, CAP_CALLER());
    int result;
    INSIDE(result, CAP_REAL(io_cancel)(context, request, event));
    if (is_seen) {
        call.ev.end = cap_now();
        cap_iocb_after_cancel(call.self, &call.ev, (uintptr_t)context, request, result);
    }
    return result;
}

static int get_events(struct libaio_call *call, void *context, long most,
                      const struct io_event *events, int result)
{
    if (call->self != NULL) {
        call->ev.end = cap_now();
        cap_iocb_after_events(call->self, &call->ev, (uintptr_t)context, events, most, result);
    }
    return result;
}

CAP_EXPORT int io_getevents(void *context, long least, long most, struct io_event *events,
                            struct timespec *timeout)
{
    struct libaio_call call;
    (void)begin_call(&call, WIO_CALL_io_getevents, CAP_CALLER());
    int result;
    INSIDE(result, CAP_REAL(io_getevents)(context, least, most, events, timeout));
    return get_events(&call, context, most, events, result);
}

/* NOLINTNEXTLINE(readability-function-size): libaio's own six parameters */
CAP_EXPORT int io_pgetevents(void *context, long least, long most, struct io_event *events,
                             struct timespec *timeout, sigset_t *mask)
{
    struct libaio_call call;
    (void)begin_call(&call, WIO_CALL_io_pgetevents, CAP_CALLER());
    int result;
    INSIDE(result, CAP_REAL(io_pgetevents)(context, least, most, events, timeout, mask));
    return get_events(&call, context, most, events, result);
}

/*
 * libaio's io_queue_run is a loop over its own io_getevents that calls the function which each
 * request carries as data. Calls within the library are not intercepted; so the loop is done here.
 */
CAP_EXPORT int io_queue_run(void *context)
{
    typedef void callback_fn(void *context, struct iocb *request, long result, long second);
    const uintptr_t source = CAP_CALLER();
    struct timespec no_wait = {0, 0};
    struct io_event event;
    int result;
    do {
        struct libaio_call call;
        (void)begin_call(&call, WIO_CALL_io_queue_run, source);
        INSIDE(result, CAP_REAL(io_getevents)(context, 0, 1, &event, &no_wait));
        (void)get_events(&call, context, 1, &event, result);
        if (result == 1) {
            callback_fn *callback = (callback_fn *)(uintptr_t)event.data;
            callback(context, (struct iocb *)(uintptr_t)event.obj, event.res, event.res2);
        }
    } while (result == 1);
    return result;
}

/* Waits and takes nothing. */
CAP_EXPORT int io_queue_wait(void *context, struct timespec *timeout)
{
    struct libaio_call call;
    (void)begin_call(&call, WIO_CALL_io_queue_wait, CAP_CALLER());
    int result;
    INSIDE(result, CAP_REAL(io_queue_wait)(context, timeout));
    return get_events(&call, context, 0, NULL, result);
}
