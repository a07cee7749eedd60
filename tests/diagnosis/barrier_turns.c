/* SPDX-License-Identifier: Apache-2.0 */
/* In each round another rank writes, and all wait for it; mended: all at once. */
#include "diagnosis_mpi.h"

#define WRITES 40
#define BYTES (1 << 20)

static void write_part(int fd)
{
    for (int i = 0; i < WRITES; i++) {
        if (pwrite(fd, buffer, BYTES, (off_t)i * BYTES) != BYTES) {
            fail("write");
        }
    }
}

int main(int argc, char **argv)
{
    bool is_bad = begin(argc, argv);
    int fd = open_own("part");
    for (int turn = 0; turn < (is_bad ? ranks : 1); turn++) {
        if (!is_bad || turn == rank) {
            write_part(fd);
        }
        (void)MPI_Barrier(MPI_COMM_WORLD); /* CAUSE */
    }
    (void)close(fd);
    return MPI_Finalize();
}
