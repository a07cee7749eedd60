/* SPDX-License-Identifier: Apache-2.0 */
/* Rings that a trace directory still has when it is opened: sealed first (FORMAT.md R-DIR-3). */
#ifndef WIO_SEAL_SEAL_ON_OPEN_H
#define WIO_SEAL_SEAL_ON_OPEN_H

#include "trace/read/opening.h"

/*
 * If the directory has rings: seal them into a new segment of it, or into memory, where the
 * directory may not be written or belongs to another user, processes still run, a recorder is at
 * work, or another process has held the lock too long. Leftovers of sealings that were killed are
 * taken away. `at` is the directory, opened; `dir` is what messages call it. `progress` may be
 * NULL. A wio_pending_fn.
 */
WIO_MUST_CHECK enum wio_status wio_pending_seal(int at, const char *dir, wio_progress_fn *progress,
                                                void *progress_arg, struct wio_pending *pending_out,
                                                struct wio_error *err);

#endif
