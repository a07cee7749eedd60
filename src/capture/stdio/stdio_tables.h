/* SPDX-License-Identifier: Apache-2.0 */
/* Between the hooks (stdio_hooks.c) and the tables that they stand in (stdio_tables.c). */
#ifndef WIO_CAPTURE_STDIO_STDIO_TABLES_H
#define WIO_CAPTURE_STDIO_STDIO_TABLES_H

#include <stdio.h>

#include "capture/core/capture.h"

/* The last entries of a table, in glibc's order. */
enum cap_stdio_entry {
    CAP_STDIO_READ,
    CAP_STDIO_WRITE,
    CAP_STDIO_SEEK,
    CAP_STDIO_CLOSE,
    CAP_STDIO_STAT,
    CAP_STDIO_ENTRIES
};

typedef int cap_stdio_close_fn(FILE *stream);

/* What stood there before, libc's own; good where cap_stdio_has_hooks. */
extern struct cap_stdio_libc {
    ssize_t (*read)(FILE *stream, void *buf, ssize_t size);
    ssize_t (*write)(FILE *stream, const void *buf, ssize_t size);
    off64_t (*seek)(FILE *stream, off64_t offset, int whence);
    int (*stat)(FILE *stream, void *st);
    cap_stdio_close_fn *close;
    ssize_t (*write_call)(int fd, const void *buf, size_t size); /* write(2) */
} cap_stdio_libc CAP_HIDDEN;

/* Put these in the place of libc's own; cap_stdio_has_hooks tells whether they were found. */
void cap_stdio_exchange(cap_function *const hooks[CAP_STDIO_ENTRIES]) CAP_HIDDEN;
/* Closing differs from stream to stream: pipes wait for their child, mapped files unmap. */
cap_stdio_close_fn *cap_stdio_real_close(const FILE *stream) CAP_HIDDEN;

extern cap_function *const cap_stdio_hooks[CAP_STDIO_ENTRIES] CAP_HIDDEN;

#endif
