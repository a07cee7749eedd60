/* SPDX-License-Identifier: Apache-2.0 */
/* Recording that nothing but the environment asks for: LD_PRELOAD and WHYIO_TRACE=DIR. */
#ifndef WIO_CAPTURE_CORE_ACTIVATE_H
#define WIO_CAPTURE_CORE_ACTIVATE_H

#include <stdbool.h>
#include <stddef.h>

#include "capture/core/attributes.h"

/*
 * Make the trace directory that WHYIO_TRACE names, and the directory of rings in it, where they are
 * missing; the path of the latter. False where nothing is to be recorded: the variable is not set,
 * is empty, or the directories cannot be had. That is told on the standard error, and the variable
 * emptied, so that the programs that this one executes neither try nor tell it again. While the
 * process is configured.
 */
bool cap_activate(char *rings_out, size_t size) CAP_HIDDEN;

#endif
