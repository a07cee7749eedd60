/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is wrong: rank 0 reads a small configuration, and all compute. */
#include "diagnosis_mpi.h"

int main(int argc, char **argv)
{
    (void)begin(argc, argv);
    if (rank == 0) {
        int fd = open_zeros("settings", 4096);
        if (read(fd, buffer, 4096) != 4096) {
            fail("settings");
        }
        (void)close(fd);
    }
    (void)MPI_Bcast(buffer, 4096, MPI_BYTE, 0, MPI_COMM_WORLD);
    compute_ms(300);
    (void)MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Finalize();
}
