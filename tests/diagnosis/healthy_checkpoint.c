/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is wrong: ranks compute, and write large parts. */
#include "diagnosis_mpi.h"

int main(int argc, char **argv)
{
    (void)begin(argc, argv);
    int fd = open_own("state");
    for (int i = 0; i < 5; i++) {
        compute_ms(100);
        if (write(fd, buffer, sizeof(buffer)) < 0) {
            fail("write");
        }
        (void)MPI_Barrier(MPI_COMM_WORLD);
    }
    (void)fsync(fd);
    (void)close(fd);
    return MPI_Finalize();
}
