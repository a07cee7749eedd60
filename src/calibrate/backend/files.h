/* SPDX-License-Identifier: Apache-2.0 */
/* The real rig: files in a private directory, this machine's memory and clock. */
#ifndef WIO_CALIBRATE_BACKEND_FILES_H
#define WIO_CALIBRATE_BACKEND_FILES_H

#include <stdint.h>

#include <whyio/status.h>

#include "calibrate/backend/backend.h"
#include "calibrate/backend/buffers.h"
#include "calibrate/backend/counts.h"
#include "calibrate/backend/flush.h"
#include "calibrate/backend/streams.h"
#include "calibrate/system/dirty_limits.h"

struct wio_files {
    const char *dir;
    uint64_t clock_ns;                              /* that asking for the time takes */
    int fds[WIO_RIG_FILE_COUNT][WIO_RIG_WAY_COUNT]; /* -1: not open */
    struct wio_buffers buffers;
    uint64_t copied; /* where copying goes on: what was copied just now is in a cache */
    struct wio_stream stream;
    char counts[WIO_COUNTS_PATH]; /* where the kernel counts what the device did */
    struct wio_flush flush;
};

/* `dir` is the caller's and stays while the rig is used; `limits` NULL: they are not touched. Call
 * wio_files_fini also after a failure. */
WIO_MUST_CHECK enum wio_status wio_files_init(struct wio_files *files, const char *dir,
                                              const struct wio_limits *limits,
                                              struct wio_error *err);
/* The files themselves stay. */
void wio_files_fini(struct wio_files *files);
struct wio_rig wio_files_rig(struct wio_files *files);

#endif
