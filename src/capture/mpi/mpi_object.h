/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of communicators, windows, files and persistent collectives: the id that all
 * members agree on, ranks, how many collectives there were. By handle; bounded: what does not fit
 * is not recorded (and counted). Thread safe. An object lives until its handle is forgotten.
 */
#ifndef WIO_CAPTURE_MPI_MPI_OBJECT_H
#define WIO_CAPTURE_MPI_MPI_OBJECT_H

#include "capture/core/hash.h"
#include "capture/mpi/mpi.h"

/* The object behind a handle, NULL where it is not known. */
struct cap_mpi_object *cap_mpi_object_find(enum cap_mpi_kind kind, cap_mpi_word handle) CAP_HIDDEN;
/* Put in a copy of `object`, in place of what the handle meant before. NULL where there is no room.
 */
struct cap_mpi_object *cap_mpi_object_add(enum cap_mpi_kind kind, cap_mpi_word handle,
                                          const struct cap_mpi_object *object) CAP_HIDDEN;
/* The handle means nothing any more; what it meant comes out. False where that was nothing. */
bool cap_mpi_object_take(enum cap_mpi_kind kind, cap_mpi_word handle,
                         struct cap_mpi_object *out) CAP_HIDDEN;

/* As cap_mix, each byte of a text. */
uint64_t cap_mpi_mix_text(uint64_t id, const char *text) CAP_HIDDEN;
/* How often this process has asked for the same number before. */
uint64_t cap_mpi_count(uint64_t number) CAP_HIDDEN;

/* The communicator behind a handle, made known where it is not (its creation was not seen); NULL
 * for MPI_COMM_NULL and where it cannot be recorded. The handle must be valid. */
struct cap_mpi_object *cap_mpi_comm(struct cap_mpi *m, cap_mpi_word comm) CAP_HIDDEN;
/* Emit mpi_comm. */
void cap_mpi_tell(struct cap_mpi *m, const struct cap_mpi_object *object) CAP_HIDDEN;

/* The number in the object of a rank as the program names it; -1 for any. */
static inline int64_t cap_mpi_peer(const struct cap_mpi_object *object, int rank)
{
    return rank == cap_mpi_abi.any_source ? -1 : (int64_t)object->peer_base + rank;
}

/* A lock that is not libc's. Not to be taken twice, held for some instructions. */
void cap_mpi_lock(uint32_t *lock) CAP_HIDDEN;
static inline void cap_mpi_unlock(uint32_t *lock)
{
    __atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

#endif
