/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of interpreted programs, as frames of call stacks (FORMAT.md, R-SOURCE-3): behind the
 * interpreter's frame stand those of the program up to the first one of its own code. A function
 * of the program is a MODULE record named `python:FUNCTION:FILE`, and an address in it a line.
 */
#ifndef WIO_CAPTURE_SCRIPT_SCRIPT_H
#define WIO_CAPTURE_SCRIPT_SCRIPT_H

#include "capture/core/capture.h"

/* Hooks: core/features.h. */
bool cap_script_found(void) CAP_HIDDEN;
uint64_t cap_script_place(void) CAP_HIDDEN;
unsigned cap_script_frames(struct cap_thread *self, uintptr_t *frames, unsigned room) CAP_HIDDEN;

#endif
