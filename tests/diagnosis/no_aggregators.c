/* SPDX-License-Identifier: Apache-2.0 */
/* A collective call writes small parts of each rank as they are; mended: ranks gather them. */
#include "diagnosis_mpi.h"

#define PARTS 300
#define PART 1024

int main(int argc, char **argv)
{
    bool is_bad = argc == 2 && strcmp(argv[1], "slow") == 0;
    MPI_File file;
    MPI_Datatype parts;
    (void)setenv("OMPI_MCA_fcoll", is_bad ? "individual" : "vulcan", 1);
    (void)begin(argc, argv);
    (void)MPI_Type_vector(PARTS, PART, PART * ranks, MPI_BYTE, &parts);
    (void)MPI_Type_commit(&parts);
    (void)MPI_File_open(MPI_COMM_WORLD, "shared", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL,
                        &file);
    (void)MPI_File_set_view(file, (MPI_Offset)rank * PART, MPI_BYTE, parts, "native",
                            MPI_INFO_NULL);
    (void)MPI_File_write_all(file, buffer, PARTS * PART, MPI_BYTE, MPI_STATUS_IGNORE); /* CAUSE */
    (void)MPI_File_close(&file);
    (void)MPI_Type_free(&parts);
    compute_ms(50);
    return MPI_Finalize();
}
