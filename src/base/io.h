/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing whole things: the only place with EINTR and short-count loops. */
#ifndef WIO_BASE_IO_H
#define WIO_BASE_IO_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <whyio/status.h>

#include "base/buf.h"

/* Close a descriptor held in *fd (if >= 0) and set it to -1: for WIO_CLEANUP(wio_fd_cleanup).
 * errno is kept. */
void wio_fd_cleanup(int *fd);
/* The same for a directory that is read; NULL where there is none. */
void wio_dir_cleanup(DIR **dir);

/* Exactly `size` bytes at `offset`; `label` is the file name for the error. */
WIO_MUST_CHECK enum wio_status wio_io_pread(int fd, const char *label, void *data, size_t size,
                                            uint64_t offset, struct wio_error *err);
/* Up to *size_inout bytes, and it becomes how many: fewer only where the file ends. */
WIO_MUST_CHECK enum wio_status wio_io_pread_some(int fd, const char *label, void *data,
                                                 size_t *size_inout, uint64_t offset,
                                                 struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_io_pwrite(int fd, const char *label, const void *data,
                                             size_t size, uint64_t offset, struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_io_write(int fd, const char *label, const void *data,
                                            size_t size, struct wio_error *err);
/* A whole small file (also /proc, /sys), at most `max` bytes; a NUL is kept behind the end (not
 * counted in size). What an initialised *blob_out held before is dropped. */
WIO_MUST_CHECK enum wio_status wio_io_read_file(const char *path, size_t max,
                                                struct wio_blob *blob_out, struct wio_error *err);
/* The same of an open file, from where its descriptor stands; `path` is the name for the error. */
WIO_MUST_CHECK enum wio_status wio_io_read_fd(int fd, const char *path, size_t max,
                                              struct wio_blob *blob_out, struct wio_error *err);
/* Open `name` below `dir` for reading if it is a regular file; `flags`: 0 or O_NOFOLLOW. No device
 * and no FIFO is opened, whatever becomes of the name meanwhile. The caller owns the descriptor;
 * -1 with errno: EISDIR, ELOOP (a link, with O_NOFOLLOW), EINVAL (another kind), or as openat. */
int wio_io_open_regular(int dir, const char *name, int flags);
/* The entries of an open directory, from the first on, whatever was read of `dir` before; `dir`
 * stays open. The caller owns the result (wio_dir_cleanup); NULL with errno. */
DIR *wio_io_list(int dir);
/* mkdir -p with mode 0777. */
/* The same of a file that holds a secret: a regular file of this user, which no other user may
 * read; else WIO_ERR_USAGE. Not a FIFO, so it never waits. */
WIO_MUST_CHECK enum wio_status
wio_io_read_private(const char *path, size_t max, struct wio_blob *blob_out, struct wio_error *err);
WIO_MUST_CHECK enum wio_status wio_io_mkdirs(const char *path, struct wio_error *err);
/* Remove a directory and all below it (never follows a link, stays on one file system). */
WIO_MUST_CHECK enum wio_status wio_io_remove_tree(const char *path, struct wio_error *err);
/* The same for `name` in the directory `parent`. */
WIO_MUST_CHECK enum wio_status wio_io_remove_tree_at(int parent, const char *name,
                                                     struct wio_error *err);

#endif
