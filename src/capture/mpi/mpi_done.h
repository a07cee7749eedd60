/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion of requests. The library sets the handles of completed requests to MPI_REQUEST_NULL:
 * what is known of them is copied before the call, also since another thread may have made another
 * request of the same handle before it returns. Statuses are asked for also where the program wants
 * none.
 */
#ifndef WIO_CAPTURE_MPI_MPI_DONE_H
#define WIO_CAPTURE_MPI_MPI_DONE_H

#include "capture/mpi/mpi_hooks.h"
#include "capture/mpi/mpi_judge.h"

#define CAP_MPI_FEW 32
#define CAP_MPI_STATUS_WORDS 4 /* of 8 bytes: more than any status */

/* What is known of the requests, and statuses of ours: a few on the stack, more in a mapping. */
struct cap_mpi_snapshot {
    struct cap_mpi_request *known; /* handle 0: nothing */
    void *statuses;                /* the program's or ours */
    void *mapping;
    size_t bytes;
    struct cap_mpi_request few_known[CAP_MPI_FEW];
    uint64_t few_statuses[CAP_MPI_FEW * CAP_MPI_STATUS_WORDS];
};

/* The request whose handle lies at `place`; handle 0: none. */
void cap_mpi_look_up(const void *place, struct cap_mpi_request *out) CAP_HIDDEN;
/* Of `count` requests; `statuses` has room for `status_count`, or is MPI_STATUS(ES)_IGNORE. */
void cap_mpi_snapshot_take(struct cap_mpi_snapshot *s, int count, const void *requests,
                           void *statuses, int status_count) CAP_HIDDEN;
void cap_mpi_snapshot_drop(const struct cap_mpi_snapshot *s) CAP_HIDDEN;

/* The call completed this request (handle 0: one that is not known): tell of it (FORMAT.md R-MPI-3)
 * and forget it. */
void cap_mpi_complete(struct cap_mpi *m, const struct cap_mpi_request *request,
                      const void *status) CAP_HIDDEN;
/* All of the snapshot's, or those with the `done` indices; those that their statuses say. */
void cap_mpi_complete_all(struct cap_mpi *m, int count,
                          const struct cap_mpi_snapshot *s) CAP_HIDDEN;
void cap_mpi_complete_some(struct cap_mpi *m, int done, const int *indices,
                           const struct cap_mpi_snapshot *s) CAP_HIDDEN;
/* The call's result says that its one request is completed. */
bool cap_mpi_is_one_taken(const struct cap_mpi *m) CAP_HIDDEN;
/* .. that the statuses of its requests are filled in. */
bool cap_mpi_has_statuses(const struct cap_mpi *m) CAP_HIDDEN;
/* True where a test of so many requests found nothing, which is noted. */
bool cap_mpi_found_nothing(struct cap_mpi *m, int requests, const void *flag) CAP_HIDDEN;

#endif
