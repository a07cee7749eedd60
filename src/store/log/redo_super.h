/* SPDX-License-Identifier: Apache-2.0 */
/* The superblock of the own log, "log/super": where recovery begins. Two blocks, written in turn,
 * of which the valid one with the higher generation counts (R-LOG-6). */
#ifndef WIO_STORE_LOG_REDO_SUPER_H
#define WIO_STORE_LOG_REDO_SUPER_H

#include "store/log/redo_format.h"

/* The valid block with the higher generation, of as much of the file as is there. `name`: for the
 * error where there is none. */
WIO_MUST_CHECK enum wio_status redo_super_choose(const uint8_t *data, size_t size, const char *name,
                                                 struct redo_super *super_out,
                                                 struct wio_error *err);
/* *file_out NULL: there is no superblock, and so no log. The caller closes the file. */
WIO_MUST_CHECK enum wio_status redo_super_open(struct wio_io *io, bool is_checked,
                                               struct wio_io_file **file_out,
                                               struct redo_super *super_out, struct wio_error *err);
/* Make the superblock; durable on return. From then on there is a log. */
WIO_MUST_CHECK enum wio_status redo_super_create(struct wio_io *io, const struct redo_super *super,
                                                 struct wio_io_file **file_out,
                                                 struct wio_error *err);
/* Write the next generation; durable on return. */
WIO_MUST_CHECK enum wio_status redo_super_write(struct wio_io *io, struct wio_io_file *file,
                                                const struct redo_super *super,
                                                struct wio_error *err);

#endif
