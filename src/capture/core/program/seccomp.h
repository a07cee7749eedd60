/* SPDX-License-Identifier: Apache-2.0 */
/* seccomp and prctl as syscall(2) calls them; the flag that they set is in core/raw.h. */
#ifndef WIO_CAPTURE_CORE_SECCOMP_H
#define WIO_CAPTURE_CORE_SECCOMP_H

#include "capture/core/capture.h"

/* The result and errno of syscall(SYS_seccomp, ...). Signal safe, thread safe. */
long cap_number_seccomp(unsigned operation, unsigned flags, void *arguments) CAP_HIDDEN;
/* The same of syscall(SYS_prctl, ...). */
long cap_number_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
                      unsigned long d) CAP_HIDDEN;

#endif
