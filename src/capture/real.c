/* SPDX-License-Identifier: Apache-2.0 */
/* The functions behind ours. */
#include <dlfcn.h>
#include <string.h>

#include "capture/process.h"

cap_function *cap_real_table[WIO_CALL_COUNT];

static long is_missing(void)
{
    errno = ENOSYS;
    return -1;
}

/*
 * A library that was loaded with local scope (a plug-in, a Python extension's MPI) is not behind us
 * in the global order: ask those that are known by name, without loading them.
 */
static void *find_local(const char *name)
{
    static const char *const libraries[] = {"libmpi.so.40",  "libmpi.so.12",    "libmpich.so.12",
                                            "libaio.so.1",   "libaio.so.1t64",  "liburing.so.2",
                                            "liburing.so.1", "libpthread.so.0", "libgomp.so.1"};
    for (size_t i = 0; i < sizeof(libraries) / sizeof(libraries[0]); i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);
        void *found = library != NULL ? dlsym(library, name) : NULL;
        if (library != NULL) {
            (void)CAP_REAL(dlclose)(library);
        }
        if (found != NULL) {
            return found;
        }
    }
    return NULL;
}

void *cap_find_symbol(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    return found != NULL ? found : find_local(name);
}

cap_function *cap_real_find(unsigned call)
{
    CAP_KEEP_ERRNO;
    const char *name = wio_call_name(call);
    void *found = cap_find_symbol(name);
    cap_function *function;
    /* POSIX promises what ISO C does not: dlsym's pointer is as good as a function's. */
    memcpy(&function, &found, sizeof(function));
    if (function == NULL) {
        return (cap_function *)is_missing; /* not remembered: the library may be loaded later */
    }
    __atomic_store_n(&cap_real_table[call], function, __ATOMIC_RELAXED);
    return function;
}
