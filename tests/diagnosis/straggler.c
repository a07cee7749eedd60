/* SPDX-License-Identifier: Apache-2.0 */
/* Rank 2 writes 29 times as much as the others; mended: all write as much, and together the same.
 */
#include "diagnosis_mpi.h"

#define STEPS 3
#define BYTES (1 << 20)

int main(int argc, char **argv)
{
    bool is_bad = begin(argc, argv);
    int fd = open_own("share");
    int writes = is_bad ? (rank == 2 ? 58 : 2) : 16; /* as many bytes in both */
    for (int i = 0; i < STEPS; i++) {
        for (int k = 0; k < writes; k++) {
            if (pwrite(fd, buffer, BYTES, (off_t)k * BYTES) != BYTES) { /* CAUSE */
                fail("write");
            }
        }
        (void)MPI_Barrier(MPI_COMM_WORLD);
    }
    (void)close(fd);
    return MPI_Finalize();
}
