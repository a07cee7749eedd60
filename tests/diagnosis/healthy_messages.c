/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is wrong: ranks pass messages round and compute. */
#include "diagnosis_mpi.h"

int main(int argc, char **argv)
{
    (void)begin(argc, argv);
    for (int i = 0; i < 100; i++) {
        (void)MPI_Sendrecv_replace(buffer, 4096, MPI_BYTE, (rank + 1) % ranks, 0,
                                   (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
                                   MPI_STATUS_IGNORE);
        compute_ms(3);
    }
    return MPI_Finalize();
}
