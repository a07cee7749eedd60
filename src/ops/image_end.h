/* SPDX-License-Identifier: Apache-2.0 */
/* How a process image ended: in rings and in segments. FORMAT.md#ring-header. */
#ifndef WIO_OPS_IMAGE_END_H
#define WIO_OPS_IMAGE_END_H

enum wio_ring_end {
    WIO_END_NONE = 0,   /* still running, or killed by something that could not be seen */
    WIO_END_EXIT = 1,   /* end_status = exit status */
    WIO_END_EXEC = 2,   /* replaced by another image of the same pid */
    WIO_END_SIGNAL = 3, /* end_status = signal (noticed in the process or by its parent) */
};

#endif
