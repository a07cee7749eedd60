/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asynchronous requests: POSIX aio, libaio, io_uring.
 *
 * A request is an event when it is submitted, with its result pending, and a COMPLETION record with
 * the same key when the program can know that it has ended. Nothing is remembered in between: the
 * key is made from what both sides carry (the request's address, or the ring and its user data),
 * and the reader of the rings pairs them, first in, first out (FORMAT.md R-EVENT-3).
 */
#ifndef WIO_CAPTURE_ASYNC_ASYNC_H
#define WIO_CAPTURE_ASYNC_ASYNC_H

#include <sys/uio.h>

#include "capture/core/capture.h"

/* What a request asks for; offset, size and path as in any event. */
struct cap_request {
    uint16_t call; /* a "mark" row of calls.def, or the aio function */
    int fd;        /* WIO_NO_FD where it has none */
    uint32_t path; /* 0: the path of fd */
    int64_t offset;
    uint64_t size;
    uint64_t key;
    struct cap_ext ext; /* arg0 = ring or context, arg1 = the program's tag, arg2 = flags */
};

#define CAP_REQUEST                                                                                \
    ((struct cap_request){                                                                         \
        .fd = WIO_NO_FD, .offset = WIO_NO_OFFSET, .size = WIO_NO_SIZE, .ext = CAP_EXT})

/*
 * Libraries call their own functions and syscall(2): a wrapper that finds itself called from within
 * another one of its family leaves the event to that. It is within where its frame lies a little
 * below that one's; not after a signal handler has jumped out of there.
 */
#define CAP_LIBRARY_STACK 4096u
static inline bool cap_is_within(uintptr_t frame, uintptr_t outer)
{
    return outer - frame - 1 < CAP_LIBRARY_STACK;
}

/* Bytes asked for by a vector that the kernel has not read yet; WIO_NO_SIZE where nothing is there
 * (the request will fail with EFAULT). */
uint64_t cap_vector_bytes(const struct iovec *vector, uint64_t count) CAP_HIDDEN;

/* Submitted between the stamps of `call`, which is the event of the submitting call: same begin,
 * source and flags. */
void cap_submit(struct cap_thread *self, const struct cap_event *call,
                const struct cap_request *request) CAP_HIDDEN;

/* The request was refused with `error`: it never was in flight. */
void cap_submit_failed(struct cap_thread *self, const struct cap_event *call,
                       const struct cap_request *request, int error) CAP_HIDDEN;

#endif
