/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the generated wrappers of MPI do before and after the real call: the hooks that the notes of
 * calls.def name, with the call's parameters. See mpi.h; events: FORMAT.md#mpi.
 */
#ifndef WIO_CAPTURE_MPI_MPI_HOOKS_H
#define WIO_CAPTURE_MPI_MPI_HOOKS_H

#include "capture/mpi/mpi.h"
#include "capture/mpi/mpi_object.h"
#include "capture/mpi/mpi_request.h"

/* Added to the negative tag of partitioned messages, which never meet ordinary ones. */
#define CAP_MPI_PARTITIONED (-(1 << 30))

/* ---- messages (mpi_message.c) */
void cap_mpi_after_send(struct cap_mpi *m, cap_mpi_word comm, int dest, int tag) CAP_HIDDEN;
void cap_mpi_after_isend(struct cap_mpi *m, cap_mpi_word comm, int dest, int tag,
                         const void *request, enum cap_mpi_request_kind kind) CAP_HIDDEN;
void cap_mpi_after_recv(struct cap_mpi *m, cap_mpi_word comm, int source,
                        const void *status) CAP_HIDDEN;
void cap_mpi_after_irecv(struct cap_mpi *m, cap_mpi_word comm, int source, int tag,
                         const void *request) CAP_HIDDEN;
void cap_mpi_after_imrecv(struct cap_mpi *m, const void *request) CAP_HIDDEN;
void cap_mpi_after_sendrecv(struct cap_mpi *m, cap_mpi_word comm, int dest, int sendtag, int source,
                            const void *status) CAP_HIDDEN;
void cap_mpi_after_isendrecv(struct cap_mpi *m, cap_mpi_word comm, int dest, int sendtag,
                             int source, int recvtag, const void *request) CAP_HIDDEN;
/* flag NULL: the call waits. */
void cap_mpi_after_probe(struct cap_mpi *m, cap_mpi_word comm, const void *flag) CAP_HIDDEN;
void cap_mpi_after_mprobe(struct cap_mpi *m, cap_mpi_word comm, int source, const void *flag,
                          const void *status) CAP_HIDDEN;

/* ---- persistent requests (mpi_persistent.c) */
void cap_mpi_after_send_init(struct cap_mpi *m, cap_mpi_word comm, int dest, int tag,
                             const void *request, enum cap_mpi_request_kind kind) CAP_HIDDEN;
void cap_mpi_after_recv_init(struct cap_mpi *m, cap_mpi_word comm, int source, int tag,
                             const void *request) CAP_HIDDEN;
void cap_mpi_persistent_collective(struct cap_mpi *m, unsigned op, int root,
                                   const void *request) CAP_HIDDEN;
