/* SPDX-License-Identifier: Apache-2.0 */
/* The same for programs of several ranks. */
#ifndef DIAGNOSIS_MPI_H
#define DIAGNOSIS_MPI_H

#include <mpi.h>

#include "diagnosis.h"

static int rank;
static int ranks;

static inline bool begin(int argc, char **argv)
{
    (void)MPI_Init(&argc, &argv);
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    return is_slow(argc, argv);
}

/* "NAME.RANK" */
static inline int open_own(const char *name)
{
    char own[64];
    (void)snprintf(own, sizeof(own), "%s.%d", name, rank);
    return open_to_write(own);
}

#endif
