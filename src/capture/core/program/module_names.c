/* SPDX-License-Identifier: Apache-2.0 */
/* What an MPI library does for itself is not the program's I/O. Its modules are told by file name;
 * what its MPI-IO part does is told by mpi_io.c. By name, too: interpreters. */
#include <string.h>

#include "base/cleanup.h"
#include "capture/core/process.h"
#include "ops/program_file.h"

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool begins_with_any(const char *path, const char *const *starts, size_t count)
{
    const char *name = wio_program_name(path);
    if (path[0] != '/') {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        if (begins_with(name, starts[i])) {
            return true;
        }
    }
    return false;
}

bool cap_module_name_is_mpi(const char *path)
{
    /* libmpi covers libmpi.so, libmpi_cxx, libmpi_mpifh, libmpich*, libmpifort. The rest are the
     * run-time libraries and plug-ins that come with them. */
    static const char *const starts[] = {"libmpi",  "libopen-pal", "libopen-rte", "libopal",
                                         "libpmix", "libprrte",    "libmca_",     "mca_",
                                         "ompi_",   "pmix_mca_",   "libromio",    "liboshmem"};
    return begins_with_any(path, starts, WIO_ARRAY_SIZE(starts));
}

bool cap_module_name_is_mpi_io(const char *path)
{
    /* "libmpi" has ROMIO in it under many names (libmpi_cray, libmpi_gnu_91, libmpi_lustre);
     * libopen-pal asks what file system a file is on. */
    static const char *const starts[] = {
        "libmpi",      "libromio",   "mca_fs_",       "mca_io_",
        "mca_fbtl_",   "mca_fcoll_", "mca_sharedfp_", "libmca_common_ompio",
        "libopen-pal", "libopal"};
    return begins_with_any(path, starts, WIO_ARRAY_SIZE(starts));
}

bool cap_module_name_is_mpi_binding(const char *path)
{
    /* Open MPI: mpifh, usempi*, cxx, java; MPICH and its relatives: *fort*, *cxx*. */
    static const char *const starts[] = {"libmpi_mpifh", "libmpi_usempi", "libmpi_cxx",
                                         "libmpi_java",  "libmpichfort",  "libmpichcxx",
                                         "libmpichf90",  "libmpifort",    "libmpicxx"};
    return begins_with_any(path, starts, WIO_ARRAY_SIZE(starts));
}

bool cap_module_name_is_mpi_helper(const char *path)
{
    static const char *const starts[] = {
        "libpmi.",  "libpmi2.",      "libpmi-",    "libucp.",   "libuct.",   "libucs.",
        "libucm.",  "libuct_",       "libucs_",    "libucx_",   "libucm_",   "libfabric",
        "libpsm",   "libibverbs.",   "librdmacm.", "libmunge.", "libhwloc.", "libevent",
        "libslurm", "libhcoll",      "libsharp",   "libefa",    "libmlx",    "libxpmem",
        "libnuma.", "libinfinipath", "libnl-",     "libbnxt",   "libcxgb",   "libhfi",
        "libirdma", "libmthca",      "libocrdma",  "libqedr",   "libvmw"};
    return begins_with_any(path, starts, WIO_ARRAY_SIZE(starts));
}

bool cap_module_name_is_interpreter(const char *path)
{
    /* python3, python3.11, python3.13t, libpython3.11.so.1.0 */
    static const char *const starts[] = {"python3", "libpython3"};
    return begins_with_any(path, starts, WIO_ARRAY_SIZE(starts));
}
