/* SPDX-License-Identifier: Apache-2.0 */
/* MPI-IO and ordinary I/O of one program. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mpi.h>

#define BYTES 1000

int main(int argc, char **argv)
{
    char block[BYTES];
    char name[32];
    int rank;
    MPI_File file;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    memset(block, rank, sizeof(block));
    MPI_File_open(MPI_COMM_WORLD, "shared.dat", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                  &file);
    MPI_File_write_at(file, (MPI_Offset)rank * BYTES, block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_File_read_at(file, (MPI_Offset)rank * BYTES, block, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
    (void)snprintf(name, sizeof(name), "own.%d", rank);
    int fd = open(name, O_CREAT | O_WRONLY, 0600);
    int wrote = write(fd, block, 10) == 10;
    close(fd);
    MPI_Finalize();
    return wrote ? 0 : 1;
}
