/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rings whose requests are not recorded, an MPI library's: those on files that MPI-IO opened are
 * counted as unseen (mpi_async). Signal safe, thread safe.
 */
#ifndef WIO_CAPTURE_ASYNC_URING_HIDDEN_H
#define WIO_CAPTURE_ASYNC_URING_HIDDEN_H

#include "capture/async/uring_call.h"

/* What follows is for calls whose cap_enter gave NULL; `source` is their return address. Calls that
 * are not an MPI library's change nothing. */

/* io_uring_setup gave `fd`; a failed one (`fd` < 0) is nothing. */
void cap_uring_hidden_opened(uintptr_t source, long fd,
                             const struct io_uring_params *params) CAP_HIDDEN;
/* The ring of liburing's structure, noted now if it was not before; NULL where there is none. */
struct cap_uring *cap_uring_hidden_library(uintptr_t source,
                                           const struct cap_lib_uring *library) CAP_HIDDEN;
/* io_uring_register gave `result`, -errno on failure. */
void cap_uring_hidden_registered(uintptr_t source, const struct cap_uring_registration *what,
                                 long result) CAP_HIDDEN;
/* Before io_uring_enter: counts what is submitted. */
void cap_uring_hidden_enter(uintptr_t source, unsigned fd, unsigned submit,
                            unsigned flags) CAP_HIDDEN;
/* Before a function of liburing that submits: counts what waits in its structure. */
void cap_uring_hidden_submit(uintptr_t source, const struct cap_lib_uring *library) CAP_HIDDEN;
/* The entries below `tail` that were not looked at. */
void cap_uring_hidden_count(struct cap_uring *ring, unsigned tail) CAP_HIDDEN;

#endif
