/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A number that all ranks of one MPI job have, and no other job of the trace: what the launcher
 * tells its processes, or what it was started with, or else the launcher's own process.
 */
#include <fcntl.h>
#include <string.h>

#include "base/fmt.h"
#include "capture/core/environment.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/mpi/mpi_object.h"

#define LEVELS 16

static size_t read_file(const char *path, char *text, size_t size)
{
    long fd = raw_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
    long got = fd >= 0 ? raw_read((int)fd, text, size - 1) : 0;
    if (fd >= 0) {
        (void)raw_close((int)fd);
    }
    got = got > 0 ? got : 0;
    text[got] = '\0';
    return (size_t)got;
}

/* "pid (name) state ppid ..": the name may hold anything, so that its end is the last bracket. */
static uint64_t parent_of(uint64_t pid)
{
    char path[64];
    char text[512];
    uint64_t parent = 0;
    struct wio_fmt fmt = wio_fmt_of(path, sizeof(path));
    wio_fmt_str(&fmt, "/proc/");
    wio_fmt_u64(&fmt, pid);
    wio_fmt_str(&fmt, "/stat");
    (void)read_file(path, text, sizeof(text));
    const char *at = strrchr(text, ')');
    if (at == NULL || strlen(at) < 5) {
        return 0;
    }
    at += 4;
    return wio_scan_u64(&at, &parent) ? parent : 0;
}

/* What follows the argument `name` in a list of arguments, each ended by NUL; NULL where nothing.
 */
static const char *argument(const char *list, size_t bytes, const char *name)
{
    for (const char *at = list; at < list + bytes; at += strlen(at) + 1) {
        const char *next = at + strlen(at) + 1;
        if (strcmp(at, name) == 0 && next < list + bytes) {
            return next;
        }
    }
    return NULL;
}

/* Hydra (MPICH, Intel MPI) tells its ranks nothing; but its proxies, one per host, are all started
 * with the address of the one mpiexec. */
static uint64_t job_of_hydra(void)
{
    static const char *const names[] = {"--control-port", "--upstream-port"};
    char path[64];
    char list[2048];
    uint64_t pid = (uint64_t)raw_getpid();
    for (unsigned level = 0; level < LEVELS && pid > 1; level++, pid = parent_of(pid)) {
        struct wio_fmt fmt = wio_fmt_of(path, sizeof(path));
        wio_fmt_str(&fmt, "/proc/");
        wio_fmt_u64(&fmt, pid);
        wio_fmt_str(&fmt, "/cmdline");
        size_t bytes = read_file(path, list, sizeof(list));
        for (unsigned i = 0; i < 2; i++) {
            const char *address = argument(list, bytes, names[i]);
            if (address != NULL) {
                return cap_mpi_mix_text(1, address);
            }
        }
    }
    return 0;
}

/* A text of the environment that names the job. */
static uint64_t job_of_environment(void)
{
    const char *name = cap_getenv("PMIX_NAMESPACE");
    if (name != NULL) {
        return cap_mpi_mix_text(2, name);
    }
    const char *job = cap_getenv("SLURM_JOB_ID");
    const char *step = cap_getenv("SLURM_STEP_ID");
    return job != NULL && step != NULL ? cap_mpi_mix_text(cap_mpi_mix_text(3, job), step) : 0;
}

/* A job of one rank has no peers to agree with, and often no launcher. */
static uint64_t job_of_one(void)
{
    uint64_t id = cap_mpi_mix_text(cap_mpi_mix_text(4, cap_process.host), cap_process.boot_id);
    id = cap_mix(id, (uint64_t)raw_getpid());
    return cap_mix(id, cap_process.header != NULL ? cap_process.header->pid_start : 0);
}

uint64_t cap_mpi_job(void)
{
    static uint64_t job; /* atomic; threads that come together find the same */
    uint64_t found = __atomic_load_n(&job, __ATOMIC_RELAXED);
    if (found != 0) {
        return found;
    }
    if (cap_process.ranks == 1) {
        found = job_of_one();
    }
    if (found == 0) {
        found = job_of_hydra();
    }
    if (found == 0) {
        found = job_of_environment();
    }
    found = found != 0 ? found : 5;
    __atomic_store_n(&job, found, __ATOMIC_RELAXED);
    return found;
}
