/* SPDX-License-Identifier: Apache-2.0 */
#include "ops/code_owner.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct owner_rule {
    const char *start; /* of the file's name */
    const char *name;
    enum wio_code_kind kind;
    bool is_open; /* more of the name may follow: plug-ins, flavours */
};

#define LIBRARY(start, name)                                                                       \
    {                                                                                              \
        start, name, WIO_CODE_LIBRARY, false                                                       \
    }
#define FAMILY(start, name)                                                                        \
    {                                                                                              \
        start, name, WIO_CODE_LIBRARY, true                                                        \
    }
#define INTERPRETER(start, name)                                                                   \
    {                                                                                              \
        start, name, WIO_CODE_INTERPRETER, false                                                   \
    }

static const struct owner_rule rules[] = {
    LIBRARY("libwhyio-capture", "whyio"),
    LIBRARY("ld-linux", "libc"),
    LIBRARY("ld", "libc"),
    LIBRARY("ld-musl", "libc"),
    LIBRARY("libc", "libc"),
    LIBRARY("libm", "libc"),
    LIBRARY("libdl", "libc"),
    LIBRARY("librt", "libc"),
    LIBRARY("libpthread", "libc"),
    LIBRARY("libresolv", "libc"),
    LIBRARY("libutil", "libc"),
    LIBRARY("libnsl", "libc"),
    FAMILY("libnss_", "libc"),
    LIBRARY("libtirpc", "libc"),
    FAMILY("libmpi", "MPI"),
    FAMILY("libpmpi", "MPI"),
    FAMILY("libopen-", "MPI"),
    FAMILY("libopal", "MPI"),
    FAMILY("libpmix", "MPI"),
    FAMILY("libprrte", "MPI"),
    FAMILY("libmca_", "MPI"),
    FAMILY("mca_", "MPI"),
    FAMILY("ompi_", "MPI"),
    FAMILY("pmix_mca_", "MPI"),
    FAMILY("libromio", "MPI"),
    FAMILY("liboshmem", "MPI"),
    FAMILY("libucp", "MPI"),
    FAMILY("libuct", "MPI"),
    FAMILY("libucs", "MPI"),
    FAMILY("libucm", "MPI"),
    FAMILY("libfabric", "MPI"),
    FAMILY("libpsm", "MPI"),
    LIBRARY("libibverbs", "MPI"),
    LIBRARY("librdmacm", "MPI"),
    FAMILY("libpmi", "MPI"),
    FAMILY("libhdf5", "HDF5"),
    FAMILY("libH5", "HDF5"),
    FAMILY("libh5", "HDF5"),
    FAMILY("libnetcdf", "NetCDF"),
    FAMILY("libpnetcdf", "PnetCDF"),
    FAMILY("libadios", "ADIOS"),
    FAMILY("libsilo", "Silo"),
    FAMILY("libcgns", "CGNS"),
    FAMILY("libsz", "HDF5"),
    FAMILY("libpioc", "PIO"),
    FAMILY("libpiof", "PIO"),
    FAMILY("libsion", "SIONlib"),
    FAMILY("libaio", "libaio"),
    FAMILY("liburing", "liburing"),
    LIBRARY("libz", "zlib"),
    LIBRARY("libbz2", "bzip2"),
    LIBRARY("liblzma", "xz"),
    LIBRARY("libzstd", "zstd"),
    FAMILY("libsqlite3", "SQLite"),
    LIBRARY("libstdc++", "libstdc++"),
    LIBRARY("libc++", "libc++"),
    LIBRARY("libc++abi", "libc++"),
    FAMILY("libboost_filesystem", "Boost"),
    FAMILY("libboost_iostreams", "Boost"),
    LIBRARY("libgcc_s", "libgcc"),
    LIBRARY("libunwind", "libunwind"),
    LIBRARY("libgfortran", "libgfortran"),
    LIBRARY("libifcore", "Fortran"),
    LIBRARY("libifcoremt", "Fortran"),
    LIBRARY("libifport", "Fortran"),
    LIBRARY("libflang", "Fortran"),
    LIBRARY("libFortranRuntime", "Fortran"),
    LIBRARY("libflang_rt", "Fortran"),
    LIBRARY("libnvf", "Fortran"),
    LIBRARY("libgomp", "OpenMP"),
    LIBRARY("libomp", "OpenMP"),
    LIBRARY("libiomp5", "OpenMP"),
    LIBRARY("libtbb", "TBB"),
    LIBRARY("libasan", "sanitizer"),
    LIBRARY("libtsan", "sanitizer"),
    LIBRARY("libubsan", "sanitizer"),
    LIBRARY("libjemalloc", "jemalloc"),
    FAMILY("libtcmalloc", "tcmalloc"),
    LIBRARY("libgo", "Go"),
    FAMILY("libstd-", "Rust"),
    INTERPRETER("python", "Python"),
    INTERPRETER("libpython", "Python"),
    INTERPRETER("perl", "Perl"),
    INTERPRETER("libperl", "Perl"),
    INTERPRETER("ruby", "Ruby"),
    INTERPRETER("libruby", "Ruby"),
    INTERPRETER("libR", "R"),
    INTERPRETER("R", "R"),
    INTERPRETER("julia", "Julia"),
    FAMILY("libjulia", "Julia"),
    INTERPRETER("libjvm", "Java"),
    FAMILY("libnio", "Java"),
    LIBRARY("libjava", "Java"),
    INTERPRETER("node", "Node.js"),
    INTERPRETER("libnode", "Node.js"),
    INTERPRETER("lua", "Lua"),
    INTERPRETER("liblua", "Lua"),
    INTERPRETER("bash", "shell"),
    INTERPRETER("dash", "shell"),
    INTERPRETER("sh", "shell"),
};

