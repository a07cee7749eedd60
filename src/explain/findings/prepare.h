/* SPDX-License-Identifier: Apache-2.0 */
/* What kinds of findings need to know of the whole run before they look at single steps. */
#ifndef WIO_EXPLAIN_PREPARE_H
#define WIO_EXPLAIN_PREPARE_H

#include "explain/findings/finding.h"
#include "explain/findings/prepare_ranks.h"
#include "explain/findings/prepare_transfers.h"

struct wio_prepared {
    struct wio_serial serial;
    uint8_t *in_turn;
    uint8_t *many_files;
    uint8_t *maps;
    uint8_t *polls;
    uint32_t *lines;
    uint64_t *calls;
    struct wio_prepared_ranks ranks;
    struct wio_prepared_transfers transfers;
};

/* Fills the fields of `input` that come from here; they live as long as `prepared`. */
WIO_MUST_CHECK enum wio_status wio_prepare(struct wio_finding_input *input,
                                           struct wio_prepared *prepared);
void wio_prepared_fini(struct wio_prepared *prepared);

#endif
