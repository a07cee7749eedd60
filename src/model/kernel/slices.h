/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A limit of the device's rate that counts by slices of time, as Linux does (docs/MODEL.md#kernel,
 * rule 14): a request that has room in the slices that have begun passes at once, others wait until
 * the rate has paid for all that passed, and for them.
 *
 * Source: behaviour of block/blk-throttle.c, Linux 6.18, and its messages to blktrace.
 */
#ifndef WIO_MODEL_KERNEL_SLICES_H
#define WIO_MODEL_KERNEL_SLICES_H

struct wio_slices {
    double slice_s;  /* 0: no limit */
    double page_s;   /* seconds per page, by the rate */
    double begin_s;  /* of the first slice that counts .. */
    double end_s;    /* .. and when all are forgotten, unless a write comes before */
    double passed;   /* pages in these slices */
    double opened_s; /* when the last waiting one passes: none that has to wait goes before */
};

/* Seconds: shorter slices cannot be told from an even rate. */
#define WIO_SLICES_LEAST_S 1e-6

/* Of no length (0) or of WIO_SLICES_LEAST_S and more. */
void wio_slices_init(struct wio_slices *slices, double slice_s, double page_s);

/* When a request of so many pages passes that comes at `now`. */
double wio_slices_pass(struct wio_slices *slices, double pages, double now);
/* A request that passes at once, whatever there is room for: others wait until it is paid for. */
void wio_slices_owe(struct wio_slices *slices, double pages, double now);

#endif
