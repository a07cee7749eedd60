/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrapped calls as syscall(2) makes them: recorded and protected like the functions of that name,
 * but with a result as wide as that of syscall(2), where programs look for a long below 0. More of
 * them are in seccomp.h and mmap_numbers.h. Signal safe, thread safe.
 */
#ifndef WIO_CAPTURE_CORE_NUMBERS_H
#define WIO_CAPTURE_CORE_NUMBERS_H

#include <sys/resource.h>
#include <sys/wait.h>

#include "capture/core/capture.h"

CAP_HIDDEN long cap_number_fcntl(int fd, int command, long argument);
CAP_HIDDEN long cap_number_ioctl(int fd, unsigned long request, long argument);
CAP_HIDDEN long cap_number_close_range(unsigned first, unsigned last, int flags);
CAP_HIDDEN long cap_number_execve(const char *path, char *const argv[], char *const envp[]);
CAP_HIDDEN long cap_number_execveat(int fd, const char *path, char *const argv[],
                                    char *const envp[], int flags);
CAP_HIDDEN long cap_number_wait4(pid_t pid, int *status, int options, struct rusage *usage);
/* The kernel's has one parameter more than libc's. */
CAP_HIDDEN long cap_number_waitid(idtype_t type, id_t id, siginfo_t *info, int options,
                                  struct rusage *usage);

#endif
