/* SPDX-License-Identifier: Apache-2.0 */
/* The functions behind ours. */
#include <dlfcn.h>
#include <string.h>

#include "capture/core/process.h"

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

static cap_function *remember(unsigned call, void *found)
{
    cap_function *function;
    /* POSIX promises what ISO C does not: dlsym's pointer is as good as a function's. */
    memcpy(&function, &found, sizeof(function));
    __atomic_store_n(&cap_real_table[call], function, __ATOMIC_RELAXED);
    return function;
}

cap_function *cap_real_find(unsigned call)
{
    CAP_KEEP_ERRNO;
    void *found = cap_find_symbol(wio_call_name(call));
    if (found == NULL) {
        return (cap_function *)is_missing; /* not remembered: the library may be loaded later */
    }
    return remember(call, found);
}

/* Each look-up costs most of a microsecond, in every program that begins: not all of them. Those
 * with 64 are what programs call that are compiled with _FILE_OFFSET_BITS=64. */
void cap_real_find_early(void)
{
    static const uint16_t calls[] = {WIO_CALL_write,          WIO_CALL_writev,
                                     WIO_CALL_fwrite,         WIO_CALL_fputs,
                                     WIO_CALL_puts,           WIO_CALL_fputc,
                                     WIO_CALL_putc,           WIO_CALL_putchar,
                                     WIO_CALL_vfprintf,       WIO_CALL_fflush,
                                     WIO_CALL___vfprintf_chk, WIO_CALL_vdprintf,
                                     WIO_CALL_fputws,         WIO_CALL_vfwprintf,
                                     WIO_CALL_close,          WIO_CALL_open,
                                     WIO_CALL_open64,         WIO_CALL_fclose,
                                     WIO_CALL_fopen,          WIO_CALL_fopen64,
                                     WIO_CALL_access,         WIO_CALL_stat,
                                     WIO_CALL_stat64,         WIO_CALL_lstat,
                                     WIO_CALL_lstat64,        WIO_CALL_pthread_mutex_lock,
                                     WIO_CALL_dlclose,        WIO_CALL_pthread_mutex_unlock};
    bool is_clean = true;
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        void *found = dlsym(RTLD_NEXT, wio_call_name(calls[i]));
        is_clean = is_clean && found != NULL;
        if (found != NULL) {
            (void)remember(calls[i], found);
        }
    }
    if (!is_clean) {
        (void)dlerror(); /* it is not the program's */
    }
}
