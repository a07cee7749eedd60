/* SPDX-License-Identifier: Apache-2.0 */
/* The id of this boot of the kernel: tells whether two clocks, or two pids, can be compared. */
#ifndef WIO_BASE_SYSTEM_BOOT_ID_H
#define WIO_BASE_SYSTEM_BOOT_ID_H

enum { WIO_BOOT_ID_ROOM = 40 }; /* 36 characters and a NUL, rounded up */

/* As in /proc/sys/kernel/random/boot_id; "" where it cannot be read. From any thread. */
void wio_boot_id(char id_out[WIO_BOOT_ID_ROOM]);

#endif
