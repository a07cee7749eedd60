/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors of the capture library: they must look closed to the program, and stay open. The
 * program may close them behind our back, so each is known by device and inode, too. Signal safe.
 */
#ifndef WIO_CAPTURE_CORE_OWN_FDS_H
#define WIO_CAPTURE_CORE_OWN_FDS_H

#include <stdbool.h>
#include <stdint.h>

#include "capture/core/attributes.h"

enum {
    CAP_OWN_RING,
    CAP_OWN_FEATURE, /* of the one feature that keeps a descriptor: mmap/pages.c, else bound.c */
    CAP_OWN_FDS
};

/* Lives on in a forked child. */
struct cap_own_fd {
    int fd; /* -1 = none */
    uint64_t device;
    uint64_t inode;
};
extern struct cap_own_fd cap_own_fds[CAP_OWN_FDS] CAP_HIDDEN;

/* `fd` is the one of this place from now on. */
void cap_own_set(unsigned place, int fd) CAP_HIDDEN;
/* Is `fd`, whatever its number, open on the file of this place? */
bool cap_own_is(unsigned place, int fd) CAP_HIDDEN;

#endif
