/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is wrong: ranks write one file by collective calls. */
#include "diagnosis_mpi.h"

int main(int argc, char **argv)
{
    (void)begin(argc, argv);
    MPI_File file;
    (void)MPI_File_open(MPI_COMM_WORLD, "shared", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                        &file);
    for (int i = 0; i < 3; i++) {
        MPI_Offset at = (MPI_Offset)(i * ranks + rank) * (1 << 20);
        compute_ms(100);
        (void)MPI_File_write_at_all(file, at, buffer, 1 << 20, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    (void)MPI_File_close(&file);
    return MPI_Finalize();
}
