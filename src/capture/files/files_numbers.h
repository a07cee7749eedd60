/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Wrapped calls as syscall(2) makes them: recorded and protected like the functions of that name,
 * but with a result as wide as that of syscall(2), where programs look for a long below 0. Signal
 * safe, thread safe.
 */
#ifndef WIO_CAPTURE_FILES_FILES_NUMBERS_H
#define WIO_CAPTURE_FILES_FILES_NUMBERS_H

#include "capture/core/attributes.h"

CAP_HIDDEN long cap_number_fcntl(int fd, int command, long argument);
CAP_HIDDEN long cap_number_ioctl(int fd, unsigned long request, long argument);
CAP_HIDDEN long cap_number_close_range(unsigned first, unsigned last, int flags);

#endif
