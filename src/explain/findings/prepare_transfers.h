/* SPDX-License-Identifier: Apache-2.0 */
/* What transfers of a place have in common over files, threads and the calls that cause them. */
#ifndef WIO_EXPLAIN_PREPARE_TRANSFERS_H
#define WIO_EXPLAIN_PREPARE_TRANSFERS_H

#include "explain/findings/finding.h"

struct wio_prepared_transfers {
    uint8_t *overlaps;
    float *concurrent;
    float *best_part;
    float *amplified;
    uint8_t *aggregators;
};

/* As wio_prepare. */
WIO_MUST_CHECK enum wio_status wio_prepare_transfers(struct wio_finding_input *input,
                                                     struct wio_prepared_transfers *prepared);
void wio_prepared_transfers_fini(struct wio_prepared_transfers *prepared);

#endif
