/* SPDX-License-Identifier: Apache-2.0 */
/* Which ranks do more than others, at a site and in all. */
#ifndef WIO_EXPLAIN_PREPARE_RANKS_H
#define WIO_EXPLAIN_PREPARE_RANKS_H

#include "explain/findings/finding.h"

struct wio_prepared_ranks {
    float *straggling;
    uint8_t *alone;
};

/* As wio_prepare. */
WIO_MUST_CHECK enum wio_status wio_prepare_ranks(struct wio_finding_input *input,
                                                 struct wio_prepared_ranks *prepared);
void wio_prepared_ranks_fini(struct wio_prepared_ranks *prepared);

#endif
