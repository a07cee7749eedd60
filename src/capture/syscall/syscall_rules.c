/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of syscall(2) that are recorded. Old numbers are there only on x86-64. */
#include "capture/syscall/syscall.h"

#include <sys/syscall.h>

enum rule_number {
    RULE_NONE,
#define RULE(number, symbol, ...) RULE_##number,
#include "capture/syscall/syscall_rules.def"
#undef RULE
    RULE_COUNT
};

_Static_assert(RULE_COUNT <= CAP_SYSCALL_CLONE, "rules and special values share a byte");

const struct cap_raw_rule cap_syscall_rules[] = {
    {0},
#define RULE(number_, symbol, ...)                                                                 \
    {.number = SYS_##number_, .call = WIO_CALL_##symbol, __VA_ARGS__},
#include "capture/syscall/syscall_rules.def"
#undef RULE
};

/* In the order of cap_syscall_tails (syscall_entry.c). */
enum {
    TAIL_FCNTL,
    TAIL_CLOSE_RANGE,
    TAIL_EXECVE,
    TAIL_EXIT,
    TAIL_MMAP,
    TAIL_MREMAP,
    TAIL_MUNMAP,
    TAIL_MSYNC,
    TAIL_MADVISE,
    TAIL_WAIT4,
    TAIL_IOCTL,
    TAIL_PRCTL,
    TAIL_SECCOMP,
    TAIL_EXECVEAT,
    TAIL_WAITID
};

const uint8_t cap_syscall_index[CAP_SYSCALL_NUMBERS] = {
#define RULE(number, symbol, ...) [SYS_##number] = RULE_##number,
#include "capture/syscall/syscall_rules.def"
#undef RULE
    [SYS_fcntl] = CAP_SYSCALL_TAILS + TAIL_FCNTL,
    [SYS_close_range] = CAP_SYSCALL_TAILS + TAIL_CLOSE_RANGE,
    [SYS_execve] = CAP_SYSCALL_TAILS + TAIL_EXECVE,
    [SYS_exit_group] = CAP_SYSCALL_TAILS + TAIL_EXIT,
    [SYS_mmap] = CAP_SYSCALL_TAILS + TAIL_MMAP,
    [SYS_mremap] = CAP_SYSCALL_TAILS + TAIL_MREMAP,
    [SYS_munmap] = CAP_SYSCALL_TAILS + TAIL_MUNMAP,
    [SYS_msync] = CAP_SYSCALL_TAILS + TAIL_MSYNC,
    [SYS_madvise] = CAP_SYSCALL_TAILS + TAIL_MADVISE,
    [SYS_wait4] = CAP_SYSCALL_TAILS + TAIL_WAIT4,
    [SYS_ioctl] = CAP_SYSCALL_TAILS + TAIL_IOCTL,
    [SYS_prctl] = CAP_SYSCALL_TAILS + TAIL_PRCTL,
    [SYS_seccomp] = CAP_SYSCALL_TAILS + TAIL_SECCOMP,
    [SYS_execveat] = CAP_SYSCALL_TAILS + TAIL_EXECVEAT,
    [SYS_waitid] = CAP_SYSCALL_TAILS + TAIL_WAITID,
    [SYS_clone] = CAP_SYSCALL_CLONE,
    [SYS_clone3] = CAP_SYSCALL_CLONE,
#ifdef SYS_vfork
    [SYS_fork] = CAP_SYSCALL_CLONE,
    [SYS_vfork] = CAP_SYSCALL_CLONE,
#endif
};
