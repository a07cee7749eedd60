/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `mpi_writer DIR COUNT`: each rank makes eight-byte pwrites to DIR/RANK; rank 1 kills itself after
 * COUNT, the others write until the launcher ends them.
 */
#include <mpi.h>

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int rank = 0;
    char path[4096];
    if (argc != 3 || MPI_Init(&argc, &argv) != MPI_SUCCESS) {
        return 2;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(path, sizeof(path), "%s/%d", argv[1], rank);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    uint64_t count = strtoull(argv[2], NULL, 10);
    for (uint64_t i = 0; rank != 1 || i < count; i++) {
        if (pwrite(fd, &i, sizeof(i), (off_t)(i * sizeof(i))) != (ssize_t)sizeof(i)) {
            return 3;
        }
        if (i == count / 2) {
            MPI_Barrier(MPI_COMM_WORLD); /* no rank dies before all have written */
        }
        if (rank != 1 && i >= count) {
            usleep(1000);
        }
    }
    raise(SIGKILL);
    return 4;
}
