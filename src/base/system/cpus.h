/* SPDX-License-Identifier: Apache-2.0 */
#ifndef WIO_BASE_SYSTEM_CPUS_H
#define WIO_BASE_SYSTEM_CPUS_H

#include <stdint.h>

/* Processors that the calling thread may use (sched_getaffinity), however many the machine has;
 * 0 = the kernel does not say. Thread-safe. */
uint32_t wio_cpus_allowed(void);

#endif
