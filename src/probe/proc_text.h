/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in the texts of /proc/PID: proc(5). Any bytes are taken; what is not there is said. */
#ifndef WIO_PROBE_PROC_TEXT_H
#define WIO_PROBE_PROC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* When a process started, in clock ticks since boot: field 22 of /proc/PID/stat, counted behind the
 * last parenthesis, since its name may hold blanks and parentheses. */
bool wio_proc_stat_start(const char *text, size_t bytes, uint64_t *start_out);

/* The first number behind `key` ("Tgid:", "Uid:") at the begin of a line of /proc/PID/status. */
bool wio_proc_status_number(const char *text, size_t bytes, const char *key, uint64_t *out);

#endif
