/* SPDX-License-Identifier: Apache-2.0 */
/* seccomp as syscall(2) calls it; the flag that it sets is in raw.h. */
#ifndef WIO_CAPTURE_CONFINE_H
#define WIO_CAPTURE_CONFINE_H

#include "capture/capture.h"

/* The result and errno of syscall(SYS_seccomp, ...). Signal safe, thread safe. */
long cap_number_seccomp(unsigned operation, unsigned flags, void *arguments) CAP_HIDDEN;

#endif
