/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers in the texts of /proc/PID: proc(5). Any bytes are taken; what is not there is said. Pure,
 * no allocation, signal safe. */
#ifndef WIO_BASE_SYSTEM_PROC_TEXT_H
#define WIO_BASE_SYSTEM_PROC_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { WIO_PROC_STAT_PPID = 4, WIO_PROC_STAT_START = 22 };

/* Field `number`, from 3 on, of /proc/PID/stat where it is a number that is not negative; counted
 * behind the last parenthesis, since the name may hold blanks and parentheses. */
bool wio_proc_stat_number(const char *text, size_t bytes, unsigned number, uint64_t *out);

/* When a process started, in clock ticks since boot. */
bool wio_proc_stat_start(const char *text, size_t bytes, uint64_t *start_out);

/* The first number behind `key` ("Tgid:", "Uid:") at the begin of a line of /proc/PID/status. */
bool wio_proc_status_number(const char *text, size_t bytes, const char *key, uint64_t *out);

#endif
