/* SPDX-License-Identifier: Apache-2.0 */
/* The files of store/io.h below a directory, without a loop: a flush is done by store_io_turn. */
#ifndef WIO_BENCH_STORE_IO_H
#define WIO_BENCH_STORE_IO_H

#include "store/io.h"

/* Exits where the directory cannot be opened. One at a time. */
struct wio_io *store_io_open(const char *dir);
/* Flush what waits and call back; timers, too. */
void store_io_turn(struct wio_io *io);
/* Flushes since the directory was opened, by whatever call. */
unsigned long store_io_flushes(struct wio_io *io);
void store_io_close(struct wio_io *io);

#endif
