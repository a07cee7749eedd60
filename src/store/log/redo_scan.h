/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the records of the own log in their order and finds its end. A batch that a crash has torn
 * is the end; where a record is missing although later bytes prove that it had been flushed, the
 * log is damaged, and that is an error (R-LOG-5).
 */
#ifndef WIO_STORE_LOG_REDO_SCAN_H
#define WIO_STORE_LOG_REDO_SCAN_H

#include "store/log/redo_format.h"

/* How far a scan has come. */
struct redo_position {
    uint64_t next_lsn;
    uint32_t epoch;
    uint64_t offset; /* behind the last record, in its segment */
};

/*
 * The records of one segment, given whole or as much as is there. `position` has next_lsn and epoch
 * of what comes first; afterwards of what follows the last record. `from`: records before are read,
 * not visited. `visit` may be NULL. `name` is the segment's for errors.
 */
WIO_MUST_CHECK enum wio_status redo_scan_bytes(const uint8_t *data, size_t size, const char *name,
                                               struct redo_position *position, uint64_t from,
                                               wio_log_visit *visit, void *context,
                                               struct wio_error *err);

#endif
