/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's asynchronous I/O (io_submit and its family), for both ways to it: the functions of
 * libaio and the numbers of syscall(2). They differ in how they tell an error, so the parts here
 * take -errno. `ev` is the event of the call: begin, end, source, call and flags set.
 */
#ifndef WIO_CAPTURE_ASYNC_IOCB_H
#define WIO_CAPTURE_ASYNC_IOCB_H

#include <linux/aio_abi.h>

#include "capture/async/async.h"

/* The frame of the wrapper in which this thread is inside libaio, 0 = none. */
extern __thread uintptr_t cap_libaio_frame __attribute__((tls_model("initial-exec"))) CAP_HIDDEN;

/* Before io_submit: one event per request (the kernel's caller may release them at once). */
void cap_iocb_before_submit(struct cap_thread *self, const struct cap_event *ev, uint64_t context,
                            struct iocb *const *requests, long count) CAP_HIDDEN;
/* The same where the call is not recorded: requests on files of MPI-IO are counted. */
void cap_iocb_count_hidden(struct iocb *const *requests, long count) CAP_HIDDEN;
/* After it: `accepted` of them are in flight, or -errno. Writes the event of the call too. */
void cap_iocb_after_submit(struct cap_thread *self, struct cap_event *ev, uint64_t context,
                           struct iocb *const *requests, long count, long accepted) CAP_HIDDEN;
/* After io_getevents: `count` ended requests, or -errno. */
void cap_iocb_after_events(struct cap_thread *self, struct cap_event *ev, uint64_t context,
                           const struct io_event *events, long most, long count) CAP_HIDDEN;
/* After io_setup, io_destroy and others that only have a context: result 0 or -errno. */
void cap_iocb_after_context(struct cap_thread *self, struct cap_event *ev, uint64_t context,
                            uint64_t size, long result) CAP_HIDDEN;
/* After io_cancel: *request was taken back. */
void cap_iocb_after_cancel(struct cap_thread *self, struct cap_event *ev, uint64_t context,
                           const struct iocb *request, long result) CAP_HIDDEN;

#endif
