/* SPDX-License-Identifier: Apache-2.0 */
/* Each rank reads the whole input; mended: a part of it each, and they exchange. */
#include "diagnosis_mpi.h"

#define PARTS 60
#define PART (1 << 20)

int main(int argc, char **argv)
{
    bool is_bad = begin(argc, argv);
    int fd = rank == 0 ? open_zeros("input", (off_t)PARTS * PART) : -1;
    (void)MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) {
        fd = open("input", O_RDONLY | O_CLOEXEC);
    }
    for (int i = 0; is_bad && i < PARTS; i++) {
        if (pread(fd, buffer, PART, (off_t)i * PART) != PART) { /* CAUSE */
            fail("pread");
        }
    }
    for (int i = 0; !is_bad && i < PARTS / ranks; i++) {
        if (pread(fd, buffer, PART, (off_t)(rank * PARTS / ranks + i) * PART) != PART) {
            fail("pread");
        }
    }
    (void)MPI_Barrier(MPI_COMM_WORLD);
    compute_ms(200);
    (void)close(fd);
    return MPI_Finalize();
}
