/* SPDX-License-Identifier: Apache-2.0 */
/* A flush after every record; mended: one after each step. */
#include "diagnosis_mpi.h"

#define STEPS 7
#define RECORDS 30
#define RECORD 4096

static void write_step(int fd, bool is_bad)
{
    if (!is_bad) {
        if (write(fd, buffer, RECORDS * RECORD) < 0 || fsync(fd) != 0) {
            fail("write");
        }
        return;
    }
    for (int i = 0; i < RECORDS; i++) {
        if (write(fd, buffer, RECORD) != RECORD) {
            fail("write");
        }
        for (int k = 0; k < 2; k++) {
            (void)fsync(fd); /* CAUSE */
        }
    }
}

int main(int argc, char **argv)
{
    bool is_bad = begin(argc, argv);
    int fd = open_own("checkpoint");
    for (int i = 0; i < STEPS; i++) {
        compute_ms(20);
        write_step(fd, is_bad);
        (void)MPI_Barrier(MPI_COMM_WORLD);
    }
    (void)close(fd);
    return MPI_Finalize();
}
