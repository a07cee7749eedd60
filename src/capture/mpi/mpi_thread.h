/* SPDX-License-Identifier: Apache-2.0 */
/* What the state of a thread has of MPI: features.def. */
#ifndef WIO_CAPTURE_MPI_MPI_THREAD_H
#define WIO_CAPTURE_MPI_MPI_THREAD_H

#include <stdint.h>

struct cap_mpi_thread {
    uintptr_t source; /* the last call by an MPI library that is I/O: its return address .. */
    uint32_t io;      /* .. and what it is: enum cap_mpi_io */
    uintptr_t lo;     /* of the MPI library that called last inside a call of MPI */
    uintptr_t span;
    uint64_t looks;      /* calls in a row that found nothing .. */
    uint64_t look_begin; /* .. since then .. */
    uint64_t look_word;  /* .. while nothing else was recorded */
};

#endif
