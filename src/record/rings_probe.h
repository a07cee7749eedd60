/* SPDX-License-Identifier: Apache-2.0 */
/* Can rings be in a directory? Asked before the program runs. */
#ifndef WIO_RECORD_RINGS_PROBE_H
#define WIO_RECORD_RINGS_PROBE_H

#include <whyio/status.h>

/*
 * Do with a file in `dir` what the capture library does with a ring: fill it, map it shared, store,
 * and read back what was stored. Removes the file. WIO_ERR_UNSUPPORTED: files there cannot be
 * mapped shared (some FUSE file systems, 9p), or do not show to read(2) what is stored. WIO_ERR_IO:
 * no room, no permission. A limit of this process on the size of files is no fault of the
 * directory.
 */
WIO_MUST_CHECK enum wio_status wio_rings_probe(const char *dir, struct wio_error *err);

#endif
