/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a process of a job's own store leaves, removed when the process has ended by whatever death:
 * launchers kill what does not end at once. A second process waits at the end of a pipe for that.
 */
#ifndef WIO_STORE_SERVE_REMAINS_H
#define WIO_STORE_SERVE_REMAINS_H

#include <whyio/status.h>

#include "base/cleanup.h"

/* The directory `root` goes with this process. Before any thread is begun. The caller closes
 * `fd_out`, as the process' end does. */
WIO_MUST_CHECK enum wio_status serve_remains_begin(const char *root, int *fd_out,
                                                   struct wio_error *err);
/* So does the file `path`, an absolute one; a few at most. */
void serve_remains_add(int fd, const char *path);
/* No file goes any more: they were removed. */
void serve_remains_forget(int fd);

#endif
