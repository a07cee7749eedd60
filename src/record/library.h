/* SPDX-License-Identifier: Apache-2.0 */
/* Where libwhyio-capture.so is. */
#ifndef WIO_RECORD_LIBRARY_H
#define WIO_RECORD_LIBRARY_H

#include <limits.h>

#include <whyio/status.h>

/*
 * The absolute path of the capture library: `given` if not NULL, else the first of
 *   libwhyio-capture.so beside the running program,
 *   src/capture/ of the build directory that the program was built in,
 *   the library directory of the tree that the program was installed in, wherever that was moved,
 *   the library directory that whyio was configured with.
 * WIO_ERR_IO where there is none; WIO_ERR_UNSUPPORTED where LD_PRELOAD cannot name it (it splits
 * at blanks and colons).
 */
WIO_MUST_CHECK enum wio_status wio_library_find(const char *given, char path_out[PATH_MAX],
                                                struct wio_error *err);

#endif
