/* SPDX-License-Identifier: Apache-2.0 */
/* Two causes: rank 0 writes for all, then each rank writes small records. Mended: both. */
#include "diagnosis_mpi.h"

#define BLOCKS 150
#define RECORDS 200
#define RECORD 512

int main(int argc, char **argv)
{
    bool is_bad = begin(argc, argv);
    int fd = open_own("data");
    for (int i = 0; is_bad && rank == 0 && i < BLOCKS; i++) {
        if (write(fd, buffer, 1 << 20) != 1 << 20) { /* CAUSE */
            fail("write");
        }
    }
    (void)MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; is_bad && i < RECORDS; i++) {
        if (write(fd, buffer, RECORD) != RECORD) { /* CAUSE */
            fail("write");
        }
    }
    if (!is_bad && write(fd, buffer, sizeof(buffer)) < 0) {
        fail("write");
    }
    (void)MPI_Barrier(MPI_COMM_WORLD);
    (void)close(fd);
    return MPI_Finalize();
}
