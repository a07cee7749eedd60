/* SPDX-License-Identifier: Apache-2.0 */
/* Two causes: rank 1 writes far more, all flush each record. Mended: both. */
#include "diagnosis_mpi.h"

#define RECORDS 90
#define BYTES (1 << 20)

int main(int argc, char **argv)
{
    bool is_bad = begin(argc, argv);
    int fd = open_own("data");
    int writes = is_bad ? (rank == 1 ? 120 : 2) : 10;
    for (int k = 0; k < writes; k++) {
        if (pwrite(fd, buffer, BYTES, (off_t)k * BYTES) != BYTES) { /* CAUSE */
            fail("write");
        }
    }
    (void)MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; is_bad && i < RECORDS; i++) {
        (void)fsync(fd); /* CAUSE */
    }
    (void)MPI_Barrier(MPI_COMM_WORLD);
    (void)close(fd);
    return MPI_Finalize();
}
