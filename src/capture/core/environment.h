/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the process was started with: its environment and arguments, and when, read without libc's
 * locks and before libc is ready. Signal safe.
 */
#ifndef WIO_CAPTURE_CORE_ENVIRONMENT_H
#define WIO_CAPTURE_CORE_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "capture/core/attributes.h"

/* While the process is configured: the environment as it stands on the stack, if libc does not know
 * it yet. Forget it afterwards, as the program may take all of it away (clearenv). */
void cap_environ_find(void) CAP_HIDDEN;
void cap_environ_forget(void) CAP_HIDDEN;
/* The environment, NULL where there is none. */
char **cap_environ_entries(void) CAP_HIDDEN;
/* A variable of it; NULL where it is not set. */
const char *cap_getenv(const char *name) CAP_HIDDEN;
/* Is it 1? */
bool cap_env_is_on(const char *name) CAP_HIDDEN;

/* The arguments as they stand in /proc, NUL behind each; the bytes. */
size_t cap_process_arguments(char *text, size_t size) CAP_HIDDEN;
/* A small file of /proc or /sys; NUL behind the end. Returns the bytes read. */
size_t cap_read_small(const char *path, char *text, size_t size) CAP_HIDDEN;

/* When the process of a file /proc/PID/stat started, in clock ticks since boot; 0: not known. */
uint64_t cap_start_of(const char *path) CAP_HIDDEN;

#endif
