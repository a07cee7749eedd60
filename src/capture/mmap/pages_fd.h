/* SPDX-License-Identifier: Apache-2.0 */
/* The userfaultfd of pages.c, which is to look closed to the program. */
#ifndef WIO_CAPTURE_MMAP_PAGES_FD_H
#define WIO_CAPTURE_MMAP_PAGES_FD_H

#include <stdbool.h>

#include "capture/core/attributes.h"

extern int cap_pages_fd CAP_HIDDEN; /* -1 = none */
/* Is it this descriptor (device and inode)? */
bool cap_pages_is(int fd) CAP_HIDDEN;

#endif
