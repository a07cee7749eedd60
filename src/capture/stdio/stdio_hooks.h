/* SPDX-License-Identifier: Apache-2.0 */
/* The hooks below libc's streams: their interface to the rest of the library. */
#ifndef WIO_CAPTURE_STDIO_STDIO_HOOKS_H
#define WIO_CAPTURE_STDIO_STDIO_HOOKS_H

#include "capture/core/capture.h"

/* Put the hooks in place: once, in the constructor, before other threads exist. Where libc does
 * not look as expected nothing is changed and cap_stdio_has_hooks stays false. (stdio_install.c) */
void cap_stdio_install(void) CAP_HIDDEN;

/* fopen is under way in this thread and has opened `fd`: give the descriptor its path before the
 * first system call on it is recorded. (stdio_opening.c) */
void cap_stdio_name_opening(int fd) CAP_HIDDEN;

#endif
