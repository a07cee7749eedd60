/* SPDX-License-Identifier: Apache-2.0 */
#include "launcher.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/text.h"

#define HELPER "whyio-replay-mpi-"

/* First match counts. Open MPI's own variables are there under its mpirun; under srun it finds the
 * others by PMIx. MPICH and its relatives use PMI, under mpiexec and srun alike. */
static const struct {
    const char *size; /* is set for a rank of a parallel program */
    const char *rank;
    const char *name;
    const char *family;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpirun", "openmpi"},
    {"PMI_SIZE", "PMI_RANK", "a launcher with PMI", "mpich"},
    {"PMIX_NAMESPACE", "PMIX_RANK", "a launcher with PMIx", "openmpi"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "srun without PMI", NULL},
};

/* Where helpers may be, from the directory of the running program. */
static const char *const places[] = {".", "tools/whyio", "../libexec/whyio", WIO_LIBEXEC_DIR};

bool launcher_find(struct launcher *launcher_out)
{
    for (size_t i = 0; i < WIO_ARRAY_SIZE(launchers); i++) {
        uint64_t rank = 0;
        uint64_t ranks = 0;
        const char *size = getenv(launchers[i].size);
        const char *number = getenv(launchers[i].rank);
        if (size == NULL || number == NULL) {
            continue;
        }
        if (launchers[i].family == NULL && strcmp(size, "1") == 0) {
            return false; /* a single task of srun is no parallel program */
        }
        if (wio_parse_u64(number, &rank) != WIO_OK) {
            rank = 0;
        }
        if (wio_parse_u64(size, &ranks) != WIO_OK) {
            ranks = 0; /* PMIx has a name there */
        }
        *launcher_out = (struct launcher){launchers[i].name, launchers[i].family, (uint32_t)rank,
                                          (uint32_t)ranks};
        return true;
    }
    return false;
}

static enum wio_status refuse(const struct launcher *launcher, struct wio_error *err)
{
    return wio_error_set(err, WIO_ERR_USAGE, NULL, WIO_ERROR_NO_OFFSET,
                         "%s has started this: its ranks cannot find each other; use srun "
                         "--mpi=pmix or --mpi=pmi2",
                         launcher->name);
}

static void try_place(const char *program_dir, const char *place, const char *family, char **argv)
{
    char path[PATH_MAX];
    bool is_absolute = place[0] == '/';
    int size = snprintf(path, sizeof(path), "%s%s%s/" HELPER "%s", is_absolute ? "" : program_dir,
                        is_absolute ? "" : "/", place, family);
    if (size < PATH_MAX && access(path, X_OK) == 0) {
        (void)execv(path, argv);
    }
}

enum wio_status launcher_exec(const struct launcher *launcher, char **argv, struct wio_error *err)
{
    char program[PATH_MAX] = "";
    if (launcher->family == NULL) {
        return refuse(launcher, err);
    }
    ssize_t size = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (size <= 0) {
        return wio_error_sys(err, "/proc/self/exe", "cannot tell where whyio is");
    }
    *strrchr(program, '/') = '\0';
    for (size_t i = 0; i < WIO_ARRAY_SIZE(places); i++) {
        try_place(program, places[i], launcher->family, argv);
    }
    return wio_error_set(err, WIO_ERR_UNSUPPORTED, program, WIO_ERROR_NO_OFFSET,
                         "%s has started this, and there is no " HELPER "%s here or in '%s': "
                         "whyio was built without that MPI",
                         launcher->name, launcher->family, WIO_LIBEXEC_DIR);
}
