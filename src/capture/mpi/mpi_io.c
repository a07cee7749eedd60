/* SPDX-License-Identifier: Apache-2.0 */
/* The names that the program gave to MPI-IO, and what they say about a call of an MPI library. */
#include "capture/mpi/mpi_io.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/crc.h"
#include "capture/core/hash.h"
#include "capture/core/process.h"
#include "capture/core/raw.h"
#include "capture/files/descriptors.h"
#include "ops/program_file.h"

/* Hashes of names; the newest NAMES_WAYS of equal low bits are kept. A file is opened while its
 * name is new, or (deferred open of ROMIO) as long as few others came since. */
#define NAMES_SETS 1024u
#define NAMES_WAYS 4u

static uint64_t names[NAMES_SETS][NAMES_WAYS]; /* atomic; 0 = none */
static uint32_t names_next;                    /* atomic: rises, the way that is overwritten */
static uint32_t names_are_lost;                /* atomic: one was overwritten */
static uint32_t names_are_trusted;             /* atomic */

enum { SALT_PATH = 1, SALT_BASE };

static uint64_t hash_of(uint64_t salt, const char *text, size_t bytes)
{
    return cap_mix(cap_mix(salt, bytes), wio_crc32c(0, text, bytes));
}

static bool is_kept(uint64_t hash)
{
    if (CAP_LIKELY(__atomic_load_n(&names_next, __ATOMIC_RELAXED) == 0)) {
        return false;
    }
    for (unsigned i = 0; i < NAMES_WAYS; i++) {
        if (__atomic_load_n(&names[hash % NAMES_SETS][i], __ATOMIC_RELAXED) == hash) {
            return true;
        }
    }
    return false;
}

static void keep(uint64_t hash)
{
    if (is_kept(hash)) {
        return;
    }
    uint32_t way = __atomic_fetch_add(&names_next, 1, __ATOMIC_RELAXED) % NAMES_WAYS;
    uint64_t *set = names[hash % NAMES_SETS];
    for (unsigned i = 0; i < NAMES_WAYS; i++) {
        uint64_t none = 0;
        if (__atomic_compare_exchange_n(&set[i], &none, hash, false, __ATOMIC_RELAXED,
                                        __ATOMIC_RELAXED)) {
            return;
        }
    }
    __atomic_store_n(&set[way], hash, __ATOMIC_RELAXED);
    __atomic_store_n(&names_are_lost, 1, __ATOMIC_RELAXED);
}

const char *cap_mpi_io_without_kind(const char *path)
{
    size_t kind = strcspn(path, ":/");
    return kind > 1 && path[kind] == ':' ? path + kind + 1 : path;
}

/* The library may complete the name with the working directory. */
static void keep_in_directory(const char *path)
{
    char text[CAP_SHORT_TEXT];
    long bytes = raw_getcwd(text, sizeof(text)); /* with its NUL */
    size_t rest = strlen(path);
    if (bytes <= 1 || (size_t)bytes + rest >= sizeof(text)) {
        return;
    }
    text[bytes - 1] = '/';
    memcpy(text + bytes, path, rest + 1);
    keep(hash_of(SALT_PATH, text, (size_t)bytes + rest));
}

static void keep_name(const char *path)
{
    keep(hash_of(SALT_PATH, path, strlen(path)));
    keep(hash_of(SALT_BASE, wio_program_name(path), strlen(wio_program_name(path))));
    if (path[0] != '/') {
        keep_in_directory(path);
    }
}

void cap_mpi_io_trust_names(void)
{
    __atomic_store_n(&names_are_trusted, 1, __ATOMIC_RELAXED);
}

