/* SPDX-License-Identifier: Apache-2.0 */
/* Rank 0 writes what all have computed; mended: each rank writes its part. */
#include "diagnosis_mpi.h"

#define STEPS 4
#define BYTES (1 << 20)
#define PARTS 30

static void write_parts(int fd, int parts)
{
    for (int i = 0; i < parts; i++) {
        if (write(fd, buffer, BYTES) != BYTES) { /* CAUSE */
            fail("write");
        }
    }
}

int main(int argc, char **argv)
{
    bool is_bad = begin(argc, argv);
    int fd = is_bad && rank != 0 ? -1 : open_own("result");
    for (int i = 0; i < STEPS; i++) {
        compute_ms(10);
        if (fd >= 0) {
            write_parts(fd, is_bad ? PARTS : PARTS / ranks);
        }
        (void)MPI_Barrier(MPI_COMM_WORLD);
    }
    if (fd >= 0) {
        (void)close(fd);
    }
    return MPI_Finalize();
}
