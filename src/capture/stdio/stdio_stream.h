/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a FILE shows of itself without a call: struct _IO_FILE of <bits/types/struct_FILE.h>, whose
 * layout is part of glibc's ABI (getc_unlocked and putc_unlocked are compiled into programs).
 * Pure, signal safe; the caller may hold the stream's lock or not: the answers are as good as an
 * unlocked look can be, and no pointer found here is followed.
 */
#ifndef WIO_CAPTURE_STDIO_STDIO_STREAM_H
#define WIO_CAPTURE_STDIO_STDIO_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Bits of FILE._flags that glibc keeps in an inner header, but never changed since 1998. */
#define CAP_STREAM_IN_BACKUP 0x0100
#define CAP_STREAM_PUTTING 0x0800
#define CAP_STREAM_APPENDING 0x1000
#define CAP_STREAM_OF_FILE 0x2000

/* Negative for streams without a descriptor: fmemopen, open_memstream (which does not even set its
 * number), fopencookie. */
static inline int cap_stream_fd(const FILE *fp)
{
    return (fp->_flags & CAP_STREAM_OF_FILE) != 0 ? fp->_fileno : -1;
}

static inline bool cap_stream_is_putting(const FILE *fp)
{
    return (fp->_flags & CAP_STREAM_PUTTING) != 0 || fp->_IO_write_ptr > fp->_IO_write_base;
}

static inline bool cap_stream_is_wide(const FILE *fp)
{
    return fp->_mode > 0;
}

/* Bytes that were read from the file (or pushed back) and not yet given to the program. */
static inline int64_t cap_stream_unread(const FILE *fp)
{
    if (cap_stream_is_putting(fp)) {
        return 0;
    }
    int64_t bytes = fp->_IO_read_end - fp->_IO_read_ptr;
    if ((fp->_flags & CAP_STREAM_IN_BACKUP) != 0) {
        bytes += fp->_IO_save_end - fp->_IO_save_base;
    }
    return bytes;
}

/*
 * Where the program stands in the stream, relative to the position of the descriptor: negative
 * while bytes are read ahead, positive while written bytes wait in the buffer.
 *
 * While a stream is written _IO_read_end still marks the descriptor's position (glibc seeks back
 * to it before the first flush), so one formula serves both directions.
 */
static inline int64_t cap_stream_ahead(const FILE *fp)
{
    if (cap_stream_is_putting(fp)) {
        return fp->_IO_write_ptr - fp->_IO_read_end;
    }
    return -cap_stream_unread(fp);
}

/* The offset of the next byte is unknown: it is appended, or still waits to be converted. */
static inline bool cap_stream_is_adrift(const FILE *fp)
{
    return (fp->_flags & CAP_STREAM_APPENDING) != 0 || cap_stream_is_wide(fp);
}

#endif