/* Modules that an interpreter has loaded for a program are no more its own than the interpreter. */
static const struct {
    const char *folder;
    const char *name;
} folders[] = {
    {"/site-packages/", "Python"}, {"/dist-packages/", "Python"}, {"/lib-dynload/", "Python"}};

/* Behind the name come a version, a hash, a suffix: "libhdf5-1.so", "libc-2.31.so", "python3.11".
 */
static bool is_end(const char *rest)
{
    return *rest == '\0' || *rest == '.' || *rest == '-' || isdigit((unsigned char)*rest) != 0;
}

bool wio_code_script(const char *path, struct wio_code_script *out)
{
    const size_t prefix = sizeof(WIO_CODE_PYTHON) - 1;
    const char *end =
        strncmp(path, WIO_CODE_PYTHON, prefix) == 0 ? strchr(path + prefix, ':') : NULL;
    if (end == NULL) {
        return false;
    }
    *out = (struct wio_code_script){.function = path + prefix,
                                    .function_bytes = (size_t)(end - path) - prefix,
                                    .file = end + 1};
    return true;
}

/* Modules of the language and of packages. "<string>" and "<stdin>" are programs, "<frozen os>" is
 * not. */
static struct wio_code_owner script_owner(const char *file)
{
    const bool is_text = strcmp(file, "<string>") == 0 || strcmp(file, "<stdin>") == 0;
    bool is_library = (file[0] == '<' && !is_text) || strstr(file, "/lib/python3.") != NULL ||
                      strstr(file, "/lib64/python3.") != NULL;
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        is_library = is_library || strstr(file, folders[i].folder) != NULL;
    }
    return is_library ? (struct wio_code_owner){WIO_CODE_LIBRARY, "Python"}
                      : (struct wio_code_owner){WIO_CODE_OWN, ""};
}

bool wio_code_is_own(const char *path, bool *is_behind)
{
    struct wio_code_script script;
    enum wio_code_kind kind = wio_code_owner(path).kind;
    *is_behind = *is_behind || kind == WIO_CODE_INTERPRETER;
    return kind == WIO_CODE_OWN && (!*is_behind || wio_code_script(path, &script));
}

struct wio_code_owner wio_code_owner(const char *path)
{
    struct wio_code_script script;
    if (wio_code_script(path, &script)) {
        return script_owner(script.file);
    }
    const char *slash = strrchr(path, '/');
    const char *file = slash != NULL ? slash + 1 : path;
    if (slash == NULL) { /* "", "[vdso]" */
        return (struct wio_code_owner){WIO_CODE_LIBRARY, ""};
    }
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
        const size_t length = strlen(rules[i].start);
        if (strncmp(file, rules[i].start, length) == 0 &&
            (rules[i].is_open || is_end(file + length))) {
            return (struct wio_code_owner){rules[i].kind, rules[i].name};
        }
    }
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        if (strstr(path, folders[i].folder) != NULL) {
            return (struct wio_code_owner){WIO_CODE_LIBRARY, folders[i].name};
        }
    }
    return (struct wio_code_owner){WIO_CODE_OWN, ""};
}
