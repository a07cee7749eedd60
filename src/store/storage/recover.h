/* SPDX-License-Identifier: Apache-2.0 */
/* Recovery: the records of the log, performed in their order on the segments, and the outcomes that
 * they leave. Performing them twice gives the same (R-REDO-3). */
#ifndef WIO_STORE_STORAGE_RECOVER_H
#define WIO_STORE_STORAGE_RECOVER_H

#include "store/storage/outcomes.h"
#include "store/storage/recents.h"

struct recovery {
    struct wio_storage *storage;
    struct outcomes *outcomes;
    struct recents *recents;
    uint64_t records;
};

/* For wio_log_scan, with a struct recovery. */
WIO_MUST_CHECK enum wio_status recover_record(void *context, uint64_t lsn,
                                              const struct wio_log_record *record,
                                              struct wio_error *err);

#endif
