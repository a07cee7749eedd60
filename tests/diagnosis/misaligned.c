/* SPDX-License-Identifier: Apache-2.0 */
/* The ranks' parts of a shared file begin and end inside of blocks; mended: at blocks' ends. */
#include "diagnosis_mpi.h"

#define PARTS 80

int main(int argc, char **argv)
{
    bool is_bad = begin(argc, argv);
    size_t part = is_bad ? 200003 : 204800;
    int fd = rank == 0 ? open_to_write("shared") : -1;
    (void)MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0) {
        fd = open("shared", O_WRONLY | O_CLOEXEC);
    }
    for (int i = 0; i < PARTS; i++) {
        off_t at = (off_t)((size_t)(rank * PARTS + i) * part);
        if (pwrite(fd, buffer, part, at) != (ssize_t)part) { /* CAUSE */
            fail("pwrite");
        }
    }
    (void)close(fd);
    return MPI_Finalize();
}