#define cap_mpi_after_coll_init(m, op, root, request)                                              \
    cap_mpi_persistent_collective(m, WIO_OP_##op, root, request)
void cap_mpi_after_neighbors_init(struct cap_mpi *m, cap_mpi_word comm,
                                  const void *request) CAP_HIDDEN;
void cap_mpi_after_start(struct cap_mpi *m, int count, const void *requests) CAP_HIDDEN;

/* ---- completion (mpi_done.c) */
/* A plain event of class MPI_WAIT. */
void cap_mpi_after_wait(struct cap_mpi *m, int requests, int completed) CAP_HIDDEN;
void cap_mpi_before_request_free(struct cap_mpi *m, const void *request) CAP_HIDDEN;
void cap_mpi_before_cancel(struct cap_mpi *m, const void *request) CAP_HIDDEN;
void cap_mpi_after_get_status(struct cap_mpi *m, cap_mpi_word request, const void *flag,
                              const void *status) CAP_HIDDEN;

/* ---- collectives (mpi_collective.c) */
void cap_mpi_before_coll(struct cap_mpi *m, cap_mpi_word comm) CAP_HIDDEN;
void cap_mpi_before_coll_of(struct cap_mpi *m, enum cap_mpi_kind kind,
                            cap_mpi_word handle) CAP_HIDDEN;
/* Looks for the object, counts nothing. */
void cap_mpi_before_known(struct cap_mpi *m, enum cap_mpi_kind kind,
                          cap_mpi_word handle) CAP_HIDDEN;
/* The root as it is numbered; -2: this process has no part in an intercommunicator's collective. */
int64_t cap_mpi_root(const struct cap_mpi_object *object, int root) CAP_HIDDEN;
/* request NULL: the call waits. */
void cap_mpi_after_coll(struct cap_mpi *m, int root, const void *request) CAP_HIDDEN;
/* The object's handle goes away: `handle` is where it is. */
void cap_mpi_before_forget(struct cap_mpi *m, enum cap_mpi_kind kind,
                           const void *handle) CAP_HIDDEN;
void cap_mpi_after_forget(struct cap_mpi *m, enum cap_mpi_kind kind) CAP_HIDDEN;

/* ---- collectives among neighbours (mpi_neighbor.c) */
void cap_mpi_after_neighbors(struct cap_mpi *m, cap_mpi_word comm, const void *request) CAP_HIDDEN;
/* The tag of the next one. */
int cap_mpi_neighbor_tag(struct cap_mpi_object *object) CAP_HIDDEN;
/* Emit a message to and from each neighbour; returns how many come. `key_out` (NULL: the call waits
 * for them): the key of the first, the others follow. */
int cap_mpi_neighbor_messages(struct cap_mpi *m, cap_mpi_word comm, int tag, uint64_t size,
                              uint64_t *key_out) CAP_HIDDEN;

/* ---- making communicators (mpi_comm.c) */
void cap_mpi_after_new_comm(struct cap_mpi *m, cap_mpi_word comm, const void *newcomm) CAP_HIDDEN;
void cap_mpi_after_inew_comm(struct cap_mpi *m, cap_mpi_word comm, const void *newcomm,
                             const void *request) CAP_HIDDEN;
void cap_mpi_after_new_group_comm(struct cap_mpi *m, cap_mpi_word comm, int tag,
                                  const void *newcomm) CAP_HIDDEN;
void cap_mpi_after_new_session_comm(struct cap_mpi *m, const char *text,
                                    const void *newcomm) CAP_HIDDEN;
void cap_mpi_after_new_intercomm(struct cap_mpi *m, int tag, const void *newcomm) CAP_HIDDEN;
void cap_mpi_after_foreign_comm(struct cap_mpi *m, const void *newcomm) CAP_HIDDEN;

/* ---- windows (mpi_win.c) */
void cap_mpi_after_new_win(struct cap_mpi *m, const void *win) CAP_HIDDEN;
void cap_mpi_before_group(struct cap_mpi *m, cap_mpi_word win, cap_mpi_word group,
                          unsigned which) CAP_HIDDEN;
void cap_mpi_after_post(struct cap_mpi *m) CAP_HIDDEN;
void cap_mpi_after_complete(struct cap_mpi *m) CAP_HIDDEN;
void cap_mpi_after_win_wait(struct cap_mpi *m, const void *flag) CAP_HIDDEN;
#define CAP_MPI_ALL_RANKS (-100)
/* `type` counts where the call takes a lock of one rank. */
void cap_mpi_after_win_lock(struct cap_mpi *m, int rank, int type) CAP_HIDDEN;

/* ---- files (mpi_file.c) */
void cap_mpi_after_file_open(struct cap_mpi *m, const char *path, const void *file) CAP_HIDDEN;
void cap_mpi_after_file_delete(struct cap_mpi *m, const char *path) CAP_HIDDEN;
void cap_mpi_after_file(struct cap_mpi *m, cap_mpi_word file, const void *request,
                        const void *status) CAP_HIDDEN;
void cap_mpi_after_file_all(struct cap_mpi *m, const void *status) CAP_HIDDEN;
void cap_mpi_after_file_begin(struct cap_mpi *m) CAP_HIDDEN;
void cap_mpi_after_file_end(struct cap_mpi *m, const void *status) CAP_HIDDEN;

/* ---- sizes (mpi_bytes.c): of arguments that matter in this rank, after a call that succeeded.
 * `width`: bytes of an element of the array before it. */
uint64_t cap_mpi_bytes(int64_t count, cap_mpi_word type) CAP_HIDDEN;
uint64_t cap_mpi_peers(const struct cap_mpi *m) CAP_HIDDEN;
uint64_t cap_mpi_sum(const struct cap_mpi *m, const void *counts, unsigned width,
                     cap_mpi_word type) CAP_HIDDEN;
uint64_t cap_mpi_root_bytes(const struct cap_mpi *m, int root, int64_t count,
                            cap_mpi_word type) CAP_HIDDEN;
uint64_t cap_mpi_gather_bytes(const struct cap_mpi *m, int root, const void *sendbuf,
                              int64_t sendcount, cap_mpi_word sendtype, int64_t recvcount,
                              cap_mpi_word recvtype) CAP_HIDDEN;
uint64_t cap_mpi_gatherv_bytes(const struct cap_mpi *m, int root, const void *sendbuf,
                               int64_t sendcount, cap_mpi_word sendtype, const void *recvcounts,
                               unsigned width, cap_mpi_word recvtype) CAP_HIDDEN;
uint64_t cap_mpi_scatter_bytes(const struct cap_mpi *m, int root, int64_t sendcount,
                               cap_mpi_word sendtype, int64_t recvcount,
                               cap_mpi_word recvtype) CAP_HIDDEN;
uint64_t cap_mpi_scatterv_bytes(const struct cap_mpi *m, int root, const void *sendcounts,
                                unsigned width, cap_mpi_word sendtype, int64_t recvcount,
                                cap_mpi_word recvtype) CAP_HIDDEN;
uint64_t cap_mpi_own_bytes(const void *sendbuf, int64_t sendcount, cap_mpi_word sendtype,
                           int64_t recvcount, cap_mpi_word recvtype) CAP_HIDDEN;
uint64_t cap_mpi_own_bytes_v(const struct cap_mpi *m, const void *sendbuf, int64_t sendcount,
                             cap_mpi_word sendtype, const void *recvcounts, unsigned width,
                             cap_mpi_word recvtype) CAP_HIDDEN;
uint64_t cap_mpi_all_bytes_v(const struct cap_mpi *m, const void *sendbuf, const void *sendcounts,
                             unsigned send_width, cap_mpi_word sendtype, const void *recvcounts,
                             unsigned recv_width, cap_mpi_word recvtype) CAP_HIDDEN;
uint64_t cap_mpi_all_bytes_w(const struct cap_mpi *m, const void *sendbuf, const void *sendcounts,
                             unsigned send_width, const void *sendtypes, const void *recvcounts,
                             unsigned recv_width, const void *recvtypes) CAP_HIDDEN;

#endif
