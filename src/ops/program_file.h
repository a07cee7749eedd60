/* SPDX-License-Identifier: Apache-2.0 */
/* What the bytes and the name of a program's file say. Pure, no allocation, signal safe. */
#ifndef WIO_OPS_PROGRAM_FILE_H
#define WIO_OPS_PROGRAM_FILE_H

#include <stdbool.h>
#include <string.h>

/* Bytes of a "#!" line that the kernel reads: BINPRM_BUF_SIZE */
#define WIO_SCRIPT_LINE 256

/* The interpreter of a text that begins with "#!", cut out in place; NULL where there is none. */
static inline const char *wio_script_interpreter(char *line)
{
    char *name = line + 2 + strspn(line + 2, " \t");
    name[strcspn(name, " \t\n")] = '\0';
    return name[0] != '\0' ? name : NULL;
}

/* The last component of a path, of any file's. */
static inline const char *wio_program_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

/* The loader of glibc, by the name that programs have in them. */
static inline bool wio_program_is_loader(const char *path)
{
    return strncmp(wio_program_name(path), "ld-linux", 8) == 0;
}

/* The same as a program, "ld-linux-x86-64.so.2 PROGRAM": it has no loader, it is one, and preloads.
 * Distributions have it in PATH as ld.so, too. */
static inline bool wio_program_is_loader_itself(const char *path)
{
    return wio_program_is_loader(path) || strcmp(wio_program_name(path), "ld.so") == 0;
}

#endif
