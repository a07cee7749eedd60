/* SPDX-License-Identifier: Apache-2.0 */
/* A little of MPI-IO: each rank writes and reads blocks of one file, alone and together. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 4096
#define ROUNDS 4

static void must(int status, const char *what)
{
    if (status != MPI_SUCCESS) {
        fprintf(stderr, "mpiio: %s failed\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    char block[BLOCK], found[BLOCK];
    memset(block, 'a' + rank, sizeof(block));

    MPI_File file;
    must(MPI_File_open(MPI_COMM_WORLD, argc > 1 ? argv[1] : "mpiio.data",
                       MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file),
         "open");
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Offset place = ((MPI_Offset)round * ranks + rank) * BLOCK;
        int (*put)(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *) =
            round % 2 == 0 ? MPI_File_write_at : MPI_File_write_at_all;
        must(put(file, place, block, BLOCK, MPI_BYTE, MPI_STATUS_IGNORE), "write");
    }
    must(MPI_File_sync(file), "sync");
    MPI_Barrier(MPI_COMM_WORLD);
    int neighbour = (rank + 1) % ranks;
    must(MPI_File_read_at(file, (MPI_Offset)neighbour * BLOCK, found, BLOCK, MPI_BYTE,
                          MPI_STATUS_IGNORE),
         "read");
    must(MPI_File_close(&file), "close");
    int good = found[0] == 'a' + neighbour && found[BLOCK - 1] == 'a' + neighbour;
    int all = 0;
    MPI_Reduce(&good, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        printf("mpiio: %d of %d ranks read what their neighbour wrote\n", all, ranks);
    }
    MPI_Finalize();
    return 0;
}
