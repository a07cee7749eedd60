/* SPDX-License-Identifier: Apache-2.0 */
/* Records of 512 bytes are written one by one; mended: gathered in memory. */
#include "diagnosis_mpi.h"

#define RECORDS 400
#define RECORD 512

int main(int argc, char **argv)
{
    bool is_bad = begin(argc, argv);
    int fd = open_own("records");
    compute_ms(50);
    for (int i = 0; is_bad && i < RECORDS; i++) {
        if (write(fd, buffer, RECORD) != RECORD) { /* CAUSE */
            fail("write");
        }
    }
    if (!is_bad && write(fd, buffer, RECORDS * RECORD) < 0) {
        fail("write");
    }
    (void)MPI_Barrier(MPI_COMM_WORLD);
    (void)close(fd);
    return MPI_Finalize();
}
