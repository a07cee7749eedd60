/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a system call of a given number becomes an event: which of its arguments is the descriptor,
 * the path, the size .. The rules are the notes nr= of calls.def; scripts/gen_syscalls.py generates
 * ops/syscall_rules_gen.h from them. The capture library follows them in syscall(2), the tracer of
 * static programs for every system call. Plain data.
 */
#ifndef WIO_OPS_SYSCALL_RULES_H
#define WIO_OPS_SYSCALL_RULES_H

#include <stdint.h>

/* No system call of the machines that are known has a greater number. */
#define WIO_SYSCALL_NUMBERS 512

/* How a rule's fields are to be read, and what the call changes. */
enum wio_raw_kind {
    WIO_RAW_PLAIN,
    WIO_RAW_SHORT, /* arg0, arg1 in the place of offset and size (R-EVENT-2) */
    WIO_RAW_OPEN,  /* the same, and the result is a new descriptor */
    WIO_RAW_CREAT,
    WIO_RAW_OPENAT2, /* extra = struct open_how */
    WIO_RAW_CLOSE,
    WIO_RAW_DUP,
    WIO_RAW_POSITION, /* read, write at the descriptor's position */
    WIO_RAW_VECTOR,   /* extra = iovec, extra2 = count; offset given, -1 or none: the position */
    WIO_RAW_SEEK,
    WIO_RAW_STAT,     /* extra = struct stat */
    WIO_RAW_STATX,    /* extra = struct statx */
    WIO_RAW_TEXT,     /* extra = a text: a link's target, an attribute's name */
    WIO_RAW_TEXT_OUT, /* extra = a buffer that gets one */
    WIO_RAW_TIMES,    /* extra = two struct timespec */
    WIO_RAW_TIMEVALS, /* extra = two struct timeval */
    WIO_RAW_UTIMBUF,  /* extra = struct utimbuf */
    WIO_RAW_CHDIR,
    WIO_RAW_COPY, /* extra = offset pointer of fd, extra2 of fd2 */
    WIO_RAW_PAIR, /* extra = two descriptors that are made */
    WIO_RAW_NEW_FD,
    WIO_RAW_MEMFD,
    WIO_RAW_FORK,
    WIO_RAW_FUTEX,
    WIO_RAW_SPECIAL, /* io_submit and io_uring */
};

/* Fields are numbers of arguments, 1 .. 6; 0 = the call has none. */
struct wio_raw_rule {
    uint16_t number;
    uint16_t call;
    uint8_t kind; /* enum wio_raw_kind */
    uint8_t fd, dirfd, path;
    uint8_t fd2, dirfd2, path2;
    uint8_t size, offset;
    uint8_t arg[4];
    uint8_t extra, extra2;
};

#endif
