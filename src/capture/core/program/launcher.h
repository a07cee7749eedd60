/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WIO_CAPTURE_CORE_LAUNCHER_H
#define WIO_CAPTURE_CORE_LAUNCHER_H

#include <stdbool.h>

#include "capture/core/capture.h"

/* True where this process is a program that starts parallel jobs (mpirun and its daemons): it is
 * not recorded and only passes the environment on. Looks at /proc/self/exe. */
bool cap_is_launcher(void) CAP_HIDDEN;
/* The same for a program's path. Pure. */
bool cap_is_launcher_name(const char *path) CAP_HIDDEN;

#endif
