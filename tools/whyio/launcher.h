/* SPDX-License-Identifier: Apache-2.0 */
/* Has mpirun or srun started us, and which helper program speaks its MPI? */
#ifndef WHYIO_LAUNCHER_H
#define WHYIO_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

#include <whyio/status.h>

struct launcher {
    const char *name;   /* "Open MPI's mpirun" */
    const char *family; /* "openmpi", "mpich"; NULL: ranks that cannot find each other */
    uint32_t rank;
    uint32_t size; /* 0: the launcher does not say */
};

/* From the environment; false where no launcher is to be seen. */
bool launcher_find(struct launcher *launcher_out);

/* Become whyio-replay-mpi-FAMILY with these arguments. Returns only on failure. */
enum wio_status launcher_exec(const struct launcher *launcher, char **argv, struct wio_error *err);

#endif
