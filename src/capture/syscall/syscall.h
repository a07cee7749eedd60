/* SPDX-License-Identifier: Apache-2.0 */
/*
 * syscall(2): any system call by its number.
 *
 * Numbers that are in the table of rules are performed by a raw system call here, exactly as libc's
 * syscall() would, and recorded under the name of the call that they replace, with flag RAW. A few
 * go to our wrapper of that name, which knows how to protect our descriptor or the environment of a
 * new program. All others (getpid ..) cost a table look-up and a jump.
 */
#ifndef WIO_CAPTURE_SYSCALL_SYSCALL_H
#define WIO_CAPTURE_SYSCALL_SYSCALL_H

#include "capture/core/capture.h"

#define CAP_SYSCALL_NUMBERS 512

/* What cap_syscall_index says of a number: the rule in cap_syscall_rules, or one of these. */
#define CAP_SYSCALL_UNKNOWN 0
#define CAP_SYSCALL_CLONE 199
#define CAP_SYSCALL_TAILS 200 /* + place in cap_syscall_tails */

/* How a rule's fields are to be read, and what the call changes. */
enum cap_raw_kind {
    CAP_RAW_PLAIN,
    CAP_RAW_SHORT, /* arg0, arg1 in the place of offset and size (R-EVENT-2) */
    CAP_RAW_OPEN,  /* the same, and the result is a new descriptor */
    CAP_RAW_CREAT,
    CAP_RAW_OPENAT2, /* extra = struct open_how */
    CAP_RAW_CLOSE,
    CAP_RAW_DUP,
    CAP_RAW_POSITION, /* read, write at the descriptor's position */
    CAP_RAW_VECTOR,   /* extra = iovec, extra2 = count; offset given, -1 or none: the position */
    CAP_RAW_SEEK,
    CAP_RAW_STAT,     /* extra = struct stat */
    CAP_RAW_STATX,    /* extra = struct statx */
    CAP_RAW_TEXT,     /* extra = a text: a link's target, an attribute's name */
    CAP_RAW_TEXT_OUT, /* extra = a buffer that gets one */
    CAP_RAW_TIMES,    /* extra = two struct timespec */
    CAP_RAW_TIMEVALS, /* extra = two struct timeval */
    CAP_RAW_UTIMBUF,  /* extra = struct utimbuf */
    CAP_RAW_CHDIR,
    CAP_RAW_COPY, /* extra = offset pointer of fd, extra2 of fd2 */
    CAP_RAW_PAIR, /* extra = two descriptors that are made */
    CAP_RAW_NEW_FD,
    CAP_RAW_MEMFD,
    CAP_RAW_FORK,
    CAP_RAW_FUTEX,   /* syscall_futex.c */
    CAP_RAW_SPECIAL, /* io_submit and io_uring: syscall_special.c */
};

/* Fields are numbers of arguments, 1 .. 6; 0 = the call has none. */
struct cap_raw_rule {
    uint16_t number;
    uint16_t call;
    uint8_t kind; /* enum cap_raw_kind */
    uint8_t fd, dirfd, path;
    uint8_t fd2, dirfd2, path2;
    uint8_t size, offset;
    uint8_t arg[4];
    uint8_t extra, extra2;
};

/* One call under way. arg[0] is not used. */
struct cap_raw_call {
    const struct cap_raw_rule *rule;
    long arg[7];
    uintptr_t source;
};

extern const struct cap_raw_rule cap_syscall_rules[] CAP_HIDDEN;
extern const uint8_t cap_syscall_index[CAP_SYSCALL_NUMBERS] CAP_HIDDEN;
/* Our own wrappers that perform a call. */
extern cap_function *const cap_syscall_tails[] CAP_HIDDEN;

/* Performs the call, errno set as by syscall(2). */
long cap_raw_perform(const struct cap_raw_call *call) CAP_HIDDEN;
/* CAP_RAW_SPECIAL: performs and records. */
long cap_raw_special(struct cap_thread *self, const struct cap_raw_call *call) CAP_HIDDEN;
/* CAP_RAW_SPECIAL that is not recorded: performs, and counts what is I/O of the program. */
long cap_raw_special_hidden(const struct cap_raw_call *call) CAP_HIDDEN;
/* CAP_RAW_FUTEX: performs and records. */
long cap_raw_futex(const struct cap_raw_call *call) CAP_HIDDEN;

#endif
