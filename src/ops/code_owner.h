/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose code a mapped file holds: the program's own, or that of a library that programs do their
 * I/O, communication or memory by. Told by the file's name alone. Pure, signal safe.
 */
#ifndef WIO_OPS_CODE_OWNER_H
#define WIO_OPS_CODE_OWNER_H

enum wio_code_kind {
    WIO_CODE_OWN,         /* the program's own, libraries of its own among it */
    WIO_CODE_LIBRARY,     /* of the system, MPI, an I/O library, a language */
    WIO_CODE_INTERPRETER, /* runs the program: what it stands for is no frame of the stack */
};

struct wio_code_owner {
    enum wio_code_kind kind;
    const char *name; /* "HDF5"; "" where it is the program's own. Static. */
};

/* `path` as in the MODULE records and in struct wio_frame: "" is code of no file:
 * WIO_CODE_LIBRARY without a name. */
struct wio_code_owner wio_code_owner(const char *path);

#endif
