/* SPDX-License-Identifier: Apache-2.0 */
/* Do the stored edges of a trace make sense: every byte right, points that exist, no cycle. */
#ifndef WIO_EDGES_CHECK_H
#define WIO_EDGES_CHECK_H

#include <whyio/trace.h>

/* Reports each fault, a cycle with the edges that form it. WIO_OK: none, or no edges are stored for
 * the segments as they are; WIO_END: faults were reported; WIO_ERR_NOMEM. Memory: about 64 bytes
 * per edge. */
WIO_MUST_CHECK enum wio_status wio_join_check(const char *dir, wio_fault_fn *fault, void *arg,
                                              struct wio_error *err);

#endif
