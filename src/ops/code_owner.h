/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose code a mapped file holds: the program's own, or that of a library that programs do their
 * I/O, communication or memory by. Told by the file's name alone. Pure, signal safe.
 */
#ifndef WIO_OPS_CODE_OWNER_H
#define WIO_OPS_CODE_OWNER_H

#include <stdbool.h>
#include <stddef.h>

enum wio_code_kind {
    WIO_CODE_OWN,         /* the program's own, libraries of its own among it */
    WIO_CODE_LIBRARY,     /* of the system, MPI, an I/O library, a language */
    WIO_CODE_INTERPRETER, /* runs the program: what it stands for is no frame of the stack */
};

struct wio_code_owner {
    enum wio_code_kind kind;
    const char *name; /* "HDF5"; "" where it is the program's own. Static. */
};

/* A function of an interpreted program, in the place of a module's path (FORMAT.md, R-SOURCE-3):
 * "python:FUNCTION:FILE". Addresses in it are lines. */
#define WIO_CODE_PYTHON "python:"

struct wio_code_script {
    const char *function; /* of `function_bytes`, no text of its own */
    size_t function_bytes;
    const char *file; /* up to the end of `path` */
};
/* False: it is a file with machine code. */
bool wio_code_script(const char *path, struct wio_code_script *out);

/* Is the frame the program's own code, while those of a stack are gone through from the innermost
 * one? Behind an interpreter's, which sets *is_behind (false before the first one), only those of
 * the interpreted program are. */
bool wio_code_is_own(const char *path, bool *is_behind);

/* `path` as in the MODULE records and in struct wio_frame: "" is code of no file:
 * WIO_CODE_LIBRARY without a name. */
struct wio_code_owner wio_code_owner(const char *path);

#endif
