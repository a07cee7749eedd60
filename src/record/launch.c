/* SPDX-License-Identifier: Apache-2.0 */
#include "record/launch.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/io.h"
#include "base/text.h"

enum {
    NAMES = 4,
    ANCESTORS = 16, /* wrappers of the user between the launcher and whyio */
    COMMAND_LINE = 1 << 16,
    STATUS_BYTES = 1 << 14,
    HOST_BYTES = 65
};

/*
 * One launcher: what all processes of a launch have in common. The first variable must be there,
 * the others make it unique. In this order: inside `sbatch`, mpirun's variables tell more than
 * Slurm's, which are the same for each mpirun of the script.
 */
static const char *const families[][NAMES] = {
    {"PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri", "SLURM_RESTART_COUNT"},
    {"OMPI_MCA_ess_base_jobid", "OMPI_MCA_orte_hnp_uri"},
    {"PMI_PORT", "PMI_SPAWNED"},
    {"PMI_JOBID", "PMI_SIZE"},
};

/* srun sets these in each task; they are there also inside `sbatch`, where there is no task. */
static const char *const slurm[NAMES] = {"SLURM_STEP_ID", "SLURM_JOB_ID", "SLURM_RESTART_COUNT"};
static const char *const flux[NAMES] = {"FLUX_JOB_ID", "FLUX_KVS_NAMESPACE"};

static void make_identity(char launch_out[WIO_LAUNCH_BYTES], const char *kind, const char *text)
{
    XXH64_hash_t hash = XXH64(text, strlen(text), XXH64(kind, strlen(kind), 0));
    snprintf(launch_out, WIO_LAUNCH_BYTES, "%016llx", (unsigned long long)hash);
}

static bool identify_by_names(const char *const names[NAMES], char launch_out[WIO_LAUNCH_BYTES])
{
    if (getenv(names[0]) == NULL) {
        return false;
    }
    char text[4096] = "";
    size_t used = 0;
    for (size_t i = 0; i < NAMES && names[i] != NULL && used < sizeof(text); i++) {
        const char *value = getenv(names[i]);
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, "%s\n", value != NULL ? value : "");
    }
    make_identity(launch_out, names[0], text);
    return true;
}

static pid_t parent_of(pid_t pid)
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
    WIO_CLEANUP(wio_blob_fini) struct wio_blob blob = {0};
    if (wio_io_read_file(path, STATUS_BYTES, &blob, NULL) != WIO_OK) {
        return 0;
    }
    const char *line = strstr((const char *)blob.data, "\nPPid:");
    return line != NULL ? (pid_t)strtol(line + 6, NULL, 10) : 0;
}

static bool is_proxy(const char *program)
{
    return strstr(program, "hydra") != NULL || strstr(program, "pmi_proxy") != NULL;
}

/* Identity by a proxy that tells nothing: good for the processes of one host. */
static void identify_by_pid(pid_t pid, char launch_out[WIO_LAUNCH_BYTES])
{
    char host[HOST_BYTES] = "";
    char text[HOST_BYTES + 32];
    (void)gethostname(host, sizeof(host) - 1);
    snprintf(text, sizeof(text), "%s %d", host, (int)pid);
    make_identity(launch_out, "hydra pid", text);
}

/* If `pid` is a hydra proxy: the value behind its --control-port, "host:port" of its mpiexec. */
static bool identify_by_proxy(pid_t pid, char launch_out[WIO_LAUNCH_BYTES])
{
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/cmdline", (int)pid);
    WIO_CLEANUP(wio_blob_fini) struct wio_blob blob = {0};
    if (wio_io_read_file(path, COMMAND_LINE, &blob, NULL) != WIO_OK ||
        !is_proxy((const char *)blob.data)) {
        return false;
    }
    identify_by_pid(pid, launch_out);
    const char *end = (const char *)blob.data + blob.size;
    for (const char *arg = (const char *)blob.data; arg < end; arg += strlen(arg) + 1) {
        const char *value = arg + strlen(arg) + 1;
        if (strcmp(arg, "--control-port") == 0 && value < end) {
            make_identity(launch_out, "hydra", value);
        }
    }
    return true;
}

static bool identify_by_hydra(char launch_out[WIO_LAUNCH_BYTES])
{
    if (getenv("PMI_FD") == NULL) {
        return false;
    }
    pid_t pid = getppid();
    for (unsigned i = 0; i < ANCESTORS && pid > 1; i++) {
        if (identify_by_proxy(pid, launch_out)) {
            return true;
        }
        pid = parent_of(pid);
    }
    return false;
}

void wio_launch_identify(char launch_out[WIO_LAUNCH_BYTES])
{
    launch_out[0] = '\0';
    for (size_t i = 0; i < WIO_ARRAY_SIZE(families); i++) {
        if (identify_by_names(families[i], launch_out)) {
            return;
        }
    }
    if (identify_by_hydra(launch_out)) {
        return;
    }
    if (getenv("SLURM_PROCID") != NULL && identify_by_names(slurm, launch_out)) {
        return;
    }
    if (getenv("FLUX_TASK_RANK") != NULL) {
        (void)identify_by_names(flux, launch_out);
    }
}

unsigned wio_launch_recorders(const char *launch)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS",
                                        "FLUX_JOB_SIZE"};
    uint64_t size = 0;
    if (launch[0] == '\0') {
        return 1;
    }
    for (size_t i = 0; i < WIO_ARRAY_SIZE(sizes); i++) {
        const char *value = getenv(sizes[i]);
        if (value != NULL && wio_parse_u64(value, &size) == WIO_OK) {
            return size < UINT_MAX ? (unsigned)size : 0;
        }
    }
    return 0;
}
