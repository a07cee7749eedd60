/* SPDX-License-Identifier: Apache-2.0 */
/* Wrapped calls as syscall(2) makes them: files/files_numbers.h. */
#ifndef WIO_CAPTURE_PROCESS_PROCESS_NUMBERS_H
#define WIO_CAPTURE_PROCESS_PROCESS_NUMBERS_H

#include <sys/resource.h>
#include <sys/wait.h>

#include "capture/core/attributes.h"

CAP_HIDDEN long cap_number_execve(const char *path, char *const argv[], char *const envp[]);
CAP_HIDDEN long cap_number_execveat(int fd, const char *path, char *const argv[],
                                    char *const envp[], int flags);
CAP_HIDDEN long cap_number_wait4(pid_t pid, int *status, int options, struct rusage *usage);
/* The kernel's has one parameter more than libc's. */
CAP_HIDDEN long cap_number_waitid(idtype_t type, id_t id, siginfo_t *info, int options,
                                  struct rusage *usage);

#endif
