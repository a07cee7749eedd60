/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The limit of what this process may write to a device in a second, where the system says it: of
 * control groups, blkio (version 1) or io.max (version 2).
 */
#ifndef WIO_CALIBRATE_SYSTEM_RATE_LIMIT_H
#define WIO_CALIBRATE_SYSTEM_RATE_LIMIT_H

#include <sys/types.h>

/* Bytes a second; 0: none that could be read. Of a partition it is the whole device's; of a device
 * upon one other (LVM, LUKS, md) the least of both. /proc and /sys are below `root`: "" in a
 * system. */
double wio_rate_limit(dev_t device, const char *root);

/* The same of a device, by the text of /proc/PID/cgroup and groups below `root`, which is
 * /sys/fs/cgroup in a system. */
double wio_rate_limit_of(dev_t device, const char *cgroups, const char *root);

#endif
