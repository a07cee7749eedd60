/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of the inside of libc: libc_effects.c. */
#ifndef WIO_CAPTURE_FILES_LIBC_EFFECTS_H
#define WIO_CAPTURE_FILES_LIBC_EFFECTS_H

#include <stdbool.h>

#include "capture/core/capture.h"

/* True where file actions of posix_spawn may change the directory, so that a relative program is
 * not one of the caller's directory. Thread safe. */
bool cap_spawn_moves(void) CAP_HIDDEN;

#endif