void cap_mpi_io_name(const char *path)
{
    if (path == NULL || path[0] == '\0') {
        return;
    }
    const char *plain = cap_mpi_io_without_kind(path);
    keep_name(path);
    if (plain != path && plain[0] != '\0') {
        keep_name(plain);
    }
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* An MPI library's own files: what it loads, where it meets its daemons, what it asks the system.
 */
bool cap_mpi_io_is_of_system(const char *path)
{
    static const char *const places[] = {"/dev/", "/proc/", "/sys/", "/etc/", "/usr/",
                                         "/lib",  "/run/",  "/var/", "/bin/", "/opt/"};
    static const char *const marks[] = {"/ompi.",    "/openmpi-sessions", "/pmix-",     "/pmix.",
                                        "/prte.",    "/vader_segment",    "/psm",       "/.mpich",
                                        "/hydra",    "/dstore_",          ".so",        "/ucx_",
                                        "/.openmpi", "/shared_mem_cuda",  "/sm_segment"};
    for (size_t i = 0; i < WIO_ARRAY_SIZE(places); i++) {
        if (begins_with(path, places[i])) {
            return true;
        }
    }
    for (size_t i = 0; i < WIO_ARRAY_SIZE(marks); i++) {
        if (strstr(path, marks[i]) != NULL) {
            return true;
        }
    }
    return false;
}

/*
 * A name of the program with something behind it, or a dot before it: .NAME.shfp.1 (ROMIO's shared
 * file pointer), NAME.data.0, NAME-1-2.lock, NAME.locktest.0 (OMPIO's). OMPIO's shared file pointer
 * in memory, NAME_cid-1-2.sm, is in the directory of its session.
 */
static bool is_beside_a_name(const char *path)
{
    const char *name = wio_program_name(path);
    name += name[0] == '.';
    for (size_t end = strcspn(name, ".-_"); name[end] != '\0';
         end += 1 + strcspn(name + end + 1, ".-_")) {
        if (is_kept(hash_of(SALT_BASE, name, end))) {
            return !cap_mpi_io_is_of_system(path) || begins_with(name + end, "_cid-");
        }
    }
    return false;
}

/* Where names do not come by, each file that is none of the library's is the program's. */
static enum cap_mpi_io of_unnamed(unsigned call, const char *path)
{
    enum wio_class cls = wio_op_class(wio_call_op(call));
    bool is_open = cls == WIO_CLASS_OPEN || cls == WIO_CLASS_SIZE;
    bool names_tell = __atomic_load_n(&names_are_trusted, __ATOMIC_RELAXED) != 0 &&
                      __atomic_load_n(&names_are_lost, __ATOMIC_RELAXED) == 0;
    return is_open && !names_tell && !cap_mpi_io_is_of_system(path) ? CAP_MPI_IO_FILE
                                                                    : CAP_MPI_IO_NONE;
}

static enum cap_mpi_io of_path(unsigned call, const char *path)
{
    const char *name = wio_program_name(path);
    if (is_kept(hash_of(SALT_PATH, path, strlen(path)))) {
        return CAP_MPI_IO_FILE;
    }
    if (is_kept(hash_of(SALT_BASE, name, strlen(name))) && !cap_mpi_io_is_of_system(path)) {
        return CAP_MPI_IO_FILE;
    }
    return is_beside_a_name(path) ? CAP_MPI_IO_SIDE : of_unnamed(call, path);
}

/* Of side files in memory only making and removing is told: the rest is stores. */
static enum cap_mpi_io of_descriptor(unsigned call, int fd)
{
    const struct cap_fd *entry = fd >= 0 ? cap_fd_find(fd) : NULL;
    if (CAP_LIKELY(entry == NULL || (entry->flags & (CAP_FD_MPI_FILE | CAP_FD_MPI_SIDE)) == 0)) {
        return CAP_MPI_IO_NONE;
    }
    if ((entry->flags & CAP_FD_MPI_FILE) != 0) {
        return CAP_MPI_IO_FILE;
    }
    return wio_op_class(wio_call_op(call)) != WIO_CLASS_MAP ? CAP_MPI_IO_SIDE : CAP_MPI_IO_NONE;
}

enum cap_mpi_io cap_mpi_io_judge(unsigned call, int fd, const char *path)
{
    return path != NULL ? of_path(call, path) : of_descriptor(call, fd);
}
