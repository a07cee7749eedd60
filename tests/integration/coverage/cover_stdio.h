/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What stdio cases share. A stdio call's event counts bytes, so its result is not what the function
 * returned; and the system calls that it causes come before it, in the order in which they end.
 */
#ifndef WIO_TESTS_COVER_STDIO_H
#define WIO_TESTS_COVER_STDIO_H

#include "cover.h"

/* Expect an event of `symbol` with this result and, where that is -1, this errno. */
#define RECORD(name, value, failure, ...)                                                          \
    (cover_last = (struct cover_last){.symbol = (name), .result = (value), .error = (failure)},    \
     cover_expect(__VA_ARGS__))

struct place {
    const char *path;
    FILE *stream;
    int fd;
    long at; /* position of the stream */
};

/* A stream in full buffer mode over DIR/name, opened by capture's fopen: positions are known. */
struct place place_open(const char *name, const char *mode);
/* Give it a buffer of 4 KiB. */
void place_buffer(const struct place *place);
/* Expect a call that moves the stream by `bytes`. */
void place_expect(struct place *place, const char *symbol, long bytes);
/* Write the buffer out; `bytes` are in it. */
void place_flush(struct place *place, long bytes);
/* Expect the read that fills the buffer: `bytes` come. */
void place_filled(struct place *place, long bytes);
void place_close(struct place *place);
/* Is this name in the installed library? If not the case is noted as not possible here. */
bool is_there(const char *symbol);

#endif
