/* SPDX-License-Identifier: Apache-2.0 */
/* Scanning over segments: the chain of those that recovery needs. */
#ifndef WIO_STORE_LOG_REDO_CHAIN_H
#define WIO_STORE_LOG_REDO_CHAIN_H

#include "store/log/redo_scan.h"
#include "store/log/redo_segments.h"

/*
 * Visit all records from `from` on; *position_out is the log's end, in the last live segment. A
 * segment that is missing, or that does not continue the one before it, is an error.
 */
WIO_MUST_CHECK enum wio_status redo_chain_scan(const struct redo_segments *segments, uint64_t from,
                                               wio_log_visit *visit, void *context,
                                               struct redo_position *position_out,
                                               struct wio_error *err);

#endif
