/* SPDX-License-Identifier: Apache-2.0 */
#include "capture/core/program/launcher.h"

#include <string.h>

#include "capture/core/process.h"
#include "capture/core/raw.h"

bool cap_is_launcher_name(const char *path)
{
    static const char *const names[] = {"orterun",
                                        "orted",
                                        "mpirun",
                                        "mpiexec",
                                        "mpiexec.hydra",
                                        "mpiexec.mpich",
                                        "mpirun.mpich",
                                        "hydra_pmi_proxy",
                                        "hydra_bstrap_proxy",
                                        "hydra_nameserver",
                                        "hydra_persist",
                                        "prterun",
                                        "prte",
                                        "prted",
                                        "prun",
                                        "srun",
                                        "sbatch",
                                        "salloc",
                                        "slurmstepd",
                                        "slurmd",
                                        "mpirun.openmpi",
                                        "mpiexec.openmpi",
                                        "mpiexec.gforker",
                                        "flux",
                                        "aprun",
                                        "jsrun",
                                        "pmi_proxy",
                                        "palsd"};
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (strcmp(name, names[i]) == 0) {
            return true;
        }
    }
    return false;
}

bool cap_is_launcher(void)
{
    char path[4096];
    long length = raw_readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (length <= 0) {
        return false;
    }
    path[length] = '\0';
    if ((size_t)length < sizeof(cap_process.exe)) {
        memcpy(cap_process.exe, path, (size_t)length + 1);
    }
    return cap_is_launcher_name(path);
}
