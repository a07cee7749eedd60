/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks write small parts of a file by independent calls; mended: all at once. */
#include "diagnosis_mpi.h"

#define PARTS 250
#define PART 1024

int main(int argc, char **argv)
{
    bool is_bad = begin(argc, argv);
    MPI_File file;
    (void)MPI_File_open(MPI_COMM_WORLD, "shared", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                        &file);
    for (int i = 0; is_bad && i < PARTS; i++) {
        MPI_Offset at = (MPI_Offset)(i * ranks + rank) * PART;
        (void)MPI_File_write_at(file, at, buffer, PART, MPI_BYTE, MPI_STATUS_IGNORE); /* CAUSE */
    }
    if (!is_bad) {
        MPI_Offset at = (MPI_Offset)rank * PARTS * PART;
        (void)MPI_File_write_at_all(file, at, buffer, PARTS * PART, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    compute_ms(50);
    (void)MPI_File_close(&file);
    return MPI_Finalize();
}
