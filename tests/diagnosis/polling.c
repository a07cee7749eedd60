/* SPDX-License-Identifier: Apache-2.0 */
/* Rank 1 looks rarely for the files that rank 0 makes; mended: it gets a message. */
#include "diagnosis_mpi.h"

#define STEPS 3
#define PAUSE_MS 800

static void wait_for(const char *name)
{
    while (access(name, R_OK) != 0) {  /* CAUSE */
        (void)usleep(PAUSE_MS * 1000); /* CAUSE */
    }
}

int main(int argc, char **argv)
{
    bool is_bad = begin(argc, argv);
    for (int i = 0; i < STEPS; i++) {
        char name[32];
        (void)snprintf(name, sizeof(name), "step.%d", i);
        if (rank == 0) {
            compute_ms(10);
            (void)close(open_to_write(name));
        } else if (is_bad) {
            wait_for(name);
        }
        (void)MPI_Barrier(MPI_COMM_WORLD);
    }
    return MPI_Finalize();
}
