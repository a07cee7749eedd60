/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What requests will have done when they are completed. By handle, in a table that grows; a handle
 * is in it from the call that made the request to the call that completed or freed it. Thread safe.
 */
#ifndef WIO_CAPTURE_MPI_MPI_REQUEST_H
#define WIO_CAPTURE_MPI_MPI_REQUEST_H

#include "capture/mpi/mpi.h"

enum cap_mpi_request_kind {
    CAP_MPI_SEND,        /* its end says nothing */
    CAP_MPI_SYNCHRONOUS, /* its end says that the receiver is there */
    CAP_MPI_RECV,
    CAP_MPI_COLLECTIVE,
    CAP_MPI_NEIGHBORS, /* several receives: their keys are `key` .. `key + count - 1` */
    CAP_MPI_IO         /* of a file */
};

struct cap_mpi_request {
    cap_mpi_word handle;   /* 0 = free */
    uint64_t key;          /* of the operation that is under way; 0 = none */
    uint64_t object;       /* id of communicator .. */
    uint64_t size;         /* bytes */
    cap_mpi_word new_comm; /* idup: the handle of the new communicator .. */
    uint64_t new_id;       /* .. and its id */
    int32_t peer;          /* as in the event; receives: -1 = any */
    int32_t tag;
    int32_t rank_base; /* idup: number of rank 0 of the own group */
    int32_t peer_base; /* number of rank 0 of the group that messages come from */
    int32_t count;     /* of receives among neighbours */
    int32_t root;
    uint64_t starts;   /* of a persistent collective so far */
    cap_mpi_word comm; /* of collectives among neighbours */
    uint16_t call;     /* of the event that Start causes */
    uint8_t kind;      /* enum cap_mpi_request_kind */
    bool is_persistent;
    bool is_cancelled;  /* MPI_Cancel was called: look whether it came in time */
    bool has_no_status; /* the library fills none in (MPICH's MPI_Isendrecv) */
    bool is_done;       /* its end was told already (MPI_Request_get_status) */
};

/* In place of what the handle meant before. */
void cap_mpi_request_add(const struct cap_mpi_request *request) CAP_HIDDEN;
/* Copies what the handle means; false where nothing is known. */
bool cap_mpi_request_find(cap_mpi_word handle, struct cap_mpi_request *out) CAP_HIDDEN;
/* It was completed: an ordinary one is forgotten, a persistent one has no operation any more. Only
 * if it still is the one with that key: as soon as it is completed another thread may have made
 * another one with its handle. */
void cap_mpi_request_complete(const struct cap_mpi_request *request) CAP_HIDDEN;
void cap_mpi_request_forget(cap_mpi_word handle) CAP_HIDDEN;

/* MPI_Comm_idup is over: its communicator is known from now on (mpi_comm.c). */
void cap_mpi_made_by(struct cap_mpi *m, const struct cap_mpi_request *request) CAP_HIDDEN;

/* True where the library will not remember the request: it is over, others have the same handle. */
bool cap_mpi_request_is_over(cap_mpi_word handle) CAP_HIDDEN;

#endif
