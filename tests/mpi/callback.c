/* SPDX-License-Identifier: Apache-2.0 */
/* A program whose libraries do I/O where MPI calls them back, and behind the name of MPI: callback
 * FILE. */
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>

#include "callback_library.h"

int main(int argc, char **argv)
{
    MPI_File file;
    (void)MPI_Init(&argc, &argv);
    if (argc != 2 || !callback_open(argv[1])) {
        return 1;
    }
    (void)MPI_File_open(MPI_COMM_SELF, "shared", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                        &file);
    unsigned requests = async_write("shared");
    unsigned hidden = async_is_possible() ? async_write_hidden("shared") : 0;
    if (requests == 0 || (hidden == 0 && async_is_possible())) {
        return 1;
    }
    (void)printf("requests %u hidden %u\n", requests, hidden);
    (void)MPI_File_close(&file);
    return MPI_Finalize() != MPI_SUCCESS;
}
