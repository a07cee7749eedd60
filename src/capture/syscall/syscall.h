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
#include "ops/syscall_rules.h"

/* What cap_syscall_index says of a number: the rule in cap_syscall_rules, or one of these. */
#define CAP_SYSCALL_UNKNOWN 0
#define CAP_SYSCALL_CLONE 199
#define CAP_SYSCALL_TAILS 200 /* + place in cap_syscall_tails */

/* One call under way. arg[0] is not used. */
struct cap_raw_call {
    const struct wio_raw_rule *rule;
    long arg[7];
    uintptr_t source;
};

extern const struct wio_raw_rule cap_syscall_rules[] CAP_HIDDEN;
extern const uint8_t cap_syscall_index[WIO_SYSCALL_NUMBERS] CAP_HIDDEN;
/* Our own wrappers that perform a call. */
extern cap_function *const cap_syscall_tails[] CAP_HIDDEN;

/* Performs the call, errno set as by syscall(2). */
long cap_raw_perform(const struct cap_raw_call *call) CAP_HIDDEN;
/* WIO_RAW_SPECIAL: performs and records. */
long cap_raw_special(struct cap_thread *self, const struct cap_raw_call *call) CAP_HIDDEN;
/* WIO_RAW_SPECIAL that is not recorded: performs, and counts what is I/O of the program. */
long cap_raw_special_hidden(const struct cap_raw_call *call) CAP_HIDDEN;
/* WIO_RAW_FUTEX: performs and records. */
long cap_raw_futex(const struct cap_raw_call *call) CAP_HIDDEN;

#endif
