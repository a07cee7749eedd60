/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks write one after the other, by a token; mended: all at once. */
#include "diagnosis_mpi.h"

#define ROUNDS 6
#define WRITES 10
#define BYTES (1 << 20)

static void write_part(int fd)
{
    for (int i = 0; i < WRITES; i++) {
        if (write(fd, buffer, BYTES) != BYTES) {
            fail("write");
        }
    }
}

int main(int argc, char **argv)
{
    bool is_bad = begin(argc, argv);
    MPI_Comm all = MPI_COMM_WORLD;
    int fd = open_own("part");
    int token = 0;
    for (int i = 0; i < ROUNDS; i++) {
        if (is_bad && rank > 0) {
            (void)MPI_Recv(&token, 1, MPI_INT, rank - 1, 0, all, MPI_STATUS_IGNORE); /* CAUSE */
        }
        write_part(fd);
        if (is_bad && rank + 1 < ranks) {
            (void)MPI_Send(&token, 1, MPI_INT, rank + 1, 0, all);
        }
        (void)MPI_Barrier(all); /* CAUSE */
    }
    (void)close(fd);
    return MPI_Finalize();
}
